"""Trainings whose replay buffers exceed the memory limit are refused."""

import pytest

from kibitz.core import memory
from kibitz.core.names import BadInput
from kibitz.train.trainer import configured, new_run, train

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


def test_deep_cfr(tmp_path, monkeypatch):
    """Its samples per traversal aren't known before: the buffer is refused when it grows."""
    values = {"traversals": 1000, "in_flight": 500, "hidden": "4", "evaluate_every": 0}
    run = new_run(tmp_path / "run", "deep-cfr", configured("deep-cfr", "kuhn", None, MANY | values))
    monkeypatch.setenv(memory.VARIABLE, "0.05M")
    with pytest.raises(BadInput, match=r"a replay buffer of .* samples needs .* lower its capacity"):
        train(run, 1)
