"""Exploitability on the public tree equals that by queries at every infoset."""

import pytest

import kibitz
from kibitz import BadInput
from kibitz.games import load
from kibitz.play import exploitability, public_tree_best_response
from kibitz.play.players.networks import NetworkPlayer
from kibitz.solve.public_tree import tree
from kibitz.solve.public_tree.cfr import VectorCfr


def near(found, expected):
    assert [found.value, *found.best] == pytest.approx([expected.value, *expected.best], abs=1e-6)


@pytest.fixture
def large(monkeypatch):
    """Every game with a public tree counts as large."""
    monkeypatch.setattr(tree, "MANY_LEAVES", 10)


@pytest.mark.parametrize("player", ["net:models/leduc", "net:models/leduc,threshold=0.05", "random"])
def test_a_player_without_search_is_evaluated_as_by_queries(large, player):
    expected = exploitability.exploitability(load("leduc"), player, 1, processes=1).mean_strategy
    near(kibitz.exploit("leduc", player, processes=2).mean_strategy, expected)


def test_an_object_is_asked_by_one_thread(large, monkeypatch):
    player = NetworkPlayer("models/leduc")
    expected = kibitz.exploit("leduc", "net:models/leduc", processes=1)
    near(kibitz.exploit("leduc", player, processes=4).mean_strategy, expected.mean_strategy)
    monkeypatch.setattr(NetworkPlayer, "is_mixed", True)
    with pytest.raises(BadInput, match="draws one of several networks for a game"):
        kibitz.exploit("leduc", player)


def test_a_player_that_searches_is_asked_at_every_infoset(large):
    assert len(kibitz.exploit("kuhn", "oos:10", seeds=2, processes=1).by_seed) == 2


def test_a_saved_strategy_is_a_player_with_the_same_exploitability(tmp_path):
    solver = VectorCfr(load("leduc"))
    solver.run(20)
    path = tmp_path / "strategy.safetensors"
    solver.strategy().save(path)
    measured = kibitz.exploit("leduc", path).mean_strategy
    near(exploitability.exploitability(load("leduc"), f"strategy:{path}", 1, processes=1).mean_strategy, measured)
    near(public_tree_best_response.evaluate_on_public_tree(load("leduc"), f"strategy:{path}"), measured)
    near(kibitz.exploit("leduc", solver.strategy()).mean_strategy, measured)
    assert measured.nash_conv == pytest.approx(solver.evaluate().nash_conv, abs=1e-3)
