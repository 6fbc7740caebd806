"""PUCT (Rosin 2011, as AlphaZero has it): tree search that follows a prior until it knows better."""

import math
from typing import Any, NamedTuple

import numpy as np

from ..games import Game
from ..jit import below, helper
from .mcts import UNKNOWN, Mcts, selection


@selection
class PuctSelection(NamedTuple):
    """mean + c·P·sqrt(N) / (1 + n); ties at random. What was never tried counts as its parent does, or as won."""

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
    """What the node is worth to the seat to move there, by all simulations so far."""
    total, visits = 0.0, 0.0
    for child in range(first, first + count):
        total += tree.total[child]
        visits += float(tree.visits[child])
    return np.float32(total / visits) if visits > 0 else np.float32(0.0)


class Puct(Mcts):
    def __init__(
        self, game: Game, seed: int = 1, exploration: float = 2.5, urgency: str = "parent", **settings: Any
    ) -> None:
        super().__init__(game, PuctSelection(float(exploration), urgency == "parent"), seed, **settings)
