"""Kibitz as an engine that speaks the Go Text Protocol, version 2: Hex, Othello, Gomoku and Connect Four."""

import re
import time
from collections.abc import Callable

from ..core.names import BadInput
from ..games.engine_notation import read_vertex, write_vertex
from .engine_server import NAME, VERSION, Clock, EngineTable, Server

COLOURS = {"b": 0, "black": 0, "w": 1, "white": 1}
TITLES = {"connect_four": "Connect Four", "gomoku": "Gomoku", "hex": "Hex", "othello": "Othello"}
SOON = 0.001  # seconds that are left where there is no time any more


class GtpServer(Server):
    """Answers the commands of GTP."""

    def __init__(self, table: EngineTable) -> None:
        super().__init__(table)
        self.settings = (0.0, 0.0, 0)  # from time_settings: main time; seconds, and for how many moves, after it
        self.left: dict[int, Clock] = {}  # from time_left, by seat, for the next move
        self.spent = [0.0, 0.0]  # seconds by seat in this game
        self.commands: dict[str, Callable[[list[str]], str]] = {
            "protocol_version": lambda words: "2",
            "name": lambda words: NAME,
            "version": lambda words: VERSION,
            "known_command": lambda words: str(words[:1] != [] and words[0] in self.commands).lower(),
            "list_commands": lambda words: "\n".join(self.commands),
            "quit": self.quit,
            "list_games": lambda words: TITLES[self.table.game.name],
            "set_game": self.set_game,
            "boardsize": self.boardsize,
            "clear_board": self.clear_board,
            "komi": self.komi,
            "play": self.play,
            "genmove": self.genmove,
            "reg_genmove": lambda words: self.vertex(words)[1],
            "undo": self.undo,
            "time_settings": self.time_settings,
            "time_left": self.time_left,
            "final_score": self.final_score,
            "showboard": self.showboard,
        }

    def answer(self, line: str) -> str:
        words = line.partition("#")[0].split()
        number = words.pop(0) if words and re.fullmatch("[0-9]{1,20}", words[0]) else ""
        if not words:
            return ""
        try:
            command = self.commands.get(words[0].lower())
            if command is None:
                raise BadInput("unknown command")
            return f"={number} {command(words[1:])}".rstrip() + "\n\n"
        except BadInput as error:
            return f"?{number} {error}\n\n"

    # ---------------------------------------------------------------- commands

    def quit(self, words: list[str]) -> str:
        self.ended = True
        return ""

    def set_game(self, words: list[str]) -> str:
        title = TITLES[self.table.game.name]
        if "".join(words).replace("_", "").lower() != title.replace(" ", "").lower():
            raise BadInput(f"only {title} is played here")
        return ""

    def boardsize(self, words: list[str]) -> str:
        sizes = [int(word) for word in words if word.isdecimal() and len(word) < 4]
        if len(sizes) != len(words) or len(sizes) not in (1, 2):
            raise BadInput("boardsize should be one or two numbers")
        try:
            if self.table.game.name == "connect_four":
                columns, rows = sizes[0], (sizes[1] if len(sizes) == 2 else self.table.game.rows)
                self.table.resize(rows=rows, columns=columns)
            elif len(set(sizes)) == 2:
                raise BadInput("the board is square")
            else:
                self.table.resize(size=sizes[0])
        except BadInput as error:
            raise BadInput(f"unacceptable size: {error}") from None
        self.table.get_ready()
        return ""

    def clear_board(self, words: list[str]) -> str:
        self.table.clear()
        self.table.get_ready()
        self.left, self.spent = {}, [0.0, 0.0]
        return ""

    def komi(self, words: list[str]) -> str:
        number(words, 0)
        return ""

    def play(self, words: list[str]) -> str:
        if len(words) < 2:
            raise BadInput("play should have a colour and a vertex")
        self.table.get_ready()
        before = self.table.states[:]
        try:
            self.table.give_turn(colour(words))
            self.table.play(read_vertex(self.table.game, self.table.state, words[1]))
        except BadInput as error:
            self.table.states = before
            raise BadInput(f"illegal move: {error}") from None
        return ""

    def genmove(self, words: list[str]) -> str:
        action, text = self.vertex(words)
        self.table.play(action)
        return text

    def vertex(self, words: list[str]) -> tuple[int, str]:
        """The player's move of a colour."""
        seat, before = colour(words), self.table.states[:]
        self.table.get_ready()
        began = time.monotonic()
        try:
            self.table.give_turn(seat)
            action = self.table.think(self.clock(seat).per_move())
        except BadInput:
            self.table.states = before
            raise
        self.spent[seat] += time.monotonic() - began
        return action, write_vertex(self.table.game, self.table.state, action)

    def clock(self, seat: int) -> Clock:
        """The time for a seat's next move: as time_left said, else by time_settings and what was spent."""
        main, seconds, moves = self.settings
        if seat in self.left:
            return self.left.pop(seat)
        return Clock(main - self.spent[seat]) if main > self.spent[seat] else Clock(seconds, moves)

    def undo(self, words: list[str]) -> str:
        self.table.undo()
        return ""

    def time_settings(self, words: list[str]) -> str:
        main, seconds, moves = (number(words, i) for i in range(3))
        unlimited = seconds > 0 and moves == 0  # GTP's way to say so
        self.settings = (0.0, 0.0, 0) if unlimited else (main, max(seconds, SOON if main else 0), max(int(moves), 1))
        self.left, self.spent = {}, [0.0, 0.0]
        return ""

    def time_left(self, words: list[str]) -> str:
        self.left[colour(words)] = Clock(max(number(words, 1), SOON), int(number(words, 2)))
        return ""

    def final_score(self, words: list[str]) -> str:
        if not self.table.is_over:
            raise BadInput("the game isn't over")
        payoff = self.table.game.payoff(self.table.state, 0)
        return "B+" if payoff > 0 else "W+" if payoff < 0 else "0"

    def showboard(self, words: list[str]) -> str:
        text = self.table.game.show(self.table.state, 0)
        return "\n" + "\n".join(line for line in text.splitlines() if line.strip())


def colour(words: list[str]) -> int:
    """The seat of the colour that is the first word."""
    if not words or words[0].lower() not in COLOURS:
        raise BadInput(f"{(words or [''])[0][:40]!r} is no colour: b or w")
    return COLOURS[words[0].lower()]


def number(words: list[str], place: int) -> float:
    """The number at a place, from 0 to a million."""
    text = words[place] if place < len(words) else ""
    if not re.fullmatch(r"-?[0-9]{1,7}(\.[0-9]{1,9})?", text):
        raise BadInput(f"{text[:40]!r} is no number")
    return max(float(text), 0.0)
