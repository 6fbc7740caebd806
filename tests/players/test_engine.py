"""Engines as players: whole games in each dialect, and engines that crash, hang and cheat."""

import os
import re
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

from kibitz.bridges import engine_dialects, engine_gtp
from kibitz.bridges.engine import Engine
from kibitz.core import names, programs, progress
from kibitz.core.names import BadInput
from kibitz.core.progress import Reporter
from kibitz.core.trust import Trust, only_named, use_trust
from kibitz.games import legal_actions, load, positions, view_of
from kibitz.games.engine_notation import dialect_of
from kibitz.play.match import match
from kibitz.play.players import Forfeit, make, make_for
from kibitz.play.players.precompile import Preparation

from ..fuzz.hostile import TEXTS
from .engines import Loopback, gtp_program, like_mohex, othello_program, program

GNUGO = shutil.which("gnugo") or shutil.which("gnugo", path=programs.GAMES)
FAIRY = shutil.which("fairy-stockfish") or shutil.which("fairy-stockfish", path=programs.GAMES)
BOARDS = [
    ("breakthrough:rows=5,columns=3", "uci"),
    ("connect_four:rows=4,columns=4,connect=3", "gtp"),
    ("gomoku:size=5", "piskvork"),
    ("gomoku:size=11,connect=3", "gtp"),
    ("hex:size=3,swap=yes", "gtp"),
    ("othello:size=4", "gtp"),
]


class Kept(Reporter):
    def __init__(self):
        self.messages = []

    def message(self, text):
        self.messages.append(text)


@pytest.fixture
def loopback(monkeypatch):
    """A function that makes an engine of a player in this process; `links` are its connections."""
    links = []

    def new(game, player="random", dialect="auto", **options):
        def start(command, farewell, folder):
            links.append(Loopback(game, player, dialect))
            return links[-1]

        monkeypatch.setattr(engine_dialects, "Program", start)
        return Engine("cat", dialect, **options)

    new.links = links
    return new


@pytest.mark.parametrize(("game", "dialect"), BOARDS)
def test_whole_games_in_each_dialect(loopback, game, dialect):
    engine = loopback(game, dialect=dialect)
    played = match(game, [engine, "random"], games=4, seed=2)
    assert len(played.records) == 4
    for record in played.records:
        assert record.forfeit is None
        record.verify()
    [link] = loopback.links
    assert not [line for line in link.sent if "?" in line]


def walk(game, seat, moves):
    """The view of a seat after moves by name."""
    rules = load(game)
    state = positions(rules)[0]
    for move in moves.split():
        rules.play(state, rules.parse_action(state, move))
    return rules, view_of(rules, state, seat)


def test_the_engines_board_is_the_view(loopback):
    for game, dialect in BOARDS:
        if game.startswith("othello"):
            continue  # see below
        rules = load(game)
        for number in range(12):
            engine = loopback(game, dialect=dialect)
            state, rng = positions(rules)[0], np.random.default_rng(number)
            for _ in range(number):
                if rules.turn(state) < 0:
                    break
                rules.play(state, int(rng.choice(legal_actions(rules, state))))
            if (seat := int(rules.turn(state))) < 0:
                continue
            engine.begin(rules, seat, 1)
            action = engine.move(view_of(rules, state, seat))
            table = loopback.links[-1].server.table
            before = table.states[-1] if dialect == "uci" else table.states[-2]
            for who in range(2):
                for word in range(4):
                    assert rules.pieces(before, who, word) == rules.pieces(state, who, word), (game, number)
            assert action in legal_actions(rules, state)


def test_what_the_engine_knows_is_not_repeated(loopback):
    engine, rules = loopback("othello:size=4"), load("othello:size=4")
    match(rules, [engine, "random"], games=1)
    sent = loopback.links[0].sent
    assert sum(line.startswith("clear_board") for line in sent) == 3  # as it was made, for a pass, as the game began
    sent = sent[len(sent) - sent[::-1].index("clear_board") :]
    plays, moves = (sum(line.startswith(word) for line in sent) for word in ("play", "genmove"))
    assert plays <= moves + 2 * sum("pass" in line for line in sent)  # its own passes are told, not asked for


def test_a_game_of_othello_needs_its_moves(loopback):
    engine = loopback("othello:size=6")
    rules, view = walk("othello:size=6", 0, "b3 b2 d5 b4")
    engine.begin(rules, 0, 1)
    with pytest.raises(Forfeit, match="without the moves that led to it"):
        engine.move(view)


def test_random_openings_of_othello_are_told(loopback):
    played = match("othello:size=6", [loopback("othello:size=6"), "random"], games=4, seed=2, openings=4)
    assert [record.forfeit for record in played.records] == [None] * 4


def test_a_swap_is_played_and_understood(loopback):
    rules, view = walk("hex:size=3,swap=yes", 0, "a2 swap")
    engine = loopback("hex:size=3,swap=yes")
    engine.begin(rules, 0, 1)
    engine.move(view)
    assert [line for line in loopback.links[0].sent if line.startswith("play")] == ["play w b1"]
    rules, view = walk("hex:size=3,swap=yes", 1, "b2")
    loopback.links[0].server.table.think = lambda seconds: rules.size**2
    engine.begin(rules, 1, 1)
    assert engine.move(view) == 9


def test_the_time_is_told_in_each_dialect(loopback):
    for game, dialect, lines in (
        ("breakthrough:rows=5,columns=3", "uci", {"go movetime 100"}),
        ("hex:size=3", "gtp", {"time_settings 0 1 10", "time_left b 1 10"}),
        ("gomoku:size=5", "piskvork", {"INFO timeout_turn 100", "INFO rule 0"}),
    ):
        engine, rules = loopback(game, dialect=dialect, seconds=0.1), load(game)
        engine.begin(rules, 0, 1)
        engine.move(positions(rules)[0])
        assert lines <= set(loopback.links[-1].sent)


@pytest.mark.parametrize(
    ("text", "game", "what"),
    [
        ("engine:cat", "kuhn", "engines play breakthrough, connect_four, gomoku, hex, othello, not kuhn"),
        ("engine:cat,dialect=uci", "hex", "engines of hex speak gtp, not uci"),
        ("engine:no-such-program", "hex", "'no-such-program' is no program"),
        ("engine:cat,seconds=0", "hex", "seconds=0.0 is out of range"),
        ("engine:cat,overtime=0.001", "gomoku:size=6,connect=4", "rows of five, not connect=4"),
        ("engine:cat,variant=freestyle", "gomoku", "has no variants"),
        ("engine:true", "hex", "true ended with exit code 0: does it speak gtp?"),
        ("engine:true --level=5,seconds=1", "hex", "true --level=5 ended with exit code 0: does it speak gtp?"),
        ("engine:'", "hex", "can't be read: No closing quotation"),
        ("engine:", "hex", "path is missing"),
    ],
)
def test_what_can_not_play_is_refused_in_one_line(text, game, what):
    with pytest.raises(BadInput, match=what) as error:
        make_for(text, load(game))
    assert not isinstance(error.value, Forfeit)


def test_no_hostile_text_is_a_program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for text in TEXTS:
        with pytest.raises(BadInput):
            make_for(f"engine:{text}", load("hex"))
    for variant in ("\n", "\x1b", "a\nquit"):
        with pytest.raises(BadInput, match="should be one line of text"):
            make(f"engine:cat,variant=x{variant}x")


def test_a_variant_that_the_engine_does_not_know_is_refused(loopback):
    engine = loopback("breakthrough:rows=5,columns=3", variant="chess")
    with pytest.raises(BadInput, match="doesn't know the variant chess: it knows breakthrough-5x3"):
        engine.begin(load("breakthrough:rows=5,columns=3"), 0, 1)
    engine = loopback("hex:size=3", variant="Havannah")
    with pytest.raises(BadInput, match="only Hex is played here"):
        engine.begin(load("hex:size=3"), 0, 1)
    loopback("hex:size=3", variant="Hex").begin(load("hex:size=3"), 0, 1)


# ---------------------------------------------------------------- engines that do everything wrong

WRONG = {
    "crashes": ("if command == 'genmove': sys.exit(3)", "ended with exit code 3"),
    "says why": ("if command == 'genmove': sys.exit('no memory')", r"ended with exit code 1 \(no memory\)"),
    "hangs": ("if command == 'genmove': time.sleep(60)", r"didn't answer within 0\.2 s"),
    "talks": ("while command == 'genmove': print('info', flush=True)", r"didn't answer within 0\.2 s"),
    "cheats": ("if command == 'genmove': return 'z9'", "answered 'z9', which is no legal move"),
    "resigns": ("if command == 'genmove': return 'resign'", "resigned"),
    "shouts": ("if command == 'genmove': return 'x' * 100_000", "sent a line longer than 65,536 bytes"),
    "refuses": ("if command == 'play': print('? no\\n', flush=True); time.sleep(0.1)", "with the error 'no'"),
    "kills itself": (
        "if command == 'genmove': import os; os.kill(os.getpid(), 9)",
        "was ended by the signal SIGKILL",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_who_can_not_go_on_forfeits(tmp_path, wrong):
    special, reason = WRONG[wrong]
    path, report = gtp_program(tmp_path, special), Kept()
    name = f"engine:{path},dialect=gtp,seconds=0.1,overtime=0.1"
    began = time.monotonic()
    played = match("hex:size=3", [name, "random"], games=2, processes=1, report=report)
    assert time.monotonic() - began < 20
    assert played.result.payoff.mean == -1
    for record in played.records:
        assert record.players[record.forfeit.seat] == name
        assert record.payoffs[record.forfeit.seat] == -1
        record.verify()
    assert len(report.messages) == 2
    for i, message in enumerate(report.messages):
        assert message.startswith(f"game {i + 1}: {name} forfeits: {path} ")
        assert re.search(reason, message), message


def test_an_engine_that_crashes_plays_the_next_game(tmp_path):
    flag = tmp_path / "crashed"
    special = (
        f"global moves; import os\n    if command == 'genmove' and not os.path.exists({str(flag)!r}): "
        f"open({str(flag)!r}, 'w').close(); sys.exit(3)\n"
        "    if command == 'genmove': return next(moves)\n"
        "    if command == 'clear_board': moves = iter(['a1', 'a2', 'a3', 'b1', 'b2', 'b3'])"
    )
    path = gtp_program(tmp_path, special)
    played = match("hex:size=2", [f"engine:{path}", "random"], games=2, processes=1)
    assert played.records[0].forfeit
    assert flag.exists()
    reason = played.records[1].forfeit and played.records[1].forfeit.reason
    assert not reason or "no legal move" in reason  # random may have taken a cell that it wants


def test_an_engine_that_can_not_be_started_again_forfeits(tmp_path):
    path = gtp_program(tmp_path, "if command == 'genmove': import os; os.remove(sys.argv[0]); sys.exit(3)")
    played = match("hex:size=2", [f"engine:{path}", "random"], games=3, processes=1)
    assert all(record.forfeit for record in played.records)


@pytest.mark.parametrize("game", ["hex", "breakthrough", "gomoku"])
def test_a_program_that_speaks_no_dialect_is_refused_in_time(tmp_path, monkeypatch, game):
    for module in (engine_dialects, engine_gtp):
        monkeypatch.setattr(module, "HELLO", 0.4)
    monkeypatch.setattr(engine_dialects, "NOTICE", 0.1)
    said = []
    monkeypatch.setattr(progress, "on_wait", said.append)
    path, spoken = program(tmp_path, "for line in sys.stdin: pass"), dialect_of(load(game))
    with pytest.raises(BadInput, match=rf"didn't answer within 0\.4 s \(asked '\w+'\): does it speak {spoken}\?"):
        make_for(f"engine:{path}", load(game))
    assert re.fullmatch(rf"waiting for {path} to answer '\w+': at most 0\.4 s", *said)
    path = program(tmp_path, "print('Usage: me', flush=True)\nfor line in sys.stdin: pass")
    with pytest.raises(BadInput, match=r", it said 'Usage: me'\)" if spoken != "piskvork" else "does it speak"):
        make_for(f"engine:{path}", load(game))


@pytest.mark.parametrize("game", ["hex", "breakthrough", "gomoku"])
def test_a_program_that_repeats_its_input_is_refused_at_once(game):
    began = time.monotonic()
    with pytest.raises(BadInput, match=r"answered '\w+' with the same words: does it speak"):
        make_for("engine:/bin/cat", load(game))
    assert time.monotonic() - began < engine_dialects.HELLO / 2


def test_an_engine_runs_in_its_folder(tmp_path):
    inside = tmp_path / "in side"
    inside.mkdir()
    (inside / "book").write_text("a1")
    path = gtp_program(tmp_path, "if command == 'genmove': return open('book').read()")
    engine = make_for(f"engine:{path},folder={inside}", load("hex:size=3"))
    assert engine.move(positions(load("hex:size=3"))[0]) == 0
    with pytest.raises(BadInput, match=r"folder=nowhere is no folder"):
        make(f"engine:{path},folder=nowhere")


# ---------------------------------------------------------------- engines with commands of their own


def told(folder):
    return (folder / "log").read_text().splitlines()


def test_times_are_announced_as_the_engine_takes_them(tmp_path):
    """MoHex has no `time_settings`, and its `time_left` takes two arguments: it lost all games on its first move."""
    name = f"engine:{like_mohex(tmp_path)},seconds=0.5"
    played = match("hex:size=3", [name, "random"], games=2, processes=1)
    assert [record.forfeit for record in played.records] == [None, None]
    assert "param_mohex max_time 0.5" in told(tmp_path)
    assert not [line for line in told(tmp_path) if line.startswith("time_")]
    (tmp_path / "log").unlink()
    like_mohex(tmp_path, own="")
    played = match("hex:size=3", [name, "random"], games=2, processes=1)
    assert [record.forfeit for record in played.records] == [None, None]
    times = [line for line in told(tmp_path) if line.startswith("time_left")]
    assert [line.split()[2:] for line in times[:3]] == [["1", "2"], ["1"], ["1"]]


def test_an_engine_that_can_not_be_told_the_time_is_said_to_be_so(tmp_path):
    path = gtp_program(tmp_path, "if command == 'genmove': time.sleep(60)")
    engine = make_for(f"engine:{path},seconds=0.1,overtime=0.1", load("hex:size=3"))
    with pytest.raises(Forfeit, match=r"didn't answer within 0\.2 s .*: it has no command that limits its time"):
        engine.move(positions(load("hex:size=3"))[0])


@pytest.mark.parametrize("takes", ["pass", "PASS", "nothing"])
def test_a_pass_is_told_as_the_engine_takes_it(tmp_path, takes):
    path = othello_program(tmp_path, takes)
    played = match("othello:size=4", [f"engine:{path}", "random"], games=4, seed=1, processes=1)
    assert [record.forfeit for record in played.records] == [None] * 4
    assert any(16 in record.actions for record in played.records)  # the pass
    tried = [line for line in told(tmp_path) if "pass" in line.lower()]
    assert len([line for line in tried if line.split()[2] != takes]) <= 2  # in the trial before the first game


def test_an_engine_that_takes_no_pass_is_refused_before_the_first_game(tmp_path):
    special = "if command == 'play' and ('pass' in line.lower() or globals().get('after')): "
    special += "globals()['after'] = True; raise ValueError('invalid coordinate')"
    path = gtp_program(tmp_path, special)
    with pytest.raises(
        BadInput, match=r"understands a pass neither as 'play . pass', 'play . PASS' nor without"
    ) as error:
        make_for(f"engine:{path}", load("othello:size=4"))
    assert not isinstance(error.value, Forfeit)


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_no_engine_outlives_its_player(tmp_path):
    """Neither one that ignores the end of its input, nor what it has started."""
    note = tmp_path / "pids"
    special = (
        f"import os, signal, subprocess\n    if command == 'list_commands':\n"
        f"        child = subprocess.Popen(['sleep', '60'])\n"
        f"        open({str(note)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}')\n"
        f"    if command == 'quit': time.sleep(60)"
    )
    path = gtp_program(tmp_path, special)
    engine = make_for(f"engine:{path}", load("hex:size=3"))
    pids = [int(pid) for pid in note.read_text().split()]
    assert all(map(alive, pids))
    del engine
    until = time.monotonic() + 10
    while any(map(alive, pids)) and time.monotonic() < until:
        time.sleep(0.02)
    assert not any(map(alive, pids))


# ---------------------------------------------------------------- only programs that the person names


def test_data_does_not_start_programs(tmp_path):
    path = gtp_program(tmp_path)
    use_trust(Trust())
    try:
        with (
            only_named(),
            pytest.raises(BadInput, match="would start that program: if you trust it, give"),
        ):
            make(f"engine:{path},seconds=1")
        with only_named(f"--against=engine:seconds=1,path={path}"):
            make(f"engine:{path},seconds=2")
        with only_named(trust=True):
            make("engine:cat")
        with only_named(), pytest.raises(BadInput, match="engine:cat was read from a file"):
            make("engine:cat")
        make("engine:cat")  # in Python
    finally:
        use_trust(Trust())


def test_the_engines_of_the_page_are_named_rightly():
    page = (Path(__file__).parents[2] / "docs" / "engines.md").read_text()
    found = re.findall(r"\"engine:([^\"]+)\"|\bengine:([\w./,=-]+)", page)
    assert len(found) > 5
    for quoted, bare in found:
        assert names.parameters("engine", Engine, quoted or bare)["path"]
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == set(names.hints(Engine))


# ---------------------------------------------------------------- a real engine


@pytest.mark.skipif(FAIRY is None, reason="Fairy-Stockfish is not installed")
def test_fairy_stockfish_plays_breakthrough():
    played = match("breakthrough", [f"engine:{FAIRY},seconds=0.01", "random"], games=2, processes=1)
    assert [record.forfeit for record in played.records] == [None, None]
    assert played.result.payoff.mean == 1
    with pytest.raises(BadInput, match="doesn't know the variant breakthrough-6x6"):
        make_for(f"engine:{FAIRY}", load("breakthrough:6,columns=6"))


@pytest.mark.skipif(GNUGO is None, reason="GNU Go is not installed")
def test_gnu_go_speaks_gtp():
    """It plays Go, whose moves are legal in Gomoku while nothing is captured."""
    name = f"engine:{GNUGO} --mode gtp --level 1,dialect=gtp,seconds=1"
    played = match("gomoku:size=9", [name, "random"], games=2, processes=1)
    assert all(len(record.actions) > 8 for record in played.records)
    for record in played.records:
        record.verify()


def test_nothing_is_compiled_for_an_engine():
    assert Preparation(load("hex"), ["engine:cat", "uct:2"])._players == ["uct:2"]
