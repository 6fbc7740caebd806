"""The public tree as tensors: a street's betting is the same after every way of reaching it.

So a node of a street is one tensor [boards, ways, hands], and a street is walked once for all its ways.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from ..search.public_chance.betting_tree import FOLD, SHOWDOWN, BettingTree

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
FEW = 64  # ways, up to which the ends of a street are settled at once
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


def public_street(tree: BettingTree, roots: np.ndarray) -> Street:
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
        below = public_street(tree, np.array([street.nodes[i].nodes[way] for i, way in ends]))
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


def lay_out(street: Street, tree: BettingTree, counts: tuple[int, ...], device: str, size: int = 0) -> int:
    """Give each decision its part of a table, and each end its payoffs; return the size of the table."""
    for node in street.nodes:
        if node.seat >= 0:
            each = counts[street.number] * len(node.children)
            node.table = slice(size, size + each * len(node.nodes))
            size = node.table.stop
        elif node.seat != NEXT:
            node.payoff = torch.tensor(tree.payoff[node.nodes], device=device)
    for below, _ in street.below:
        size = lay_out(below, tree, counts, device, size)
    return size


def first_entries(street: Street, first: np.ndarray) -> np.ndarray:
    """Where the entries of each node of the betting tree begin, in a table that was laid out."""
    for node in street.nodes:
        if node.seat >= 0:
            each = (node.table.stop - node.table.start) // len(node.nodes)
            first[node.nodes] = node.table.start + each * np.arange(len(node.nodes))
    for below, _ in street.below:
        first_entries(below, first)
    return first


def compared(held: torch.Tensor, ranks: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Of the possible hands of boards, their cards as bits [boards, hands] and their ranks: who meets and beats whom.

    Hands that nobody holds fill up the tensors; they meet no hand.
    """
    meets = (held[:, :, None] & held[:, None, :] == 0).float()
    more = -held.shape[1] % PADDED
    wins = None if ranks is None else torch.sign(ranks[:, :, None] - ranks[:, None, :]).float() * meets
    pad = (0, more, 0, more)
    return torch.nn.functional.pad(meets, pad), None if wins is None else torch.nn.functional.pad(wins, pad)


def round_products(rounded: bool) -> None:
    """Whether a GPU may round the factors of products of matrices to 11 bits (TF32), which is several times faster."""
    if torch.cuda.is_available():
        torch.set_float32_matmul_precision("high" if rounded else "highest")


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
    def follow(probs: torch.Tensor, buckets: torch.Tensor, reach: torch.Tensor, n: int, count: int) -> torch.Tensor:
        """The mover's reach after each action, [actions, boards, ways, hands]."""
        boards, ways, hands = reach.shape
        chosen = probs.view(ways, count, n)[:, buckets.reshape(-1).long()]
        return reach * chosen.view(ways, boards, hands, n).permute(3, 1, 0, 2)

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

    @staticmethod
    def respond(seat: int, children: list) -> Pair:
        """The mover's best value, and the other's value."""
        own = torch.stack([child[seat][0] * child[seat][1][:, None] for child in children]).amax(0)
        rest = torch.stack([child[1 - seat][0] * child[1 - seat][1][:, None] for child in children]).sum(0)
        return own, rest

    @staticmethod
    def answer(seat: int, children: list) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The same, and the best action of each hand, [boards, ways, hands] i1."""
        own, best = torch.stack([child[seat][0] * child[seat][1][:, None] for child in children]).max(0)
        rest = torch.stack([child[1 - seat][0] * child[1 - seat][1][:, None] for child in children]).sum(0)
        return own, rest, best.to(torch.int8)

    @staticmethod
    def obey(action: torch.Tensor, reach: torch.Tensor, n: int) -> torch.Tensor:
        """The mover's reach after each action if each hand does what it answered, [actions, boards, ways, hands]."""
        return torch.stack([reach * (action == a) for a in range(n)])


def matched(regrets: torch.Tensor) -> torch.Tensor:
    """Regret matching over the last dimension."""
    positive = regrets.clamp_min(0)
    total = positive.sum(-1, keepdim=True)
    return torch.where(total > 0, positive / total.clamp_min(1e-30), 1.0 / regrets.shape[-1])


def settled(street: Street, reaches: list[Pair], batch: Batch, values: list) -> None:
    """Set the values at all folds and showdowns of a street.

    With few ways to reach it, one product of matrices serves all ends of a kind: reading a matrix takes longer then.
    """
    ways = reaches[0][0].shape[1]
    for kind, matrix in ((FOLD, batch.meets), (SHOWDOWN, batch.wins)):
        ends = [i for i, node in enumerate(street.nodes) if node.seat == kind]
        if ways > FEW:
            for i in ends:
                values[i] = ended(street.nodes[i], reaches[i], batch)
        elif ends:
            joined = torch.cat([reaches[i][seat] for i in ends for seat in (1, 0)], 1)
            found = [each.contiguous() for each in (joined @ matrix.transpose(1, 2)).split(ways, 1)]
            for place, i in enumerate(ends):
                payoff = street.nodes[i].payoff
                assert payoff is not None
                other = -payoff if kind == FOLD else payoff
                values[i] = (found[2 * place], payoff), (found[2 * place + 1], other)


def join(reaches: list[Pair], parts: list[tuple[int, np.ndarray]]) -> Pair:
    """The reaches at ends of a street that one form of the next street follows, way after way."""
    first, second = (torch.cat([reaches[i][seat][:, ways] for i, ways in parts], 1) for seat in (0, 1))
    return first, second


def spread(values: list, reaches: list[Pair], parts: list[tuple[int, np.ndarray]], found: Pair) -> None:
    """Give the values of a next street to the ends that it follows: (value, scale by way) of both seats."""
    start = 0
    for i, ways in parts:
        if values[i] is None:
            ones = torch.ones(reaches[i][0].shape[1], device=found[0].device)
            values[i] = tuple((torch.zeros_like(reaches[i][seat]), ones) for seat in (0, 1))
        for seat in (0, 1):
            values[i][seat][0][:, ways] = found[seat][:, start : start + len(ways)]
        start += len(ways)


def ended(node: Node, reach: Pair, batch: Batch) -> tuple[Pair, Pair]:
    """The values at a fold or a showdown: sums over the other seat's hands, and by way what they are worth."""
    assert node.payoff is not None
    matrix = (batch.meets if node.seat == FOLD else batch.wins).transpose(1, 2)
    return (reach[1] @ matrix, node.payoff), (reach[0] @ matrix, -node.payoff if node.seat == FOLD else node.payoff)
