"""The Go Text Protocol, version 2, in which Kibitz asks an engine for its moves.

What an engine is told depends on the commands that it lists: time is announced in the forms that it takes, and a pass
of Othello as it was understood in a trial before the first game.
"""

import contextlib
import re
import time
from fractions import Fraction
from typing import Any

from ..core.names import BadInput
from ..core.programs import Late, Lost
from ..games import Game, legal_actions, positions
from ..games.engine_notation import COLOURS, PASS, occupied, read_vertex, vertices, write_vertex
from ..jit import generators
from ..play.players.search import equal_records
from .engine_dialects import HELLO, QUICK, START, Dialect, Refused, legal

PASSES = (PASS, PASS.upper())  # how an engine may want to be told of a pass, beside not at all
TRIALS = 200  # random games of Othello in which a pass is looked for


class Gtp(Dialect):
    """The Go Text Protocol, version 2."""

    def start(self, variant: str) -> None:
        self.sent: list[tuple[int, str]] = []  # colours and vertices on the engine's board, in order
        known = self.ask("list_commands", HELLO).split()
        missing = {"clear_board", "play", "genmove"}.difference(known)
        if missing:
            raise BadInput(f"the engine doesn't know the commands {', '.join(sorted(missing))} of GTP")
        if variant:
            self.agree(f"set_game {variant}")
        if "boardsize" in known:
            rows, columns = (1 + max(each) for each in zip(*self.cells, strict=True))
            self.agree(f"boardsize {columns}{f' {rows}' if rows != columns else ''}")
        self.known = known
        # Forms of `time_left`: by the protocol, and that of Hex engines, which is about the rest of the game.
        self.forms = ["{colour} {seconds} {moves}", "{colour} {seconds}"] if "time_left" in known else []
        self.limits = [each for each in known if re.fullmatch(r"param_\w+", each) and self.has_limit(each)]
        self.told_time = False  # whether it has understood any of that
        if self.limits:
            self.forms = []
        self.passes: str | None = PASS
        if self.game.name == "othello":
            self.learn_pass()

    def has_limit(self, command: str) -> bool:
        """Whether a command of the engine's own sets the seconds per move, such as MoHex's `param_mohex`."""
        with contextlib.suppress(Refused):
            return bool(re.search(r"\bmax_time\b", self.ask(command)))
        return False

    def learn_pass(self) -> None:
        """Find out how the engine wants to be told of a pass, in the first moves of a game that has one."""
        moves = moves_with_pass(self.game)
        self.ask("clear_board", START)
        for colour, vertex in moves[:-2]:
            self.agree(f"play {COLOURS[colour]} {vertex}")
        (colour, _), (other, vertex) = moves[-2:]
        for self.passes in (*PASSES, None):
            try:
                self.tell(colour, PASS)
                self.ask(f"play {COLOURS[other]} {vertex}")
                return
            except Refused as refused:
                error = refused
        tried = ", ".join(f"'play {COLOURS[colour]} {word}'" for word in PASSES)
        raise BadInput(f"the engine understands a pass neither as {tried} nor without a command: it {error}")

    def tell(self, colour: int, vertex: str) -> None:
        """Tell the engine of a move."""
        if vertex != PASS or self.passes is not None:
            self.ask(f"play {COLOURS[colour]} {self.passes if vertex == PASS else vertex}")

    @property
    def cells(self) -> list[tuple[int, int]]:
        """Row and column of each cell."""
        if self.game.name == "hex":
            return [divmod(cell, self.game.size) for cell in range(self.game.size**2)]
        return list(self.game.board().places)

    def agree(self, command: str) -> None:
        """Send a command without which the engine can't play the game."""
        try:
            self.ask(command, START)
        except Lost as lost:
            raise BadInput(f"the engine {lost}") from None

    def new_game(self) -> None:
        self.ask("clear_board", START)
        self.sent, self.path = [], []
        for command in ("time_settings 0 {seconds} {moves}", *(f"{each} max_time {{limit:g}}" for each in self.limits)):
            if command.split()[0] in self.known:
                self.announce(command)

    def announce(self, command: str, seat: int = 0) -> bool:
        """Tell the time in one form; whether the engine took it. It loses nothing by not understanding it."""
        seconds, moves = self.time
        try:
            self.ask(command.format(colour=COLOURS[seat], seconds=seconds, moves=moves, limit=self.seconds))
        except Refused:
            return False
        self.told_time = True
        return True

    @property
    def time(self) -> tuple[int, int]:
        """Whole seconds, and the number of moves for them."""
        share = Fraction(self.seconds).limit_denominator(100 if self.seconds > 0.01 else 1000)
        return max(1, share.numerator), share.denominator

    def move(self, view: Any, seat: int) -> int:
        wanted = self.history(view) if self.game.name == "othello" else self.placed(view, seat)
        actions = legal_actions(self.game, view)
        if len(actions) == 1 and write_vertex(self.game, view, actions[0]) == PASS:  # it is told, and not asked
            self.path = [*self.path, actions[0]]
            return actions[0]
        if wanted[: len(self.sent)] != self.sent:
            self.ask("clear_board")
            self.sent = []
        for colour, vertex in wanted[len(self.sent) :]:
            try:
                self.tell(colour, vertex)
            except Refused as refused:
                if vertex == PASS:
                    raise BadInput(f"{self.name} {refused}: it took this form of a pass before the game") from None
                raise
        self.sent = wanted
        while self.forms and not self.announce(f"time_left {self.forms[0]}", seat):
            self.forms.pop(0)
        try:
            answer = self.ask(f"genmove {COLOURS[seat]}", self.allowed).lower()
        except Late as late:
            raise late if self.told_time else Lost(f"{late}: it has no command that limits its time") from None
        if answer == "resign":
            raise Lost("resigned")
        action = legal(answer, lambda: read_vertex(self.game, view, answer))
        self.sent = [*wanted, (seat, write_vertex(self.game, view, action))]
        self.path = [*self.path, action]
        return action

    def ask(self, command: str, seconds: float = QUICK) -> str:
        """The answer to a command; Refused where it is an error."""
        self.program.send(command)
        until = time.monotonic() + seconds
        line = ""
        while line[:1] not in ("=", "?"):
            line = self.hear(command, until, seconds, line)
        answer = [line]
        while answer[-1]:
            answer.append(self.program.receive(until, seconds))
        text = "\n".join([line.lstrip("=?0123456789").strip(), *answer[1:-1]]).strip()
        if line.startswith("?"):
            raise Refused(f"answered {command!r} with the error {text[:100]!r}")
        return text

    def placed(self, view: Any, seat: int) -> list[tuple[int, str]]:
        """All stones, in an order in which they can be placed; first those that the engine has."""
        names = vertices(self.game)
        stones = [(who, cell) for who in range(2) for cell in occupied(self.game, view, who)]
        known = [(who, names.index(vertex)) for who, vertex in self.sent if vertex in names]
        if len(known) != len(self.sent) or not set(known) <= set(stones):
            known = []
        found, rest = known, [stone for stone in stones if stone not in known]
        taken = {cell for _, cell in found}
        while rest:
            left = [sum(who == each for who, _ in rest) for each in range(2)]
            turn = seat if left[0] == left[1] else int(left[1] > left[0])
            open_ones = [stone for stone in rest if self.rests(stone[1], taken)]
            stone = next((stone for stone in open_ones if stone[0] == turn), open_ones[0])
            found.append(stone)
            rest.remove(stone)
            taken.add(stone[1])
        return [(who, names[cell]) for who, cell in found]

    def rests(self, cell: int, taken: set[int]) -> bool:
        """Whether a stone can be placed: in Connect Four it needs one below it."""
        below = cell - self.game.columns if self.game.name == "connect_four" else -1
        return below < 0 or below in taken

    def history(self, view: Any) -> list[tuple[int, str]]:
        """All moves of a game of Othello, whose positions don't tell them: those seen before, and up to two more."""
        start = positions(self.game)[0]
        actions = joined(self.game, start, self.path, view, 1)
        if actions is None:  # another move was made for the engine
            actions = joined(self.game, start, self.path[:-1], view, 2)
        if actions is None:
            raise Lost("can't be told a position of Othello without the moves that led to it")
        self.path = actions
        found = []
        for action in actions:
            found.append((int(start.to_move), write_vertex(self.game, start, action)))
            self.game.play(start, action)
        return found


def joined(game: Game, start: Any, path: list[int], view: Any, more: int) -> list[int] | None:
    """The path with up to `more` moves after it that lead to a view; None where there are none."""
    state = start.copy()
    for action in path:
        if game.turn(state) < 0 or action not in legal_actions(game, state):
            return None
        game.play(state, action)
    if equal_records(state, view):
        return path
    if not more or game.turn(state) < 0:
        return None
    ways = (joined(game, start, [*path, action], view, more - 1) for action in legal_actions(game, state))
    return next((way for way in ways if way is not None), None)


def moves_with_pass(game: Game) -> list[tuple[int, str]]:
    """Colours and vertices of a game of Othello up to the first move after a pass."""
    for seed in range(TRIALS):
        state, rng, moves = positions(game)[0], generators(seed, 1)[0], []
        while game.turn(state) >= 0:
            action = game.sample_action(state, rng)
            moves.append((int(game.turn(state)), write_vertex(game, state, action)))
            if len(moves) > 1 and moves[-2][1] == PASS:
                return moves
            game.play(state, action)
    raise BadInput(f"no pass was found in {TRIALS} random games")
