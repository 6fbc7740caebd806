"""Hostile lines for the three protocols, at both ends: as commands to Kibitz, and as answers of an engine.

KIBITZ_FUZZ=1000 tries that many of each.
"""

import os
import random
import subprocess
import threading
import time

import pytest

from kibitz.bridges import engine_dialects
from kibitz.bridges.engine import Engine
from kibitz.bridges.engine_server import EngineTable, lines_of, serve
from kibitz.bridges.gtp_server import GtpServer
from kibitz.bridges.piskvork_server import PiskvorkServer
from kibitz.bridges.uci_server import UciServer
from kibitz.core.names import BadInput
from kibitz.core.programs import Late, Lost
from kibitz.games import legal_actions, load, positions

from .hostile import NUMBERS, TEXTS, budget

WORDS = {
    "gtp": """play genmove reg_genmove undo boardsize clear_board komi time_settings time_left final_score showboard
    known_command list_commands list_games set_game name version protocol_version b w white black green a1 b2 z9 pass
    PASS swap-pieces resign 1 2 3 -1 0 # = ?""",
    "uci": """uci isready ucinewgame position startpos fen moves go movetime wtime btime winc binc movestogo nodes depth
    infinite ponder searchmoves mate stop ponderhit setoption name value UCI_Variant debug on off register xyz a2a3 b1c2
    p3/4/3P/P3 pppp/4/4/PPPP 8/8 w b - 0 1 2 50 -5 info bestmove readyok""",
    "piskvork": """START RESTART BEGIN TURN BOARD YXBOARD DONE INFO ABOUT TAKEBACK STOP RECTSTART timeout_turn rule
    time_left game_type folder 0,0 1,1,1 2,2,2 0,0,3 5,5 -1,0 , ,, 5 6 99 0 1 3000 ERROR UNKNOWN MESSAGE""",
}
FINE = {  # lines that lead on, so that hostile ones meet more than an error
    "gtp": ("genmove b", "genmove w", "undo", "clear_board", "boardsize 3", "play b a1"),
    "uci": ("go", "go infinite", "go nodes 5", "go depth 2", "stop", "position startpos moves a2a3", "isready"),
    "piskvork": ("START 5", "DONE", "DONE", "BEGIN", "TURN 2,2", "BOARD", "RESTART", "TAKEBACK 2,2"),
}
QUIT = {"gtp": "quit", "uci": "quit", "piskvork": "END"}
SIGN = {"gtp": ("77 name", "=77 Kibitz"), "uci": ("isready", "readyok"), "piskvork": ("ABOUT", 'name="Kibitz"')}
PATIENCE = 300  # seconds for all lines, on a busy machine


def server_of(dialect):
    kind, game, player = {
        "gtp": (GtpServer, "hex:size=3", "uct:20"),
        "uci": (UciServer, "breakthrough:rows=4,columns=4", "uct:20"),
        "piskvork": (PiskvorkServer, "gomoku:size=5", "uct:20"),
    }[dialect]
    return kind(EngineTable(load(game), player))


def hostile_line(draws, dialect):
    """A line of the protocol's own words, of hostile values, or of bytes."""
    kind, own = draws.randrange(11), WORDS[dialect].split()
    if kind > 7:
        return draws.choice(FINE[dialect]).encode()
    if kind == 0:
        return bytes(draws.choices([*range(10), *range(11, 256)], k=draws.choice((0, 1, 9, 300))))
    words = draws.choices(own, k=draws.randrange(1, 7))
    if kind < 4:
        words[draws.randrange(len(words))] = draws.choice(NUMBERS + TEXTS)
    if kind == 4:
        words = [draws.choice(own[:12]), *words * draws.choice((1, 1, 400))]
    words = [word for word in words if word.strip() != QUIT[dialect]]
    return " ".join(words).encode(errors="surrogatepass").replace(b"\n", b" ")


class NothingRuns:
    """In place of `subprocess.Popen` and `os.system`: no line may start anything."""

    def __init__(self, *given, **named):
        raise AssertionError(f"a line started {given}")


@pytest.mark.parametrize("dialect", WORDS)
def test_no_line_breaks_a_server(dialect, tmp_path, monkeypatch):
    """Nothing is raised, run or written; the server answers afterwards, and ends when it is told to."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(subprocess, "Popen", NothingRuns)
    monkeypatch.setattr(os, "system", NothingRuns)
    draws, waits, server, told = random.Random(budget(150)), random.Random(1), server_of(dialect), []
    count, failed = budget(150), []
    lines = [hostile_line(draws, dialect) for _ in range(count)]
    ask, sign = SIGN[dialect]
    data = [*lines, b"DONE" if dialect == "piskvork" else b"stop", ask.encode(), QUIT[dialect].encode(), b"never read"]

    class Stream:
        def readline(self, most):
            search = getattr(server, "search", None)
            while search is not None and waits.random() < 0.9:  # mostly, a line comes when the player is idle
                search.stop()
                time.sleep(0.001)
                search = server.search
            return data.pop(0) + b"\n" if data else b""

    def run():
        try:
            serve(server, lines_of(Stream()), told.append)
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    assert not thread.is_alive(), "it hangs"
    assert not failed, failed
    assert data == [b"never read"]
    assert [text for text in told if sign in text]
    assert len(told) > count // 10
    text = "".join(told)
    assert "Traceback" not in text
    assert all(letter.isprintable() or letter == "\n" for letter in text)
    assert not list(tmp_path.iterdir())


class Garbage:
    """In place of a `Program`: answers with garbage, in part as the protocol has it; ends and hangs at random."""

    def __init__(self, dialect, draws):
        self.dialect, self.draws, self.sent = dialect, draws, "x"

    def send(self, *lines):
        self.sent = "\n".join(lines).splitlines()[-1]
        if self.draws.random() < 0.01:
            raise Lost("ended with exit code 3")

    def receive(self, until, seconds):
        kind = self.draws.randrange(40)
        if kind == 0:
            raise Late("didn't answer within 0.1 s")
        if kind == 1:
            raise Lost("sent a line longer than 65,536 bytes")
        if kind < 6:
            return hostile_line(self.draws, self.dialect).decode(errors="replace").strip()
        return self.usual().strip()

    def usual(self):
        word = self.sent.split()[0]
        cell = f"{self.draws.choice('abcde')}{self.draws.randrange(1, 6)}"
        if self.dialect == "uci":
            variant = "option name UCI_Variant type combo default x var breakthrough-4x4"
            said = {
                "uci": (variant, "uciok"),
                "isready": ("readyok",),
                "go": ("info depth 1", f"bestmove {cell}{cell}"),
            }
            return self.draws.choice(said.get(word, ("info",)))
        if self.dialect == "piskvork":
            place = f"{self.draws.randrange(-1, 6)},{self.draws.randrange(5)}"
            return {"START": "OK", "RESTART": "OK", "ABOUT": "name=x"}.get(word, place)
        commands = "= clear_board\nplay\ngenmove\nboardsize\ntime_left\nparam_x"
        if word == "list_commands":
            return self.draws.choice((*commands.split("\n"), "", ""))
        return self.draws.choice((f"= {cell}", "", "", "? no", "= resign", "=", "="))

    def close(self):
        pass


@pytest.mark.parametrize(("dialect", "name"), [
    ("gtp", "hex:size=3"), ("gtp", "othello:size=4"), ("uci", "breakthrough:rows=4,columns=4"),
    ("piskvork", "gomoku:size=5"),
])  # fmt: skip
def test_no_answer_breaks_an_engines_player(dialect, name, monkeypatch):
    """Whatever an engine says, its player moves, forfeits or is refused; it never raises anything else."""
    draws, game = random.Random(budget(150)), load(name)
    monkeypatch.setattr(engine_dialects, "Program", lambda *given: Garbage(dialect, draws))
    began, ends = time.monotonic(), []
    for seed in range(budget(150)):
        state = positions(game)[0]
        player = Engine("cat", dialect)
        try:
            player.begin(game, 0, seed)
            for _ in range(3):
                if game.turn(state) < 0:
                    break
                action = player.move(state)
                assert action in legal_actions(game, state)
                game.play(state, action)
                if game.turn(state) >= 0:
                    game.play(state, draws.choice(legal_actions(game, state)))
            ends.append("")
        except BadInput as error:
            ends.append(str(error))
    assert any(ends)
    assert all(end.isprintable() and len(end) < 600 for end in ends)
    assert time.monotonic() - began < PATIENCE
