"""Estimates of action values from all games of an iteration together, for two seats and zero-sum payoffs.

The games of a batch share their first moves, in a small game all of them: together they are a tree. In it the value of
an action is the mean over the outcomes of chance that follow, that of a decision the mean over its actions by the
policy, and that of an infoset the mean over its histories by how likely chance and the other seat lead there. So what
was drawn matters only where something is missing:

- an action that no game has tried counts by the estimate of the value network;
- an outcome or a history counts by its probability, divided by that of being among the samples at all (the estimator of
  Horvitz and Thompson 1952). Where everything is there, it is divided by 1; where samples are few, all weigh the same.

The policy's probabilities take part, not those by which actions were drawn: exploration doesn't bias the values.
"""

from typing import NamedTuple

import numpy as np

from ...jit import helper, kernel
from .self_play import Batch, Trace


class Estimates(NamedTuple):
    """What is learned from: a decision per infoset for the policy, and the actions that were tried for the values."""

    rows: np.ndarray  # [infosets] i8: a row of the batch in each infoset
    values: np.ndarray  # [infosets, actions] f4: of each action for the mover; what is illegal is 0
    visits: np.ndarray  # [infosets] i8: rows of the batch in each infoset
    tried_rows: np.ndarray  # [tried] i8: a row of the batch at each history
    tried_actions: np.ndarray  # [tried] i8
    tried_values: np.ndarray  # [tried] f4: for the mover


def tree_estimates(
    batch: Batch, trace: Trace, actions: np.ndarray, probs: np.ndarray, estimates: np.ndarray, payoffs: np.ndarray
) -> Estimates:
    """Values of the actions at all infosets of a batch.

    Args:
        batch: The decisions.
        trace: Its trace.
        actions: [rows] i8: what was played.
        probs: [rows, actions] f4: the policy; 0 for what is illegal.
        estimates: [rows, actions] f4: those of the value network for the mover.
        payoffs: [games] f8: those of seat 0.
    """
    _, first, node = np.unique(trace.histories, return_index=True, return_inverse=True)
    _, example, infoset = np.unique(trace.infosets[first], return_index=True, return_inverse=True)
    _, ends = np.unique(trace.ends, return_index=True)
    last, before = np.full(len(payoffs), -1), np.full(len(node), -1)
    depth = np.zeros(len(node), np.int64)
    _link(batch.games, last, before, depth)
    shape = len(first), probs.shape[1]
    values, weights, visits = np.zeros(shape), np.zeros(shape), np.zeros(shape, np.int64)
    _count(node, actions, visits)
    _end(ends, last, node, actions, trace.end_chances, payoffs, visits, values, weights)
    order = np.argsort(-depth[first], kind="stable")  # the later histories first
    links = order, first, before[first], node, actions
    _back_up(*links, batch.seats, trace.chances, probs, estimates, visits, values, weights)
    found = np.zeros((len(example), shape[1]))
    _average(infoset, first, trace.reached, trace.sampled, len(payoffs), values, found)
    tried, which = np.nonzero(visits)
    return Estimates(
        rows=first[example],
        values=found.astype(np.float32),
        visits=np.bincount(infoset[node], minlength=len(example)),
        tried_rows=first[tried],
        tried_actions=which,
        tried_values=values[tried, which].astype(np.float32),
    )


@kernel
def _link(games, last, before, depth):
    """Write the row before each row in its game, their number, and the last row of each game; -1: none."""
    for row in range(len(games)):
        before[row] = last[games[row]]
        if before[row] >= 0:
            depth[row] = depth[before[row]] + 1
        last[games[row]] = row


@kernel
def _count(node, actions, visits):
    for row in range(len(node)):
        visits[node[row], actions[row]] += 1


@helper
def _weight(probability, sampled, count):
    """Probability of something, divided by that of being drawn at least once in `count` samples."""
    if sampled >= 1:
        return probability
    return probability / -np.expm1(count * np.log1p(-sampled))


@kernel
def _end(ends, last, node, actions, chances, payoffs, visits, values, weights):
    """Add the payoff of each end to the action before it."""
    for game in ends:
        row = last[game]
        if row >= 0:
            at, action = node[row], actions[row]
            weight = _weight(chances[game], chances[game], visits[at, action])
            values[at, action] += weight * payoffs[game]
            weights[at, action] += weight


@kernel
def _back_up(order, first, parents, node, actions, seats, chances, probs, estimates, visits, values, weights):
    """From the last histories to the first: the value of each action for the mover, and that of the history."""
    for at in order:
        row = first[at]
        sign, value = 1 - 2 * seats[row], 0.0
        for action in range(values.shape[1]):
            if visits[at, action]:
                values[at, action] *= sign / weights[at, action]
            else:
                values[at, action] = estimates[row, action]
            value += probs[row, action] * values[at, action]
        before = parents[at]
        if before >= 0:
            above, action = node[before], actions[before]
            weight = _weight(chances[row], chances[row], visits[above, action])
            values[above, action] += weight * sign * value
            weights[above, action] += weight


@kernel
def _average(infoset, first, reached, sampled, count, values, found):
    """The mean of the values over the histories of each infoset."""
    totals = np.zeros(len(found))
    for at in range(len(infoset)):
        row = first[at]
        weight = _weight(reached[row], sampled[row], count)
        totals[infoset[at]] += weight
        for action in range(values.shape[1]):
            found[infoset[at], action] += weight * values[at, action]
    for i in range(len(found)):
        for action in range(values.shape[1]):
            found[i, action] /= totals[i]
