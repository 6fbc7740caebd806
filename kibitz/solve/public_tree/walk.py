"""One walk over a public tree, for counterfactual regret minimization and for best responses.

Each node has vectors over private hands: the reach of both seats, and the values that come back, weighted by the reach
of the other seat and of chance. What hands are worth at an end, and where their numbers are in tables, is said by an
object of a class with the compiled rules below: `MatrixHands` for any game that declares a public tree, `CardHands`
where cards on a board make them. The trunk is walked twice, before the subtrees to find their reaches and after them
with their values; subtrees in between, by any thread in any order, with the same result.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from ...jit import helper, kernel, rules

BOTH = -1  # instead of a seat
ORIGIN = np.zeros(3, np.int64)  # the whole tree begins after no nodes, entries and ends
DOWN, UP, WHOLE = range(3)  # ways to walk: the trunk for reaches, the trunk for values, a whole subtree
RULES = {
    "room": "self, street, n",  # -> entries of a decision with n actions
    "match_regrets": "self, tables, scratch, depth, street, n, rates",  # writes scratch.strategy[depth]
    # The value of `seat`, who is to move, and what the node adds to its regrets and its average strategy.
    "update_tables": "self, tables, scratch, depth, street, n, seat, rates",
    "pay_end": "self, kind, number, scratch, depth, seat, rates",  # the values at an end, of `seat` or of BOTH
}


def hands(cls: Any) -> Any:
    """Class decorator: the walk may call the rules above."""
    return rules(RULES)(cls)


class Nodes(NamedTuple):
    """A public tree in preorder: a node's subtree follows it."""

    seat: np.ndarray  # [nodes] i1: the seat to move, or CHANCE; of an end its kind
    choices: np.ndarray  # [nodes] u2: number of actions; 0 at an end
    street: np.ndarray  # [nodes] i1


class Rates(NamedTuple):
    """Numbers of an iteration, of the type of the tables, so that kernels calculate in that type."""

    weight: Any  # of the iteration in the average strategy
    gain: Any  # factor of a positive regret
    loss: Any  # factor of a negative one
    zero: Any
    one: Any
    tiny: Any  # the inverse of a smaller number would be infinite

    @classmethod
    def of(cls, kind: Any, weight: float = 0.0, gain: float = 1.0, loss: float = 1.0) -> "Rates":
        tiny = np.finfo(kind).tiny
        return cls(*(np.dtype(kind).type(value) for value in (weight, gain, loss, 0.0, 1.0, tiny)))


class Parts(NamedTuple):
    """Subtrees for threads, in the order of the walk; the trunk ends where they begin."""

    start: np.ndarray  # [subtrees, 3] i8: nodes, entries in tables, and ends before each
    size: np.ndarray  # [subtrees, 3] i8: nodes, entries in the tables of the trunk, and ends of each


class Scratch(NamedTuple):
    """Vectors over hands of one thread, one row per level."""

    reach: np.ndarray  # [2, levels, hands]: a row is written where the seat has moved
    row: np.ndarray  # [2, levels]: the row that holds for a level
    strategy: np.ndarray  # [levels, most, hands]
    acted: np.ndarray  # [levels, most, hands]: values of the mover's actions
    values: np.ndarray  # [levels, 2, hands]
    node: np.ndarray  # [levels]
    entry: np.ndarray  # [levels]: the node's first entry in tables
    tried: np.ndarray  # [levels]: number of actions tried
    totals: np.ndarray  # [2, hands]
    by_card: np.ndarray  # [2, deck] f8
    value: np.ndarray  # [1] f8: expected payoff of seat 0, summed over ends


class Walker:
    """Walks a public tree by threads, each with vectors of its own."""

    def __init__(
        self, nodes: Nodes, parts: Parts, hands: int, levels: int, most: int, kind: Any, threads: int, deck: int = 0
    ) -> None:
        self.nodes, self.parts, self.threads = nodes, parts, threads
        vectors, rows = (levels, most, hands), lambda: np.zeros(levels, np.int64)
        self.scratch = [
            Scratch(
                np.zeros((2, levels, hands), kind),
                np.zeros((2, levels), np.int64),
                np.zeros(vectors, kind),
                np.zeros(vectors, kind),
                np.zeros((levels, 2, hands), kind),
                rows(),
                rows(),
                rows(),
                np.zeros((2, hands), kind),
                np.zeros((2, deck)),
                np.zeros(1),
            )
            for _ in range(threads)
        ]
        self.vectors = np.zeros((len(parts.start), 2, hands), kind)  # of subtrees: reaches, then values
        self.shares = np.zeros(1 + len(parts.start))  # of the expected payoff of seat 0: subtrees, then the trunk
        packed = parts.size.copy()
        packed[:, 1] = 0  # the tables of the trunk have no entries for subtrees
        self.cuts = {False: parts, True: parts._replace(size=packed)}
        self.whole = Parts(parts.start[:0], parts.size[:0])
        self.pool = ThreadPoolExecutor(threads)

    def iterate(self, hands: Any, tables: Any, rates: Rates, seat: int, tasks: Iterable[Iterable[int]]) -> np.ndarray:
        """Update the tables of a seat, or of BOTH; `tasks` are groups of subtrees. Return the values, [2, hands]."""
        if self.threads == 1 or not len(self.parts.start):
            return self.walk(hands, tables, rates, seat)

        def do(group: Iterable[int], thread: int) -> None:
            for number in group:
                self.subtree(number, hands, tables, rates, seat, False, thread)

        self.trunk(DOWN, hands, tables, rates, seat)
        for _ in self.spread(do, tasks):
            pass
        return self.trunk(UP, hands, tables, rates, seat)

    def walk(
        self, hands: Any, tables: Any, rates: Rates, seat: int, best: bool = False, reach: Any = 1.0,
        start: np.ndarray = ORIGIN,
    ) -> np.ndarray:  # fmt: skip
        """Walk the subtree that begins after so many nodes, entries and ends; return the values, [2, hands].

        Args:
            hands: What hands are worth, and where they are in the tables.
            tables: Of which the strategy is matched; updated unless `best`.
            rates: Of the iteration.
            seat: Whose values are found, or BOTH.
            best: Whether they are those of best responses.
            reach: [2, hands] of both seats there.
            start: Of the subtree.
        """
        scratch = self.scratch[0]
        scratch.reach[:, 0] = reach
        walk(self.nodes, hands, scratch, tables, self.whole, self.vectors, start, WHOLE, rates, seat, best)
        return scratch.values[0].copy()

    def trunk(
        self, way: int, hands: Any, tables: Any, rates: Rates, seat: int, best: bool = False, packed: bool = False,
        reach: Any = 1.0,
    ) -> np.ndarray:  # fmt: skip
        """Walk the trunk; return the values of both seats, [2, hands]."""
        scratch = self.scratch[0]
        scratch.reach[:, 0], scratch.value[0] = reach, 0.0
        walk(self.nodes, hands, scratch, tables, self.cuts[packed], self.vectors, ORIGIN, way, rates, seat, best)
        self.shares[-1] = scratch.value[0]
        return scratch.values[0].copy()

    def subtree(
        self, number: int, hands: Any, tables: Any, rates: Rates, seat: int, best: bool, thread: int,
        first: int | None = None,
    ) -> None:  # fmt: skip
        """Walk a subtree: reaches become values. `first`: the place of its first entry in the tables."""
        scratch, start = self.scratch[thread], self.parts.start[number].copy()
        start[1] = start[1] if first is None else first
        scratch.reach[:, 0], scratch.value[0] = self.vectors[number], 0.0
        walk(self.nodes, hands, scratch, tables, self.whole, self.vectors, start, WHOLE, rates, seat, best)
        self.vectors[number], self.shares[number] = scratch.values[0], scratch.value[0]

    def spread(self, do: Callable[[Any, int], None], tasks: Iterable[Any]) -> Iterable[None]:
        """Call `do(task, thread)` for all tasks by threads; yields after each task that is done, in their order."""
        free = list(range(self.threads))

        def work(task: Any) -> None:
            thread = free.pop()
            try:
                do(task, thread)
            finally:
                free.append(thread)

        if self.threads == 1:
            yield from map(work, tasks)
        else:
            yield from self.pool.map(work, tasks)


@kernel
def walk(nodes, hands, scratch, tables, cut, vectors, start, way, rates, seat, best):
    """Walk the trunk or a subtree with the reaches in row 0; values are in row 0 then.

    Values are those of `seat`, or of BOTH. Where they are those of best responses nothing is updated.
    """
    at, entry, end, stop = start[0], start[1], start[2], 0
    values, reach, row = scratch.values, scratch.reach, scratch.row
    depth, arrived = 0, True
    row[0, 0] = 0
    row[1, 0] = 0
    while depth >= 0:
        if arrived:
            arrived = False
            if stop < len(cut.start) and at == cut.start[stop, 0]:
                for each in range(2):
                    if way == DOWN:
                        copy(vectors[stop, each], reach[each, row[each, depth]])
                    else:
                        copy(values[depth, each], vectors[stop, each])
                at += cut.size[stop, 0]
                entry += cut.size[stop, 1]
                end += cut.size[stop, 2]
                stop += 1
                depth -= 1
                continue
            if nodes.choices[at] == 0:
                if way != DOWN:
                    hands.pay_end(np.int64(nodes.seat[at]), end, scratch, depth, seat, rates)
                    if best and seat == BOTH:
                        own = reach[0, row[0, depth]]
                        for h in range(len(own)):
                            scratch.value[0] += np.float64(own[h]) * np.float64(values[depth, 0, h])
                at += 1
                end += 1
                depth -= 1
                continue
            scratch.node[depth] = at
            scratch.entry[depth] = entry
            scratch.tried[depth] = 0
            fill(values[depth, 0], rates.zero)
            fill(values[depth, 1], rates.zero)
            if nodes.seat[at] >= 0:
                street, count = np.int64(nodes.street[at]), np.int64(nodes.choices[at])
                hands.match_regrets(tables, scratch, depth, street, count, rates)
                entry += hands.room(street, count)
            at += 1
        node, tried = scratch.node[depth], scratch.tried[depth]
        turn, n = np.int64(nodes.seat[node]), np.int64(nodes.choices[node])
        if tried > 0:
            if turn < 0:
                add(values[depth, 0], values[depth + 1, 0])
                add(values[depth, 1], values[depth + 1, 1])
            else:
                if seat != 1 - turn:
                    copy(scratch.acted[depth, tried - 1], values[depth + 1, turn])
                if seat != turn:
                    add(values[depth, 1 - turn], values[depth + 1, 1 - turn])
        if tried == n:
            if turn >= 0 and way != DOWN and seat != 1 - turn:
                if best:
                    best_action(scratch, depth, turn, n)
                else:
                    hands.update_tables(tables, scratch, depth, np.int64(nodes.street[node]), n, turn, rates)
            depth -= 1
            continue
        scratch.tried[depth] = tried + 1
        row[0, depth + 1] = row[0, depth]
        row[1, depth + 1] = row[1, depth]
        if turn >= 0:
            multiply(reach[turn, depth + 1], reach[turn, row[turn, depth]], scratch.strategy[depth, tried])
            row[turn, depth + 1] = depth + 1
        depth += 1
        arrived = True


@helper
def best_action(scratch, depth, turn, n):
    """The value of the best action for every hand of the mover."""
    values = scratch.values[depth, turn]
    for a in range(n):
        acted = scratch.acted[depth, a]
        for h in range(len(values)):
            values[h] = acted[h] if a == 0 else max(values[h], acted[h])


@helper
def fill(out, value):
    for h in range(len(out)):
        out[h] = value


@helper
def copy(out, given):
    for h in range(len(out)):
        out[h] = given[h]


@helper
def add(out, given):
    for h in range(len(out)):
        out[h] += given[h]


@helper
def multiply(out, one, two):
    for h in range(len(out)):
        out[h] = one[h] * two[h]
