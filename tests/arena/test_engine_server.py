"""Kibitz as an engine: what the protocols promise, times, and lines that nobody understands."""

import io
import queue
import random
import threading
import time

import pytest

from kibitz.bridges import engine_server
from kibitz.bridges.engine_server import Clock, EngineTable, lines_of, serve
from kibitz.bridges.gtp_server import GtpServer
from kibitz.bridges.piskvork_server import PiskvorkServer
from kibitz.bridges.uci_server import UciServer, score_of
from kibitz.core.names import BadInput
from kibitz.games import full_name, load
from kibitz.games.engine_notation import (
    from_fen,
    read_uci,
    read_vertex,
    read_xy,
    to_fen,
    vertices,
    write_vertex,
    write_xy,
)
from kibitz.play.players import Random

START = "pppppppp/pppppppp/8/8/8/8/PPPPPPPP/PPPPPPPP w - - 0 1"


class Slow(Random):
    """Plays at random, and says how long it was allowed to think."""

    seconds = 3.0

    def move(self, view):
        self.asked = [*getattr(self, "asked", []), self.seconds]
        return super().move(view)


def talk(server, *lines):
    """The answers to lines."""
    found = []
    serve(server, lines, found.append)
    return "".join(found)


class Live:
    """A conversation with a server that reads while it thinks."""

    def __init__(self, server):
        self.asked, self.told = queue.Queue(), queue.Queue()
        self.thread = threading.Thread(target=serve, args=(server, iter(self.asked.get, None), self.write), daemon=True)
        self.thread.start()

    def write(self, text):
        for line in text.splitlines():
            self.told.put(line)

    def say(self, *lines):
        for line in lines:
            self.asked.put(line)

    def until(self, word):
        """The lines up to one that begins with a word."""
        found = [""]
        while not found[-1].startswith(word):
            found.append(self.told.get(timeout=60))
        return found[1:]

    def end(self):
        self.asked.put(None)
        self.thread.join(60)
        assert not self.thread.is_alive()


@pytest.fixture
def gtp():
    return lambda game, player="random": GtpServer(EngineTable(load(game), player))


@pytest.fixture
def uci():
    return lambda game="breakthrough", player="random": UciServer(EngineTable(load(game), player))


@pytest.fixture
def piskvork():
    return lambda game="gomoku:size=6", player="random": PiskvorkServer(EngineTable(load(game), player))


# ---------------------------------------------------------------- notation


def test_fen():
    game = load("breakthrough")
    state = from_fen(game, START)
    assert to_fen(game, state) == START
    game.play(state, read_uci(game, state, "b2c3"))
    assert to_fen(game, state) == "pppppppp/pppppppp/8/8/8/2P5/P1PPPPPP/PPPPPPPP b - - 0 1"
    assert to_fen(game, from_fen(game, to_fen(game, state))) == to_fen(game, state)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "w",
        START.replace(" w", " x"),
        START.replace("8/8/8/8", "8/8/8"),
        START.replace("8/8/8/8", "8/8/8/9"),
        START.replace("8/8/8/8", "8/8/8/7"),
        START.replace("8/8/8/8", "8/8/8/q7"),
        START.replace("8/8/8/8", "8/8/8/4pppppppp"),
        "p7/8/8/8/8/8/8/8 w - - 0 1",
        "P7/p7/8/8/8/8/8/8 w - - 0 1",
    ],
)
def test_what_is_no_fen_of_a_game_that_goes_on_is_refused(text):
    with pytest.raises(BadInput):
        from_fen(load("breakthrough"), text)


def test_vertices():
    state = load("gomoku").initial().record
    assert write_vertex(load("gomoku"), state, 8) == "j1"  # GTP has no i
    assert vertices(load("hex"))[8] == "i1"
    four = load("connect_four")
    state = four.initial().record
    four.play(state, 3)
    assert write_vertex(four, state, 3) == "d2"
    assert [read_vertex(four, state, text) for text in ("D2", "d", "4")] == [3, 3, 3]
    othello = load("othello")
    assert {write_vertex(othello, othello.initial().record, a) for a in (19, 26, 37, 44)} == {"d3", "c4", "f5", "e6"}
    for text in ("d1", "h", "8", "", "0", "²"):
        with pytest.raises(BadInput, match="is no move here"):
            read_vertex(four, state, text)
    game = load("gomoku:size=6")
    assert write_xy(game, 0) == "0,5"
    assert [read_xy(game, write_xy(game, cell)) for cell in range(36)] == list(range(36))


# ---------------------------------------------------------------- GTP


def test_a_session_of_gtp(gtp):
    server = gtp("hex:size=4,swap=yes")
    assert talk(server, "1 protocol_version", "# nothing", "", "name") == "=1 2\n\n= Kibitz\n\n"
    known = talk(server, "known_command genmove", "known_command fly", "known_command")
    assert known == "= true\n\n= false\n\n= false\n\n"
    assert talk(server, "play b a2", "play white swap-pieces") == "=\n\n=\n\n"
    assert "a1 . o . ." in talk(server, "showboard")
    assert talk(server, "undo", "undo", "undo").endswith("? there is no move to take back\n\n")
    assert talk(server, "boardsize 5", "play b e5") == "=\n\n=\n\n"
    assert server.table.game.size == 5
    assert server.table.game.swap
    assert talk(server, "boardsize 3 3") == "=\n\n"
    assert talk(server, "final_score") == "? the game isn't over\n\n"
    assert talk(server, "play b a1", "play b a2", "play b a3", "final_score").endswith("= B+\n\n")
    assert talk(server, "play w b1") == "? illegal move: the game is over\n\n"
    assert talk(server, "7 genmove w") == "?7 the game is over\n\n"
    assert talk(server, "set_game Hex", "set_game Go") == "=\n\n? only Hex is played here\n\n"
    assert talk(server, "quit", "name") == "=\n\n"
    assert server.ended


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("boardsize", "boardsize should be one or two numbers"),
        ("boardsize 99", "unacceptable size: hex: size=99"),
        ("boardsize 3 4", "unacceptable size: the board is square"),
        ("play b", "play should have a colour and a vertex"),
        ("play green a1", "illegal move: 'green' is no colour: b or w"),
        ("play b z9", "illegal move: 'z9' is no move here"),
        ("play b pass", "illegal move: 'pass' is no move here"),
        ("genmove", "'' is no colour: b or w"),
        ("time_settings 1", "'' is no number"),
        ("time_left b nan 1", "'nan' is no number"),
        ("komi x", "'x' is no number"),
        ("fly", "unknown command"),
    ],
)
def test_an_error_of_gtp_changes_nothing(gtp, line, error):
    server = gtp("hex:size=4")
    talk(server, "play b b2")
    before = talk(server, "showboard")
    assert talk(server, f"12 {line}").startswith(f"?12 {error}")
    assert talk(server, "showboard") == before


def test_gtp_out_of_turn(gtp):
    server = gtp("hex:size=4")
    assert talk(server, "play b a1", "play b a2", "genmove b").count("=") == 3
    assert talk(gtp("othello"), "genmove w") == "? it is the other's turn\n\n"
    assert talk(gtp("othello"), "play w d3") == "? illegal move: it is the other's turn\n\n"


def test_a_board_that_is_not_square(gtp):
    server = gtp("connect_four")
    assert talk(server, "boardsize 7 6", "boardsize 7", "play b d1", "play w d2").count("=") == 4
    assert talk(server, "boardsize 5 4", "play b e1") == "=\n\n=\n\n"
    assert (server.table.game.rows, server.table.game.columns) == (4, 5)


def test_the_time_of_gtp(gtp):
    player = Slow()
    server = gtp("hex:size=6", player)
    talk(server, "clear_board")
    player.asked = []
    talk(server, "genmove b", "time_settings 0 1 10", "genmove w", "time_left b 5 1", "genmove b", "genmove b")
    assert player.asked == pytest.approx([3, 0.08, 4.98, 0.08])
    player.asked = []
    talk(server, "time_settings 60 5 1", "genmove w", "time_settings 0 1 0", "genmove w")
    talk(server, "time_left w 0 0", "genmove w")
    assert player.asked == pytest.approx([1.98, 3, 0.005])


def test_a_clock():
    assert Clock().per_move() == 0
    assert Clock(30).per_move() == pytest.approx(0.98)
    assert Clock(30, 0, 1).per_move() == pytest.approx(1.98)
    assert Clock(0.5, 0, 2).per_move() == pytest.approx(0.48)  # not more than there is
    assert Clock(0.001, 1).per_move() == 0.005


def test_a_search_keeps_to_the_time(gtp):
    server = gtp("hex:size=5", "uct:seconds=20")
    server.table.get_ready()
    began = time.monotonic()
    assert talk(server, "time_settings 0 1 5", "genmove b").count("=") == 2
    assert time.monotonic() - began < 5


# ---------------------------------------------------------------- UCI


def test_a_session_of_uci(uci):
    server = uci()
    lines = talk(server, "uci").splitlines()
    assert lines[0].startswith("id name Kibitz ")
    assert lines[-2:] == ["option name UCI_Variant type combo default breakthrough var breakthrough", "uciok"]
    assert talk(server, "isready") == "readyok\n"
    assert talk(server, "setoption name UCI_Variant value breakthrough", "setoption name Hash value 8") == ""
    assert talk(server, "setoption name UCI_Variant value chess") == (
        "info string only breakthrough is played here, not 'chess'\n"
    )
    talk(server, "position startpos moves b2c3 a7b6")
    game = server.table.game
    assert to_fen(game, server.table.state) == "pppppppp/1ppppppp/1p6/8/8/2P5/P1PPPPPP/PPPPPPPP w - - 0 1"
    answer = talk(server, "go movetime 10")
    assert answer.startswith("bestmove ")  # a player that doesn't search has nothing to tell
    read_uci(game, server.table.state, answer.split()[1])
    talk(server, f"position fen {START} moves h2h3")
    assert int(server.table.state.to_move) == 1
    live = Live(server)
    live.say("go infinite", "isready")
    assert live.until("readyok") == ["readyok"]
    live.say("stop", "stop", "isready")
    assert [line.split()[0] for line in live.until("readyok")] in (["bestmove", "readyok"], ["readyok"])
    live.end()
    talk(server, "position fen p7/7P/8/8/8/8/8/8 w moves h7h8")
    assert talk(server, "go") == "bestmove (none)\n"
    assert talk(server, "quit", "uci") == ""


def test_an_error_of_uci_changes_nothing(uci):
    server = uci()
    talk(server, "position startpos moves b2c3")
    before = to_fen(server.table.game, server.table.state)
    for line in (
        "position",
        "position fen",
        "position fen 8/8 w",
        "position startpos moves e2e5",
        "position startpos moves b2c3 nonsense",
        "position fen p7/7P/8/8/8/8/8/8 w moves h7h8 a8a7",
    ):
        assert talk(server, line).startswith("info string "), line
        assert to_fen(server.table.game, server.table.state) == before


def test_the_time_of_uci(uci):
    player = Slow()
    server = uci(player=player)
    talk(server, "isready")
    player.asked = []
    talk(server, "go", "go movetime 500", "go wtime 30000 btime 1 winc 100", "go wtime 1000 movestogo 1")
    assert player.asked == pytest.approx([3, 0.48, 1.08, 0.48])
    player.asked = []
    talk(server, "go movetime 0", "go wtime -5", "go movetime x", "go infinite")
    assert player.asked == pytest.approx([0.005, 0.005, 0.005, engine_server.FOREVER])


SEARCHES = ("alphabeta:seconds=1", "alphabeta:60", "uct:seconds=1", "uct:100000000")


@pytest.mark.parametrize("player", SEARCHES)
def test_a_search_of_uci_is_followed_and_stopped(uci, player):
    """`isready` is answered while it goes on, `info` lines flow, and `stop` ends it."""
    live = Live(uci("breakthrough", player))
    live.say("isready", "position startpos moves b2b3", "go infinite")
    live.until("readyok")
    for _ in range(3):  # one at once, and one each second
        words = live.until("info depth ")[-1].split()
    assert [words[i] for i in (1, 3, 6, 8, 10, 12)] == ["depth", "score", "nodes", "nps", "time", "pv"]
    assert int(words[7]) > 0
    read_uci(load("breakthrough"), from_fen(load("breakthrough"), START.replace(" w", " b")), words[13])
    live.say("isready")
    assert not [line for line in live.until("readyok") if line.startswith("bestmove")]
    live.say("stop")
    assert live.until("bestmove ")[-2].startswith("info depth ")
    live.say("go movetime 100", "stop", "go movetime 100000000", "isready", "quit")
    live.until("readyok")
    live.thread.join(60)
    assert not live.thread.is_alive()


def test_stop_is_obeyed_within_milliseconds(uci):
    """The best of several, as the machine may be busy."""
    live, spent = Live(uci("breakthrough", "alphabeta:seconds=1")), []
    live.say("isready")
    live.until("readyok")
    for _ in range(5):
        live.say("go infinite")
        time.sleep(0.2)
        began = time.monotonic()
        live.say("stop")
        live.until("bestmove")
        spent.append(time.monotonic() - began)
    live.end()
    assert min(spent) < 0.05


@pytest.mark.parametrize("player", ["alphabeta:seconds=100", "uct:seconds=100"])
def test_the_limits_of_go(uci, player):
    """Depth, nodes and time take the place of what the player's name says."""
    server = uci("breakthrough:rows=5,columns=4", player)
    assert "bestmove" in talk(server, "go depth 3")
    assert int(talk(server, "go depth 3").split("info depth ")[-1].split()[0]) >= 3
    assert int(talk(server, "go nodes 300").split(" nodes ")[-1].split()[0]) <= 301
    assert "bestmove" in talk(server, "go movetime 50")
    text = talk(server, "go nodes 10 searchmoves a2a3")
    assert text.startswith("info string searchmoves can't be kept to")


def test_what_uci_does_not_know_is_skipped(uci):
    server = uci("breakthrough", "uct:20")
    talk(server, "xyz position joho startpos moves b2b3")
    assert int(server.table.state.to_move) == 1
    assert "bestmove" in talk(server, "xyz go movetime 100")
    assert talk(server, "joho isready") == "readyok\n"
    assert talk(server, "joho", "debug joho on", "register later", "") == ""


def test_commands_of_uci_wait_for_the_search(uci):
    """A script may write all of its lines at once: each search has its time, but for one without an end."""
    player = Slow()
    server = uci(player=player)
    text = talk(
        server, "go movetime 100", "position startpos moves b2b3", "go movetime 100", "go infinite", "go ponder"
    )
    assert text.count("bestmove") == 4
    live = Live(server)
    live.say("go infinite", "ponderhit")
    assert live.until("bestmove")
    live.say("go infinite", "position startpos", "go movetime 1")
    live.until("bestmove")
    live.until("bestmove")
    live.end()


def test_a_score_of_uci():
    assert [score_of(value, False, 3) for value in (0.0, 0.5, -0.5)] == ["score cp 0", "score cp 89", "score cp -89"]
    assert [score_of(value, True, 5) for value in (1.0, -1.0)] == ["score mate 3", "score mate -3"]
    assert score_of(1.0, False, 5) == "score cp 12780"
    assert score_of(float("nan"), True, 5) == ""


def test_a_search_that_fails_moves_by_what_it_has_found(uci):
    class Fails(Random):
        def move(self, view):
            raise BadInput("no memory is left")

    server = uci()
    server.table.get_ready()
    server.table.made = Fails()
    assert talk(server, "go movetime 5") == "info string no memory is left\nbestmove (none)\n"


@pytest.mark.parametrize("dialect", ["gtp", "uci", "piskvork"])
def test_kernels_are_compiled_before_the_first_timed_command(dialect, gtp, uci, piskvork):
    """By a short game, with moves after others: so that no kernel is left to a timed one."""
    server, moves = {"gtp": lambda: gtp("hex:size=4"), "uci": uci, "piskvork": piskvork}[dialect](), []
    change = server.table.change

    def changed(game):
        change(game)
        move = server.table.made.move
        server.table.made.move = lambda view: moves.append(full_name(game)) or move(view)

    server.table.change = changed
    changed(server.table.game)
    first, ready, timed = {
        "gtp": ("name", "boardsize 4", "genmove b"),
        "uci": ("uci", "isready", "go movetime 10"),
        "piskvork": ("ABOUT", "START 7", "BEGIN"),
    }[dialect]
    assert talk(server, first)
    assert not moves  # who only asks for the name waits for nothing
    assert talk(server, ready)
    names = {
        "gtp": ["hex:size=4"],
        "uci": ["breakthrough"],
        "piskvork": ["gomoku:size=7", "gomoku:size=7,overlines=False"],
    }[dialect]
    assert {name: moves.count(name) > 1 for name in moves} == dict.fromkeys(names, True)
    before = len(moves)
    talk(server, "INFO rule 1", timed)
    assert len(moves) == before + 1


# ---------------------------------------------------------------- Gomocup's protocol


def test_a_session_of_piskvork(piskvork):
    server = piskvork()
    assert talk(server, "ABOUT").startswith('name="Kibitz", version=')
    assert talk(server, "BEGIN") == "ERROR START comes first\n"
    assert talk(server, "START 7") == "OK\n"
    assert server.table.game.size == 7
    assert read_xy(server.table.game, talk(server, "BEGIN").strip()) >= 0
    assert talk(server, "TURN 9,0").startswith("ERROR '9,0' is no cell")
    assert talk(server, "RESTART") == "OK\n"
    assert talk(server, "BOARD", "0,0,1", "1,1,2", "1,0,2") == ""
    x, y = map(int, talk(server, "DONE").strip().split(","))
    assert (x, y) not in {(0, 0), (1, 1), (1, 0)}
    assert int(server.table.state.placed) == 4
    assert int(server.table.state.to_move) == 0  # it was white's move
    assert talk(server, "TAKEBACK 5,5", "TAKEBACK").startswith("ERROR there is no stone at 5,5\nERROR '' is no cell")
    assert talk(server, f"TAKEBACK {x},{y}", "TAKEBACK 1,1") == "OK\nOK\n"
    assert int(server.table.state.placed) == 2
    assert int(server.table.state.to_move) == 0  # whose stone it was
    assert talk(server, "BOARD", "0,0,1", "0,0,2", "DONE") == "ERROR 0,0 is no legal move\n"
    assert talk(server, "BOARD", "0,0", "DONE").startswith("ERROR '0,0' should be column,row,1 or 2")
    assert talk(server, "INFO rule 1", "INFO folder /tmp") == ""
    assert not server.table.game.overlines
    assert talk(server, "YXBOARD", "3,3,1", "DONE") == ""
    assert int(server.table.state.placed) == 1
    errors = talk(server, "FLY", "START x", "START 99")
    assert errors.startswith("UNKNOWN command\nERROR 'x' is no size of a board\nERROR gomoku: size=99")
    assert talk(server, "END", "ABOUT") == ""


def test_the_time_of_piskvork(piskvork):
    player = Slow()
    server = piskvork(player=player)
    talk(server, "START 6")
    player.asked = []
    talk(server, "INFO timeout_turn 500", "BEGIN", "RESTART", "INFO time_left 3000", "BEGIN")
    assert player.asked == pytest.approx([0.48, 0.08])


# ---------------------------------------------------------------- garbage

WORDS = """play genmove b w a1 boardsize 3 -1 99999999999 undo position startpos fen moves go movetime wtime 1e9 START
BOARD DONE TURN INFO timeout_turn 0,0 0,0,1 , ,, = ? # \x00 é 𝟗 ² setoption name value infinite stop time_left nan"""


@pytest.mark.parametrize("dialect", ["gtp", "uci", "piskvork"])
def test_garbage_ends_nothing(dialect, gtp, uci, piskvork):
    server = {"gtp": lambda: gtp("hex:size=3"), "uci": uci, "piskvork": piskvork}[dialect]()
    draws = random.Random(1)
    for _ in range(600):
        talk(server, " ".join(draws.choices(WORDS.split(), k=draws.randrange(6))))
    data = bytes(draws.choices([10, *range(256)], k=5000)) + b"\n" + b"x" * 200_000
    serve(server, lines_of(io.BytesIO(data)), lambda text: None)
    asked = {"gtp": "name", "uci": "isready", "piskvork": "ABOUT"}[dialect]
    server.board = None
    assert talk(server, asked)


def test_a_player_that_can_not_play_is_refused():
    with pytest.raises(BadInput, match="can't play hex"):
        EngineTable(load("hex"), "heuristic")
