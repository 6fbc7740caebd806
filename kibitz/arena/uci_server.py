"""Kibitz as an engine that speaks UCI: Breakthrough, as the variant `breakthrough` of other engines.

UCI has no errors: a position that can't be read is answered by `info string`, and the one before it stays.
"""

from ..core.names import BadInput
from ..games.engine_notation import from_fen, read_uci, variant_of, write_uci
from .engine_server import NAME, VERSION, Clock, EngineTable, Server

NO_MOVE = "bestmove (none)"
SOON = 0.001  # seconds that are left where there is no time any more


class UciServer(Server):
    """Answers the commands of UCI. A search isn't interrupted: `stop` is read when its time is over."""

    def __init__(self, table: EngineTable) -> None:
        super().__init__(table)
        self.held = ""  # a move that is told only at `stop`

    def answer(self, line: str) -> str:
        words = line.split()
        if not words:
            return ""
        command, rest = words[0], words[1:]
        found = []
        if self.held and command not in ("isready", "setoption", "debug"):
            found, self.held = [self.held], ""
        try:
            found += self.said(command, rest)
        except BadInput as error:
            found.append(f"info string {error}")
            if command == "go":
                found.append(NO_MOVE)
        return "".join(f"{each}\n" for each in found)

    def said(self, command: str, words: list[str]) -> list[str]:
        """The answers to a command; none to one that isn't known, as UCI wants it."""
        if command == "uci":
            name = variant_of(self.table.game)
            option = f"option name UCI_Variant type combo default {name} var {name}"
            return [f"id name {NAME} {VERSION}", "id author the authors of Kibitz", option, "uciok"]
        if command == "isready":
            return ["readyok"]
        if command == "ucinewgame":
            self.table.clear()
        elif command == "position":
            self.position(words)
        elif command == "setoption":
            self.option(words)
        elif command == "go":
            return self.go(words)
        elif command == "quit":
            self.ended = True
        return []

    def option(self, words: list[str]) -> None:
        name, variant = after(words, "name")[:1], " ".join(after(words, "value"))
        if name == ["UCI_Variant"] and variant != variant_of(self.table.game):
            raise BadInput(f"only {variant_of(self.table.game)} is played here, not {variant[:40]!r}")

    def position(self, words: list[str]) -> None:
        """Set up a position, and play moves from there; the old one stays where something is wrong."""
        moves, before = after(words, "moves"), self.table.states
        state = None
        if words[:1] == ["fen"]:
            state = from_fen(self.table.game, " ".join(words[1 : len(words) - len(moves)]).removesuffix("moves"))
        elif words[:1] != ["startpos"]:
            raise BadInput("position should be startpos or fen")
        begun = self.table.begun
        self.table.clear(state)
        try:
            for move in moves:
                if self.table.is_over:
                    raise BadInput(f"{move[:40]!r} comes after the end of the game")
                self.table.play(read_uci(self.table.game, self.table.state, move))
        except BadInput:
            self.table.states = before
            raise
        finally:
            self.table.begun = begun

    def go(self, words: list[str]) -> list[str]:
        if self.table.is_over:
            return [NO_MOVE]
        seat = int(self.table.game.turn(self.table.state))
        own, more = ("wtime", "winc") if seat == 0 else ("btime", "binc")
        clock = Clock()
        if "movetime" in words:
            clock = Clock(max(seconds(words, "movetime"), SOON), 1)
        elif own in words:
            left = round(1000 * seconds(words, "movestogo"))
            clock = Clock(max(seconds(words, own), SOON), left + bool(left), seconds(words, more))
        move = write_uci(self.table.game, self.table.state, self.table.think(clock.per_move()))
        if "infinite" in words or "ponder" in words:
            self.held = f"bestmove {move}"
            return []
        return [f"bestmove {move}"]


def after(words: list[str], word: str) -> list[str]:
    """The words after one; none where it isn't there."""
    return words[words.index(word) + 1 :] if word in words else []


def seconds(words: list[str], word: str) -> float:
    """The milliseconds after a word, in seconds; 0 where there are none."""
    text = (after(words, word) or [""])[0]
    return int(text) / 1000 if text.isdecimal() and text.isascii() and len(text) < 12 else 0.0
