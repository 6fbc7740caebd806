"""The players of docs/write-a-player.md keep the contract, and play as the page says."""

import re
import sys
from pathlib import Path

import pytest

from kibitz.play.players.contract import check_player

from ..app.conftest import kibitz

__all__ = ["kibitz"]

PAGE = (Path(__file__).parents[2] / "docs" / "write-a-player.md").read_text()


def blocks(kind):
    return re.findall(rf"^```{re.escape(kind)}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """The files of the page, in the current folder."""
    for name in ("my_player", "my_policy"):
        (code,) = blocks(f"python {name}.py")
        (tmp_path / f"{name}.py").write_text(code)
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)


def test_the_player_is_shorter_than_40_lines_and_keeps_the_contract():
    assert len(blocks("python my_player.py")[0].splitlines()) < 40
    assert check_player("my_player.py:MyPlayer:0.3", "kuhn") > 4
    assert check_player("my_policy.py:MyPolicy", "kuhn") > 4


@pytest.mark.parametrize("name", ["my_player.py:MyPlayer", "my_player.py:MyPlayer:bluff=0.3", "my_policy.py:MyPolicy"])
def test_the_player_wins_against_random_play(kibitz, name):
    code, out, error = kibitz("match", "kuhn", name, "random", "--games", "400", "--processes", "1")
    assert code == 0, error
    assert re.search(r"mean payoff\s+│\s+\+0\.", out)


def test_the_policy_is_an_equilibrium(kibitz):
    code, out, _ = kibitz("exploit", "kuhn", "my_policy.py:MyPolicy", "--seeds", "1", "--processes", "1")
    assert code == 0
    assert re.search(r"NashConv\s+│\s+(0|-?\d+(\.\d+)?e-\d+)\s", out)


def test_other_games_are_refused(kibitz):
    error = kibitz("match", "leduc", "my_player.py:MyPlayer", "random")[2]
    assert "my_player.py:MyPlayer can't play leduc: MyPlayer plays kuhn" in error
