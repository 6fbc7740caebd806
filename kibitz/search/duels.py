"""Policies against each other, without a search: thousands of games a second, in one kernel."""

from typing import Any

import numpy as np

from ..games import Game, positions
from ..games.game import OVER
from ..jit import generators, kernel


def duel(game: Game, one: Any, two: Any, games: int, seed: int) -> np.ndarray:
    """What the first policy got of each game: 1, 1/2 or 0. It moves first in every other one."""
    if one is two:
        raise ValueError("each policy needs room of its own")
    most = game.facts.num_actions
    scores, actions, probs = np.zeros(games), np.zeros(most, np.int64), np.zeros(most)
    _duel(game, one, two, positions(game, 2), scores, actions, probs, generators(seed, 1)[0])
    return scores


@kernel
def _duel(game, one, two, states, scores, actions, probs, rng):
    for i in range(len(scores)):
        states[1] = states[0]
        state, seat = states[1], i % 2
        turn = game.turn(state)
        while turn != OVER:
            if turn == seat:
                game.play(state, one.step(game, state, actions, probs, rng))
            else:
                game.play(state, two.step(game, state, actions, probs, rng))
            turn = game.turn(state)
        mine, theirs = game.payoff(state, seat), game.payoff(state, 1 - seat)
        scores[i] = 0.5 * ((mine > theirs) + (mine >= theirs))
