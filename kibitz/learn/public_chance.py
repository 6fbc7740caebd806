"""Linear CFR with public chance sampling in torch, for a GPU: many boards at once.

The tables are summed over all boards of a batch. `kibitz.search.public_chance.solver` is the same algorithm on
processor cores, one board at a time.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
import torch

from ..search.public_chance.betting_tree import betting_tree
from ..search.public_chance.buckets import Buckets
from .public_streets import (
    Batch,
    Pair,
    Street,
    compared,
    first_entries,
    fused,
    lay_out,
    plain,
    public_street,
    round_products,
    settled,
)


class TorchPublicChanceCfr:
    """`run(n)` does n iterations, each on a batch of boards."""

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
        self._held = torch.tensor(buckets.cards.held, device=device)
        round_products(True)
        self._ahead: Future | None = None
        self._pool = ThreadPoolExecutor(1)

    def run(self, iterations: int) -> None:
        """Do some iterations."""
        for _ in range(iterations):
            found = self._ahead.result() if self._ahead else self._sampled(self.iterations + 1)
            self.iterations += 1
            self._ahead = self._pool.submit(self._sampled, self.iterations + 1)
            self.step(self.batch(*found), float(self.iterations))

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
        def moved(array: np.ndarray, kind: Any = np.int64) -> torch.Tensor:
            return torch.from_numpy(np.ascontiguousarray(array, kind)).to(self.device, non_blocking=True)

        meets, wins = compared(self._held[moved(hands)], moved(values))
        assert wins is not None
        more = ((0, 0), (0, meets.shape[1] - hands.shape[1]))
        return Batch([moved(np.pad(each, more), np.int32) for each in buckets], wins, meets, hands.shape[1])

    def step(self, batch: Batch, weight: float) -> Pair:
        """Update the tables on a batch; return the two seats' values, [boards, 1, hands], times the other's number."""
        boards, hands = batch.buckets[0].shape
        start = torch.zeros(boards, 1, hands, device=self.device)
        start[:, :, : batch.hands] = 1.0
        average = weight if self.iterations % self.average_every == 0 else 0.0
        first, second = self._walk(self.root, (start, start), batch, weight, average)
        return first[..., : batch.hands], second[..., : batch.hands]

    def _walk(self, street: Street, reach: Pair, batch: Batch, weight: float, average: float) -> Pair:
        nodes, buckets = street.nodes, batch.buckets[street.number]
        count = self.buckets.counts[street.number]
        steps = fused() if self.device.startswith("cuda") else plain
        reaches: list[Pair] = [reach] * len(nodes)
        strategies: dict[int, torch.Tensor] = {}
        for i, node in enumerate(nodes):
            if node.seat < 0:
                continue
            regrets, sums, n = self.regrets[node.table], self.sums[node.table], len(node.children)
            mine, other = reaches[i][node.seat], reaches[i][1 - node.seat]
            strategies[i], after = steps.choose(regrets, sums, buckets, mine, n, count, average)
            for place, child in enumerate(node.children):
                reaches[child] = (after[place], other) if node.seat == 0 else (other, after[place])
        values: list[Any] = [None] * len(nodes)  # (value, scale by way) of both seats
        settled(street, reaches, batch, values)
        self._next_street(street, reaches, values, batch, weight, average)
        ones = torch.ones(reach[0].shape[1], device=self.device)
        for i in range(len(nodes) - 1, -1, -1):
            node = nodes[i]
            if node.seat >= 0:
                found, regrets = [values[child] for child in node.children], self.regrets[node.table]
                value, rest = steps.update(regrets, buckets, strategies.pop(i), node.seat, found, count, weight)
                values[i] = ((value, ones), (rest, ones)) if node.seat == 0 else ((rest, ones), (value, ones))
        (first, one), (second, other) = values[0]
        return (first, second) if nodes[0].seat >= 0 else (first * one[:, None], second * other[:, None])

    def _next_street(
        self, street: Street, reaches: list[Pair], values: list, batch: Batch, weight: float, average: float
    ) -> None:
        for below, parts in street.below:
            joined = [torch.cat([reaches[i][seat][:, ways] for i, ways in parts], 1) for seat in (0, 1)]
            found = self._walk(below, (joined[0], joined[1]), batch, weight, average)
            start = 0
            for i, ways in parts:
                if values[i] is None:
                    ones = torch.ones(reaches[i][0].shape[1], device=self.device)
                    values[i] = tuple((torch.zeros_like(reaches[i][seat]), ones) for seat in (0, 1))
                for seat in (0, 1):
                    values[i][seat][0][:, ways] = found[seat][:, start : start + len(ways)]
                start += len(ways)

    def probs(self) -> np.ndarray:
        """Sums of strategies, as the tables are ordered: in proportion to the average strategy."""
        return self.sums.cpu().numpy()
