"""Playouts by a policy."""

from typing import Any

import numpy as np

from ..games.game import OVER, Game, positions
from ..jit import generators, kernel


def by_policy(game: Game, policy: Any, count: int, seed: int) -> int:
    """So many games from the opening, by a policy; how many turns they took."""
    most = max(game.facts.num_actions, game.facts.max_chance_outcomes)
    actions, probs = np.zeros(most, np.int64), np.zeros(most)
    return _by_policy(game, policy, positions(game, 2), count, actions, probs, generators(seed, 1)[0])


@kernel
def _by_policy(game, policy, states, count, actions, probs, rng):
    turns = 0
    for _ in range(count):
        states[1] = states[0]
        while game.turn(states[1]) != OVER:
            policy.playout(game, states[1], 1, actions, probs, rng)
            turns += 1
    return turns
