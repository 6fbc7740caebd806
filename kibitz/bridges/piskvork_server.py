"""Kibitz as a brain of Gomocup's manager (piskvork): Gomoku."""

import contextlib

from ..core.names import BadInput
from ..games import legal_actions
from ..games.engine_notation import occupied, read_xy, write_xy
from .engine_server import NAME, VERSION, Clock, EngineTable, Server

MAX_STONES = 1000  # lines of BOARD


class PiskvorkServer(Server):
    """Answers the commands of Gomocup's protocol."""

    def __init__(self, table: EngineTable) -> None:
        super().__init__(table)
        self.turn_seconds, self.left_seconds = 0.0, 0.0  # of INFO; 0: no limit
        self.started = False
        self.board: list[str] | None = None  # lines of BOARD so far
        self.moves = True  # whether a move follows them

    def answer(self, line: str) -> str:
        text = line.strip()
        if not text:
            return ""
        try:
            said = self.collect(text) if self.board is not None else self.said(*text.split(" ", 1))
        except BadInput as error:
            said = f"ERROR {error}"
        return f"{said}\n" if said else ""

    def collect(self, text: str) -> str:
        """Take a line of BOARD; at its end, move."""
        assert self.board is not None
        if text.upper() != "DONE":
            self.board = [*self.board, text][: MAX_STONES + 1]
            return ""
        lines, self.board = self.board, None
        self.set_up(lines)
        return self.move() if self.moves else ""

    def said(self, command: str, rest: str = "") -> str:
        game = self.table.game
        match command.upper():
            case "START":
                self.start(rest)
                return "OK"
            case "RESTART":
                self.need_start()
                self.table.clear()
                return "OK"
            case "BEGIN":
                self.need_start()
                return self.move()
            case "TURN":
                self.need_start()
                self.place(read_xy(game, rest))
                return self.move()
            case "BOARD" | "YXBOARD":
                self.need_start()
                self.board, self.moves = [], command.upper() == "BOARD"
                return ""
            case "TAKEBACK":
                self.need_start()
                self.take_back(rest)
                return "OK"
            case "INFO":
                self.info(rest.split())
                return ""
            case "ABOUT":
                return f'name="{NAME}", version="{VERSION}"'
            case "END":
                self.ended = True
                return ""
            case _:
                return "UNKNOWN command"

    def need_start(self) -> None:
        if not self.started:
            raise BadInput("START comes first")

    def start(self, rest: str) -> None:
        if not rest.isdecimal() or len(rest) > 3:
            raise BadInput(f"{rest[:40]!r} is no size of a board")
        rule = self.table.game.overlines
        with contextlib.suppress(BadInput):  # the other rule may follow, and isn't answered, so its time is the move's
            self.table.resize(size=int(rest), overlines=not rule)
            self.table.get_ready()
        self.table.resize(size=int(rest), overlines=rule)
        self.table.get_ready()
        self.started = True

    def take_back(self, rest: str) -> None:
        """Remove the stone at a cell; its colour is to move."""
        game, state = self.table.game, self.table.state
        cell = read_xy(game, rest)
        stones = [(seat, each) for seat in range(2) for each in occupied(game, state, seat)]
        owner = next((seat for seat, each in stones if each == cell), None)
        if owner is None:
            raise BadInput(f"there is no stone at {rest}")
        if len(self.table.states) > 1 and cell in legal_actions(game, self.table.states[-2]):
            self.table.undo()  # it was the last
        else:
            self.build([stone for stone in stones if stone[1] != cell], owner)

    def info(self, words: list[str]) -> None:
        """Remember times; what else the manager says is ignored, as the protocol allows."""
        if len(words) == 2 and words[1].isdecimal() and len(words[1]) < 12:
            seconds = int(words[1]) / 1000
            if words[0] == "rule" and (words[1] == "0") != self.table.game.overlines:
                self.table.resize(overlines=words[1] == "0")
            elif words[0] == "timeout_turn":
                self.turn_seconds = max(seconds, 0.001)  # 0 means as fast as possible
            elif words[0] == "time_left":
                self.left_seconds = max(seconds, 0.001)

    def set_up(self, lines: list[str]) -> None:
        """The position of BOARD: own stones are 1, the other's 2. Kibitz has the seat that is to move."""
        stones: list[tuple[int, int]] = []
        for line in lines:
            place, _, who = line.rpartition(",")
            if who.strip() not in ("1", "2"):
                raise BadInput(f"{line[:40]!r} should be column,row,1 or 2")
            stones.append((read_xy(self.table.game, place), int(who)))
        own = sum(who == 1 for _, who in stones)
        seat = 0 if 2 * own == len(stones) else 1
        self.build([(seat if who == 1 else 1 - seat, cell) for cell, who in stones], seat)

    def build(self, stones: list[tuple[int, int]], seat: int) -> None:
        """Set up stones, each a seat and a cell, with a seat to move; the old position stays where they don't fit."""
        before = self.table.states
        self.table.clear()
        try:
            for whose, cell in stones:
                self.table.give_turn(whose)
                self.place(cell)
            self.table.give_turn(seat)
        except BadInput:
            self.table.states = before
            raise

    def place(self, cell: int) -> None:
        """Play a stone; BadInput where there is one already."""
        if self.table.is_over or cell not in legal_actions(self.table.game, self.table.state):
            raise BadInput(f"{write_xy(self.table.game, cell)} is no legal move")
        self.table.play(cell)

    def move(self) -> str:
        limits = [Clock(self.turn_seconds, 1).per_move(), Clock(self.left_seconds).per_move()]
        action = self.table.think(min(filter(None, limits), default=0.0))
        self.table.play(action)
        return write_xy(self.table.game, action)
