"""Exact best responses of both seats on the boards of the last two streets, all boards at once.

With two streets that is the whole game: what `public_best_response` finds board by board.
"""

from typing import Any

import torch

from .public_levels import Levels
from .public_streets import Batch, Pair, Street, fused, join, plain, settled, spread


class PublicReplies:
    """Best responses to a strategy that is a table in the order of the streets."""

    def __init__(self, root: Street, counts: tuple[int, ...], device: str) -> None:
        self.root, self.counts, self.device, self.last = root, counts, device, len(counts) - 1
        self.steps = fused() if device.startswith("cuda") else plain

    def values(self, table: torch.Tensor, levels: Levels) -> tuple[float, float]:
        """What a best response of each seat wins, in payoffs, in a game of two streets.

        Args:
            table: Numbers in proportion to the strategy's probabilities.
            levels: The empty board and all boards below it.
        """
        found = self.respond(self.root, levels.start(), table, levels)
        first, second = (float(each.sum(dtype=torch.float64)) / levels.pairs for each in found)
        return first, second

    def respond(self, street: Street, reach: Pair, table: torch.Tensor, levels: Levels) -> Pair:
        """Values of best responses at the beginning of a street, [boards, ways, hands]."""
        batch = levels.lower if street.number == self.last else levels.upper
        reaches = self._reaches(street, reach, table, batch)
        values: list[Any] = [None] * len(street.nodes)
        settled(street, reaches, batch, values)
        for below, parts in street.below:
            joined = join(reaches, parts)
            if below.number == self.last:
                joined = levels.down(joined[0]), levels.down(joined[1])
            found = self.respond(below, joined, table, levels)
            if below.number == self.last:
                found = levels.up(found[0]), levels.up(found[1])
            spread(values, reaches, parts, found)
        ones = torch.ones(reach[0].shape[1], device=self.device)
        for i in range(len(street.nodes) - 1, -1, -1):
            node = street.nodes[i]
            if node.seat >= 0:
                own, rest = self.steps.respond(node.seat, [values[child] for child in node.children])
                values[i] = ((own, ones), (rest, ones)) if node.seat == 0 else ((rest, ones), (own, ones))
        (first, one), (second, other) = values[0]
        return first * one[:, None], second * other[:, None]

    def _reaches(self, street: Street, reach: Pair, table: torch.Tensor, batch: Batch) -> list[Pair]:
        """The reaches of both seats at each node of a street."""
        reaches: list[Pair] = [reach] * len(street.nodes)
        for i, node in enumerate(street.nodes):
            if node.seat < 0:
                continue
            part, count = table[node.table], self.counts[street.number]
            mine, other = reaches[i][node.seat], reaches[i][1 - node.seat]
            buckets, n = batch.buckets[street.number], len(node.children)
            _, after = self.steps.choose(part, part, buckets, mine, n, count, 0.0)  # numbers are matched as regrets are
            for place, child in enumerate(node.children):
                reaches[child] = (after[place], other) if node.seat == 0 else (other, after[place])
        return reaches
