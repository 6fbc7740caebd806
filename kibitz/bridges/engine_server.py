"""Players of Kibitz as engines for other programs: the game that the other program leads, and the time to think.

The protocols are in `gtp_server`, `uci_server` and `piskvork_server`. What can't be read is answered with an error, as
each protocol has it, and the position stays as it was.
"""

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any, NamedTuple

from ..core.names import BadInput, at_least
from ..core.progress import SILENT, Reporter
from ..core.version import __version__
from ..games import OVER, Game, full_name, legal_actions, load, positions, view_of
from ..games.hex import owner
from ..jit import below, generators
from ..play.players import default_player, make_for
from ..play.players.search import SearchPlayer

NAME = "Kibitz"
VERSION = __version__
MAX_LINE = 65536  # bytes; the rest of a longer line is another line
LATE = 0.02  # seconds per move that are left for everything but thinking
LEAST = 0.005  # seconds to think, however short the time is
FOREVER = 1e9  # seconds to think where nothing but a stop ends it
MOVES = 30  # that a game is taken to last where a time is for all the rest of it
OFTEN, SELDOM = 0.1, 1.0  # seconds between two reports of a search: the first, or where its depth is limited; others
FEW = 100  # simulations of the moves that compile
REHEARSAL = 40, 0.3, 0.1  # plies of the game that compiles, seconds of it after the first move, and for that


class Clock(NamedTuple):
    """The time of a seat. All is zero where there is no limit."""

    seconds: float = 0.0  # that are left
    moves: int = 0  # for which they are; 0: for the rest of the game
    more: float = 0.0  # seconds that are added per move

    def per_move(self) -> float:
        """Seconds for the next move; 0: no limit."""
        if self.seconds <= 0 and self.more <= 0:
            return 0.0
        share = self.seconds / (self.moves or MOVES) + self.more
        return max(min(share, self.seconds or share) - LATE, LEAST)


class Thinking(Reporter):
    """Follows a search, and stops it."""

    may_stop = True

    def __init__(
        self, tell: Callable[[Any], None] = lambda advice: None, depth: int = 0, limit: float = FOREVER
    ) -> None:
        """
        Args:
            tell: Gets the advice so far: at each new depth, and at least every second.
            depth: The plies at which the search is stopped; 0: it isn't.
            limit: Seconds after which it is stopped.
        """
        self.tell, self.depth, self.told = tell, depth, 0
        self.began = self.last = time.monotonic()
        self.end, self.limit = threading.Event(), limit
        self.found: Any = None  # the advice that was told last

    @property
    def stopped(self) -> bool:  # type: ignore[override]
        return self.end.is_set() or time.monotonic() - self.began > self.limit

    def stop(self) -> None:
        self.end.set()

    def advice(self, so_far: Callable[[], Any], depth: int = 0) -> None:
        now = time.monotonic()
        often = OFTEN if self.depth or self.last == self.began else SELDOM
        if depth <= self.told and now - self.last < often:
            return
        self.told, self.last, self.found = depth, now, so_far()
        self.tell(self.found)
        if self.depth and depth_of(self.found) >= self.depth:
            self.stop()


def depth_of(advice: Any) -> int:
    """The plies that a search has looked ahead: those searched completely, or of its principal variation."""
    return len(advice.line) if advice.depth is None else advice.depth


class EngineTable:
    """A game for two that another program leads, and the player that moves in it."""

    def __init__(self, game: Game, player: Any, seed: int = 1) -> None:
        """
        Args:
            game: What is played first.
            player: A name or an object; None: the default player of the game, whatever it becomes.
            seed: Of the player; each game has one made of it and its number.

        Raises:
            BadInput: The player can't play the game.
        """
        at_least("seed", seed, 0)
        self.player, self.seed, self.number = player, seed, 0
        self.ready: set[str] = set()  # games for which all kernels are there
        self.change(game)

    def change(self, game: Game) -> None:
        """Play another game from now on, such as one on a larger board; BadInput where the player can't."""
        made = make_for(default_player(game) if self.player is None else self.player, game)
        self.game: Any = game
        self.made: Any = made
        self.own = {key: getattr(made, key) for key in ("seconds", "simulations") if hasattr(made, key)}
        self.clear()

    def resize(self, **sizes: int) -> None:
        """Begin a game with other parameters, such as the size of the board, if there is one."""
        if any(getattr(self.game, key) != size for key, size in sizes.items()):
            self.change(load(full_name(self.game._replace(**sizes))))  # type: ignore[attr-defined]
        else:
            self.clear()

    def clear(self, state: Any = None) -> None:
        """Begin a new game, or go on from a position."""
        self.states = [positions(self.game)[0] if state is None else state]
        self.begun = -1  # the seat for which the player has begun this game

    @property
    def state(self) -> Any:
        return self.states[-1]

    @property
    def is_over(self) -> bool:
        return int(self.game.turn(self.state)) == OVER

    def play(self, action: int) -> None:
        """Play a move, which must be legal."""
        state, seat = self.state.copy(), int(self.state.to_move)
        self.game.play(state, action)
        if self.game.name == "hex" and state.to_move != OVER and owner(self.game, state, 1 - seat) == seat:
            # The rules look for a chain only when stones placed by turns could form one.
            state.winner, state.to_move = seat, OVER
        self.states.append(state)

    def undo(self) -> None:
        if len(self.states) == 1:
            raise BadInput("there is no move to take back")
        self.states.pop()
        self.begun = -1

    def give_turn(self, seat: int) -> None:
        """Let a seat move, as GTP allows it where stones are only placed."""
        if self.is_over:
            raise BadInput("the game is over")
        if int(self.game.turn(self.state)) != seat:
            if self.game.name == "othello":
                raise BadInput("it is the other's turn")
            self.states[-1] = self.state.copy()
            self.state.to_move = seat

    def think(self, seconds: float = 0.0, simulations: int = 0, report: Reporter = SILENT) -> int:
        """The player's move here.

        Args:
            seconds: To think; 0: as long as the player's name says, or the simulations take.
            simulations: At most; 0: no limit. That of the player's name holds beside it.
            report: Follows the search, and may stop it.
        """
        if self.is_over:
            raise BadInput("the game is over")
        self.get_ready()
        seat = int(self.game.turn(self.state))
        if seconds and report is SILENT:
            report = Thinking(limit=seconds)  # from now on, whatever has to be done before the search
        made, own = self.made, self.own
        if "seconds" in own:
            made.seconds = seconds or (0.0 if simulations else own["seconds"])
        if "simulations" in own:
            made.simulations = min(filter(None, (simulations, own["simulations"])), default=0)
        if isinstance(made, SearchPlayer):
            made.report = report
        if self.begun != seat:
            self.number += 1
            self.made.begin(self.game, seat, (self.seed + self.number) % 2**63)
            self.begun = seat
        action = int(self.made.move(view_of(self.game, self.state, seat)))
        if action not in legal_actions(self.game, self.state):
            raise BadInput(f"the player's move {action} is illegal")
        return action

    def get_ready(self) -> None:
        """Load or compile the player's kernels, by a game of short moves, so that none of a real game is late.

        It is done once per game that is played.
        """
        if full_name(self.game) in self.ready:
            return
        self.ready.add(full_name(self.game))
        states, rng, until = self.states, generators(1, 1)[0], math.inf
        self.clear()
        try:
            for ply in range(REHEARSAL[0]):
                if self.is_over or time.monotonic() > until:
                    break
                if ply % 2 == 0:
                    seconds = LEAST if ply else REHEARSAL[2]
                    simulations = 0 if isinstance(self.made, SearchPlayer) else FEW
                    self.play(self.think(seconds, simulations, Thinking(limit=seconds)))
                    until = until if ply else time.monotonic() + REHEARSAL[1]
                else:  # a reply that the search knows, if there is one: then it goes on with its tree
                    actions = legal_actions(self.game, self.state)
                    line = getattr(self.made.advice, "line", ())[1:2]
                    self.play(line[0] if line and line[0] in actions else actions[int(below(rng, len(actions)))])
        finally:
            self.clear(states[-1])
            self.states, self.number = states, 0


class Server:
    """A protocol: answers lines until it is told to end."""

    def __init__(self, table: EngineTable) -> None:
        self.table, self.ended = table, False
        self.lock = threading.RLock()  # held while anything is answered or written
        self.write: Callable[[str], Any] = lambda text: None

    def answer(self, line: str) -> str:
        """What is written as an answer to a line; empty: nothing."""
        raise NotImplementedError

    def finish(self) -> None:
        """Wait until all that was asked for is answered; what has no end is ended."""


def serve(server: Server, lines: Iterable[str], write: Callable[[str], Any]) -> None:
    """Answer lines until the other program says that it is the end, or closes its output."""
    server.write = write
    for line in lines:
        with server.lock:
            answer = server.answer(line)
            if answer:
                write(answer)
        if server.ended:
            break
    server.finish()


def lines_of(stream: IO[Any]) -> Iterator[str]:
    """The lines of a stream of bytes, whatever they are, or of text."""
    while line := stream.readline(MAX_LINE):
        text = line if isinstance(line, str) else line.decode(errors="replace")
        yield "".join(letter if letter.isprintable() else " " for letter in text)
