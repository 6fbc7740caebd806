"""Sample worlds from a seat's belief: full positions that fit its view, if the other seats have followed a policy.

In games whose rule `target` knows which actions lead to an infoset, a particle filter (sequential importance sampling
with resampling): particles start at the opening and move by turns to the view. The seat itself and chance repeat what
the view shows; any other seat draws from its policy, restricted to the actions that can still lead to the view. A
particle's weight is the product of the probabilities of these restrictions. Where the weights become too unequal,
particles are drawn anew by weight. In other games worlds come from the rule `determinize`, and all have the same
weight: nothing is concluded from the others' moves.

Particles with the same forebear at the opening depend on each other, so the error of a mean is that of the sums over
forebears (Chan and Lai 2013).
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ..games import IST, Game
from ..games.protocol import CHANCE, OVER
from ..jit import helper, kernel, uniform
from .determinization import sample_worlds

LEAST_SHARE = 0.5  # particles are drawn anew where the effective sample size falls below this share of their number


class Belief(NamedTuple):
    """Worlds that fit a view. Those of several calls may be put together, as their weights are on one scale."""

    worlds: np.ndarray  # [n] records
    logs: np.ndarray  # [n] f8: logarithms of the weights
    forebears: np.ndarray  # [n] i8: number of the particle at the opening


class _Scratch(NamedTuple):
    states: np.ndarray  # [n] positions, for drawing anew
    forebears: np.ndarray  # [n] i8, likewise
    actions: np.ndarray  # [most] i8
    probs: np.ndarray  # [most] f8
    keep: np.ndarray  # [most] bool


def sample_belief(
    game: Game, view: Any, seat: int, count: int, policy: Any, rng: np.ndarray, uniform_share: float = 0.0
) -> Belief:
    """Sample worlds: `count`, or fewer where particles are lost on the way to the view.

    Args:
        game, view, seat: A view of the seat to move.
        policy: What the other seats are assumed to have played; a compiled policy.
        uniform_share: Share of uniform play in it, so that no move of theirs is impossible.

    Raises:
        BadInput: No world is consistent with the view.
    """
    if not game.facts.hidden or "ist" not in game.facts.targets:
        return fitting_worlds(game, view, seat, count, rng)
    most, views = max(game.facts.num_actions, game.facts.max_chance_outcomes), np.zeros(1, game.state)
    views[0] = view
    belief = Belief(np.zeros(count, game.state), np.zeros(count), np.arange(count))
    scratch = _Scratch(
        states=np.zeros(count, game.state),
        forebears=np.zeros(count, np.int64),
        actions=np.zeros(most, np.int64),
        probs=np.zeros(most),
        keep=np.zeros(most, np.bool_),
    )
    turns = game.facts.max_game_length + 1
    _filter(game, views, seat, policy, uniform_share, turns, LEAST_SHARE, belief, scratch, rng)
    there = belief.logs > -math.inf
    return Belief(*(part[there] for part in belief))


def fitting_worlds(game: Game, view: Any, seat: int, count: int, rng: np.ndarray) -> Belief:
    """Sample `count` worlds that fit a view, whatever the other seats play."""
    return Belief(sample_worlds(game, view, seat, count, rng), np.zeros(count), np.arange(count))


def joined(parts: list[Belief]) -> Belief:
    """One belief of several samples."""
    first = np.cumsum([0, *(1 + part.forebears.max(initial=-1) for part in parts)])
    forebears = [part.forebears + start for part, start in zip(parts, first, strict=False)]
    worlds, logs = (np.concatenate([part[i] for part in parts]) for i in range(2))
    return Belief(worlds, logs, np.concatenate(forebears))


@kernel
def _filter(game, views, seat, policy, uniform_share, turns, least_share, belief, scratch, rng):
    """Move all particles from the opening to the view."""
    view, worlds, logs = views[0], belief.worlds, belief.logs
    key = game.infoset(view, seat)
    for i in range(len(worlds)):
        game.start(worlds[i])
    for _ in range(turns):
        arrived = True
        for i in range(len(worlds)):
            if logs[i] > -np.inf and not (game.turn(worlds[i]) == seat and game.infoset(worlds[i], seat) == key):
                logs[i] += move_on(game, worlds[i], view, seat, policy, uniform_share, scratch, rng)
                arrived = False
        if arrived:
            return
        draw_anew(belief, scratch, least_share, rng)
    for i in range(len(worlds)):
        if not (game.turn(worlds[i]) == seat and game.infoset(worlds[i], seat) == key):
            logs[i] = -np.inf


@helper
def move_on(game, state, view, seat, policy, uniform_share, scratch, rng):
    """Make one move towards the view; return the logarithm of its factor of the weight."""
    actions, probs, keep = scratch.actions, scratch.probs, scratch.keep
    turn = game.turn(state)
    if turn == OVER:
        return -np.inf
    n = game.actions(state, actions)
    kept = game.target(state, view, seat, IST, actions, n, keep)
    if kept == 0:
        return -np.inf
    if turn == CHANCE:
        game.chance_probs(state, actions, n, probs)
    elif turn == seat:
        for j in range(n):
            probs[j] = 1.0  # its own policy tells nothing about the others
    else:
        policy.weigh(game, state, actions, n, probs)
        for j in range(n):
            probs[j] = uniform_share / n + (1.0 - uniform_share) * probs[j]
    mass, last = 0.0, -1
    for j in range(n):
        if keep[j] and probs[j] > 0:
            mass += probs[j]
            last = j
    if last < 0:
        return -np.inf
    left = uniform(rng) * mass
    for j in range(last):
        if keep[j]:
            left -= probs[j]
            if left < 0:
                last = j
                break
    game.play(state, actions[last])
    return math.log(mass)


@helper
def draw_anew(belief, scratch, least_share, rng):
    """Draw particles by weight, at even distances (systematic resampling), where their weights are too unequal."""
    count, logs = len(belief.logs), belief.logs
    highest = -np.inf
    for i in range(count):
        highest = max(highest, logs[i])
    if highest == -np.inf:
        return
    total, squares = 0.0, 0.0
    for i in range(count):
        weight = math.exp(logs[i] - highest)
        total += weight
        squares += weight * weight
    if total * total >= least_share * count * squares:
        return
    step, mean = total / count, highest + math.log(total / count)
    at, passed, source = uniform(rng) * step, math.exp(logs[0] - highest), 0
    for i in range(count):
        while passed <= at and source < count - 1:
            source += 1
            passed += math.exp(logs[source] - highest)
        scratch.states[i] = belief.worlds[source]
        scratch.forebears[i] = belief.forebears[source]
        at += step
    for i in range(count):
        belief.worlds[i] = scratch.states[i]
        belief.forebears[i] = scratch.forebears[i]
        logs[i] = mean


def weighted_means(values: np.ndarray, belief: Belief) -> tuple[np.ndarray, np.ndarray]:
    """The means of [worlds, n] values over a belief: [n] f8, and their covariance [n, n] f8, NaN: unknown."""
    weights = np.exp(belief.logs - belief.logs.max())
    weights /= weights.sum()
    means = weights @ values
    groups, group = np.unique(belief.forebears, return_inverse=True)
    sums = np.zeros((len(groups), values.shape[1]))
    np.add.at(sums, group, weights[:, None] * (values - means))
    if len(groups) < 2:
        return means, np.full((len(means), len(means)), np.nan)
    return means, sums.T @ sums * len(groups) / (len(groups) - 1)
