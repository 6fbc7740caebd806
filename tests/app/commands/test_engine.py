"""Engines from the command line, in both directions: `engine:PROGRAM` plays against `kibitz engine`."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kibitz.play.match import match

from ...players.engines import gtp_program, program

ROOT = Path(__file__).parents[3]


@pytest.fixture
def typed(monkeypatch):
    """A function that lets standard input hold these bytes."""

    def type_in(data):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))

    return type_in


def test_a_player_is_an_engine_on_standard_input_and_output(kibitz, typed):
    typed(b"name\n\xff\xfe garbage\ngenmove b\nquit\nname\n")
    code, out, _ = kibitz("engine", "hex:size=3", "--player", "random")
    assert code == 0
    name, garbage, move = out.split("\n\n")[:3]
    assert (name, garbage) == ("= Kibitz", "? unknown command")
    assert move[:2] == "= "
    typed(b"START 6\nBEGIN\n")  # and the input ends
    assert kibitz("engine", "gomoku", "--player", "random")[1].startswith("OK\n")
    typed(b"name\n")
    assert kibitz("engine", "gomoku", "--player", "random", "--dialect", "gtp")[1] == "= Kibitz\n\n"


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["kuhn"], "engines play breakthrough, connect_four, gomoku, hex, othello, not kuhn"),
        (["hex", "--dialect", "uci"], "engines of hex speak gtp, not uci"),
        (["hex", "--player", "human"], "standard input is for the other program"),
        (["hex", "--player", "heuristic"], "hex has no heuristic"),
        (["hex", "--player", "random", "--seed", "-1"], "seed should be at least 0"),
    ],
)
def test_what_is_no_engine_is_refused(kibitz, typed, words, what):
    typed(b"")
    code, out, err = kibitz("engine", *words)
    assert (code, out) == (2, "")
    assert what in err


def own_engine(folder, *words):
    """A program that is `kibitz engine` with these words."""
    code = f"import os\nos.environ['PYTHONPATH'] = {str(ROOT)!r}\n"
    command = [sys.executable, "-m", "kibitz", "engine", *words]
    return program(folder, f"{code}os.execv({sys.executable!r}, {command!r})", f"own-{words[0].split(':')[0]}")


@pytest.mark.parametrize(
    ("game", "dialect"),
    [("breakthrough:rows=5,columns=4", "uci"), ("hex:size=4", "gtp"), ("gomoku:size=6", "piskvork")],
)
def test_kibitz_plays_kibitz_through_each_dialect(tmp_path, game, dialect):
    path = own_engine(tmp_path, game, "--player", "random", "--dialect", dialect)
    name = f"engine:{path},dialect={dialect},seconds=0.05"
    records = match(game, [name, "random"], games=4, processes=1).records
    assert len(records) == 4
    for record in records:
        assert record.forfeit is None
        record.verify()


def test_forfeits_are_told_written_and_rated(kibitz, tmp_path):
    path = gtp_program(tmp_path, "if command == 'genmove': sys.exit(3)")
    name = f"engine:{path},seconds=0.1"
    words = ("hex:size=3", name, "random", "--games", "2", "--processes", "1")
    code, out, err = kibitz("match", *words, "--out", "run")
    assert code == 0
    assert "0 / 0 / 2" in out
    assert err.count(f"{name} forfeits: {path} ended with exit code 3") == 2
    first = json.loads((tmp_path / "run" / "games.jsonl").read_text().splitlines()[0])
    assert first["forfeit"] == {"seat": 0, "reason": f"{path} ended with exit code 3"}
    code, out, _ = kibitz("replay", "run", "--game", "2")
    assert code == 0
    assert "seat 2 forfeits" in out
    code, out, _ = kibitz("rate", "run")
    assert code == 0
    assert "2" in out
    code, _, err = kibitz("tournament", *words, "--out", "both")
    assert code == 0
    assert err.count(" forfeits: ") == 2


def test_a_person_wins_where_the_engine_forfeits(kibitz, tmp_path, monkeypatch):
    path = gtp_program(tmp_path, "if command == 'genmove': sys.exit(3)")
    answers = iter(["a1\n", "n\n"])
    monkeypatch.setattr("sys.stdin.readline", lambda: next(answers, ""))
    words = ("--against", f"engine:{path}", "--with", "random", "--seed", "1")
    code, out, err = kibitz("play", "hex:size=3", *words, "--language", "en")
    assert code == 0, err
    assert "seat 2 forfeits" in out
    assert "you win 1" in out


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a program together with its parent")
def test_no_engine_outlives_a_killed_kibitz(tmp_path):
    note = tmp_path / "pid"
    special = f"import os\n    if command == 'genmove': open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(9)"
    path = gtp_program(tmp_path, special)
    words = [sys.executable, "-m", "kibitz", "match", "hex:size=3", f"engine:{path},seconds=99", "random"]
    parent = subprocess.Popen(
        [*words, "--games", "2", "--processes", "1"], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}
    )
    until = time.monotonic() + 60
    while not (note.exists() and note.read_text()) and time.monotonic() < until:
        time.sleep(0.05)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    engine = int(note.read_text())
    while Path(f"/proc/{engine}").exists() and "Z" not in Path(f"/proc/{engine}/stat").read_text().split()[2]:
        assert time.monotonic() < until, "the engine lives on"
        time.sleep(0.02)
