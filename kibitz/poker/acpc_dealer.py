"""A dealer of the ACPC: two programs connect on this machine and play hold'em against each other.

Each deal is played twice, with the seats exchanged: first all deals once, with the dealer button passing on from hand
to hand, then all again. So the cards of a deal come back only after all the others. The hands are those of
`kibitz match` with the same seed.

Whoever answers with anything but a legal move, too late or not at all forfeits, and the match ends there, as the
protocol recommends.
"""

import socket
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..core.names import BadInput, at_least
from ..core.progress import SILENT, Reporter
from ..games import CHANCE, OVER, chance_outcomes, full_name, legal_actions, positions
from ..games.records import Record
from ..play.play import chance_rng_of
from ..play.statistics import Running
from .acpc_client import holdem
from .acpc_lines import SECONDS, VERSION, Lines, Lost
from .rules import acpc

LOOPBACK = "127.0.0.1"
MAX_HANDS = 10**6
GREETING = 10.0  # seconds from a connection to its version
MAX_STALE = 100  # lines that answer no question, before a move
NAMES = ("player 1", "player 2")


class Limits(NamedTuple):
    """Time in seconds."""

    connect: float = 600.0  # until both players are connected
    move: float = 600.0
    hand: float = 7.0  # on average over the match


class Dealt(NamedTuple):
    """The hands of a match, and how it ended."""

    records: list[Record]
    chips: list[int]  # won by each player, in the order of the match
    forfeit: str  # who forfeited, and why; empty where all hands were played


class Forfeit(Exception):
    """A player can't go on."""


class Seated(NamedTuple):
    """A player at the table."""

    name: str
    lines: Lines


def check_match(hands: int, seed: int, limits: Limits) -> None:
    """Refuse a match that can't be dealt, before anybody connects."""
    at_least("hands", hands, 1, MAX_HANDS)
    at_least("seed", seed, 0)
    for name, seconds in limits._asdict().items():
        at_least("seconds to connect" if name == "connect" else f"seconds per {name}", seconds, *SECONDS)


class Dealer:
    """Listens on a port of this machine; `play` deals a match to the two programs that `connect`."""

    def __init__(self, game: Any = "holdem", port: int = 0, names: Sequence[str] = NAMES) -> None:
        self.game, self.names = holdem(game), list(names)
        if len(self.names) != 2 or any(not name or set(name) & set("|\r\n") for name in self.names):
            raise BadInput(f"{', '.join(self.names)!r} should be two names without | in them")
        if self.names[0] == self.names[1]:
            raise BadInput(f"the names of the players should differ, both are {self.names[0]!r}")
        at_least("port", port, 0, 65535)
        try:
            self.listener = socket.create_server((LOOPBACK, port), backlog=2)
        except OSError as error:
            raise BadInput(f"can't listen on port {port}: {error.strerror or error}") from None
        self.port: int = self.listener.getsockname()[1]
        self.table: list[Seated] = []

    def close(self) -> None:
        """Close all connections."""
        for each in self.table:
            each.lines.connection.close()
        self.table = []
        self.listener.close()

    # ---------------------------------------------------------------- connections

    def connect(self, seconds: float = Limits().connect, report: Reporter = SILENT) -> None:
        """Wait until both players have connected and sent the version of the protocol; refuse others.

        Raises:
            BadInput: Too few players have connected in time.
        """
        until = time.monotonic() + seconds
        while len(self.table) < len(self.names):
            left = until - time.monotonic()
            try:
                if left <= 0:
                    raise TimeoutError
                self.listener.settimeout(left)
                connection, _ = self.listener.accept()
            except TimeoutError:
                raise BadInput(f"{len(self.table)} of 2 players have connected within {seconds:g} s") from None
            lines, name = Lines(connection), self.names[len(self.table)]
            try:
                greeting = lines.receive(min(GREETING, max(until - time.monotonic(), 0)))
                if not greeting.startswith(VERSION.rpartition(".")[0] + "."):
                    raise Lost(f"sent {greeting[:40]!r} instead of {VERSION}")
            except Lost as lost:
                connection.close()
                report.message(f"refused a connection: it {lost}")
                continue
            self.table.append(Seated(name, lines))
            report.message(f"{name} has connected")

    # ---------------------------------------------------------------- hands

    def play(
        self,
        hands: int,
        seed: int = 1,
        limits: Limits | None = None,
        log: Callable[[str], Any] = lambda line: None,
        report: Reporter = SILENT,
    ) -> Dealt:
        """Deal a match, after both players have connected; then close their connections.

        Args:
            hands: Number of deals, each of which is played twice.
            seed: The same seed gives the same cards.
            limits: Times.
            log: Gets each line of the log, which has the format of the ACPC.
            report: Receives the progress.

        Raises:
            BadInput: Too few players have connected in time.
        """
        given = limits or Limits()
        check_match(hands, seed, given)
        try:
            self.connect(given.connect, report)
            log(f"# name/game/hands/seed kibitz {full_name(self.game)} {2 * hands} {seed}\n")
            log(f"#--t_response {1000 * given.move:.0f}\n#--t_per_hand {1000 * given.hand:.0f}\n")
            found = self._match(self.table, hands, seed, given, log, report)
        finally:
            for each in self.table:
                each.lines.connection.close()
            self.table = []
        if found.forfeit:
            log(f"# {found.forfeit}\n")
        log(f"SCORE:{'|'.join(map(str, found.chips))}:{'|'.join(self.names)}\n")
        return found

    def _match(
        self, table: list[Seated], deals: int, seed: int, limits: Limits, log: Callable[[str], Any], report: Reporter
    ) -> Dealt:
        clock, running = Clock(limits, 2 * deals), Running()
        found, chips = list[Record](), [0, 0]
        for hand in range(2 * deals):
            again, deal = divmod(hand, deals)
            first = (deal + again) % 2  # who has seat 0
            order = [table[first], table[1 - first]]
            try:
                actions, state = self._hand(order, hand, chance_rng_of(seed, deal), clock)
            except Forfeit as forfeit:
                return Dealt(found, chips, f"{forfeit}, in hand {hand}")
            won = acpc.chips(self.game, state)
            for seat in range(2):
                chips[(first + seat) % 2] += won[seat]
            names = [each.name for each in order]
            log(acpc.write(self.game, state, hand, names) + "\n")
            payoffs = [float(self.game.payoff(state, seat)) for seat in range(2)]
            found.append(Record(2 * deal + first, full_name(self.game), names, seed, actions, payoffs))
            running.add(found[-1])
            report.progress(len(found), 2 * deals, str(running))
        return Dealt(found, chips, "")

    def _hand(self, order: list[Seated], hand: int, chance_rng: Any, clock: "Clock") -> tuple[list[int], Any]:
        """Play one hand; returns its actions and the last position."""
        game, state, actions, dealt = self.game, positions(self.game)[0], list[int](), list[int]()
        while (turn := game.turn(state)) != OVER:
            if turn == CHANCE:
                outcomes, probs = zip(*chance_outcomes(game, state), strict=True)
                action = int(chance_rng.choice(outcomes, p=probs))
                dealt.append(action)
            else:
                lines = [acpc.write_seen(game, state, seat, hand, dealt) for seat in range(2)]
                for seat in range(2):
                    clock.send(order[seat], lines[seat])
                action = clock.ask(order[turn], lines[turn], legal_actions(game, state))
            actions.append(action)
            game.play(state, action)
        for seat in range(2):
            clock.send(order[seat], acpc.write_seen(game, state, seat, hand, dealt))
        return actions, state


class Clock:
    """Talks to the players within their time."""

    def __init__(self, limits: Limits, hands: int) -> None:
        self.limits, self.whole = limits, limits.hand * hands
        self.used: dict[str, float] = {}

    def send(self, player: Seated, line: str) -> None:
        try:
            player.lines.send(line, self.limits.move)
        except Lost as lost:
            raise Forfeit(f"{player.name} forfeits: it {lost}") from None

    def ask(self, player: Seated, state: str, legal: Sequence[int]) -> int:
        """The move with which a player answers a state that was sent. Answers to other states are passed over."""
        began, before = time.monotonic(), self.used.get(player.name, 0.0)
        allowed = min(self.limits.move, self.whole - before)
        try:
            for _ in range(MAX_STALE):
                answer = player.lines.receive(max(allowed - (time.monotonic() - began), 0))
                same, _, letter = answer.rpartition(":")
                if same == state:
                    self.used[player.name] = before + time.monotonic() - began
                    if letter in [acpc.LETTERS[action] for action in legal]:
                        return acpc.LETTERS.index(letter)
                    words = " or ".join(acpc.LETTERS[action] for action in legal)
                    raise Lost(f"answered {letter[:40]!r}, legal is {words}")
                if not same.startswith("MATCHSTATE:"):
                    raise Lost(f"answered {answer[:80]!r}, which is no state with a move")
            raise Lost(f"sent {MAX_STALE} lines that don't answer {state}")
        except Lost as lost:
            spent = time.monotonic() - began
            late = f" (its time, {self.limits.hand:g} s per hand on average, is used up)" * (
                spent >= allowed < self.limits.move
            )
            raise Forfeit(f"{player.name} forfeits: it {lost}{late}") from None
