"""Every registered learner keeps the contract, and so does the one of docs/write-a-learner.md."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kibitz.core.names import BadInput
from kibitz.core.runs import Run
from kibitz.games import load
from kibitz.nets.mlp import compiled, read_layers
from kibitz.poker.gpu import pcs_runs
from kibitz.solve.best_response import evaluate_policy
from kibitz.solve.sequence_form import unfold
from kibitz.train import trainer
from kibitz.train.learner import LEARNERS

from .contract import check_learner
from .doppelkopf.records import RULES, write

ROOT = Path(__file__).parents[2]
TABLE = "holdem:flop,ranks=4,suits=2,raises=1,preflop_raises=1"  # that is solved, to be distilled
CARDS = {"device": "cpu", "batch_size": 8}
CASES = {
    "exit-oos": ("kuhn", {"iterations": 3, "games": 4, "simulations": 50, "hidden": "8", "steps": 4, "keep_every": 2}),
    "exit-ismcts": ("kuhn", {"iterations": 3, "games": 4, "simulations": 50, "hidden": "8", "steps": 4,
                             "keep_every": 2}),
    "alphazero": ("tic_tac_toe", {"iterations": 3, "games": 6, "parts": 2, "rounds": 60, "simulations": 4,
                                  "fast_simulations": 2, "channels": 4, "blocks": 1, "steps": 3, "batch_size": 8,
                                  "keep_every": 2, "evaluation_games": 2,
                                  "device": "cpu"}),
    "tspg": ("tic_tac_toe", {"iterations": 3, "simulations": 20, "keep_every": 2}),
    "ntuple": ("tic_tac_toe", {"iterations": 3, "games": 4, "capacity": 50, "keep_every": 2}),
    "deep-cfr": ("kuhn", {"iterations": 3, "traversals": 30, "in_flight": 10, "hidden": "8", "steps": 6,
                          "keep_every": 2, "strategy_steps": 6, "evaluate_every": 2}),
    "distill": (TABLE, CARDS | {"iterations": 3, "samples": 32, "steps": 3, "hidden": 8, "keep_every": 2,
                                "evaluation_samples": 16, "evaluate_every": 2}),
    "next-card": (RULES, CARDS | {"iterations": 2, "nodes": 8, "validation": 0.3}),
    "cards": (RULES, CARDS | {"iterations": 2, "positions": 6, "validation": 0.3}),
    "mmd": ("kuhn", {"iterations": 3, "games": 8, "hidden": "8", "minibatches": 2, "averaging": 0.9, "keep_every": 2,
                     "evaluate_every": 1}),
    "exit-rollouts": (RULES, CARDS | {"iterations": 2, "games": 6, "steps": 2, "positions": 4, "evaluate_every": 0}),
}  # fmt: skip


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """What some learners start from: recorded games, a run of `cards`, a table strategy."""
    folder = tmp_path_factory.mktemp("given")
    game, values = CASES["cards"]
    data = {"data": str(write(folder / "games.jsonl"))}
    run = trainer.new_run(folder / "run", "cards", trainer.configured("cards", game, None, values | data))
    trainer.train(run, 1)
    pcs_runs.solve_run(pcs_runs.new_run(load(TABLE), iterations=5, folder=folder / "table"), threads=1)
    table = {"from_": str(folder / "table")}
    return {"next-card": data, "cards": data, "exit-rollouts": {"start": str(run.folder)}, "distill": table}


@pytest.mark.parametrize("name", LEARNERS)
def test_a_registered_learner_keeps_the_contract(name, given, tmp_path):
    game, values = CASES[name]
    check_learner(name, game, values | given.get(name, {}), tmp_path)


def test_no_learner_imports_another():
    """And neither the trainer nor any other shared module imports a learner."""
    package = ROOT / "kibitz" / "train"
    folders = [path.parent.name for path in package.glob("*/__init__.py")]
    assert len(folders) > 3
    shared = re.compile(rf"^\s*(from|import) \.({'|'.join(folders)})\b", re.MULTILINE)
    other = re.compile(rf"^\s*(from|import) \.\.({'|'.join(folders)})\b", re.MULTILINE)
    assert not [path.name for path in package.glob("*.py") if shared.search(path.read_text())]
    assert not [path.name for path in package.glob("*/*.py") if other.search(path.read_text())]


# ---------------------------------------------------------------- a learner in a file


@pytest.fixture
def toy(tmp_path):
    """The learner of docs/write-a-learner.md, in a file outside the package."""
    [text] = re.findall(
        r"```python reinforce.py\n(.*?)```", (ROOT / "docs" / "write-a-learner.md").read_text(), re.DOTALL
    )
    (tmp_path / "reinforce.py").write_text(text)
    return f"{tmp_path}/reinforce.py:Reinforce"


def test_the_learner_of_the_documentation_keeps_the_contract(toy, tmp_path):
    check_learner(toy, "kuhn", {"iterations": 3, "games": 5}, tmp_path)


def test_the_learner_of_the_documentation_learns(toy, tmp_path):
    config = trainer.configured(toy, "kuhn", None, {"iterations": 40})
    run = trainer.new_run(tmp_path / "run", toy, config)
    trainer.train(run, 1)
    game = load("kuhn")
    layers, _ = read_layers(run.path("network.safetensors"), game)
    untrained = [np.zeros_like(array) for array in layers[0]]
    learned, before = (evaluate_policy(unfold(game), compiled([each])).nash_conv for each in (layers[0], untrained))
    assert learned < 0.7 * before


def test_a_learner_in_a_file_trains_and_resumes_at_the_command_line_with_two_processes(toy, tmp_path):
    asked = ["reinforce.py:Reinforce", "kuhn", "--games", "5", "--iterations", "2", "--processes", "2", "--out", "run"]
    for arguments in (asked, ["--resume", "run", "--trust", "--iterations", "3", "--processes", "2"]):
        done = subprocess.run(
            [sys.executable, "-m", "kibitz", "train", *arguments],
            cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "play it: kibitz play kuhn --against net:run" in done.stdout
    assert [line["iteration"] for line in Run(tmp_path / "run").read_lines()] == [0, 1, 2, 3]


def test_a_class_that_is_no_learner_is_refused(tmp_path):
    (tmp_path / "other.py").write_text("class Other:\n    pass\n")
    with pytest.raises(BadInput, match=r"other\.py:Other is no learner: it should be a subclass"):
        trainer.configured(f"{tmp_path}/other.py:Other", "kuhn", None, {})
    with pytest.raises(BadInput, match=r"no file 'nowhere\.py'"):
        trainer.configured("nowhere.py:Other", "kuhn", None, {})
