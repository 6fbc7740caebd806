"""Exact best responses of both seats on the boards of the last two streets, all boards at once.

With two streets that is the whole game: what `public_best_response` finds board by board.
"""

import torch

from .public_levels import Levels
from .public_streets import Node, Pair, Street, fused, plain, street_values


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
        buckets, count = batch.buckets[street.number], self.counts[street.number]

        def follow(node: Node, reach: Pair) -> torch.Tensor:
            part, n = table[node.table], len(node.children)
            _, after = self.steps.choose(part, part, buckets, reach[node.seat], n, count, 0.0)  # matched as regrets are
            return after

        def visit(below: Street, reach: Pair) -> Pair:
            if below.number < self.last:
                return self.respond(below, reach, table, levels)
            first, second = self.respond(below, (levels.down(reach[0]), levels.down(reach[1])), table, levels)
            return levels.up(first), levels.up(second)

        def back(node: Node, children: list, reach: Pair) -> Pair:
            return self.steps.respond(node.seat, children)

        return street_values(street, reach, batch, follow, visit, back)
