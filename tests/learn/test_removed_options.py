"""Runs that were begun when a learner had more options open as long as these have the value that is left."""

import json

import pytest

from kibitz.core.names import BadInput
from kibitz.core.runs import Run
from kibitz.train import trainer
from kibitz.train.learner import LEARNERS
from kibitz.train.removed_options import REMOVED

SIZE = {"iterations": 1, "games": 2, "simulations": 10}


@pytest.fixture
def run(tmp_path):
    begun = trainer.new_run(tmp_path / "run", "tspg", trainer.configured("tspg", "tic_tac_toe", None, SIZE))
    begun.write("config.json", json.dumps(begun.config() | REMOVED["tspg"]))
    return Run(begun.folder)


def test_a_run_with_more_options_goes_on(run):
    assert "max_turns" in run.config()
    trainer.train(trainer.open_run(run.folder, 2), 1)
    assert run.read_lines()[-1]["iteration"] == 2


def test_another_value_than_the_one_that_is_left_is_refused_by_name(run):
    run.write("config.json", json.dumps(run.config() | {"max_turns": 80}))
    with pytest.raises(BadInput, match=r"config\.json: max_turns=80 is no option of tspg any more: it is always 150"):
        trainer.train(Run(run.folder), 1)


def test_removed_options_are_none_of_the_present_ones():
    for name, options in REMOVED.items():
        assert not options.keys() & LEARNERS[name].Config.__dataclass_fields__.keys()
