"""Announcements by a policy that knows them: it decides what is tried, and rollouts decide where it is in doubt."""

from typing import NamedTuple

import numpy as np
import pytest

from kibitz.doppelkopf.policy_announcements import PolicyAnnouncements
from kibitz.games import positions, view_of
from kibitz.jit import generators
from kibitz.search.policies import policy
from kibitz.search.policy_rollouts import PolicyRollouts

from .dare import CARDS, Dare

SILENT, DOUBLE = 0, 1


@policy
class Doubling(NamedTuple):
    """Doubles with a probability; in rollouts everybody is silent and shows."""

    double: float

    def weigh(self, game, state, actions, n, probs):
        probs[0] = 1.0 - self.double
        probs[1] = self.double

    def step(self, game, state, actions, probs, rng):
        return game.sample_action(state, rng) if state.step < 2 else 0


def view_with(card):
    state = positions(Dare())[0]
    for action in (card, (card + 1) % CARDS):
        Dare().play(state, action)
    return view_of(Dare(), state, 0)


def advise(card, double, seed=1, **settings):
    return PolicyAnnouncements(Dare(), Doubling(double), **settings).advise(view_with(card), 0, generators(seed, 1)[0])


@pytest.mark.parametrize(("double", "best"), [(0.05, SILENT), (0.95, DOUBLE)])
def test_a_policy_that_is_sure_is_followed_without_rollouts(double, best):
    for card in (0, CARDS - 1):
        advice = advise(card, double)
        assert (advice.best, advice.simulations) == (best, 0)
        assert np.isnan(advice.value).all()
        assert advice.prior.tolist() == [1 - double, double]


def test_where_it_is_in_doubt_rollouts_decide():
    for card, best in ((0, SILENT), (CARDS - 1, DOUBLE)):
        for double in (0.3, 0.7):
            advice = advise(card, double, worlds=100)
            assert (advice.best, advice.visits.tolist()) == (best, [100, 100])
            assert advice.value[DOUBLE] == 2 * advice.value[SILENT]  # in the same worlds


def test_a_difference_within_noise_leaves_the_choice_to_the_policy():
    for double in (0.4, 0.6):
        said = [advise(4, double, seed, worlds=20).best for seed in range(40)]  # doubling gains -1/9
        assert said.count(double > 0.5) > 30


def test_a_search_takes_it_as_its_way_to_announce():
    game, doubling = Dare(), Doubling(0.7)
    found = PolicyRollouts(game, doubling, announcements=PolicyAnnouncements(game, doubling, 100), plies=9)
    assert found.advise(view_with(0), 0, 20).best == SILENT
    assert found.played == Dare(loud=False)
