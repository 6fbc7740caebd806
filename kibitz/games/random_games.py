"""Uniformly random games, at full speed."""

from typing import Any

from ..jit import generators, kernel
from .protocol import ENDLESS, OVER, Game, NeverEnds, positions


def finished(game: Game, count: int, seed: int = 1, start: Any = None) -> float:
    """Play `count` random games by the rule `random_playout`, the fastest way; the mean payoff of seat 0."""
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
    """Play `count` random games from a position (None: the opening); number of turns, mean payoff of seat 0."""
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
        limit = plies + ENDLESS
        while game.turn(state) != OVER:
            if plies == limit:
                raise NeverEnds
            game.play(state, game.sample_action(state, rng))
            plies += 1
        total += game.payoff(state, 0)
    return plies, total
