"""The protocols in which Kibitz asks an engine for its moves: UCI and that of Gomocup (piskvork); GTP is beside it.

Each is told the position at every move. What the engine knows already isn't repeated, so that it can use its tree
again; where the position is another one, as a move was taken back, it is set up anew.
"""

import contextlib
import shlex
import time
from itertools import zip_longest
from typing import Any

from ..core import progress
from ..core.names import BadInput
from ..core.programs import Late, Lost, Program
from ..games import Game, legal_actions
from ..games.engine_notation import occupied, read_uci, read_xy, to_fen, variant_of, write_xy

HELLO = 60.0  # seconds for the first answer
START = 120.0  # seconds in which an engine gets ready; Kibitz's own may compile
QUICK = 10.0  # seconds for what needs no thinking
NOTICE = 2.0  # seconds of waiting for an engine that gets ready after which that is said


class Refused(Lost):
    """It answered a command with an error."""


class Dialect:
    """An engine that was started, and how it is talked to."""

    farewell = "quit"
    getting_ready = True  # where it doesn't think about a move

    def __init__(
        self, command: list[str], game: Game, variant: str, seconds: float, overtime: float, folder: str = ""
    ) -> None:
        """
        Args:
            command: The engine and its arguments.
            game: What it plays.
            variant: What the engine calls it; empty: as usual.
            seconds: Per move.
            overtime: Seconds beyond those after which it is given up.
            folder: Where it runs; empty: in the current folder.

        Raises:
            BadInput: It can't play the game.
            Lost: It doesn't speak the dialect.
        """
        self.game: Any = game
        self.seconds, self.overtime = seconds, overtime
        self.path: list[int] = []  # the moves of a game of Othello up to the engine's last, or its random opening
        self.name = shlex.join(command)
        self.program = Program(command, self.farewell, folder)
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

    def hear(self, asked: str, until: float, seconds: float, said: str = "") -> str:
        """A line that may be the answer to a command.

        Args:
            asked: The command.
            until: The end of the `seconds` for it (`time.monotonic`).
            said: What it said before, which was no answer.

        Raises:
            Lost: There is none in time, or it is the command itself, as of a program that repeats its input.
        """
        notice = until - seconds + NOTICE
        try:
            if progress.on_wait and self.getting_ready and time.monotonic() < notice < until:
                try:
                    line = self.program.receive(notice, seconds)
                except Late:
                    progress.on_wait(f"waiting for {self.name} to answer {asked!r}: at most {seconds:g} s")
                    line = self.program.receive(until, seconds)
            else:
                line = self.program.receive(until, seconds)
        except Late as late:
            heard = f", it said {said[:60]!r}" if said else ""
            raise Late(f"{late} (asked {asked.splitlines()[0]!r}{heard})") from None
        if line and line in asked.splitlines():
            raise Lost(f"answered {asked.splitlines()[0]!r} with the same words")
        return line


class Uci(Dialect):
    """The Universal Chess Interface. A position is sent as FEN."""

    def start(self, variant: str) -> None:
        name = variant or variant_of(self.game)
        lines = self.ask("uci", "uciok", HELLO)
        options = [line for line in lines if line.startswith("option name UCI_Variant ")]
        if not options:
            raise BadInput(f"the engine has no option UCI_Variant, so it doesn't play {name}")
        known = options[0].split(" var ")[1:]
        if name not in [each.strip() for each in known]:
            raise BadInput(f"the engine doesn't know the variant {name}: it knows {', '.join(known)}")
        self.program.send(f"setoption name UCI_Variant value {name}")

    def new_game(self) -> None:
        self.program.send("ucinewgame")
        self.ask("isready", "readyok", START)

    def move(self, view: Any, seat: int) -> int:
        milliseconds = max(1, round(1000 * self.seconds))
        self.program.send(f"position fen {to_fen(self.game, view)}")
        words = self.ask(f"go movetime {milliseconds}", "bestmove", self.allowed)[-1].split()
        answer = words[1] if len(words) > 1 else ""
        if answer in ("", "0000", "(none)", "resign"):
            raise Lost("gave no move")
        return legal(answer, lambda: read_uci(self.game, view, answer))

    def ask(self, command: str, word: str, seconds: float) -> list[str]:
        """The lines after a command, up to one that begins with a word."""
        self.program.send(command)
        until, found = time.monotonic() + seconds, [""]
        while found[-1].split()[:1] != [word]:
            line = self.hear(command, until, seconds, found[-1])
            if not line.startswith("info"):
                found.append(line)
        return found


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
        with contextlib.suppress(Refused):  # it speaks
            self.ask("ABOUT", HELLO)  # answered at once, where START may take long
        if not self.accepts(f"START {game.size}", START):
            raise BadInput(f"the engine refuses a board of size {game.size}")
        milliseconds = max(1, round(1000 * self.seconds))
        self.program.send(f"INFO timeout_turn {milliseconds}", "INFO timeout_match 0", "INFO game_type 1")
        self.program.send(f"INFO rule {0 if game.overlines else 1}")

    def new_game(self) -> None:
        if not self.accepts("RESTART", QUICK) and not self.accepts(f"START {self.game.size}", START):
            raise Lost("refuses a new game")
        self.known = set()

    def accepts(self, command: str, seconds: float) -> bool:
        """Whether the answer to a command is OK."""
        try:
            return self.ask(command, seconds).upper() == "OK"
        except Refused:
            return False

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
        until, line = time.monotonic() + seconds, ""
        while True:
            line = self.hear(command, until, seconds, line)
            word = line.split(" ")[0].upper()
            if word in ("ERROR", "UNKNOWN"):
                raise Refused(f"answered {command.splitlines()[0]!r} with {line[:100]!r}")
            if line and word not in ("MESSAGE", "DEBUG", "SUGGEST"):
                return line


def legal(answer: str, read: Any) -> int:
    """The action that an answer names; Lost where it is none."""
    try:
        return int(read())
    except BadInput:
        raise Lost(f"answered {answer[:40]!r}, which is no legal move") from None
