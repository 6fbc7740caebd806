"""Advice as people see it, and the budget that it is searched with."""

import math

import numpy as np
import pytest

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.search.advice import Advice, fixed_advice
from kibitz.search.budget import TIMED_SIMULATIONS, chunks

from .counting import Counting


def advice(**changes):
    parts = {
        "actions": np.array([0, 1, 2]),
        "policy": np.array([0.25, 0.75, 0.0]),
        "value": np.array([-1.0, 0.5, np.nan]),
        "visits": np.array([10, 1200, 0]),
        "prior": np.full(3, 1 / 3),
        "simulations": 1210,
        "seconds": 0.5,
    }
    return Advice(**(parts | changes))


def test_it_prints_as_a_table_with_the_best_action_first():
    assert str(advice(names=("fold", "call", "raise"))) == "\n".join(
        [
            "action  policy   value  visits",
            "call     75.0%  +0.500   1,200",
            "fold     25.0%  -1.000      10",
            "raise     0.0%       -       0",
            "1,210 simulations in 0.50 s",
        ]
    )
    assert str(advice()).splitlines()[1].startswith("action 1")
    assert str(advice(simulations=1)).endswith("\n1 simulation in 0.50 s")
    assert str(advice(depth=7)).endswith("\ndepth 7, 1,210 positions in 0.50 s")


def test_in_a_notebook_it_is_a_table_in_which_everything_is_escaped():
    shown = advice(names=("<b>", "a & b", "c"))._repr_html_()
    assert shown.startswith("<table>")
    assert "<td>a &amp; b</td><td>75.0%</td><td>+0.500</td><td>1,200</td>" in shown
    assert "&lt;b&gt;" in shown
    assert "<b>" not in shown


def test_a_game_names_the_actions():
    game = games.load("kuhn")
    state = games.positions(game)[0]
    for card in (0, 1):
        game.play(state, card)
    found = fixed_advice(game, state, np.array([0.5, 0.5])).named(game, state)
    assert found.names == ("pass", "bet")
    assert "simulations" not in str(found)


def test_chunks_add_up_to_the_simulations_and_are_reported():
    seen = []
    assert sum(chunks(50_000, math.inf, Counting(seen))) == 50_000
    assert seen == [1, 20_001, 40_001, 50_000]


def test_a_clock_allows_one_simulation_and_then_ever_more():
    assert list(chunks(0, 0.0)) == [1]
    timed = list(chunks(5000, 60.0))
    assert timed[:4] == [1, 2, 4, 8]
    assert max(timed) == TIMED_SIMULATIONS
    assert sum(timed) == 5000


def test_a_search_without_a_budget_is_refused():
    with pytest.raises(BadInput, match="give simulations or seconds"):
        next(chunks(0, math.inf))


def test_intervals_of_means_are_wilsons_and_those_of_standard_errors_normal():
    game = games.load("tic_tac_toe")  # rewards from -1 to 1
    assert np.isnan(advice().interval(game)).all()
    (low, high), _, unknown = advice(averaged=True, value=np.array([0.0, 0.5, np.nan])).interval(game)
    assert (low, high) == pytest.approx((2 * 0.23659 - 1, 2 * 0.76341 - 1), abs=1e-4)  # 5 of 10, Wilson 1927
    assert np.isnan(unknown).all()
    assert advice(error=np.full(3, 0.1)).interval(game)[1] == pytest.approx([0.304, 0.696])
    assert advice(averaged=True, exact=True).interval(game)[1].tolist() == [0.5, 0.5]
    moves = advice(averaged=True).as_json(game, games.positions(game)[0])["moves"]
    assert moves[0]["interval"][0] == pytest.approx(-1)
    assert moves[2]["interval"] is None
