"""Advice that grows while a player thinks."""

from itertools import pairwise

import numpy as np
import pytest

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.play.players import make
from kibitz.play.players.thinking import growing_advice
from kibitz.search import search as searching

KUHN, TIC_TAC_TOE = games.load("kuhn"), games.load("tic_tac_toe")


def first_view(game):
    state = game.initial(seed=1).deal()
    return games.view_of(game, state.record, state.turn), state.turn


@pytest.fixture
def impatient(monkeypatch):
    """Advice is due after every chunk of simulations."""
    monkeypatch.setattr(searching, "FIRST_SECONDS", 0.0)


@pytest.mark.parametrize(
    ("game", "name"),
    [
        (KUHN, "oos:3000"),
        (KUHN, "ismcts:3000"),
        (KUHN, "ensemble-uct:10x100,exact=0"),
        (TIC_TAC_TOE, "uct:3000,prove=no"),
    ],
)
@pytest.mark.usefixtures("impatient")
def test_advice_grows_and_ends_as_the_advice_of_the_whole_budget(game, name):
    view, seat = first_view(game)
    found = list(growing_advice(name, game, view, seat, seed=7))
    assert len(found) > 1
    grows = [advice.simulations for advice in found]
    assert grows == sorted(grows)
    assert len(set(grows)) == len(grows)
    whole = make(name)
    whole.begin(game, seat, 7)
    whole.move(view)
    for part in ("policy", "value", "visits"):
        assert np.array_equal(getattr(found[-1], part), getattr(whole.advice, part), equal_nan=True)
    assert found[-1].line == whole.advice.line


@pytest.mark.parametrize("name", ["uct:seconds=0.3,prove=no", "ensemble-uct:10x1000000,exact=0"])
def test_advice_grows_until_its_time_is_over(name):
    view, seat = first_view(TIC_TAC_TOE)
    found = list(growing_advice(name, TIC_TAC_TOE, view, seat, seconds=0.3))
    assert len(found) > 1
    assert found[-1].seconds >= 0.3
    if name.startswith("uct"):  # one search that goes on; others are repeated, and how far they get depends on the load
        for one, two in pairwise(found):
            assert one.seconds < 0.3
            assert one.seconds < two.seconds
            assert one.simulations < two.simulations


def test_a_proven_position_ends_the_search():
    view, seat = first_view(TIC_TAC_TOE)
    for action in (0, 3, 1, 4):
        TIC_TAC_TOE.play(view, action)
    found = list(growing_advice("uct:1000000", TIC_TAC_TOE, view, seat))
    assert found[-1].exact
    assert found[-1].best == 2
    assert found[-1].simulations < 1_000


def test_players_that_do_not_search_answer_once():
    view, seat = first_view(KUHN)
    (advice,) = growing_advice("random", KUHN, view, seat, seconds=5)
    assert advice.policy.tolist() == [0.5, 0.5]
    board, seat = first_view(TIC_TAC_TOE)
    assert len(list(growing_advice("alphabeta:depth=2", TIC_TAC_TOE, board, seat))) == 1

    class Mover:
        def move(self, view):
            return 0

    with pytest.raises(BadInput, match="Mover gives no advice, only moves"):
        list(growing_advice(Mover(), KUHN, *first_view(KUHN)))


def test_a_tree_that_was_grown_at_earlier_views_is_used():
    game = TIC_TAC_TOE
    view, seat = first_view(game)
    after = view.copy()
    for action in (4, 0):
        game.play(after, action)
    alone, led = (
        list(growing_advice("uct:500,prove=no", game, after, seat, earlier=earlier))[-1] for earlier in ((), (view,))
    )
    assert alone.simulations == led.simulations == 500
    assert led.visits.sum() > alone.visits.sum()
