"""Commands that only read take finished runs of version 0.2; `runs_of_0_2` holds a small one of each kind.

How runs of that version are resumed is tested in `test_files_of_0_2_0.py`.
"""

import shutil
from pathlib import Path

import pytest

import kibitz as api
from kibitz.nets.model_files import shipped

OLD = Path(__file__).parent / "runs_of_0_2"


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """A copy, in the folder that its configurations are relative to."""
    shutil.copytree(OLD, tmp_path / "runs")
    monkeypatch.chdir(tmp_path / "runs")
    return tmp_path / "runs"


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
