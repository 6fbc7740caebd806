"""Decisions of hold'em with what a table strategy plays there, sampled in torch on the device that learns from them.

Many deals are played at once. Each seat either plays the table strategy to the end of the hand, or explores: it never
folds and plays its other actions uniformly, so that rare betting lines are reached too. All decisions on the way are
samples. Before the flop nothing is sampled: all hands at all nodes are there, weighted by how often they are reached.
"""

from typing import Any, NamedTuple

import numpy as np
import torch

from ...solve.regrets import matched
from ..rules.cards import HoldemCards
from ..rules.encoding import PACKED
from ..rules.state import FOLD, HIDDEN
from ..solve.strategy import TableStrategy

CARDS = PACKED["cards"].shape[0] - 2  # of the board in a packed view
DEALS = 0.625  # played for each decision that is wanted on a street: a deal has about two on each


class Labelled(NamedTuple):
    """Decisions, as `Packing` packs them, and the probabilities of their actions."""

    views: torch.Tensor  # [rows, bytes] u1
    values: torch.Tensor  # [rows, actions] f4; NaN: the action is illegal


class Deals(NamedTuple):
    """Hands that were played."""

    board: torch.Tensor  # [deals, cards] i8
    hands: torch.Tensor  # [deals, 2] i8: numbers of hands
    classes: list[torch.Tensor]  # by street: [deals] i8, the canonical board
    buckets: list[torch.Tensor]  # by street: [deals, 2] i8
    nodes: torch.Tensor  # [moves, deals] i8: of the betting tree; an end is repeated


class TableSamples:
    """Samples of a table strategy."""

    def __init__(self, strategy: TableStrategy, device: str, exploration: float, held_out: float, seed: int) -> None:
        """
        Args:
            strategy: What is played.
            device: Of torch.
            exploration: Probability that a seat explores in a hand.
            held_out: Share of the canonical boards of each street that are held out.
            seed: Determines which.
        """
        cards, tree = strategy.buckets.cards, strategy.tree
        assert isinstance(cards, HoldemCards)
        self.strategy, self.cards, self.tree, self.device = strategy, cards, tree, torch.device(device)
        self.exploration = exploration
        self.parts = self._moved(strategy.probs, np.uint8 if strategy.probs.dtype == np.uint8 else np.float32)
        columns = (strategy.first, tree.seat, tree.street, tree.choices, tree.actions, tree.child, tree.line)
        self.first, self.seat, self.street, self.choices, self.actions, self.child, self.line = map(
            self._moved, columns
        )
        self.places = torch.arange(tree.most, device=self.device)
        self.keys = [self._moved(each) for each in strategy.buckets.keys]
        self.tables = [self._moved(each, each.dtype) for each in strategy.buckets.tables]
        self.hand_orders, self.hand_index = self._moved(cards.hand_orders), self._moved(cards.hand_index)
        self.held, self.codes = self._moved(cards.hands), self._moved(cards.codes)
        self.bits = self._moved([1 << cards.permuted(np.arange(cards.deck), order) for order in cards.suit_orders])
        # Streets after the first on which there are decisions: there may be none where all seats are all in.
        self.streets = [int(each) for each in np.unique(tree.street[tree.choices > 0]) if each > 0]
        self.held_out = [self._choose(len(keys), held_out, seed) for keys in strategy.buckets.keys]

    def _moved(self, array: Any, kind: Any = np.int64) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(array, kind)).to(self.device)

    def _choose(self, count: int, share: float, seed: int) -> torch.Tensor:
        """[boards] bool: a share of the boards of a street; at least one, unless the share is 0."""
        found = np.zeros(count, bool)
        size = min(max(round(share * count), 1), count - 1) if share else 0
        found[np.random.default_rng(seed).permutation(count)[:size]] = True
        return self._moved(found, bool)

    # ------------------------------------------------------------ deals

    def canonical(self, board: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """As `Cards.canonical`: of boards [boards, cards] the classes as numbers, and the permutations of suits."""
        sets = self.bits[:, board].sum(2) * len(self.bits)
        least = (sets + torch.arange(len(self.bits), device=self.device)[:, None]).amin(0)
        return least // len(self.bits), least % len(self.bits)

    def play(self, count: int, random: torch.Generator) -> Deals:
        """Deal cards and play hands to their end."""
        shuffled = torch.rand(count, self.cards.deck, generator=random, device=self.device).argsort(1)
        board = shuffled[:, 4 : 4 + self.cards.dealt[-1]]
        hands = self.hand_index[shuffled[:, :4:2], shuffled[:, 1:4:2]]
        classes, buckets = [], []
        for keys, table, shown in zip(self.keys, self.tables, self.cards.dealt, strict=True):
            key, order = self.canonical(board[:, :shown])
            classes.append(torch.searchsorted(keys, key))
            buckets.append(table[classes[-1][:, None], self.hand_orders[order[:, None], hands]].long())
        explores = torch.rand(count, 2, generator=random, device=self.device) < self.exploration
        node, nodes = torch.zeros(count, dtype=torch.int64, device=self.device), []
        by_street, here = torch.stack(buckets), torch.arange(count, device=self.device)
        for _ in range(int(self.tree.depth.max())):
            nodes.append(node)
            seat = self.seat[node].clamp_min(0)
            probs = self.probs(node, by_street[self.street[node], here, seat])
            probs = torch.where(explores[here, seat][:, None], self.explored(node), probs)
            drawn = torch.rand(count, 1, generator=random, device=self.device)
            place = (drawn >= probs.cumsum(1)).sum(1).minimum(self.choices[node] - 1)
            node = torch.where(self.choices[node] > 0, self.child[node, place], node)
        return Deals(board, hands, classes, buckets, torch.stack(nodes))

    def probs(self, node: torch.Tensor, bucket: torch.Tensor) -> torch.Tensor:
        """Probabilities of the actions of nodes, [rows, actions], legal ones first."""
        count = self.choices[node][:, None]
        at = (self.first[node] + bucket * count[:, 0])[:, None] + self.places
        legal = self.places < count
        parts = torch.where(legal, self.parts[at.clamp_max(len(self.parts) - 1)].float(), 0.0)
        return matched(parts, legal / count.clamp_min(1))  # type: ignore[no-any-return]

    def explored(self, node: torch.Tensor) -> torch.Tensor:
        """The same of a seat that explores."""
        legal = (self.places < self.choices[node][:, None]) & (self.actions[node] != FOLD)
        return legal / legal.sum(1, keepdim=True).clamp_min(1)

    # ------------------------------------------------------------ samples

    def rows(self, count: int, random: torch.Generator, held_out: bool = False) -> list[Labelled]:
        """Of each of `streets`, that many decisions on boards that are held out, or on all others."""
        found: list[list[Labelled]] = [[] for _ in self.streets]
        while any(sum(len(each.views) for each in parts) < count for parts in found):
            deals = self.play(int(DEALS * count) + 1, random)
            decides = self.choices[deals.nodes] > 0
            for street, parts in zip(self.streets, found, strict=True):
                wanted = self.held_out[street][deals.classes[street]] == held_out
                move, deal = (decides & (self.street[deals.nodes] == street) & wanted).nonzero(as_tuple=True)
                chosen = torch.randperm(len(move), generator=random, device=self.device)[:count]
                parts.append(self._labelled(deals, deals.nodes[move[chosen], deal[chosen]], deal[chosen], street))
        return [Labelled(*(torch.cat(each)[:count] for each in zip(*parts, strict=True))) for parts in found]

    def _labelled(self, deals: Deals, node: torch.Tensor, deal: torch.Tensor, street: int) -> Labelled:
        seat = self.seat[node]
        hand, bucket = deals.hands[deal, seat], deals.buckets[street][deal, seat]
        return self.labelled(node, hand, bucket, deals.board[deal, : self.cards.dealt[street]])

    def labelled(self, node: torch.Tensor, hand: torch.Tensor, bucket: torch.Tensor, board: torch.Tensor) -> Labelled:
        """Decisions by node, the mover's hand and bucket, and the board as far as it is dealt."""
        most = len(self.places)
        cards = torch.full((len(node), 2 + CARDS), HIDDEN, dtype=torch.int8, device=self.device)
        cards[:, :2] = self.codes[self.held[hand]]
        cards[:, 2 : 2 + board.shape[1]] = self.codes[board]
        line, seat = self.line[node][:, None], self.seat[node].to(torch.int8)[:, None]
        views = torch.cat([each.view(torch.uint8) for each in (line, cards, seat)], 1)
        legal = self.places < self.choices[node][:, None]
        values = torch.full((len(node), most + 1), torch.nan, device=self.device)
        values.scatter_(1, torch.where(legal, self.actions[node], most), self.probs(node, bucket))
        return Labelled(views, values[:, :most])

    def preflop(self) -> tuple[Labelled, torch.Tensor]:
        """All decisions before the flop, one hand for all that a permutation of suits makes equal; and weights.

        The weights are the probabilities of the decisions, seats exploring as in `play`; they add up to 1. The first
        row is the first decision with the best pair.
        """
        _, hands, counts = np.unique(-self.cards.lossless(0)[0], return_index=True, return_counts=True)
        nodes = np.flatnonzero((self.tree.street == 0) & (self.tree.choices > 0))
        node = self._moved(np.repeat(nodes, len(hands)))
        hand = self._moved(np.tile(hands, len(nodes)))
        bucket = self.tables[0][0, hand].long()
        reach = self._reaches(nodes, len(hands), self.probs(node, bucket)).mul(1 - self.exploration)
        reach += self._reaches(nodes, len(hands), self.explored(node)).mul(self.exploration)
        share = self._moved(counts / counts.sum(), np.float32)
        seat = self.seat[self._moved(nodes)]
        rows = torch.arange(len(nodes), device=self.device)
        weight = reach[rows, seat] * share * (reach[rows, 1 - seat] * share).sum(1, keepdim=True)
        return self.labelled(node, hand, bucket, hand[:, None][:, :0]), (weight / weight.sum()).reshape(-1)

    def _reaches(self, nodes: np.ndarray, hands: int, probs: torch.Tensor) -> torch.Tensor:
        """[nodes, seats, hands]: how likely each seat's own actions lead to nodes, by its hand."""
        place = {int(node): i for i, node in enumerate(nodes)}
        found = torch.ones(len(nodes), 2, hands, device=self.device)
        by_node = probs.reshape(len(nodes), hands, -1)
        for i, node in enumerate(nodes.tolist()):
            for action, child in enumerate(self.tree.child[node, : self.tree.choices[node]].tolist()):
                if child in place:
                    found[place[child]] = found[i]
                    found[place[child], int(self.tree.seat[node])] *= by_node[i, :, action]
        return found
