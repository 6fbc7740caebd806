"""Whole games by compiled policies at full speed, without a search. (Uniformly random ones: `games.random_games`.)"""

from typing import Any

import numpy as np

from ..games.game import OVER, Game, positions
from ..jit import generators, kernel
from .policies import play_chance


def by_policy(game: Game, policy: Any, count: int, seed: int) -> int:
    """Play `count` games from the opening by a policy; return the number of turns."""
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


def duel(game: Game, one: Any, two: Any, games: int, seed: int) -> np.ndarray:
    """Play games of two policies in one kernel; return the first one's score in each: 1, 1/2 or 0.

    The first policy moves first in the games of even number.
    """
    if one is two:
        raise ValueError("the two policies must be two objects, as each needs its own scratch arrays")
    most = game.facts.num_actions
    scores, actions, probs = np.zeros(games), np.zeros(most, np.int64), np.zeros(most)
    _duel(game, one, two, positions(game, 2), scores, actions, probs, generators(seed, 1)[0])
    return scores


@kernel
def _duel(game, one, two, states, scores, actions, probs, rng):
    for i in range(len(scores)):
        states[1] = states[0]
        state, seat = states[1], i % 2
        play_chance(game, state, rng)
        turn = game.turn(state)
        while turn != OVER:
            if turn == seat:
                game.play(state, one.step(game, state, actions, probs, rng))
            else:
                game.play(state, two.step(game, state, actions, probs, rng))
            play_chance(game, state, rng)
            turn = game.turn(state)
        mine, theirs = game.payoff(state, seat), game.payoff(state, 1 - seat)
        scores[i] = 0.5 * ((mine > theirs) + (mine >= theirs))
