"""A run goes on from any folder: files that it needs are kept by their absolute paths."""

import json
import shutil
from pathlib import Path
from typing import get_type_hints

import pytest

from kibitz import games
from kibitz.core.names import PATH, absolute, hints, paths
from kibitz.core.runs import Run
from kibitz.games import efg
from kibitz.play.players import make_for
from kibitz.poker.gpu import pcs_runs
from kibitz.train import trainer
from kibitz.train.descriptions import describe
from kibitz.train.learner import LEARNERS, learner_class

from .doppelkopf.records import write
from .test_contract import CASES, TABLE

RARE = Path(__file__).parent / "rare.py"


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A folder to begin a run in, and a function that goes to another one."""
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return lambda: monkeypatch.chdir(tmp_path / "there")


def given(name):
    """Relative paths of what a learner starts from, made here."""
    if name in ("next-card", "cards"):
        return {"data": write(Path("games.jsonl")).name}
    if name == "exit-rollouts":
        game, values = CASES["cards"]
        data = {"data": write(Path("games.jsonl")).name}
        trainer.train(
            trainer.new_run(Path("cards"), "cards", trainer.configured("cards", game, None, values | data)), 1
        )
        return {"start": "cards", "others": "cards/network.safetensors"}
    if name == "distill":
        pcs_runs.solve_run(pcs_runs.new_run(games.load(TABLE), iterations=2, folder=Path("table")), threads=1)
        return {"from_": "table"}
    game, values = CASES["exit-oos"]
    values = values | {"iterations": 1, "games": 2}
    trainer.train(trainer.new_run(Path("start"), "exit-oos", trainer.configured("exit-oos", game, None, values)), 1)
    return {"start": "start"}


WITH_PATHS = [name for name in LEARNERS if paths(LEARNERS[name].Config)]


def test_learners_that_start_from_files_are_known():
    """A field whose meaning is a run or a file is marked as a path."""
    assert set(WITH_PATHS) == {"cards", "distill", "exit-rollouts", "mmd", "next-card"}
    for name in LEARNERS:
        marked = get_type_hints(learner_class(name).Config, include_extras=True)
        for key, (kind, meaning, _) in hints(learner_class(name).Config).items():
            if kind is str and any(word in meaning for word in ("a run", "run of", "file", "recorded games")):
                assert PATH in marked[key].__metadata__, (name, key)


@pytest.mark.parametrize("name", WITH_PATHS)
def test_a_run_goes_on_from_another_folder(name, elsewhere, tmp_path):
    game, values = CASES[name]
    hidden = {"hidden": "8"} if name == "mmd" else {}
    run = trainer.new_run(Path("run"), name, trainer.configured(name, game, None, values | hidden | given(name)))
    elsewhere()
    run = Run(tmp_path / "here" / "run")
    trainer.train(run, processes=1)
    assert len(run.read_lines()) == values["iterations"] + 1


def test_a_run_of_a_game_in_a_file_goes_on_and_its_network_plays_from_another_folder(elsewhere, tmp_path):
    shutil.copy(RARE, "mine.py")
    values = {"iterations": 2, "games": 2, "simulations": 20, "hidden": "4", "steps": 1, "evaluate_every": 0}
    trainer.new_run(Path("run"), "exit-oos", trainer.configured("exit-oos", "mine.py:RarePoker", None, values))
    elsewhere()
    run = Run(tmp_path / "here" / "run")
    trainer.train(run, processes=1)
    there = games.load("../here/mine.py:RarePoker")
    assert games.full_name(there) == describe(run.path("network.safetensors")).game
    make_for(f"net:{run.folder}", there)


def test_a_game_of_gambit_has_the_same_name_from_any_folder(elsewhere, tmp_path):
    efg.write(games.load("kuhn"), "kuhn.efg")
    name = games.full_name(games.load("efg:kuhn.efg"))
    elsewhere()
    assert name == f"efg:{tmp_path / 'here' / 'kuhn.efg'}" == games.full_name(games.load(name))


def test_relative_names_in_older_runs_are_read_where_they_mean_something(elsewhere, tmp_path):
    shutil.copy(RARE, "mine.py")
    Path("run").mkdir()
    Path("run/config.json").write_text(json.dumps({"command": "match", "game": "mine.py:RarePoker", "players": []}))
    assert Run(Path("run")).config()["game"] == absolute("mine.py:RarePoker") == f"{Path.cwd()}/mine.py:RarePoker"
    Path("leduc").mkdir()  # a folder of the name of a game is none of its files
    assert absolute("leduc") == "leduc"
    elsewhere()
    assert absolute("mine.py:RarePoker") == "mine.py:RarePoker"
