"""Discounted CFR on the whole public tree (Brown and Sandholm 2019), for games with one street of cards on the board.

Every iteration visits all boards, up to permutations of suits, each weighted by the number of boards it stands for. So
nothing is sampled, and without card abstraction it converges to an equilibrium of the game itself.
"""

from typing import Any

import numpy as np
import torch

from ...nets.devices import with_own_products
from ...solve.regrets import VARIANTS, discount, tensor_rates
from ..solve.buckets import Buckets
from ..solve.cards import check_two_streets
from .public_chance import TorchPublicChanceCfr
from .public_levels import levels
from .public_replies import PublicReplies

DISCOUNTED = VARIANTS["dcfr"]


class PublicTreeCfr(TorchPublicChanceCfr):
    """`run(n)` does n iterations.

    Attributes:
        total: Sum of the values of seat 0, weighted as the average strategy, times the number of pairs of hands.
    """

    def __init__(self, game: Any, buckets: Buckets, device: str = "cpu") -> None:
        check_two_streets(game, buckets.cards)
        super().__init__(game, buckets, device=device)
        self.rounded = False
        self.levels = levels(buckets, np.zeros((1, 0), np.int64), device)

    @with_own_products
    def run(self, iterations: int) -> None:
        """Do some iterations."""
        for _ in range(iterations):
            self.iterations += 1
            first, _ = self.step(self.levels.lower, 1.0)
            _, gain, loss = tensor_rates(DISCOUNTED, self.iterations, self.regrets)
            discount(self.regrets, gain, loss)
            kept = (self.iterations / (self.iterations + 1)) ** DISCOUNTED.weight
            self.sums.mul_(kept)
            self.total.add_(first.sum(dtype=torch.float64)).mul_(kept)

    def value(self) -> float:
        """The value of the game for seat 0, the mean over the iterations, weighted as the average strategy."""
        t = self.iterations
        weights = t * (2 * t + 1) / (6 * (t + 1))  # the sum of (s / (t + 1)) ** 2 over iterations s
        return float(self.total) / (weights * self.levels.pairs)

    @with_own_products
    def best_responses(self) -> tuple[float, float]:
        """What a best response of each seat wins against the average strategy, exactly."""
        return PublicReplies(self.root, self.buckets.counts, self.device).values(self.sums, self.levels)
