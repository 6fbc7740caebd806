"""Policy rollouts: exact means in small games, views only, the same random numbers for all actions."""

import math
from functools import partial
from itertools import count
from typing import NamedTuple

import numpy as np
import pytest

from kibitz.games import CHANCE, OVER, legal_actions, load, positions, view_of
from kibitz.jit import generators
from kibitz.search.playouts import duel
from kibitz.search.policies import Uniform, policy
from kibitz.search.policy_rollouts import PolicyRollouts

KUHN = load("kuhn")


def even_value(game, state, seat):
    """Expected reward when all seats move uniformly at random."""
    turn = game.turn(state)
    if turn == OVER:
        return game.reward(state, seat)
    assert turn != CHANCE
    values = []
    for action in legal_actions(game, state):
        after = positions(game)
        after[0] = state
        game.play(after[0], action)
        values.append(even_value(game, after[0], seat))
    return np.mean(values)


def exact(card):
    """The value of each action of the first seat with this card, averaged over the other's two cards."""
    found = []
    for other in set(range(3)) - {card}:
        for action in (0, 1):
            state = positions(KUHN)[0]
            for move in (card, other, action):
                KUHN.play(state, move)
            found.append(even_value(KUHN, state, 0))
    return np.reshape(found, (2, 2)).mean(axis=0)


@pytest.mark.parametrize("card", range(3))
@pytest.mark.parametrize("plies", [0, 1, 9])
def test_values_are_means_over_worlds_and_moves(card, plies):
    state = positions(KUHN)[0]
    for move in (card, (card + 1) % 3):
        KUHN.play(state, move)
    advice = PolicyRollouts(KUHN, Uniform(), plies=plies, doubt=math.inf).advise(view_of(KUHN, state, 0), 0, 4000)
    np.testing.assert_allclose(advice.value, exact(card), atol=4 * advice.error.max() + 1e-9)
    assert advice.best == advice.actions[np.argmax(advice.value)]
    assert advice.visits.tolist() == [4000, 4000]
    assert advice.simulations == 8000


def test_it_searches_until_its_time_is_up_and_one_round_at_least(monkeypatch):
    """By a clock that advances by a second each time it is read."""
    monkeypatch.setattr("kibitz.search.budget.time.perf_counter", partial(next, count()))
    state = positions(KUHN)[0]
    for move in (0, 1):
        KUHN.play(state, move)
    search = PolicyRollouts(KUHN, Uniform(), doubt=math.inf)
    advice = search.advise(view_of(KUHN, state, 0), 0, seconds=1e-9)
    assert advice.visits.tolist() == [16, 16]
    # 16 worlds, then 2 seconds are over: in the third there is time for 8, not for the 24 of a longer round.
    advice = search.advise(view_of(KUHN, state, 0), 0, seconds=3)
    assert advice.visits.tolist() == [24, 24]
    # With more time the second round is whole: 16 + 24, and then 40 * (5 - 4) / 4.
    advice = search.advise(view_of(KUHN, state, 0), 0, seconds=5)
    assert advice.visits.tolist() == [50, 50]


def test_worlds_are_spent_on_actions_that_may_be_best():
    """Doppelkopf: all cards are tried in the first worlds, those that are significantly behind no further."""
    game = load("doppelkopf:thesis")
    state, rng = positions(game)[0], generators(3, 1)[0]
    game.start(state)
    while game.turn(state) == CHANCE or game.is_announcement(state) or len(legal_actions(game, state)) < 5:
        game.play(state, game.sample_action(state, rng))
    seat = game.turn(state)
    n = len(legal_actions(game, state))
    advice = PolicyRollouts(game, Uniform(), plies=99).advise(view_of(game, state, seat), seat, 500)
    best = advice.policy.argmax()
    assert best == advice.value.argmax()
    assert advice.visits[best] == advice.visits.max() <= 500
    assert advice.visits.min() >= 16
    assert len(set(advice.visits)) > 2
    assert advice.simulations == advice.visits.sum()
    search = PolicyRollouts(game, Uniform(), plies=99, doubt=math.inf)
    assert search.advise(view_of(game, state, seat), seat, 70).visits.tolist() == [70] * n


def test_it_ends_when_one_action_is_left():
    """With the king a bet is better by far."""
    state = positions(KUHN)[0]
    for move in (2, 0):
        KUHN.play(state, move)
    advice = PolicyRollouts(KUHN, Uniform(), plies=9).advise(view_of(KUHN, state, 0), 0, 10**6)
    assert advice.policy.tolist() == [0, 1]
    assert advice.visits.max() < 10**4


def test_endings_are_solved_for_the_actions_that_are_left_too():
    """Every world is the same deal here, so every round finds the same values."""
    game = load("doppelkopf:thesis")
    rng, truth, seen = generators(4, 1)[0], positions(game), 0
    search = PolicyRollouts(
        game, Uniform(), exact=10**6, determinizer=lambda game, view, seat, n, rng: np.repeat(truth, n)
    )
    for _ in range(20):
        state = truth[0]
        game.start(state)
        while game.turn(state) != OVER and (state.count < 32 or len(legal_actions(game, state)) < 3):
            game.play(state, game.sample_action(state, rng))
        if (seat := game.turn(state)) != OVER:
            advice = search.advise(view_of(game, state, seat), seat, 70)
            wanted = search.maxn.solve(state).values[:, seat]
            assert advice.value == pytest.approx(wanted)
            assert wanted[advice.policy.argmax()] == wanted.max()
            seen += len(set(wanted)) > 1
    assert seen


@policy
class Leaning(NamedTuple):
    """Prefers the first action."""

    def weigh(self, game, state, actions, n, probs):
        for i in range(n):
            probs[i] = 0.2 / n
        probs[0] += 0.8


@pytest.mark.parametrize(("prior", "chosen"), [(0.0, 1), (100.0, 0)])
def test_the_prior_counts_by_its_weight(prior, chosen):
    """With the king a bet wins more, but the policy would check."""
    state = positions(KUHN)[0]
    for move in (2, 0):
        KUHN.play(state, move)
    advice = PolicyRollouts(KUHN, Leaning(), plies=9, prior=prior).advise(view_of(KUHN, state, 0), 0, 400)
    assert advice.value[1] > advice.value[0]
    assert advice.policy.argmax() == chosen


def test_small_worlds_are_solved():
    """The solver sees the world: with the better card a bet wins 2, or 1 when it is declined."""
    state = positions(KUHN)[0]
    for move in (2, 0):
        KUHN.play(state, move)
    advice = PolicyRollouts(KUHN, Uniform(), exact=100).advise(view_of(KUHN, state, 0), 0, 50)
    assert advice.value.tolist() == [1.0, 1.0]
    assert advice.error.tolist() == [0.0, 0.0]


@policy
class Turns(NamedTuple):
    """Moves at random, and counts how often it is asked where a seat moves and where chance does."""

    asked: np.ndarray  # [2] i8

    def weigh(self, game, state, actions, n, probs):
        self.asked[int(game.turn(state) == CHANCE)] += 1
        for i in range(n):
            probs[i] = 1.0 / n

    def evaluate(self, game, state, plies, actions, probs, rng, rewards):
        self.asked[int(game.turn(state) == CHANCE)] += 1
        rewards[:] = 0.0
        return True


@pytest.mark.parametrize("plies", [0, 1, 9])
def test_a_policy_is_asked_only_where_a_seat_moves(plies):
    """In Leduc a card is dealt between the rounds of betting."""
    game, model = load("leduc"), Turns(np.zeros(2, np.int64))
    state = game.initial(seed=1).deal().play("check")
    PolicyRollouts(game, model, plies=plies, doubt=math.inf).advise(view_of(game, state.record, 1), 1, 50)
    assert model.asked[0]
    assert not model.asked[1]


def test_policies_of_a_duel_are_asked_only_where_they_move():
    one, two = Turns(np.zeros(2, np.int64)), Turns(np.zeros(2, np.int64))
    scores = duel(load("leduc"), one, two, 40, 1)
    assert set(scores) <= {0.0, 0.5, 1.0}
    assert one.asked[0]
    assert two.asked[0]
    assert not one.asked[1]
    assert not two.asked[1]
