"""The public tree as tensors: a street's betting is the same after every way of reaching it.

So a node of a street is one tensor [boards, ways, hands], and a street is walked once for all its ways.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch

from ...solve.regrets import matched
from ..solve.betting_tree import FOLD, SHOWDOWN, BettingTree

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
TINY = 1e-30
UNIT = 65535  # a probability of 1 in 16 bits
PADDED = 32  # tensors are filled up to a multiple of this many hands: products of matrices are faster


class End(NamedTuple):
    """An end of a street, and the ways of reaching it after which the next street has one form."""

    node: int
    ways: Any  # their numbers; once laid out, on the device, or a slice of all
    size: int  # how many


@dataclass
class Street:
    """Ways of reaching a street after which its betting has the same form."""

    number: int
    nodes: list[Node]  # parents before children
    below: "list[tuple[Street, list[End]]]" = field(default_factory=list)


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
        ways = {i: np.array([way for end, way in ends if end == i]) for i in sorted({i for i, _ in ends})}
        street.below.append((below, [End(i, each, len(each)) for i, each in ways.items()]))
    return street


@dataclass
class Batch:
    """Boards with the hands that are possible on each, in any order."""

    buckets: list[torch.Tensor]  # by street: [boards, hands] i4
    wins: torch.Tensor  # [boards, hands, hands]: 1 where the row's hand beats the column's, -1 where it loses
    meets: torch.Tensor  # [boards, hands, hands]: 1 where the two hands share no card
    hands: int  # number of possible hands; those after them only fill up the tensors
    weights: torch.Tensor | None = None  # [boards]: what each counts, where the matrices don't say it


def lay_out(street: Street, tree: BettingTree, counts: tuple[int, ...], device: str, size: int = 0) -> int:
    """Give each decision its part of a table, and each end its payoffs; return the size of the table."""
    for node in street.nodes:
        if node.seat >= 0:
            each = counts[street.number] * len(node.children)
            node.table = slice(size, size + each * len(node.nodes))
            size = node.table.stop
        elif node.seat != NEXT:
            node.payoff = torch.tensor(tree.payoff[node.nodes], device=device)
    for below, ends in street.below:
        for place, end in enumerate(ends):
            whole = end.size == len(street.nodes[end.node].nodes)
            ends[place] = end._replace(ways=slice(None) if whole else torch.as_tensor(end.ways, device=device))
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


def compared(
    held: torch.Tensor, ranks: torch.Tensor | None, half: bool = False
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Of the possible hands of boards, their cards as bits [boards, hands] and their ranks: who meets and beats whom.

    Hands that nobody holds fill up the tensors; they meet no hand. `half`: in half precision.
    """
    more = -held.shape[1] % PADDED
    if half and held.is_cuda and ranks is not None:
        return fused().compare(held, ranks, held.shape[1] + more)
    kind = torch.float16 if half else torch.float32
    meets = (held[:, :, None] & held[:, None, :] == 0).to(kind)
    wins = None if ranks is None else torch.sign(ranks[:, :, None] - ranks[:, None, :]).to(kind) * meets
    pad = (0, more, 0, more)
    return torch.nn.functional.pad(meets, pad), None if wins is None else torch.nn.functional.pad(wins, pad)


def moved(array: np.ndarray, device: str) -> torch.Tensor:
    """An array on a device. A GPU copies it from pinned memory, so that nothing waits for what it has to do before."""
    found = torch.from_numpy(np.ascontiguousarray(array))
    return found.pin_memory().to(device, non_blocking=True) if device.startswith("cuda") else found


def halved(reach: Pair) -> tuple[Pair, Pair]:
    """Reaches in half precision, and the largest of each row, [boards, ways], by which it was divided.

    A half has as many digits as products in TF32 keep, but a small range; so a row's largest number becomes 1.
    """
    most = reach[0].amax(-1).clamp_min(TINY), reach[1].amax(-1).clamp_min(TINY)
    return ((reach[0] / most[0][..., None]).half(), (reach[1] / most[1][..., None]).half()), most


def fused() -> Any:
    """The steps at a node in Triton."""
    from . import public_chance_kernels

    return public_chance_kernels


class plain:
    """The steps at a node in plain torch."""

    @staticmethod
    def choose(
        regrets: torch.Tensor, sums: torch.Tensor, buckets: torch.Tensor, reach: torch.Tensor, n: int, count: int,
        average: float, scale: torch.Tensor | None = None,
    ) -> Pair:  # fmt: skip
        """Regret matching and the mover's reach after each action, both [actions, boards, ways, hands].

        `scale`, [boards, ways]: by which the reach was divided.
        """
        boards, ways, hands = reach.shape
        flat = buckets.reshape(-1).long()
        strategy = matched(regrets.view(ways, count, n)[:, flat]).view(ways, boards, hands, n).permute(3, 1, 0, 2)
        after = reach * strategy
        if average:
            added = average * after if scale is None else average * after.float() * scale[..., None]
            sums.view(ways, count, n).index_add_(1, flat, added.permute(2, 1, 3, 0).reshape(ways, -1, n))
        return strategy.to(reach.dtype), after.to(reach.dtype)

    @staticmethod
    def follow(probs: torch.Tensor, buckets: torch.Tensor, reach: torch.Tensor, n: int, count: int) -> torch.Tensor:
        """The mover's reach after each action, [actions, boards, ways, hands]. `probs` may be `packed`."""
        boards, ways, hands = reach.shape
        table = unpacked(probs, n) if probs.dtype == torch.int32 else probs
        chosen = table.view(ways, count, n)[:, buckets.reshape(-1).long()]
        return (reach * chosen.view(ways, boards, hands, n).permute(3, 1, 0, 2)).to(reach.dtype)

    @staticmethod
    def update(
        regrets: torch.Tensor, buckets: torch.Tensor, strategy: torch.Tensor, seat: int, children: list, count: int,
        weight: float, scale: torch.Tensor | None = None,
    ) -> Pair:  # fmt: skip
        """Add to the regrets; return the mover's value and the other's.

        `scale`, [boards, ways]: by which the mover's values are to be multiplied.
        """
        n, _, ways, _ = strategy.shape
        acted = torch.stack([child[seat][0] * child[seat][1][:, None] for child in children])
        value = (acted * strategy).sum(0)
        gain = weight * (acted - value) if scale is None else weight * (acted - value) * scale[..., None]
        gain = gain.permute(2, 1, 3, 0).reshape(ways, -1, n)
        regrets.view(ways, count, n).index_add_(1, buckets.reshape(-1).long(), gain)
        other = torch.stack([child[1 - seat][0] * child[1 - seat][1][:, None] for child in children]).sum(0)
        return value.to(strategy.dtype), other.to(strategy.dtype)

    @staticmethod
    def respond(seat: int, children: list) -> Pair:
        """The mover's best value, and the other's value."""
        own, rest, _ = plain.answer(seat, children)
        return own, rest

    @staticmethod
    def answer(seat: int, children: list) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The same, and the best action of each hand, [boards, ways, hands] i1."""
        own, best = torch.stack([child[seat][0] * child[seat][1][:, None] for child in children]).max(0)
        rest = torch.stack([child[1 - seat][0] * child[1 - seat][1][:, None] for child in children]).sum(0)
        kind = children[0][seat][0].dtype
        return own.to(kind), rest.to(kind), best.to(torch.int8)

    @staticmethod
    def obey(action: torch.Tensor, reach: torch.Tensor, n: int) -> torch.Tensor:
        """The mover's reach after each action if each hand does what it answered, [actions, boards, ways, hands]."""
        return torch.stack([reach * (action == a) for a in range(n)])

    @staticmethod
    def deal(reach: torch.Tensor, parents: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """From boards above to boards below: [boards below, ways, hands].

        Args:
            reach: [boards above, ways, hands]
            parents: [boards below]: the board above each.
            places: [boards below, hands]: the place of each hand on the board above; -1: there is none.
        """
        where = places.clamp_min(0)[:, None].expand(-1, reach.shape[1], -1).long()
        return reach[parents].gather(2, where).masked_fill((places < 0)[:, None], 0.0)

    @staticmethod
    def collect(
        values: torch.Tensor, which: torch.Tensor, places: torch.Tensor, first: torch.Tensor, weights: torch.Tensor
    ) -> torch.Tensor:
        """From boards below to boards above, sums over those below: [boards above, ways, hands], in single precision.

        Args:
            values: [boards below, ways, hands]
            which: [terms]: the board below of each term of the sums.
            places: [terms, hands]: the place of each hand on the board below; -1: it is impossible there.
            first: [boards above + 1]: where the terms of each begin.
            weights: [terms]
        """
        where = places.clamp_min(0)[:, None].expand(-1, values.shape[1], -1).long()
        terms = values[which].float().gather(2, where).masked_fill((places < 0)[:, None], 0.0) * weights[:, None, None]
        found = terms.new_zeros(len(first) - 1, values.shape[1], places.shape[1])
        return found.index_add_(0, torch.repeat_interleave(first.diff()), terms)


def packed(probs: torch.Tensor) -> torch.Tensor:
    """Probabilities [entries, 2 or 3 actions], the first two as fixed-point numbers of 16 bits in one i4 each."""
    first = (probs[:, 0].clamp(0, 1) * UNIT).round().long()
    second = torch.minimum((probs[:, 1].clamp(0, 1) * UNIT).round().long(), UNIT - first)
    return (((first | second << 16) ^ 1 << 31) - (1 << 31)).to(torch.int32)


def unpacked(probs: torch.Tensor, n: int) -> torch.Tensor:
    """[entries, actions]"""
    first, second = (probs & UNIT).float() / UNIT, (probs >> 16 & UNIT).float() / UNIT
    return torch.stack([first, 1 - first] if n == 2 else [first, second, 1 - first - second], -1)


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
            found = [each.contiguous() for each in (joined @ matrix.to(joined.dtype).transpose(1, 2)).split(ways, 1)]
            for place, i in enumerate(ends):
                payoff = street.nodes[i].payoff
                assert payoff is not None
                other = -payoff if kind == FOLD else payoff
                values[i] = (found[2 * place], payoff), (found[2 * place + 1], other)


def join(reaches: list[Pair], ends: list[End]) -> Pair:
    """The reaches at ends of a street that one form of the next street follows, way after way."""
    first, second = (torch.cat([reaches[end.node][seat][:, end.ways] for end in ends], 1) for seat in (0, 1))
    return first, second


def spread(values: list, reaches: list[Pair], ends: list[End], found: Pair) -> None:
    """Give the values of a next street to the ends that it follows: (value, scale by way) of both seats."""
    start = 0
    for i, ways, size in ends:
        if values[i] is None:
            ones = torch.ones(reaches[i][0].shape[1], device=found[0].device)
            values[i] = tuple((torch.zeros_like(reaches[i][seat]), ones) for seat in (0, 1))
        for seat in (0, 1):
            values[i][seat][0][:, ways] = found[seat][:, start : start + size]
        start += size


def street_reaches(street: Street, reach: Pair, follow: Callable[[Node, Pair], torch.Tensor]) -> list[Pair]:
    """The reaches of both seats at each node of a street; `follow`: see `street_values`."""
    reaches: list[Pair] = [reach] * len(street.nodes)
    for i, node in enumerate(street.nodes):
        if node.seat >= 0:
            other = reaches[i][1 - node.seat]
            for child, mine in zip(node.children, follow(node, reaches[i]), strict=True):
                reaches[child] = (mine, other) if node.seat == 0 else (other, mine)
    return reaches


def street_values(
    street: Street, reach: Pair, batch: Batch, follow: Callable[[Node, Pair], torch.Tensor],
    visit: Callable[[Street, Pair], Pair], back: Callable[[Node, list, Pair], Pair],
) -> Pair:  # fmt: skip
    """Walk a street with all streets below it: the values of both seats at its beginning, [boards, ways, hands].

    Args:
        street: The street.
        reach: Both seats' reaches at its beginning, [boards, ways, hands].
        batch: Its boards.
        follow: Of a decision and the reaches there: the mover's reach after each action.
        visit: Of a next street and the reaches there: the values at its beginning, on the boards of this one.
        back: Of a decision, the values after its actions, (value, scale by way) of both seats, and the reaches there:
            the mover's value, and the other's.
    """
    nodes, reaches = street.nodes, street_reaches(street, reach, follow)
    values: list[Any] = [None] * len(nodes)
    settled(street, reaches, batch, values)
    for below, ends in street.below:
        spread(values, reaches, ends, visit(below, join(reaches, ends)))
    ones = torch.ones(reach[0].shape[1], device=reach[0].device)
    for i in range(len(nodes) - 1, -1, -1):
        node = nodes[i]
        if node.seat >= 0:
            own, rest = back(node, [values[child] for child in node.children], reaches[i])
            values[i] = ((own, ones), (rest, ones)) if node.seat == 0 else ((rest, ones), (own, ones))
    (first, one), (second, other) = values[0]
    return (first, second) if nodes[0].seat >= 0 else (first * one[:, None], second * other[:, None])


def ended(node: Node, reach: Pair, batch: Batch) -> tuple[Pair, Pair]:
    """The values at a fold or a showdown: sums over the other seat's hands, and by way what they are worth."""
    assert node.payoff is not None
    matrix = (batch.meets if node.seat == FOLD else batch.wins).transpose(1, 2)
    return (reach[1] @ matrix, node.payoff), (reach[0] @ matrix, -node.payoff if node.seat == FOLD else node.payoff)
