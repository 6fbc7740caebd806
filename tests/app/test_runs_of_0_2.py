"""Run folders and records made by version 0.2 load, play and resume.

`runs_of_0_2` holds a small run of each kind made by that version; `expected` has what it measured when it
resumed them.
"""

import json
import shutil
from pathlib import Path

import pytest

import kibitz as api
from kibitz.core.runs import Run
from kibitz.learn.model_files import shipped

OLD = Path(__file__).parent / "runs_of_0_2"
TRAINED = {"exit-oos": 3, "tspg": 3, "deep-cfr": 3, "next-card": 2, "cards": 2, "exit-cards": 2}
TRAINED |= {"mmd": 3, "alphazero": 3, "ntuple": 3}
OPPONENTS = {"kuhn": ["random"], "tic_tac_toe": ["random"], "doppelkopf": ["heuristic"] * 3}


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """A copy, in the folder that its configurations are relative to."""
    shutil.copytree(OLD, tmp_path / "runs")
    monkeypatch.chdir(tmp_path / "runs")
    return tmp_path / "runs"


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("name", TRAINED)
def test_a_training_run_resumes_as_its_own_version_did(runs, name):
    found = api.resume(runs / name, iterations=TRAINED[name]).metrics
    expected = lines(OLD / "expected" / f"{name}.jsonl")
    assert [list(line) for line in found] == [list(line) for line in expected]
    for ours, theirs in zip(found, expected, strict=True):
        assert ours == pytest.approx(theirs, rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("name", TRAINED)
def test_what_was_trained_plays(runs, name):
    run = api.TrainingRun(Run(runs / name))
    opponents = OPPONENTS[run.game.name]
    assert len(api.match(run.game, [run.player(), *opponents], games=4).records) == 4


def test_a_match_continues_with_the_same_games(kibitz, runs):
    before = lines(runs / "match" / "games.jsonl")
    players = ["ensemble-uct:2x10,worlds=3,playouts=heuristic,exact=0", "heuristic", "random", "heuristic"]
    code, _, error = kibitz(
        "match", "doppelkopf:thesis", *players, "--deals", "2", "--seed", "3", "--processes", "1", "--out", "match"
    )
    assert code == 0, error
    found = lines(runs / "match" / "games.jsonl")
    expected = lines(OLD / "expected" / "match.jsonl")
    assert len(found) == 2 * len(before)
    assert [line["actions"] for line in found] == [line["actions"] for line in expected]


@pytest.mark.parametrize(
    "command",
    [
        ("runs", "--in", "."),
        ("runs", "compare", "exit-oos", "deep-cfr"),
        ("rate", "tournament"),
        ("replay", "match", "--game", "1"),
        ("replay", "session", "--game", "1"),
        ("exploit", "kuhn", "solve"),
        ("exploit", "kuhn", "net:exit-oos"),
        ("exploit", "kuhn", "net:deep-cfr"),
        ("explain", "tspg", "--games", "2"),
        ("convert", "record", "--to", "text", "--game", "1"),
    ],
    ids=" ".join,
)
def test_commands_read_them(kibitz, runs, command):
    code, out, error = kibitz(*command)
    assert code == 0, error
    assert out


def test_every_shipped_model_is_described():
    found = api.models()
    assert set(found) == {f"models/{name}" for name in shipped()}
    assert all(each.game and each.player and each.bytes > 1000 for each in found.values())
