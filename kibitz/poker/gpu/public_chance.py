"""Linear CFR with public chance sampling in torch, for a GPU: many boards at once.

The tables are summed over all boards of a batch. `kibitz.poker.solve.solver` is the same algorithm on
processor cores, one board at a time.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import torch

from ...nets.devices import with_own_products
from ..solve.betting_tree import betting_tree
from ..solve.buckets import Buckets
from .public_streets import (
    Batch,
    Node,
    Pair,
    Street,
    compared,
    first_entries,
    fused,
    halved,
    lay_out,
    moved,
    plain,
    public_street,
    street_values,
)

AHEAD = 4  # iterations whose boards are prepared while the present one runs


class TorchPublicChanceCfr:
    """`run(n)` does n iterations, each on a batch of boards.

    Attributes:
        total: Sum of the values of seat 0, weighted by iteration, times the number of pairs of hands and of boards.
    """

    def __init__(
        self, game: Any, buckets: Buckets, seed: int = 1, boards: int = 16, device: str = "cpu", average_every: int = 1
    ) -> None:
        self.game, self.buckets, self.seed, self.boards, self.device = game, buckets, seed, boards, device
        self.average_every, self.iterations = average_every, 0
        self.tree = betting_tree(game, buckets.cards)
        self.root = public_street(self.tree, np.zeros(1, np.int64))
        size = lay_out(self.root, self.tree, buckets.counts, device)
        self.first = first_entries(self.root, np.zeros(len(self.tree.seat), np.int64))
        self.regrets = torch.zeros(size, device=device)
        self.sums = torch.zeros(size, device=device)
        self.added = torch.zeros(size, device=device)  # in this iteration
        self.total = torch.zeros((), dtype=torch.float64, device=device)
        self.steps: Any = fused() if device.startswith("cuda") else plain
        self._held = torch.tensor(buckets.cards.held, device=device)
        self.half = device.startswith("cuda") and buckets.cards.streets > 2  # on the last street
        self.rounded = True  # products of matrices, on a GPU
        self._ahead: dict[int, Future] = {}  # by iteration: its boards, prepared on processor cores meanwhile
        self._pool = ThreadPoolExecutor(AHEAD)

    @with_own_products
    def run(self, iterations: int) -> None:
        """Do some iterations."""
        for _ in range(iterations):
            self.iterations += 1
            for number in range(self.iterations, self.iterations + 1 + AHEAD):
                if number not in self._ahead:
                    self._ahead[number] = self._pool.submit(self._sampled, number)
            found = self._ahead.pop(self.iterations).result()
            first, _ = self.step(self.batch(*found), float(self.iterations))
            self.total.add_(first.sum(dtype=torch.float64) * self.iterations)

    def sample(self, iteration: int) -> np.ndarray:
        """The boards of an iteration."""
        cards = self.buckets.cards
        random = np.random.default_rng([self.seed, iteration]).random((self.boards, cards.deck))
        return random.argsort(axis=1)[:, : cards.dealt[-1]]

    def _sampled(self, iteration: int) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        return self.possible(self.sample(iteration))

    def possible(self, boards: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """Of boards: the possible hands [boards, hands], their ranks at the showdown, and their buckets by street."""
        cards = self.buckets.cards
        values = cards.values(boards)
        count = int((values[0] >= 0).sum())
        hands = np.argsort(values < 0, axis=1, kind="stable")[:, :count]
        buckets = [
            np.take_along_axis(self.buckets.of(boards[:, :shown], street), hands, 1)
            for street, shown in enumerate(cards.dealt)
        ]
        return hands, np.take_along_axis(values, hands, 1), buckets

    def batch(self, hands: np.ndarray, values: np.ndarray, buckets: list[np.ndarray]) -> Batch:
        device = self.device
        meets, wins = compared(self._held[moved(hands, device)], moved(values, device), self.half)
        assert wins is not None
        more = ((0, 0), (0, meets.shape[1] - hands.shape[1]))
        by_street = [moved(np.pad(each, more).astype(np.int32), device) for each in buckets]
        return Batch(by_street, wins, meets, hands.shape[1])

    def step(self, batch: Batch, weight: float) -> Pair:
        """Update the tables on a batch; return the two seats' values, [boards, 1, hands], times the other's number."""
        boards, hands = batch.buckets[0].shape
        start = torch.zeros(boards, 1, hands, device=self.device)
        start[:, :, : batch.hands] = 1.0
        average = weight if self.iterations % self.average_every == 0 else 0.0
        first, second = self._walk(self.root, (start, start), batch, weight, average)
        if average:
            self.add_sums()
        return first[..., : batch.hands], second[..., : batch.hands]

    def _walk(self, street: Street, reach: Pair, batch: Batch, weight: float, average: float) -> Pair:
        """Update the tables of a street and of those below it; return both seats' values at its beginning."""
        buckets, count, steps = batch.buckets[street.number], self.buckets.counts[street.number], self.steps
        scale: Any = (None, None)
        if self.half and street.number == len(self.buckets.counts) - 1:
            reach, scale = halved(reach)
        strategies: dict[int, torch.Tensor] = {}

        def follow(node: Node, reach: Pair) -> torch.Tensor:
            regrets, sums, n = self.regrets[node.table], self.added[node.table], len(node.children)
            strategies[id(node)], after = steps.choose(
                regrets, sums, buckets, reach[node.seat], n, count, average, scale[node.seat]
            )
            return after

        def visit(below: Street, reach: Pair) -> Pair:
            return self._walk(below, reach, batch, weight, average)

        def back(node: Node, children: list, reach: Pair) -> Pair:
            strategy = strategies.pop(id(node))
            return steps.update(
                self.regrets[node.table], buckets, strategy, node.seat, children, count, weight, scale[1 - node.seat]
            )

        first, second = street_values(street, reach, batch, follow, visit, back)
        return (first, second) if scale[0] is None else (first * scale[1][..., None], second * scale[0][..., None])

    def add_sums(self) -> None:
        """Add an iteration to the sums of strategies. One by one its small numbers would be lost in large sums."""
        self.sums.add_(self.added)
        self.added.zero_()

    def regret_bound(self) -> float:
        """The sum over all buckets of the largest positive regret."""

        def below(street: Street) -> float:
            nodes = [node for node in street.nodes if node.seat >= 0]
            parts = [self.regrets[node.table].view(-1, len(node.children)).amax(1).clamp_min(0) for node in nodes]
            own = sum(float(part.sum(dtype=torch.float64)) for part in parts)
            return own + sum(below(other) for other, _ in street.below)

        return below(self.root)

    def probs(self) -> np.ndarray:
        """Sums of strategies, as the tables are ordered: in proportion to the average strategy."""
        return self.sums.cpu().numpy()
