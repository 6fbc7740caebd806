"""Engines for tests: Kibitz's own servers without a process, and small programs that do everything wrong."""

import sys
from collections import deque

from kibitz.bridges.engine_server import EngineTable, serve
from kibitz.bridges.gtp_server import GtpServer
from kibitz.bridges.piskvork_server import PiskvorkServer
from kibitz.bridges.uci_server import UciServer
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


def program(folder, code, name="program", flags=" -ES"):
    """A program whose code is run by this Python; returns its path."""
    path = folder / name
    path.write_text(f"#!{sys.executable}{flags}\nimport sys, time\n{code}")
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
    try:
        said = "= " + answer(line)
    except ValueError as error:
        said = f"? {{error}}"
    print(said + "\\n", flush=True)
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


MOHEX = """global free
    words = line.split()
    open({log!r}, "a").write(line)
    if command == "list_commands": return "boardsize\\nclear_board\\ngenmove\\nname\\n{own}play\\nquit\\ntime_left"
    if command == "time_left" and len(words) > 3: raise ValueError("Expected at most 2 arguments")
    if command == "param_mohex" and len(words) == 1: return "\\n[bool] ponder 0\\n[float] max_time 10\\n[string] bias 1"
    if command == "param_mohex" and len(words) != 3: raise ValueError("Expected 0 or 2 arguments")
    if command not in ("boardsize", "clear_board", "genmove", "param_mohex", "play", "quit", "time_left"):
        raise ValueError("unknown command: " + command)
    if command == "clear_board": free = [column + row for column in "abc" for row in "123"]
    if command == "play": free.remove(words[2])
    if command == "genmove": return free.pop()"""


def like_mohex(folder, own="param_mohex\\n"):
    """An engine of Hex on 3 x 3 that takes times as MoHex does, and writes what it was told into `log` beside it."""
    return gtp_program(folder, MOHEX.format(log=str(folder / "log"), own=own))


OTHELLO = """global table
    open({log!r}, "a").write(line)
    if command == "list_commands": return "boardsize\\nclear_board\\ngenmove\\nplay\\nquit"
    if command == "clear_board":
        from kibitz.bridges.engine_server import EngineTable
        from kibitz.bridges.gtp_server import GtpServer
        from kibitz.games import load
        table = GtpServer(EngineTable(load("othello:size=4"), "random"))
        return ""
    if command in ("quit", "boardsize"): return ""
    words = line.split()
    if command == "play" and words[2] != {takes!r} and words[2].lower() == "pass": raise ValueError("no coordinate")
    game, state = table.table.game, table.table.state
    if {takes!r} == "nothing" and "bw"[state.to_move] != words[1]: table.answer("play " + "bw"[state.to_move] + " pass")
    said = table.answer(line)
    if said.startswith("?"): raise ValueError(said[1:].strip())
    return said[1:].strip()"""


def othello_program(folder, takes):
    """An engine of Othello on 4 x 4 that takes a pass in one form alone; "nothing": it sees by itself who moves."""
    code = GTP.format(special=OTHELLO.format(log=str(folder / "log"), takes=takes))
    return program(folder, f"sys.path[:0] = {sys.path!r}\n{code}", flags="")
