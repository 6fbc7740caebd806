"""How a tree search selects a child: UCB1, PUCT, and equation 12 of Obenaus (2017).

A selection is a NamedTuple of constants with two compiled rules, `select` and `spread`; `@selection` lets kernels call
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
    "spread": "self, visits",  # -> factor of a child's exploration term
}


def selection(cls: Any) -> Any:
    """Class decorator: kernels may call the selection."""
    return rules(RULES)(cls)


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
        total, visits = 0.0, 0.0
        for child in range(first, first + tried):
            if self.parent_urgency:
                total += tree.total[child]
                visits += float(tree.visits[child])
            score = tree.mean[child] + scale * tree.spread[child]
            if tree.proven[child] != UNKNOWN:
                score = tree.proven[child] if tree.proven[child] > -1 else np.float32(-1e20)
            if score > highest:
                highest = score
                best = child
        if tried < count and (tried == 0 or total / visits + scale > highest):  # as if visited once
            return try_next(tree, first, count, node, rng)
        return best

    def spread(self, visits):
        return 1.0 / math.sqrt(float(visits))


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
    """mean + c·P·sqrt(N) / (1 + n), ties broken at random (Rosin 2011, as AlphaZero has it).

    An unvisited child counts as won; or, with `parent_urgency`, it has the mean of its parent.
    """

    c: float
    parent_urgency: bool

    def select(self, tree, node, rng):
        first, count = np.int64(tree.first[node]), np.int64(tree.children[node])
        scale = np.float32(self.c * math.sqrt(float(tree.visits[node])))
        unknown = np.float32(1.0)
        if self.parent_urgency:
            unknown = mean_of_children(tree, first, count)
        best, highest, ties = first, np.float32(-1e30), 0
        for child in range(first, first + count):
            untried = tree.visits[child] == 0
            mean = unknown if untried else tree.mean[child]
            share = np.float32(1.0) if untried else tree.spread[child]
            score = mean + scale * tree.prior[child] * share
            if tree.proven[child] != UNKNOWN:
                score = tree.proven[child] if tree.proven[child] > -1 else np.float32(-1e20)
            if score > highest:
                best, highest, ties = child, score, 1
            elif score == highest:
                ties += 1
                if below(rng, ties) == 0:
                    best = child
        return best

    def spread(self, visits):
        return 1.0 / (1.0 + float(visits))


@helper
def mean_of_children(tree, first, count):
    """The mean of all simulations through a node, for the seat that moves there."""
    total, visits = 0.0, 0.0
    for child in range(first, first + count):
        total += tree.total[child]
        visits += float(tree.visits[child])
    return np.float32(total / visits) if visits > 0 else np.float32(0.0)


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

    def spread(self, visits):
        return 1.0 / math.sqrt(1.0 + float(visits))
