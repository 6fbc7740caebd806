"""Playouts and duels of policies: right in distribution, and both policies play both seats."""

from typing import NamedTuple

import numpy as np
import pytest

from kibitz import games
from kibitz.search.playouts import by_policy, duel
from kibitz.search.policies import Uniform, policy

from ..games.counted import value


@policy
class FirstOf(NamedTuple):
    """Always the first legal action, or the last."""

    last: bool

    def step(self, game, state, actions, probs, rng):
        n = game.actions(state, actions)
        return actions[n - 1] if self.last else actions[0]

    def weigh(self, game, state, actions, n, probs):
        for j in range(n):
            probs[j] = 1.0 if j == (n - 1 if self.last else 0) else 0.0


def test_each_policy_moves_first_in_every_other_game():
    game = games.load("tic_tac_toe")
    assert value(game) == 0
    scores = duel(game, FirstOf(False), FirstOf(True), 6, 1)
    # a1 b1 against c3 b3: the first to move has a row one move earlier.
    assert scores.tolist() == [1, 0, 1, 0, 1, 0]


def test_uniform_policies_score_by_the_law_of_random_play():
    scores = duel(games.load("tic_tac_toe"), Uniform(), Uniform(), 20_000, 1)
    # The first player wins 0.5849 of random games, the second 0.2882, the rest are drawn: 127 in 315 etc. (exact:
    # 737/1260, 121/420, 8/63).
    assert np.mean(scores[::2]) == pytest.approx(737 / 1260 + 8 / 126, abs=0.02)
    assert np.mean(scores) == pytest.approx(0.5, abs=0.02)


def test_the_two_policies_must_be_two_objects():
    one = Uniform()
    with pytest.raises(ValueError, match="two objects"):
        duel(games.load("tic_tac_toe"), one, one, 1, 1)


def test_playouts_by_a_policy_count_their_turns():
    game = games.load("tic_tac_toe")
    assert by_policy(game, FirstOf(False), 3, 1) == 3 * 7  # a1 .. a3 b1: the seventh piece makes a row
