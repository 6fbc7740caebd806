"""IS-MCTS and Single UCT, checked where the answer is known."""

import sys

import numpy as np
import pytest

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.core.progress import Reporter
from kibitz.search import infoset_table, ismcts
from kibitz.search.ismcts import IsMcts, SingleUct
from kibitz.search.search import SEARCHES

from .counting import Counting


def view_after(name, *actions):
    game = games.load(name)
    state, view = games.positions(game, 2)
    for action in actions:
        game.play(state, action)
    seat = game.turn(state)
    game.look(state, seat, view)
    return game, view, seat


def test_it_calls_a_bid_that_cannot_hold_and_lets_a_sure_one_stand():
    game, view, seat = view_after("liars_dice", 0, 0, 11)  # "two sixes", with a one in hand: it never holds
    assert game.action_to_string(view, IsMcts(game, 1).advise(view, seat, 3000).best) == "liar"
    game, view, seat = view_after("liars_dice", 2, 5, 2)  # "one three", and the six in hand is wild: it holds
    assert game.action_to_string(view, IsMcts(game, 1).advise(view, seat, 3000).best) != "liar"


def test_it_never_folds_the_best_hand():
    game, view, seat = view_after("leduc", 2, 1, 1, 1, 2, 2, 2)  # a pair of kings, facing two raises
    advice = IsMcts(game, 1).advise(view, seat, 2000)
    assert game.action_to_string(view, advice.best) == "call"
    assert advice.value[1] == pytest.approx(9)  # 1 + 4 + 4: it has won, whatever the other holds


def test_the_values_are_means_of_what_the_simulations_paid():
    game, view, seat = view_after("kuhn", 2, 0, 1)  # jack, facing a bet: folding costs 1, calling 2
    advice = IsMcts(game, 1).advise(view, seat, 500)
    assert advice.value.tolist() == [-1.0, -2.0]
    assert advice.visits.sum() == advice.simulations == 500
    assert advice.policy.tolist() == [1.0, 0.0]


def test_the_bound_counts_how_often_an_action_was_available():
    """Of two actions of equal value the one that was seldom legal is tried more often than by its visits alone."""
    cells, untried = np.zeros(6), np.zeros(2, np.int64)
    cells[:3] = 10, 1000, 0.0  # visits, available, total
    cells[3:] = 10, 20, 0.0
    actions = np.array([0, 1])
    assert ismcts.select(cells, 0, 0.0, actions, 2, untried, 1.0, None) == 0
    assert cells[[1, 4]].tolist() == [1001, 21]
    cells[2] = -100.0
    assert ismcts.select(cells, 0, 0.0, actions, 2, untried, 1.0, None) == 1
    cells[3] = 0
    assert ismcts.select(cells, 0, 0.0, actions, 2, untried, 1.0, np.ones(2, np.uint64)) == 1  # untried ones come first


class Stops(Reporter):
    """Stops a search as soon as its table is full for the first time."""

    may_stop, stopped = True, False


@pytest.mark.parametrize(("name", "game"), [("ismcts", "breakthrough"), ("oos", "goofspiel:13")])
def test_a_search_may_be_stopped_while_its_table_grows(name, game, monkeypatch):
    """Copying a large table takes longer than a program waits for the answer to its stop."""
    game, view, seat = view_after(game)
    searching, stops, sizes = SEARCHES[name](game, 1), Stops(), []
    monkeypatch.setattr(infoset_table, "COPIED", 64)

    def growing(*given):
        sizes.append(searching.bytes)
        if len(sizes) == 3:
            stops.stopped = True
        return infoset_table.grow(*given)

    monkeypatch.setattr(sys.modules[type(searching).__module__], "grow", growing)
    advice = searching.advise(view, seat, 1_000_000, report=stops)
    assert len(sizes) == 3
    assert searching.bytes == sizes[-1]
    assert 0 < advice.simulations < 1_000_000
    if name == "ismcts":
        assert advice.visits.sum() == advice.simulations
    assert searching.advise(view, seat, 3000).simulations == 3000
    assert len(sizes) > 3


def test_the_same_seed_gives_the_same_advice():
    game, view, seat = view_after("goofspiel:6", 2, 1)
    first, again, other = (IsMcts(game, seed).advise(view, seat, 1000) for seed in (1, 1, 2))
    assert np.array_equal(first.visits, again.visits)
    assert not np.array_equal(first.visits, other.visits)


def test_a_budget_that_would_not_fit_is_refused_before_it_starts():
    game, view, seat = view_after("goofspiel:6", 2, 1)
    search = IsMcts(game, 1)
    with pytest.raises(BadInput, match=r"99,000,000,000 simulations of goofspiel:cards=6 may need .* GB of memory"):
        search.advise(view, seat, 99_000_000_000)
    assert search.table.used[0] == 0


def test_it_keeps_a_time_budget_and_reports_its_progress():
    game, view, seat = view_after("goofspiel:6", 2, 1)
    search, seen = IsMcts(game, 1), []
    search.advise(view, seat, 10)
    advice = search.advise(view, seat, seconds=0.1, report=Counting(seen))
    assert 0.1 <= advice.seconds < 5
    assert seen[-1] == advice.simulations > 100


def test_single_uct_counts_visits_of_the_node():
    """UCB1: how often an action was available doesn't count."""
    cells, untried, actions = np.zeros(7), np.zeros(2, np.int64), np.array([0, 1])
    cells[:3] = 10, 1000, 0.0  # visits, available, total
    cells[3:6] = 9, 20, 0.0
    assert ismcts.select(cells, 0, 19.0, actions, 2, untried, 1.0, None) == 1
    cells[2] = 10 * 0.09  # sqrt(ln 19) * (1 / sqrt(9) - 1 / sqrt(10)) = 0.0293: the better mean
    assert ismcts.select(cells, 0, 19.0, actions, 2, untried, 1.0, None) == 0
    cells[2] = 10 * 0.02
    assert ismcts.select(cells, 0, 19.0, actions, 2, untried, 1.0, None) == 1


def test_single_uct_takes_the_highest_mean_or_the_most_visits():
    game, view, seat = view_after("leduc", 2, 1, 1, 1, 2, 2, 2)  # a pair of kings, facing two raises
    for by_mean in (True, False):
        advice = SingleUct(game, 1, decide="mean" if by_mean else "visits").advise(view, seat, 2000)
        assert game.action_to_string(view, advice.best) == "call"
        assert advice.value[1] == pytest.approx(9)
        assert advice.best == advice.actions[np.argmax(advice.value if by_mean else advice.visits)]
    wide = SingleUct(game, 1, c=50).advise(view, seat, 2000)
    assert np.ptp(wide.visits) < np.ptp(advice.visits)


def test_single_uct_is_ismcts_but_for_what_it_counts():
    """Where all actions are always legal both count the same, so they visit the same."""
    game, view, seat = view_after("kuhn", 1, 2)
    one, two = IsMcts(game, 1, 0.7).advise(view, seat, 300), SingleUct(game, 1, 1.4).advise(view, seat, 300)
    np.testing.assert_allclose(one.visits, two.visits, atol=3)  # ln N, before and after this visit
