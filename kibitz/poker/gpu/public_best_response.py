"""An exact best response to a table strategy on the public tree, with vectors over all hands.

Every board is visited, but for permutations of suits: of the cards that can come next, those that a permutation of
suits makes equal, given the board so far, are visited once. A best response knows the board and its hand.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations, islice
from math import comb
from typing import NamedTuple

import numpy as np
import torch

from ...core.workers import cores
from ...nets.devices import with_own_products
from ...solve.regrets import matched
from ..solve.cards import Cards
from ..solve.first_street import FirstStreet, first_street_probs
from ..solve.strategy import TableStrategy
from .public_streets import (
    PADDED,
    Batch,
    Node,
    Pair,
    Street,
    compared,
    fused,
    halved,
    join,
    lay_out,
    packed,
    plain,
    public_street,
    street_reaches,
    street_values,
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
    """What is known of some boards of a street without a strategy, as one tensor, so that it is moved at once."""

    numbers: torch.Tensor  # i4: the tables below, one after the other
    boards: int
    hands: int  # that are possible on each
    terms: int  # boards with all that they stand for


class Boards(NamedTuple):
    """The same on the device. Places are -1 where there is none."""

    batch: Batch
    hands: torch.Tensor  # [boards, hands, filled up]: their numbers
    which: torch.Tensor  # [terms]: the board of each board that is stood for
    places: torch.Tensor  # [terms, all hands]: the place on it of each hand


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
        self.half = device.startswith("cuda") and self.cards.streets > 2  # on the last street
        self.packed: dict[int, torch.Tensor] = {}  # by node: the same on the last street, in 16 bits
        self._fill(self.root)
        self._steps = fused() if device.startswith("cuda") else plain
        self.rounded = self.cards.streets > 2
        self._held = torch.tensor(self.cards.held, device=device)
        self._inverse = np.argsort(self.cards.hand_orders.astype(np.int64), axis=1)
        self._pool = ThreadPoolExecutor(min(cores(), 4))
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
                if self.half and street.number == self.cards.streets - 1:
                    self.packed[id(node)] = packed(probs.to(self.device))
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

    @with_own_products
    def visit(self, number: int) -> np.ndarray:
        """[seats, ends, hands] f4: values at `ends` on a class of flops, summed over all that it stands for."""
        flop = self.flops[number]
        found = [
            self._boards(below, self._reach_of(place), [flop])
            for place, (below, _) in enumerate(self.root.below)
            if below.number == 1
        ]
        return self._gathered(found)

    def visits(self, numbers: Iterable[int]) -> Iterator[np.ndarray]:
        """`visit` of one class after the other; on a GPU the next ones have begun when one is done."""
        if not (self.prepares_ahead and self.device.startswith("cuda")):
            yield from map(self.visit, numbers)
            return
        left = iter(numbers)
        yield from map(self.visit, islice(left, 1))  # kernels are compiled
        with ThreadPoolExecutor(2) as pool:
            begun: deque[Future] = deque()
            for number in left:
                begun.append(pool.submit(self.visit, number))
                if len(begun) > 2:
                    yield begun.popleft().result()
            while begun:
                yield begun.popleft().result()

    @with_own_products
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
            every = torch.ones(1, len(self.cards.hands), device=self.device)
            boards = self._moved(self._possible([Dealt(np.zeros(0, np.int64), self._all, ())], 0))
            inside = self._into(every, boards)
            reaches = street_reaches(self.root, (inside, inside), self._followed(self.root, boards.batch))
            joined = [join(reaches, ends) for _, ends in self.root.below]
            self._first_reaches = [
                (self._everyone(first, boards)[0], self._everyone(second, boards)[0]) for first, second in joined
            ]
        return self._first_reaches[place]

    def _chance(self, street: int, later: int) -> int:
        """How many boards can follow until a later street, for two hands."""
        dealt = self.cards.dealt
        return comb(self.cards.deck - 2 * self.cards.hole - dealt[street], dealt[later] - dealt[street])

    def _after(self, board: Dealt, street: int, later: int) -> list[Dealt]:
        return next_boards(self.cards, board.board, board.orders, self.cards.dealt[later] - self.cards.dealt[street])

    def _boards(self, street: Street, reach: Pair, boards: list[Dealt], ready: Future | None = None) -> Pair:
        """Values [ways, all hands] at the beginning of a street, summed over boards and all that they stand for."""
        given = self._moved(ready.result() if ready else self._possible(boards, street.number))
        half = self.half and street.number == self.cards.streets - 1
        reach, most = halved(reach) if half else (reach, None)
        inside = self._into(reach[0], given), self._into(reach[1], given)

        def visit(below: Street, reach: Pair) -> Pair:
            """On all boards that can follow, board after board."""
            later = [self._after(board, street.number, below.number) for board in boards]
            ahead: dict[int, Future] = {}
            if self.prepares_ahead:
                ahead = {i: self._pool.submit(self._possible, each, below.number) for i, each in enumerate(later)}
            first, second = self._everyone(reach[0], given), self._everyone(reach[1], given)
            found = [self._boards(below, (first[i], second[i]), each, ahead.get(i)) for i, each in enumerate(later)]
            chance = self._chance(street.number, below.number)
            one, two = (self._inside(torch.stack(each) / chance, given) for each in zip(*found, strict=True))
            return one, two

        def back(node: Node, children: list, reach: Pair) -> Pair:
            return self._steps.respond(node.seat, children)

        values = street_values(street, inside, given.batch, self._followed(street, given.batch), visit, back)
        first, second = self._summed(values[0], given), self._summed(values[1], given)
        return (first, second) if most is None else (first * most[1][:, None], second * most[0][:, None])

    def _followed(self, street: Street, batch: Batch) -> Callable[[Node, Pair], torch.Tensor]:
        """The function from a decision and the reaches there to the mover's reach after each action."""
        buckets, count = batch.buckets[street.number], self.strategy.buckets.counts[street.number]

        def follow(node: Node, reach: Pair) -> torch.Tensor:
            table = self.packed.get(id(node), self.table[node.table])
            return self._steps.follow(table, buckets, reach[node.seat], len(node.children), count)

        return follow

    def _summed(self, values: torch.Tensor, boards: Boards) -> torch.Tensor:
        """From [boards, ways, possible hands] to [ways, all hands], summed over what the boards stand for."""
        ends = torch.arange(2, device=self.device) * len(boards.which)
        ones = torch.ones(len(boards.which), device=self.device)
        return self._steps.collect(values, boards.which, boards.places, ends, ones)[0]

    def _possible(self, boards: list[Dealt], street: int) -> Possible:
        """What is known of boards without a strategy, computed on the processor."""
        cards, shown = self.cards, np.stack([each.board for each in boards])
        free = cards.free(shown)
        count = int(free[0].sum())
        hands = np.argsort(~free, axis=1, kind="stable")[:, :count]
        place = np.full(free.shape, -1, np.int32)
        np.put_along_axis(place, hands, np.arange(count, dtype=np.int32)[None], 1)
        terms = [(i, image) for i, board in enumerate(boards) for image in board.images]
        which, images = np.array(terms, np.int64).reshape(-1, 2).T
        pad = (0, 0), (0, -count % PADDED)
        tables = [
            np.pad(hands, pad, constant_values=-1),
            np.pad(np.take_along_axis(self.strategy.buckets.of(shown, street), hands, 1), pad),
            which,
            place[which[:, None], self._inverse[images]],
        ]
        if street == cards.streets - 1:
            tables.append(np.take_along_axis(cards.values(shown), hands, 1))
        numbers = torch.from_numpy(np.concatenate([each.astype(np.int32).ravel() for each in tables]))
        return Possible(
            numbers.pin_memory() if self.device.startswith("cuda") else numbers, len(shown), count, len(terms)
        )

    def _moved(self, given: Possible) -> Boards:
        """The boards on the device."""
        numbers = given.numbers.to(self.device, non_blocking=True)
        size, every = given.hands + -given.hands % PADDED, len(self.cards.hands)
        parts = [given.boards * size, given.boards * size, given.terms, given.terms * every]
        *found, rest = numbers.split([*parts, len(numbers) - sum(parts)])
        hands, buckets = (each.view(given.boards, size) for each in found[:2])
        ranks = rest.view(given.boards, given.hands) if len(rest) else None
        held = self._held[hands[:, : given.hands]]
        meets, wins = compared(held, ranks, self.half and ranks is not None)
        batch = Batch([buckets] * self.cards.streets, meets if wins is None else wins, meets, given.hands)
        return Boards(batch, hands, found[2], found[3].view(given.terms, every))

    def _into(self, reach: torch.Tensor, boards: Boards) -> torch.Tensor:
        """From [ways, all hands] to [boards, ways, possible hands], filled up."""
        nobody = torch.zeros(len(boards.hands), dtype=torch.int32, device=self.device)
        return self._steps.deal(reach[None], nobody, boards.hands)

    def _everyone(self, inside: torch.Tensor, boards: Boards) -> torch.Tensor:
        """From [boards, ways, possible hands] to [boards, ways, all hands]."""
        full = inside.new_zeros(*inside.shape[:2], len(self.cards.hands))
        where = boards.hands[:, None, : boards.batch.hands].expand(-1, inside.shape[1], -1).long()
        return full.scatter_(2, where, inside[..., : boards.batch.hands])

    def _inside(self, everyone: torch.Tensor, boards: Boards) -> torch.Tensor:
        """From [boards, ways, all hands] to [boards, ways, possible hands], filled up."""
        where = boards.hands.clamp_min(0)[:, None].long()
        return everyone.gather(2, where.expand(-1, everyone.shape[1], boards.hands.shape[1]))
