"""Trainings whose replay buffers would exceed the memory limit are refused before they start."""

import pytest

from kibitz.core import memory
from kibitz.core.names import BadInput
from kibitz.learn.trainer import configured, estimate, new_run

MANY = {"capacity": 99_999_999, "iterations": 99_999}


@pytest.fixture(autouse=True)
def limited(monkeypatch):
    monkeypatch.setenv(memory.VARIABLE, "500M")


def test_exit_oos():
    with pytest.raises(
        BadInput, match=r"a replay buffer of 99,999,999 games needs .* the limit is 500.0 MB: lower cap"
    ):
        configured("exit-oos", "kuhn", None, MANY)
    configured("exit-oos", "kuhn", None, MANY | {"capacity": 1000})


def test_deep_cfr(tmp_path):
    values = {"traversals": 10_000, "in_flight": 50, "hidden": "4"}
    run = new_run(tmp_path / "run", "deep-cfr", configured("deep-cfr", "kuhn", None, MANY | values))
    with pytest.raises(BadInput, match=r"the replay buffer of .*run needs .* begin a run of less capacity"):
        estimate(run, 1)
    small = new_run(tmp_path / "small", "deep-cfr", configured("deep-cfr", "kuhn", None, values | {"iterations": 2}))
    assert estimate(small, 1).seconds > 0
