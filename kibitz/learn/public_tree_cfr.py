"""Discounted CFR on the whole public tree (Brown and Sandholm 2019), for games with one street of cards on the board.

Every iteration visits all boards, up to permutations of suits, each weighted by the number of boards it stands for. So
nothing is sampled, and without card abstraction it converges to an equilibrium of the game itself.
"""

from typing import Any

import numpy as np
import torch

from ..core.names import BadInput
from ..games import full_name
from ..search.public_chance.buckets import Buckets
from .public_chance import TorchPublicChanceCfr
from .public_streets import Batch, round_products

POSITIVE, NEGATIVE, AVERAGE = 1.5, 0.0, 2.0  # exponents of the discounts of regrets and of the average strategy
AT_ONCE = 64  # boards whose hands are compared at once


class PublicTreeCfr(TorchPublicChanceCfr):
    """`run(n)` does n iterations."""

    def __init__(self, game: Any, buckets: Buckets, device: str = "cpu") -> None:
        super().__init__(game, buckets, device=device)
        round_products(False)
        cards = buckets.cards
        if cards.streets != 2:
            raise BadInput(f"{full_name(game)} has {cards.streets} streets: all boards are visited in games of 2 only")
        keys, counts = cards.classes(cards.dealt[1])
        boards = np.stack([cards.bits_to_board(int(key)) for key in keys])
        parts = [self.batch(*self.possible(boards[i : i + AT_ONCE])) for i in range(0, len(boards), AT_ONCE)]
        weights = torch.tensor(counts / counts.sum(), dtype=torch.float32, device=device)[:, None, None]
        self._whole = Batch(
            [torch.cat([part.buckets[street] for part in parts]) for street in (0, 1)],
            torch.cat([part.wins for part in parts]) * weights,
            torch.cat([part.meets for part in parts]) * weights,
            parts[0].hands,
        )

    def run(self, iterations: int) -> None:
        """Do some iterations."""
        for _ in range(iterations):
            self.iterations += 1
            t = float(self.iterations)
            self.step(self._whole, 1.0)
            gain = t**POSITIVE / (t**POSITIVE + 1)
            loss = t**NEGATIVE / (t**NEGATIVE + 1)
            self.regrets.mul_(torch.where(self.regrets > 0, gain, loss))
            self.sums.mul_((t / (t + 1)) ** AVERAGE)
