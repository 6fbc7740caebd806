"""How a tree search selects a child: UCB1, PUCT, and equation 12 of Obenaus (2017).

A selection is a NamedTuple of constants with two compiled rules, `select` and `visited`; `@selection` lets kernels call
it. Means are from -1 to 1, those of the seat that moves at the node.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ..jit import below, helper, rules

UNKNOWN = np.float32(2.0)  # value of a node that isn't proven
OBENAUS_C = 2 * math.sqrt(2)  # twice √2, as rewards are from -1 to 1 here, not from 0 to 1
RULES = {
    "select": "self, tree, node, rng",  # -> the child to visit
    "visited": "self, tree, node",  # keep what it needs of a child that has one visit more
}


def selection(cls: Any) -> Any:
    """Class decorator: kernels may call the selection."""
    return rules(RULES)(cls)


@helper
def keep(tree, node, spread):
    """Store a child's mean, and the factor of its exploration term."""
    tree.mean[node] = tree.total[node] / tree.visits[node]
    tree.spread[node] = spread


@selection
class Ucb1(NamedTuple):
    """mean + c·sqrt(ln N / n) (Auer et al. 2002, as UCT has it).

    Unvisited children come first, in random order; or, with `parent_urgency`, an unvisited child has the mean of its
    parent and the exploration term of one visit.
    """

    c: float
    parent_urgency: bool  # else infinite

    def select(self, tree, node, rng):
        first, count = np.int64(tree.first[node]), np.int64(tree.children[node])
        tried = np.int64(tree.tried[node])
        if tried < count and not self.parent_urgency:
            return try_next(tree, first, count, node, rng)
        scale = np.float32(self.c * math.sqrt(math.log(float(tree.visits[node]) + 1.0)))
        best, highest = first, np.float32(-1e30)
        for child in range(first, first + tried):
            score = tree.mean[child] + scale * tree.spread[child]
            if tree.proven[child] != UNKNOWN:
                score = tree.proven[child] if tree.proven[child] > -1 else np.float32(-1e20)
            if score > highest:
                highest = score
                best = child
        # With the parent's urgency the next child counts as if visited once.
        if tried < count and (tried == 0 or through(tree, node, first, tried)[1] + scale > highest):
            return try_next(tree, first, count, node, rng)
        return best

    def visited(self, tree, node):
        keep(tree, node, 1.0 / math.sqrt(float(tree.visits[node])))


@helper
def try_next(tree, first, count, node, rng):
    """Select an unvisited child at random. The visited ones come first in the tree."""
    tried = np.int64(tree.tried[node])
    chosen, place = first + tried + below(rng, count - tried), first + tried
    action, prior = tree.action[place], tree.prior[place]
    tree.action[place], tree.prior[place] = tree.action[chosen], tree.prior[chosen]
    tree.action[chosen], tree.prior[chosen] = action, prior
    tree.tried[node] = tried + 1
    return place


@selection
class PuctSelection(NamedTuple):
    """mean + c·P·sqrt(Σ n) / (1 + n), ties broken at random: as in AlphaGo Zero (Silver et al. 2017).

    Σ n counts the visits of all children, without the playout from the node itself; while there are none, the prior
    decides. An unvisited child counts as won; or, with `parent_urgency`, it has the mean of its parent, to which that
    playout belongs.
    """

    c: float
    parent_urgency: bool

    def select(self, tree, node, rng):
        first, count = np.int64(tree.first[node]), np.int64(tree.children[node])
        visits, mean = through(tree, node, first, count)
        scale = np.float32(self.c * math.sqrt(max(visits, 1.0)))
        unknown = mean if self.parent_urgency else np.float32(1.0)
        best, highest, ties = first, np.float32(-1e30), 0
        for child in range(first, first + count):
            untried = tree.visits[child] == 0
            value = unknown if untried else tree.mean[child]
            share = np.float32(1.0) if untried else tree.spread[child]
            score = value + scale * tree.prior[child] * share
            if tree.proven[child] != UNKNOWN:
                score = tree.proven[child] if tree.proven[child] > -1 else np.float32(-1e20)
            if score > highest:
                best, highest, ties = child, score, 1
            elif score == highest:
                ties += 1
                if below(rng, ties) == 0:
                    best = child
        return best

    def visited(self, tree, node):
        keep(tree, node, 1.0 / (1.0 + float(tree.visits[node])))


@helper
def through(tree, node, first, count):
    """The visits of a node's `count` visited children, and the mean of all simulations through the node.

    The mean is for the seat that moves there, and has the playout from the node itself, too; 0 before the first visit.
    """
    total, visits = float(tree.own[node]), 0.0
    for child in range(first, first + count):
        total += tree.total[child]
        visits += float(tree.visits[child])
    return visits, np.float32(total / max(float(tree.visits[node]), 1.0))


@selection
class ObenausUcb(NamedTuple):
    """mean + (α·p + 1 - α) · c·sqrt(ln N / (1 + n)), with α = 1/sqrt(1 + n), and p the prior scaled to a mean of 1.

    Equation 12 of Obenaus (2017): the prior leads at first, UCB1 later. An unvisited child counts as a draw and is
    selected by its prior alone, so it may have to wait for long.
    """

    c: float

    def select(self, tree, node, rng):
        first, count = np.int64(tree.first[node]), np.int64(tree.children[node])
        scale = np.float32(self.c * math.sqrt(math.log(float(tree.visits[node]) + 1.0)))  # this visit counts
        best, highest = first, np.float32(-1e30)
        for child in range(first, first + count):
            alpha = tree.spread[child] if tree.visits[child] else np.float32(1.0)
            p = tree.prior[child] * np.float32(count)
            score = tree.mean[child] + (alpha * p + (np.float32(1.0) - alpha)) * scale * alpha
            if score > highest or (score == highest and tree.prior[child] > tree.prior[best]):
                best, highest = child, score
        return best

    def visited(self, tree, node):
        keep(tree, node, 1.0 / math.sqrt(1.0 + float(tree.visits[node])))


@helper
def tried(tree, child):
    """The visits of a child in a network's tree, with those that wait."""
    return np.int64(tree.visits[child]) + np.int64(tree.pending[child])


@helper
def mean_of(tree, child):
    """The value of a visited child in a network's tree; simulations that wait count as lost."""
    if tree.proven[child] != UNKNOWN:
        return np.float64(tree.proven[child])
    pending = np.float64(tree.pending[child])
    return (tree.total[child] - pending) / (np.float64(tree.visits[child]) + pending)


@helper
def mean_below(tree, node, first, count):
    """The visits of a node's children in a network's tree, and the mean of all simulations through the node."""
    visits, total = 0.0, np.float64(tree.own[node])
    for child in range(first, first + count):
        visits += tried(tree, child)
        total += tree.total[child] - np.float64(tree.pending[child])
    return visits, total / (1.0 + visits)
