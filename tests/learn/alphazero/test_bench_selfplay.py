"""`kibitz bench selfplay`: both sides of its rows work, and a row without its peer is skipped."""

import pytest

import benchmarks
from benchmarks import search_alone, selfplay

CASE = ("tic_tac_toe", "cpu", 6, 4, 1)


@pytest.mark.parametrize("side", [selfplay._self_play, selfplay._forward, selfplay._our_search, selfplay._peer_search])
def test_both_sides_work(side, monkeypatch):
    if side is selfplay._peer_search:
        pytest.importorskip("pyspiel")
    monkeypatch.setattr(selfplay, "WARM_UP", 5)
    side(*CASE)(2)


def test_a_row_without_its_peer_is_skipped(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    names = {row.name for row in benchmarks.select(["selfplay"])}
    assert "selfplay-connect_four-cpu" in names
    assert "selfplay-openspiel-connect_four" not in names
    assert benchmarks.skipped(["selfplay"]) == ["selfplay-openspiel-connect_four"]


def test_the_search_alone_is_measured_without_a_network():
    assert search_alone.simulations_per_second("tic_tac_toe", 6, 1, 2) > 0
