"""Random games, at full speed."""

from typing import Any

import numpy as np

from ..games.game import OVER, Game, positions
from ..jit import generators, kernel


def finished(game: Game, count: int, seed: int = 1, start: Any = None) -> float:
    """Play `count` random games the fastest way that the game knows: mean payoff of seat 0."""
    states = positions(game, 2)
    if start is not None:
        states[0] = start
    return float(_finish(game, states, count, generators(seed, 1)[0])) / max(count, 1)


@kernel
def _finish(game, states, count, rng):
    total = 0.0
    for _ in range(count):
        states[1] = states[0]
        game.random_playout(states[1], rng)
        total += game.payoff(states[1], 0)
    return total


def playouts(game: Game, count: int, seed: int = 1, start: Any = None) -> tuple[int, float]:
    """Play `count` random games from a position, the opening by default: turns played, mean payoff of seat 0."""
    states = positions(game, 2)
    if start is not None:
        states[0] = start
    plies, total = _play(game, states, count, generators(seed, 1)[0])
    return plies, total / max(count, 1)


@kernel
def _play(game, states, count, rng):
    plies, total = 0, 0.0
    for _ in range(count):
        states[1] = states[0]
        state = states[1]
        while game.turn(state) != OVER:
            game.play(state, game.sample_action(state, rng))
            plies += 1
        total += game.payoff(state, 0)
    return plies, total


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
