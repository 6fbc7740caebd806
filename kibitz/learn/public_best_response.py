"""An exact best response to a table strategy on the public tree, with vectors over all hands.

Every board is visited, but for permutations of suits: of the cards that can come next, those that a permutation of
suits makes equal, given the board so far, are visited once. A best response knows the board and its hand.
"""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np
import torch

from ..core.workers import cores
from ..search.public_chance.cards import Cards
from ..search.public_chance.first_street import FirstStreet, first_street_probs
from ..search.public_chance.strategy import TableStrategy
from .public_streets import (
    Batch,
    Pair,
    Street,
    compared,
    fused,
    lay_out,
    matched,
    plain,
    public_street,
    round_products,
    settled,
)

BOARDS_AT_ONCE = 16  # where all are in before the flop


@dataclass(frozen=True)
class Dealt:
    """Cards that come next, for all that a permutation of suits makes equal."""

    board: np.ndarray  # the board with them
    orders: tuple[int, ...]  # permutations of suits that leave this board, street by street, as it is
    images: tuple[int, ...]  # one permutation for each of the boards that this one stands for, itself included


def next_boards(cards: Cards, board: np.ndarray, orders: tuple[int, ...], count: int) -> list[Dealt]:
    """What `count` cards can come next, up to the permutations that leave the board as it is."""
    rest = [card for card in range(cards.deck) if card not in set(board.tolist())]
    new = np.array(list(combinations(rest, count)), np.int64)
    moved = np.stack([np.sort(cards.permuted(new, cards.suit_orders[order]), axis=1) for order in orders])
    keys = (moved * cards.deck ** np.arange(count)).sum(axis=2)  # [orders, sets]
    own = keys[list(orders).index(0)]
    found = []
    for i in np.flatnonzero(own == keys.min(axis=0)):
        same = keys[:, i]
        _, images = np.unique(same, return_index=True)
        left = tuple(order for order, key in zip(orders, same, strict=True) if key == own[i])
        found.append(Dealt(np.append(board, new[i]), left, tuple(orders[j] for j in images)))
    return found


class Possible(NamedTuple):
    """The possible hands of some boards of a street."""

    hands: np.ndarray  # [boards, hands]
    ranks: np.ndarray | None  # at the showdown, on the last street
    buckets: np.ndarray


def flop_classes(cards: Cards) -> list[Dealt]:
    """The boards of the first street with cards, up to permutations of suits."""
    orders, dealt = tuple(range(len(cards.suit_orders))), cards.dealt
    return next_boards(cards, np.zeros(0, np.int64), orders, dealt[1]) if len(dealt) > 1 else []


def _first_nodes(streets: list[Street]) -> np.ndarray:
    return np.array([node for street in streets for node in street.nodes[0].nodes], np.int64)


class PublicBestResponse:
    """`run()` visits the boards of the first street with cards, one class of boards after the other.

    `done` of them are in `sums`, so that it can be stopped and continued. `visit()` does one of them, in any order.
    """

    prepares_ahead = True  # the possible hands of boards, while others are visited

    def __init__(self, strategy: TableStrategy, device: str = "cpu") -> None:
        self.strategy, self.device, self.cards = strategy, device, strategy.buckets.cards
        tree, counts = strategy.tree, strategy.buckets.counts
        self.root = public_street(tree, np.zeros(1, np.int64))
        self.table = torch.zeros(lay_out(self.root, tree, counts, device), device=device)
        self._fill(self.root)
        self._steps = fused() if device.startswith("cuda") else plain
        round_products(self.cards.streets > 2)
        self._held = torch.tensor(self.cards.held, device=device)
        inverse = np.argsort(self.cards.hand_orders.astype(np.int64), axis=1)
        self._inverse = torch.tensor(inverse, device=device)
        self._pool = ThreadPoolExecutor(cores())
        self._all = tuple(range(len(self.cards.suit_orders)))
        self.flops = flop_classes(self.cards)
        self._first_reaches: list[Pair] | None = None
        # Nodes at which the first street ends: those with bets after the flop, and those where all are in.
        self.ends = _first_nodes([below for below, _ in self.root.below if below.number == 1])
        self.all_in_ends = _first_nodes([below for below, _ in self.root.below if below.number > 1])
        self.done = 0
        self.sums = np.zeros((2, len(self.ends), len(self.cards.hands)))
        self.all_in_sums = np.zeros((2, len(self.all_in_ends), len(self.cards.hands)))

    def _fill(self, street: Street) -> None:
        """Copy the strategy into the order of the streets."""
        given, first = self.strategy.probs, self.strategy.first
        for node in street.nodes:
            if node.seat >= 0:
                each = (node.table.stop - node.table.start) // len(node.nodes)
                parts = np.stack([given[first[i] : first[i] + each] for i in node.nodes])
                probs = matched(torch.from_numpy(parts.astype(np.float32)).view(-1, len(node.children)))
                self.table[node.table] = probs.view(-1).to(self.device)
        for below, _ in street.below:
            self._fill(below)

    def first_street_probs(self) -> np.ndarray:
        """The strategy on the first street, as `FirstStreet` takes it."""
        return first_street_probs(self.strategy)

    def nash_conv(self) -> float:
        """The sum of what best responses of both seats win, in payoffs, after all boards were visited."""
        return sum(self.values())

    def values(self) -> tuple[float, float]:
        """What a best response of each seat wins."""
        tree = self.strategy.tree
        street = FirstStreet(tree, self.cards, self.first_street_probs())
        known = street.known.copy()
        for ends, found in ((self.ends, self.sums), (self.all_in_ends, self.all_in_sums)):
            for way, node in enumerate(ends.tolist()):
                known[:, street.place[node]] = found[:, way] / self._chance(0, int(tree.street[node]))
        first, second = street.value(street.answers(known), known).tolist()
        return first, second

    def run(self, most: int | None = None) -> None:
        """Visit some more boards of the first street with cards; all that are left, by default."""
        stop = len(self.flops) if most is None else min(self.done + most, len(self.flops))
        if self.done == 0 and stop:
            self.all_in_sums = self.all_in()
        while self.done < stop:
            self.sums = self.sums + self.visit(self.done)
            self.done += 1

    def visit(self, number: int) -> np.ndarray:
        """[seats, ends, hands] f4: values at `ends` on a class of flops, summed over all that it stands for."""
        flop = self.flops[number]
        found = [
            self._boards(below, self._reach_of(place), [flop])
            for place, (below, _) in enumerate(self.root.below)
            if below.number == 1
        ]
        return self._gathered(found)

    def all_in(self) -> np.ndarray:
        """[seats, ends, hands] f8: values at `all_in_ends`, summed over all boards."""
        nobody, found = Dealt(np.zeros(0, np.int64), self._all, ()), []
        for place, (below, _) in enumerate(self.root.below):
            if below.number > 1:
                boards = self._after(nobody, 0, below.number)
                parts = [boards[i : i + BOARDS_AT_ONCE] for i in range(0, len(boards), BOARDS_AT_ONCE)]
                each = [self._boards(below, self._reach_of(place), part) for part in parts]
                found.append(tuple(torch.stack([one[seat] for one in each]).double().sum(0) for seat in (0, 1)))
        return self._gathered(found)

    def _gathered(self, found: Sequence[tuple[torch.Tensor, ...]]) -> np.ndarray:
        """Values by form of the next street -> [seats, ends, hands]."""
        if not found:
            return np.zeros((2, 0, len(self.cards.hands)))
        return np.stack([torch.cat([each[seat] for each in found]).cpu().numpy() for seat in (0, 1)])

    def _reach_of(self, place: int) -> Pair:
        """Reaches at the ends of the first street that one form of the next follows."""
        if self._first_reaches is None:
            every = torch.ones(1, 1, len(self.cards.hands), device=self.device)
            batch, hands = self._batch(self._possible([Dealt(np.zeros(0, np.int64), self._all, ())], 0), 0)
            reaches = self._reaches(self.root, (every, every), batch)
            self._first_reaches = [self._joined(reaches, parts, hands, 0) for _, parts in self.root.below]
        return self._first_reaches[place]

    def _chance(self, street: int, later: int) -> int:
        """How many boards can follow until a later street, for two hands."""
        dealt = self.cards.dealt
        return comb(self.cards.deck - 2 * self.cards.hole - dealt[street], dealt[later] - dealt[street])

    def _after(self, board: Dealt, street: int, later: int) -> list[Dealt]:
        return next_boards(self.cards, board.board, board.orders, self.cards.dealt[later] - self.cards.dealt[street])

    def _boards(self, street: Street, reach: Pair, boards: list[Dealt], ready: Future | None = None) -> Pair:
        """Values [ways, all hands] at the beginning of a street, summed over boards and all that they stand for."""
        possible = ready.result() if ready else self._possible(boards, street.number)
        batch, hands = self._batch(possible, street.number)
        inside = self._into(reach, hands, batch)
        parts = []
        if street.below:
            reaches = self._reaches(street, inside, batch)
            for below, ends in street.below:
                found = []
                later = [self._after(board, street.number, below.number) for board in boards]
                ahead: dict[int, Future] = {}
                if self.prepares_ahead:
                    ahead = {i: self._pool.submit(self._possible, each, below.number) for i, each in enumerate(later)}
                for i, after in enumerate(later):
                    one = self._boards(below, self._joined(reaches, ends, hands, i), after, ahead.get(i))
                    found.append(tuple(each / self._chance(street.number, below.number) for each in one))
                parts.append((torch.stack([each[0] for each in found]), torch.stack([each[1] for each in found])))
        first, second = self._street(street, inside, batch, hands, parts)
        return self._summed(first, hands, boards), self._summed(second, hands, boards)

    def _summed(self, values: torch.Tensor, hands: torch.Tensor, boards: list[Dealt]) -> torch.Tensor:
        """From [boards, ways, possible hands] to [ways, all hands], summed over what the boards stand for."""
        full = self._out(values, hands)
        pairs = [(i, image) for i, board in enumerate(boards) for image in board.images]
        which, images = torch.tensor(pairs, device=self.device).T
        moved = self._inverse[images][:, None].expand(-1, full.shape[1], -1)
        return full[which].gather(2, moved).sum(0)

    def _possible(self, boards: list[Dealt], street: int) -> Possible:
        """What is known of boards without a strategy, computed on the processor."""
        cards, shown = self.cards, np.stack([each.board for each in boards])
        free = np.stack([cards.free(board) for board in shown])
        hands = np.argsort(~free, axis=1, kind="stable")[:, : int(free[0].sum())]
        last = street == cards.streets - 1
        ranks = np.take_along_axis(cards.values(shown), hands, 1) if last else None
        return Possible(hands, ranks, np.take_along_axis(self.strategy.buckets.of(shown, street), hands, 1))

    def _batch(self, possible: Possible, street: int) -> tuple[Batch, torch.Tensor]:
        """The boards of a street on the device, with the possible hands of each, [boards, hands]."""
        hands = torch.from_numpy(possible.hands).to(self.device)
        ranks = None if possible.ranks is None else torch.from_numpy(possible.ranks).to(self.device)
        meets, wins = compared(self._held[hands], ranks)
        buckets = np.pad(possible.buckets, ((0, 0), (0, meets.shape[1] - hands.shape[1]))).astype(np.int32)
        by_street = [torch.from_numpy(buckets).to(self.device)] * self.cards.streets
        return Batch(by_street, meets if wins is None else wins, meets, hands.shape[1]), hands

    def _into(self, reach: Pair, hands: torch.Tensor, batch: Batch) -> Pair:
        """From [ways, all hands] to [boards, ways, possible hands], filled up."""
        more = batch.meets.shape[1] - hands.shape[1]
        found = [torch.nn.functional.pad(each[:, hands].transpose(0, 1), (0, more)).contiguous() for each in reach]
        return found[0], found[1]

    def _out(self, values: torch.Tensor, hands: torch.Tensor) -> torch.Tensor:
        """From [boards, ways, possible hands] to [boards, ways, all hands]."""
        boards, ways, _ = values.shape
        found = values.new_zeros(boards, ways, len(self.cards.hands))
        where = hands[:, None].expand(boards, ways, hands.shape[1])
        return found.scatter_(2, where, values[..., : hands.shape[1]])

    def _reaches(self, street: Street, reach: Pair, batch: Batch) -> list[Pair]:
        """The reaches of both seats at each node of a street."""
        if reach[0].shape[-1] != batch.meets.shape[1]:
            more = batch.meets.shape[1] - reach[0].shape[-1]
            reach = (torch.nn.functional.pad(reach[0], (0, more)), torch.nn.functional.pad(reach[1], (0, more)))
        count = self.strategy.buckets.counts[street.number]
        buckets = batch.buckets[street.number]
        reaches: list[Pair] = [reach] * len(street.nodes)
        for i, node in enumerate(street.nodes):
            if node.seat < 0:
                continue
            table, n = self.table[node.table], len(node.children)
            mine, other = reaches[i][node.seat], reaches[i][1 - node.seat]
            after = self._steps.follow(table, buckets, mine, n, count)
            for place, child in enumerate(node.children):
                reaches[child] = (after[place], other) if node.seat == 0 else (other, after[place])
        return reaches

    def _joined(self, reaches: list[Pair], parts: Any, hands: torch.Tensor, board: int) -> Pair:
        """The reaches at the ends of a street that one form of the next follows, [ways, all hands], on one board."""
        found = []
        for seat in (0, 1):
            inside = torch.cat([reaches[i][seat][board, ways] for i, ways in parts])
            full = inside.new_zeros(len(inside), len(self.cards.hands))
            full[:, hands[board]] = inside[:, : hands.shape[1]]
            found.append(full)
        return found[0], found[1]

    def _street(self, street: Street, reach: Pair, batch: Batch, hands: torch.Tensor, parts: list[Pair]) -> Pair:
        """Values of best responses at the beginning of a street; `parts` has those of the next, over all hands."""
        reaches = self._reaches(street, reach, batch)
        nodes, ways = street.nodes, reach[0].shape[1]
        ones = torch.ones(ways, device=self.device)
        values: list[Any] = [None] * len(nodes)
        settled(street, reaches, batch, values)
        for (_, ends), found in zip(street.below, parts, strict=True):
            start = 0
            for i, which in ends:
                if values[i] is None:
                    values[i] = tuple((torch.zeros_like(reaches[i][seat]), ones) for seat in (0, 1))
                for seat in (0, 1):
                    part = found[seat].reshape(len(hands), -1, len(self.cards.hands))[:, start : start + len(which)]
                    where = hands[:, None].expand(len(hands), len(which), hands.shape[1])
                    inside = torch.nn.functional.pad(part.gather(2, where), (0, batch.meets.shape[1] - hands.shape[1]))
                    values[i][seat][0][:, which] = inside
                start += len(which)
        for i in range(len(nodes) - 1, -1, -1):
            node = nodes[i]
            if node.seat >= 0:
                own, rest = self._steps.respond(node.seat, [values[child] for child in node.children])
                values[i] = ((own, ones), (rest, ones)) if node.seat == 0 else ((rest, ones), (own, ones))
        (first, one), (second, other) = values[0]
        return first * one[:, None], second * other[:, None]
