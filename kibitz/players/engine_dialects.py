"""The protocols in which Kibitz asks an engine for its moves: UCI, GTP, and that of Gomocup (piskvork).

Each is told the position at every move. What the engine knows already isn't repeated, so that it can use its tree
again; where the position is another one, as a move was taken back, it is set up anew.
"""

import time
from fractions import Fraction
from itertools import zip_longest
from typing import Any

from ..core.names import BadInput
from ..core.programs import Lost, Program
from ..games import Game, legal_actions, positions
from ..games.engine_notation import (
    COLOURS,
    occupied,
    read_uci,
    read_vertex,
    read_xy,
    to_fen,
    variant_of,
    vertices,
    write_vertex,
    write_xy,
)
from .search import equal_records

START = 120.0  # seconds in which an engine gets ready; Kibitz's own may compile
QUICK = 10.0  # seconds for what needs no thinking


class Dialect:
    """An engine that was started, and how it is talked to."""

    farewell = "quit"

    def __init__(self, command: list[str], game: Game, variant: str, seconds: float, overtime: float) -> None:
        """
        Args:
            command: The engine and its arguments.
            game: What it plays.
            variant: What the engine calls it; empty: as usual.
            seconds: Per move.
            overtime: Seconds beyond those after which it is given up.

        Raises:
            BadInput: It can't play the game.
            Lost: It doesn't speak the dialect.
        """
        self.game: Any = game
        self.seconds, self.overtime = seconds, overtime
        self.path: list[int] = []  # the moves of a game of Othello up to the engine's last, or its random opening
        self.program = Program(command, self.farewell)
        try:
            self.start(variant)
        except (BadInput, Lost):
            self.program.close()
            raise

    def start(self, variant: str) -> None:
        """Get the engine ready."""
        raise NotImplementedError

    def new_game(self) -> None:
        """Begin a new game."""
        raise NotImplementedError

    def move(self, view: Any, seat: int) -> int:
        """The engine's move: a legal action.

        Raises:
            Lost: It has none; the message says why.
        """
        raise NotImplementedError

    @property
    def allowed(self) -> float:
        return self.seconds + self.overtime


class Uci(Dialect):
    """The Universal Chess Interface. A position is sent as FEN."""

    def start(self, variant: str) -> None:
        name = variant or variant_of(self.game)
        self.program.send("uci")
        lines = self.until("uciok", START)
        options = [line for line in lines if line.startswith("option name UCI_Variant ")]
        if not options:
            raise BadInput(f"the engine has no option UCI_Variant, so it doesn't play {name}")
        known = options[0].split(" var ")[1:]
        if name not in [each.strip() for each in known]:
            raise BadInput(f"the engine doesn't know the variant {name}: it knows {', '.join(known)}")
        self.program.send(f"setoption name UCI_Variant value {name}")

    def new_game(self) -> None:
        self.program.send("ucinewgame", "isready")
        self.until("readyok", START)

    def move(self, view: Any, seat: int) -> int:
        milliseconds = max(1, round(1000 * self.seconds))
        self.program.send(f"position fen {to_fen(self.game, view)}", f"go movetime {milliseconds}")
        words = self.until("bestmove", self.allowed)[-1].split()
        answer = words[1] if len(words) > 1 else ""
        if answer in ("", "0000", "(none)", "resign"):
            raise Lost("gave no move")
        return legal(answer, lambda: read_uci(self.game, view, answer))

    def until(self, word: str, seconds: float) -> list[str]:
        """The lines up to one that begins with a word."""
        until, found = time.monotonic() + seconds, [""]
        while found[-1].split()[:1] != [word]:
            line = self.program.receive(until, seconds)
            if not line.startswith("info"):
                found.append(line)
        return found


class Gtp(Dialect):
    """The Go Text Protocol, version 2."""

    def start(self, variant: str) -> None:
        self.sent: list[tuple[int, str]] = []  # colours and vertices on the engine's board, in order
        known = self.ask("list_commands", START).split()
        missing = {"clear_board", "play", "genmove"}.difference(known)
        if missing:
            raise BadInput(f"the engine doesn't know the commands {', '.join(sorted(missing))} of GTP")
        if variant:
            self.agree(f"set_game {variant}")
        if "boardsize" in known:
            rows, columns = (1 + max(each) for each in zip(*self.cells, strict=True))
            self.agree(f"boardsize {columns}{f' {rows}' if rows != columns else ''}")
        self.known = known

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
        self.ask("clear_board")
        self.sent, self.path = [], []
        if "time_settings" in self.known:
            self.ask(f"time_settings 0 {self.time[0]} {self.time[1]}")

    @property
    def time(self) -> tuple[int, int]:
        """Whole seconds, and the number of moves for them."""
        share = Fraction(self.seconds).limit_denominator(100 if self.seconds > 0.01 else 1000)
        return max(1, share.numerator), share.denominator

    def move(self, view: Any, seat: int) -> int:
        wanted = self.history(view) if self.game.name == "othello" else self.placed(view, seat)
        if wanted[: len(self.sent)] != self.sent:
            self.ask("clear_board")
            self.sent = []
        for colour, vertex in wanted[len(self.sent) :]:
            self.ask(f"play {COLOURS[colour]} {vertex}")
        self.sent = wanted
        if "time_left" in self.known:
            self.ask(f"time_left {COLOURS[seat]} {self.time[0]} {self.time[1]}")
        answer = self.ask(f"genmove {COLOURS[seat]}", self.allowed).lower()
        if answer == "resign":
            raise Lost("resigned")
        action = legal(answer, lambda: read_vertex(self.game, view, answer))
        self.sent = [*wanted, (seat, write_vertex(self.game, view, action))]
        self.path = [*self.path, action]
        return action

    def ask(self, command: str, seconds: float = QUICK) -> str:
        """The answer to a command; Lost where it fails."""
        self.program.send(command)
        until = time.monotonic() + seconds
        line = ""
        while line[:1] not in ("=", "?"):
            line = self.program.receive(until, seconds)
        answer = [line]
        while answer[-1]:
            answer.append(self.program.receive(until, seconds))
        text = "\n".join([line.lstrip("=?0123456789").strip(), *answer[1:-1]]).strip()
        if line.startswith("?"):
            raise Lost(f"answered {command!r} with the error {text[:100]!r}")
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


class Piskvork(Dialect):
    """The protocol of Gomocup's brains."""

    farewell = "END"

    def start(self, variant: str) -> None:
        game = self.game
        if variant:
            raise BadInput(f"variant={variant}: the protocol of Gomocup has no variants")
        if game.connect != 5:
            raise BadInput(f"the protocol of Gomocup is for rows of five, not connect={game.connect}")
        self.known: set[tuple[int, int]] = set()  # seats and cells on the engine's board
        if self.ask(f"START {game.size}", START).upper() != "OK":
            raise BadInput(f"the engine refuses a board of size {game.size}")
        milliseconds = max(1, round(1000 * self.seconds))
        self.program.send(f"INFO timeout_turn {milliseconds}", "INFO timeout_match 0", "INFO game_type 1")
        self.program.send(f"INFO rule {0 if game.overlines else 1}")

    def new_game(self) -> None:
        if self.ask("RESTART").upper() != "OK" and self.ask(f"START {self.game.size}").upper() != "OK":
            raise Lost("refuses a new game")
        self.known = set()

    def move(self, view: Any, seat: int) -> int:
        stones = {(who, cell) for who in range(2) for cell in occupied(self.game, view, who)}
        new = sorted(stones - self.known) if self.known <= stones else []
        if [who for who, _ in new] == [1 - seat]:
            answer = self.ask(f"TURN {write_xy(self.game, new[0][1])}", self.allowed)
        else:
            if self.known:
                self.new_game()
            answer = self.ask(self.board(stones, seat) if stones else "BEGIN", self.allowed)
        cell = legal(answer, lambda: read_xy(self.game, answer))
        if cell not in legal_actions(self.game, view):
            raise Lost(f"answered {answer[:40]!r}, where there is a stone already")
        self.known = {*stones, (seat, cell)}
        return cell

    def board(self, stones: set[tuple[int, int]], seat: int) -> str:
        """The command that sets up a position: own stones are 1, the other's 2, by turns."""
        own, others = ([cell for who, cell in sorted(stones) if who == each] for each in (seat, 1 - seat))
        first, second = (others, own) if len(others) > len(own) else (own, others)
        by_turns = [cell for pair in zip_longest(first, second) for cell in pair if cell is not None]
        lines = [f"{write_xy(self.game, cell)},{1 if cell in own else 2}" for cell in by_turns]
        return "\n".join(["BOARD", *lines, "DONE"])

    def ask(self, command: str, seconds: float = QUICK) -> str:
        """The answer to a command, without the engine's messages; Lost where it reports an error."""
        self.program.send(command)
        until = time.monotonic() + seconds
        while True:
            line = self.program.receive(until, seconds)
            word = line.split(" ")[0].upper()
            if word == "ERROR":
                raise Lost(f"answered {command.splitlines()[0]!r} with {line[:100]!r}")
            if line and word not in ("MESSAGE", "DEBUG", "SUGGEST"):
                return line


def legal(answer: str, read: Any) -> int:
    """The action that an answer names; Lost where it is none."""
    try:
        return int(read())
    except BadInput:
        raise Lost(f"answered {answer[:40]!r}, which is no legal move") from None


SPEAKERS: dict[str, type[Dialect]] = {"uci": Uci, "gtp": Gtp, "piskvork": Piskvork}
