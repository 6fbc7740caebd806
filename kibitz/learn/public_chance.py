"""Linear CFR with public chance sampling in torch, for a GPU: many boards at once.

The betting inside a street is the same after every way of reaching it, so a node of a street is one tensor
[boards, ways, hands], and a street is walked once for all its ways. The tables are summed over all boards of a batch.
`kibitz.search.public_chance.solver` is the same algorithm on processor cores, one board at a time.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from ..search.public_chance.betting_tree import FOLD, SHOWDOWN, BettingTree, betting_tree
from ..search.public_chance.buckets import Buckets

Pair = tuple[torch.Tensor, torch.Tensor]  # one tensor per seat


@dataclass
class Node:
    """A node of a street, for all ways of reaching the street."""

    nodes: np.ndarray  # [ways]: the nodes of the betting tree
    seat: int  # to move; FOLD or SHOWDOWN at an end; NEXT: the street is over
    children: list[int] = field(default_factory=list)  # nodes of the same street
    payoff: torch.Tensor | None = None  # [ways] at an end
    table: slice = field(default_factory=lambda: slice(0))  # of the node's entries [ways, buckets, actions]


NEXT = -3
PADDED = 32  # tensors are filled up to a multiple of this many hands: products of matrices are faster


@dataclass
class Street:
    """Ways of reaching a street after which its betting has the same form."""

    number: int
    nodes: list[Node]  # parents before children
    below: "list[tuple[Street, list[tuple[int, np.ndarray]]]]" = field(default_factory=list)


def _form(tree: BettingTree, node: int, street: int) -> Any:
    if tree.street[node] != street:
        return NEXT
    children = tree.child[node, : tree.choices[node]].tolist()
    return int(tree.seat[node]), tuple(_form(tree, child, street) for child in children)


def _street(tree: BettingTree, roots: np.ndarray) -> Street:
    """The street that begins at these nodes, after which the betting has one form."""
    street = Street(int(tree.street[roots[0]]), [])

    def visit(nodes: np.ndarray) -> int:
        here = len(street.nodes)
        ended = tree.street[nodes[0]] != street.number
        node = Node(nodes, NEXT if ended else int(tree.seat[nodes[0]]))
        street.nodes.append(node)
        for place in range(0 if ended else int(tree.choices[nodes[0]])):
            node.children.append(visit(tree.child[nodes, place]))
        return here

    visit(roots)
    forms: dict[Any, list[tuple[int, int]]] = {}  # form of the next street -> ends of this one, and ways
    for i, node in enumerate(street.nodes):
        for way, root in enumerate(node.nodes.tolist() if node.seat == NEXT else []):
            forms.setdefault(_form(tree, root, int(tree.street[root])), []).append((i, way))
    for ends in forms.values():
        below = _street(tree, np.array([street.nodes[i].nodes[way] for i, way in ends]))
        parts = [(i, np.array([way for end, way in ends if end == i])) for i in sorted({i for i, _ in ends})]
        street.below.append((below, parts))
    return street


@dataclass
class Batch:
    """Boards with the hands that are possible on each, in any order."""

    buckets: list[torch.Tensor]  # by street: [boards, hands] i8
    wins: torch.Tensor  # [boards, hands, hands]: 1 where the row's hand beats the column's, -1 where it loses
    meets: torch.Tensor  # [boards, hands, hands]: 1 where the two hands share no card
    hands: int  # number of possible hands; those after them only fill up the tensors


class TorchPublicChanceCfr:
    """`run(n)` does n iterations, each on a batch of boards."""

    def __init__(
        self, game: Any, buckets: Buckets, seed: int = 1, boards: int = 16, device: str = "cpu", average_every: int = 1
    ) -> None:
        self.game, self.buckets, self.seed, self.boards, self.device = game, buckets, seed, boards, device
        self.average_every, self.iterations = average_every, 0
        self.tree = betting_tree(game, buckets.cards)
        self.first = np.zeros(len(self.tree.seat), np.int64)
        self.root = _street(self.tree, np.zeros(1, np.int64))
        self._size = 0
        self._lay_out(self.root)
        self.regrets = torch.zeros(self._size, device=device)
        self.sums = torch.zeros(self._size, device=device)
        self._held = torch.tensor(buckets.cards.hands, device=device)
        self._ahead: Future | None = None
        self._pool = ThreadPoolExecutor(1)

    def _lay_out(self, street: Street) -> None:
        for node in street.nodes:
            if node.seat >= 0:
                each = self.buckets.counts[street.number] * len(node.children)
                self.first[node.nodes] = self._size + each * np.arange(len(node.nodes))
                node.table = slice(self._size, self._size + each * len(node.nodes))
                self._size = node.table.stop
            elif node.seat != NEXT:
                node.payoff = torch.tensor(self.tree.payoff[node.nodes], device=self.device)
        for below, _ in street.below:
            self._lay_out(below)

    def run(self, iterations: int) -> None:
        """Do some iterations."""
        for _ in range(iterations):
            found = self._ahead.result() if self._ahead else self._sampled(self.iterations + 1)
            self.iterations += 1
            self._ahead = self._pool.submit(self._sampled, self.iterations + 1)
            self.step(self._batch(*found), float(self.iterations))

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
        if boards.shape[1]:
            values = cards.values(boards)
        else:
            values = np.tile(cards.hands.max(axis=1), (len(boards), 1))
        count = int((values[0] >= 0).sum())
        hands = np.argsort(values < 0, axis=1, kind="stable")[:, :count]
        buckets = [
            np.take_along_axis(self.buckets.of(boards[:, :shown], street), hands, 1)
            for street, shown in enumerate(cards.dealt)
        ]
        return hands, np.take_along_axis(values, hands, 1), buckets

    def _batch(self, hands: np.ndarray, values: np.ndarray, buckets: list[np.ndarray]) -> Batch:
        def moved(array: np.ndarray, kind: Any = np.int64) -> torch.Tensor:
            return torch.from_numpy(np.ascontiguousarray(array, kind)).to(self.device, non_blocking=True)

        held, ranks = self._held[moved(hands)], moved(values)
        shared = (held[:, :, None, :, None] == held[:, None, :, None, :]).flatten(3).any(3)
        meets = (~shared).float()
        wins = torch.sign(ranks[:, :, None] - ranks[:, None, :]).float() * meets
        more = -hands.shape[1] % PADDED  # hands that nobody holds: their reaches and values are 0
        meets, wins = (torch.nn.functional.pad(each, (0, more, 0, more)) for each in (meets, wins))
        return Batch(
            [moved(np.pad(each, ((0, 0), (0, more))), np.int32) for each in buckets], wins, meets, hands.shape[1]
        )

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
        self._next_street(street, reaches, values, batch, weight, average)
        ones = torch.ones(reach[0].shape[1], device=self.device)
        for i in range(len(nodes) - 1, -1, -1):
            node = nodes[i]
            if node.seat in (FOLD, SHOWDOWN):
                values[i] = ended(node, reaches[i], batch)
            elif node.seat >= 0:
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


def fused() -> Any:
    """The two steps at a node in Triton."""
    from . import public_chance_kernels

    return public_chance_kernels


class plain:
    """The two steps at a node in plain torch."""

    @staticmethod
    def choose(
        regrets: torch.Tensor, sums: torch.Tensor, buckets: torch.Tensor, reach: torch.Tensor, n: int, count: int,
        average: float,
    ) -> Pair:  # fmt: skip
        """Regret matching and the mover's reach after each action, both [actions, boards, ways, hands]."""
        boards, ways, hands = reach.shape
        flat = buckets.reshape(-1).long()
        strategy = matched(regrets.view(ways, count, n)[:, flat]).view(ways, boards, hands, n).permute(3, 1, 0, 2)
        after = reach * strategy
        if average:
            added = (average * after).permute(2, 1, 3, 0).reshape(ways, -1, n)
            sums.view(ways, count, n).index_add_(1, flat, added)
        return strategy, after

    @staticmethod
    def update(
        regrets: torch.Tensor, buckets: torch.Tensor, strategy: torch.Tensor, seat: int, children: list, count: int,
        weight: float,
    ) -> Pair:  # fmt: skip
        """Add to the regrets; return the mover's value and the other's."""
        n, _, ways, _ = strategy.shape
        acted = torch.stack([child[seat][0] * child[seat][1][:, None] for child in children])
        value = (acted * strategy).sum(0)
        gain = (weight * (acted - value)).permute(2, 1, 3, 0).reshape(ways, -1, n)
        regrets.view(ways, count, n).index_add_(1, buckets.reshape(-1).long(), gain)
        other = torch.stack([child[1 - seat][0] * child[1 - seat][1][:, None] for child in children]).sum(0)
        return value, other


def matched(regrets: torch.Tensor) -> torch.Tensor:
    """Regret matching over the last dimension."""
    positive = regrets.clamp_min(0)
    total = positive.sum(-1, keepdim=True)
    return torch.where(total > 0, positive / total.clamp_min(1e-30), 1.0 / regrets.shape[-1])


def ended(node: Node, reach: Pair, batch: Batch) -> tuple[Pair, Pair]:
    """The values at a fold or a showdown: sums over the other seat's hands, and by way what they are worth."""
    assert node.payoff is not None
    matrix = (batch.meets if node.seat == FOLD else batch.wins).transpose(1, 2)
    return (reach[1] @ matrix, node.payoff), (reach[0] @ matrix, -node.payoff if node.seat == FOLD else node.payoff)
