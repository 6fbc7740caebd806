"""UCT (Kocsis and Szepesvári 2006): tree search that trusts means, and doubts what it has seldom tried (UCB1)."""

import math
from typing import Any, NamedTuple

import numpy as np

from ..games import Game
from ..jit import below, helper
from .mcts import UNKNOWN, Mcts, selection


@selection
class Ucb1(NamedTuple):
    """mean + c·sqrt(ln N / n). What was never tried comes first, at random; or (urgency) counts as its parent does."""

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
        if tried < count and (tried == 0 or total / visits + scale > highest):  # as if tried once
            return try_next(tree, first, count, node, rng)
        return best

    def spread(self, visits):
        return 1.0 / math.sqrt(float(visits))


@helper
def try_next(tree, first, count, node, rng):
    """A child that was never tried, at random; those tried lie first."""
    tried = np.int64(tree.tried[node])
    chosen, place = first + tried + below(rng, count - tried), first + tried
    action, prior = tree.action[place], tree.prior[place]
    tree.action[place], tree.prior[place] = tree.action[chosen], tree.prior[chosen]
    tree.action[chosen], tree.prior[chosen] = action, prior
    tree.tried[node] = tried + 1
    return place


class Uct(Mcts):
    def __init__(
        self, game: Game, seed: int = 1, exploration: float = math.sqrt(2), urgency: str = "infinite", **settings: Any
    ) -> None:
        super().__init__(game, Ucb1(float(exploration), urgency == "parent"), seed, **settings)
