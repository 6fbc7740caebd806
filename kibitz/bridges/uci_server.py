"""Kibitz as an engine that speaks UCI: Breakthrough, as the variant `breakthrough` of other engines.

A search runs in a thread of its own, so that `isready` is answered and `stop` is obeyed while it goes on. UCI has no
errors: a position that can't be read is answered by `info string`, and the one before it stays.
"""

import contextvars
import math
import threading
import time
from typing import Any

import numpy as np

from ..core.names import BadInput
from ..games import OVER
from ..games.engine_notation import from_fen, read_uci, variant_of, write_uci
from .engine_server import FOREVER, NAME, VERSION, Clock, EngineTable, Server, Thinking, depth_of

NO_MOVE = "bestmove (none)"
SOON = 0.001  # seconds that are left where there is no time any more
AT_ONCE = (
    "uci",
    "isready",
    "stop",
    "ponderhit",
    "quit",
    "debug",
    "register",
    "setoption",
)  # while a search goes on too
AFTER_IT = ("ucinewgame", "position", "go")  # wait for the end of a search
LEFT_OUT = ("searchmoves", "mate")


class UciServer(Server):
    """Answers the commands of UCI."""

    def __init__(self, table: EngineTable) -> None:
        super().__init__(table)
        self.search: Thinking | None = None  # that goes on
        self.thread: threading.Thread | None = None
        self.endless = False  # whether only `stop` ends the search
        self.waiting: list[str] = []  # commands that came during the search

    def answer(self, line: str) -> str:
        words = line.split()
        while words and words[0] not in AT_ONCE + AFTER_IT:  # the specification: skip what isn't known
            words.pop(0)
        if not words:
            return ""
        if self.search is not None and words[0] in AFTER_IT:
            self.waiting.append(line)
            if self.endless:
                self.search.stop()
            return ""
        try:
            found = self.said(words[0], words[1:])
        except BadInput as error:
            found = [f"info string {error}"] + [NO_MOVE] * (words[0] == "go")
        return "".join(f"{each}\n" for each in found)

    def finish(self) -> None:
        """Wait for the end of the search and of those that follow it; one that is endless is stopped."""
        while True:
            with self.lock:
                if self.search is None:
                    return
                if self.endless or self.ended:
                    self.search.stop()
                thread = self.thread
            assert thread is not None
            thread.join()

    def said(self, command: str, words: list[str]) -> list[str]:
        """The answers to a command."""
        if command == "uci":
            name = variant_of(self.table.game)
            option = f"option name UCI_Variant type combo default {name} var {name}"
            return [f"id name {NAME} {VERSION}", "id author the authors of Kibitz", option, "uciok"]
        if command == "isready":
            if self.search is None:
                self.table.get_ready()
            return ["readyok"]
        if command == "ucinewgame":
            self.table.clear()
        elif command == "position":
            self.position(words)
        elif command == "setoption":
            self.option(words)
        elif command == "go":
            return self.go(words)
        elif command in ("stop", "ponderhit", "quit"):
            if self.search is not None:
                self.search.stop()
            self.ended = command == "quit"
            self.waiting = [] if self.ended else self.waiting
        return []

    def option(self, words: list[str]) -> None:
        name, variant = " ".join(after(words, "name")[:1]), " ".join(after(words, "value"))
        if name.lower() == "uci_variant" and variant != variant_of(self.table.game):
            raise BadInput(f"only {variant_of(self.table.game)} is played here, not {variant[:40]!r}")

    def position(self, words: list[str]) -> None:
        """Set up a position, and play moves from there; the old one stays where something is wrong."""
        moves, before = after(words, "moves"), self.table.states
        while words and words[0] not in ("startpos", "fen"):
            words = words[1:]
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
        """Begin a search in its thread."""
        if self.table.is_over:
            return [NO_MOVE]
        self.table.get_ready()
        seat = int(self.table.game.turn(self.table.state))
        own, more = ("wtime", "winc") if seat == 0 else ("btime", "binc")
        clock, nodes, depth = Clock(), number(words, "nodes"), number(words, "depth")
        if "movetime" in words:
            clock = Clock(max(number(words, "movetime") / 1000, SOON), 1)
        elif own in words:
            left = number(words, "movestogo")
            clock = Clock(max(number(words, own) / 1000, SOON), left + bool(left), number(words, more) / 1000)
        self.endless = "infinite" in words or "ponder" in words
        seconds = FOREVER if self.endless else clock.per_move() or (FOREVER if depth else 0.0)
        self.search = Thinking(self.tell, depth, seconds or FOREVER)
        target = contextvars.copy_context().run
        self.thread = threading.Thread(target=target, args=(self.think, self.search, seconds, nodes), daemon=True)
        self.thread.start()
        ignored = [word for word in LEFT_OUT if word in words]
        return [f"info string {' and '.join(ignored)} can't be kept to: all moves are searched"] * bool(ignored)

    def think(self, search: Thinking, seconds: float, nodes: int) -> None:
        """Search, and tell the move; then go on with the commands that came meanwhile."""
        told: list[str] = []
        action = None
        try:
            action = self.table.think(seconds, nodes, search)
            search.found = self.table.made.advice
        except BadInput as error:
            told = [f"info string {error}"]
            action = None if search.found is None else search.found.best  # what was best until then
        finally:
            if self.endless:
                search.end.wait()  # the specification: no move before `stop`
            with self.lock:
                game, state = self.table.game, self.table.state
                told += [self.info(search)] if action is not None else []
                told.append(NO_MOVE if action is None else f"bestmove {write_uci(game, state, action)}")
                self.search, waiting, self.waiting = None, self.waiting, []
                self.say(*told)
                for line in waiting:
                    self.say(self.answer(line).removesuffix("\n"))

    def tell(self, advice: Any) -> None:
        """Tell what a search has found so far."""
        with self.lock:
            if self.search is not None:
                self.say(self.info(self.search))

    def say(self, *lines: str) -> None:
        """Write lines, those that aren't empty. Where nobody reads them any more, the search ends."""
        try:
            self.write("".join(f"{line}\n" for line in lines if line))
        except OSError:
            self.ended = True
            if self.search is not None:
                self.search.stop()

    def info(self, search: Thinking) -> str:
        """The line on the advice that was found last; empty where nothing was searched for it."""
        advice, game = search.found, self.table.game
        if advice is None or not advice.simulations:
            return ""
        spent = max(time.monotonic() - search.began, 1e-3)
        state, moves = np.array([self.table.state], game.state)[0], []
        for action in advice.line or (advice.best,):
            if int(game.turn(state)) == OVER:
                break
            moves.append(write_uci(game, state, action))
            game.play(state, action)
        score = score_of(advice.root_value, advice.exact and int(game.turn(state)) == OVER, len(moves))
        found = [f"depth {max(depth_of(advice), 1)}", score, f"nodes {advice.simulations}"]
        found += [f"nps {round(advice.simulations / spent)}", f"time {round(1000 * spent)}", f"pv {' '.join(moves)}"]
        return " ".join(["info", *filter(None, found)])


def score_of(value: float, is_mate: bool, plies: int) -> str:
    """An expected payoff from -1 to 1 as UCI's score: centipawns by Leela's formula, or moves to the end."""
    if math.isnan(value):
        return ""
    if is_mate and abs(value) > 1 - 1e-6:
        return f"score mate {math.copysign((plies + 1) // 2, value):.0f}"
    return f"score cp {round(90 * math.tan(1.5637541897 * min(max(value, -1.0), 1.0)))}"


def after(words: list[str], word: str) -> list[str]:
    """The words after one; none where it isn't there."""
    return words[words.index(word) + 1 :] if word in words else []


def number(words: list[str], word: str) -> int:
    """The number after a word; 0 where there is none."""
    text = (after(words, word) or [""])[0]
    return int(text) if text.isdecimal() and text.isascii() and len(text) < 12 else 0
