"""Engines for tests: Kibitz's own servers without a process, and small programs that do everything wrong."""

import sys
from collections import deque

from kibitz.arena.engine_server import EngineTable, serve
from kibitz.arena.gtp_server import GtpServer
from kibitz.arena.piskvork_server import PiskvorkServer
from kibitz.arena.uci_server import UciServer
from kibitz.core.programs import Lost
from kibitz.games import load
from kibitz.games.engine_notation import dialect_of

SERVERS = {"gtp": GtpServer, "uci": UciServer, "piskvork": PiskvorkServer}


class Loopback:
    """In place of a `Program`: `kibitz engine GAME --player PLAYER` in this process. Keeps all lines."""

    sent: list[str]

    def __init__(self, game, player, dialect="auto"):
        self.server = SERVERS[dialect_of(load(game), dialect)](EngineTable(load(game), player))
        self.lines, self.sent, self.closed = deque(), [], False

    def send(self, *lines):
        lines = "\n".join(lines).split("\n")
        self.sent += lines
        serve(self.server, lines, lambda text: self.lines.extend(text.split("\n")[:-1]))

    def receive(self, until, seconds):
        if not self.lines:
            raise Lost("didn't answer")
        return self.lines.popleft()

    def close(self):
        self.closed = True


def program(folder, code, name="program"):
    """A program whose code is run by this Python; returns its path."""
    path = folder / name
    path.write_text(f"#!{sys.executable} -ES\nimport sys, time\n{code}")
    path.chmod(0o755)
    return path


GTP = """
def answer(line):
    command = line.split()[0]
    {special}
    if command == "list_commands":
        return "clear_board\\nplay\\ngenmove\\nboardsize\\nquit"
    return "a1" if command == "genmove" else ""

for line in sys.stdin:
    print("= " + answer(line) + "\\n", flush=True)
    if line.startswith("quit"):
        break
"""


def gtp_program(folder, special="pass", name="program"):
    """An engine that speaks GTP and plays a1, but for what a statement says about `command`."""
    return program(folder, GTP.format(special=special), name)


def first_column(folder):
    """An engine of Connect Four that fills the first column that has room."""
    special = """global full
    column = "abcdefg".find(line.split()[2][0]) if command == "play" else -1
    if command == "clear_board": full = [0] * 7
    if command == "genmove": column = min(i for i in range(7) if full[i] < 6)
    if column >= 0: full[column] += 1
    if command == "genmove": return "abcdefg"[column] + str(full[column])"""
    return gtp_program(folder, special)
