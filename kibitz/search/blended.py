"""UCT that a prior leads at first and UCB1 later: the selection of Obenaus (2017), his equation 12."""

import math
from typing import NamedTuple

import numpy as np

from .mcts import selection

# Twice √2, as rewards are from -1 to 1 here, not from 0 to 1.
EXPLORATION = 2 * math.sqrt(2)


@selection
class ObenausUcb(NamedTuple):
    """mean + (α·p + 1 - α) · c·sqrt(ln N / (1 + n)), with α = 1/sqrt(1 + n), and p the prior, 1 on the mean.

    So a child that was never tried is chosen by its prior alone, and may have to wait for long; it counts as a draw.
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
