"""Ensemble UCT: its values are the mean over worlds of their values with all cards open."""

import numpy as np
import pytest

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.games import CHANCE, OVER, legal_actions, view_of
from kibitz.play.players import make
from kibitz.search.ensemble_uct import EnsembleUct
from kibitz.search.policies import Heuristic

from .dare import CARDS, Dare


def after(game, *words):
    """The position after these outcomes and moves, as people write them."""
    state = games.positions(game)[0]
    for word in words:
        game.play(state, game.parse_action(state, word))
    return state


def open_value(game, state, seat):
    """A position's value for a seat when both see everything, and chance is an expectation."""
    turn = game.turn(state)
    if turn == OVER:
        return game.payoff(state, seat)
    values = []
    for action in legal_actions(game, state):
        following = np.array([state], game.state)[0]
        game.play(following, action)
        values.append(open_value(game, following, seat))
    if turn == CHANCE:
        return float(np.mean(values))
    return max(values) if turn == seat else min(values)


@pytest.mark.parametrize("exact", [0, 1000])
@pytest.mark.parametrize("words", [["Q", "K"], ["Q", "J"], ["J", "Q", "pass", "bet"], ["K", "J", "bet"]])
def test_values_are_the_mean_over_worlds_of_open_games(words, exact):
    game = games.load("kuhn")
    state = after(game, *words)
    seat = game.turn(state)
    view = view_of(game, state, seat)
    advice = EnsembleUct(game, 1, determinizations=400, exact=exact).advise(view, seat, 400 * 300)
    assert (advice.simulations == 0) == (exact > 0)
    others = [card for card in range(3) if card != int(state.cards[seat])]
    expected = np.zeros(len(advice.actions))
    for card in others:  # both are as likely
        world = np.array([state], game.state)[0]
        world.cards[1 - seat] = card
        for i, action in enumerate(advice.actions):
            following = np.array([world], game.state)[0]
            game.play(following, int(action))
            expected[i] += open_value(game, following, seat) / 2
    np.testing.assert_allclose(advice.value, expected, atol=0.2)
    assert advice.best == advice.actions[np.argmax(expected)] or np.ptp(expected) < 0.2


def test_simulations_are_shared_out():
    game = games.load("leduc")
    state = after(game, "K", "Q")
    search = EnsembleUct(game, 1, determinizations=7, exact=0, prove=False)
    advice = search.advise(view_of(game, state, 0), 0, 1000)
    assert advice.simulations == 1000
    assert advice.visits.sum() == 1000
    assert advice.policy.sum() == 1


def test_a_card_that_can_only_lose_is_seen():
    """With the king every world agrees."""
    game = games.load("kuhn")
    state = after(game, "Q", "K", "bet")
    advice = EnsembleUct(game, 1, determinizations=10).advise(view_of(game, state, 1), 1, 1000)
    assert game.action_to_string(state, advice.best) == "call" or advice.value.max() == pytest.approx(2)


def test_playouts_may_follow_the_heuristic():
    """A seat that always shows wins with the better card; a random one gives up half of the time."""
    game = Dare()
    state = games.positions(game)[0]
    for card in (CARDS - 1, 0):
        game.play(state, card)
    for policy, value in ((Heuristic(), 2.0), (None, 0.0)):
        search = EnsembleUct(game, 1, determinizations=1, exact=0, announcements="tree", policy=policy, prove=False)
        values = [search.advise(view_of(game, state, 0), 0, 2).value[0] for _ in range(200)]  # each action once
        assert np.mean(values) == pytest.approx(value, abs=0.7)


@pytest.mark.parametrize("text", ["ensemble-uct:1000", "ensemble-uct:0x10", "ensemble-uct:10x", "ensemble-uct:axb"])
def test_a_budget_is_worlds_times_simulations(text):
    with pytest.raises(BadInput, match="10x1000"):
        make(text)
