"""One walk over a public tree, for counterfactual regret minimization and for best responses.

Each node has vectors over private states: the reach of both seats, and the values that come back, weighted by the
reach of the other seat and of chance. The trunk is walked twice, before the subtrees to find their reaches and after
them with their values; subtrees in between, by any thread in any order, with the same result.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from ...games.protocol import OVER
from ...jit import helper, kernel
from ..regrets import discounted, scale_and_rest
from .tree import PublicTree

BOTH = -1  # as the learner: no seat learns, both play best responses
DOWN, UP, WHOLE = range(3)  # ways to walk: the trunk for reaches, the trunk for values, a subtree


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


class Tables(NamedTuple):
    """Numbers by entry and private state, [entries, private]. A node with n actions has n entries."""

    regrets: np.ndarray  # the strategy is in proportion to the positive ones; uniform where there are none
    sums: np.ndarray  # weighted sums of strategies


class Ends(NamedTuple):
    """Payoffs times probability of chance, laid out for each seat: [classes, other's state, own state]."""

    first: np.ndarray
    second: np.ndarray


class Cut(NamedTuple):
    """Where the trunk ends."""

    start: np.ndarray  # [subtrees] first node
    size: np.ndarray  # [subtrees, 3] nodes, entries in the tables of the trunk, leaves
    vectors: np.ndarray  # [subtrees, 2, private]: reaches on the way down, values on the way up


class Scratch(NamedTuple):
    """Vectors of one thread, one row per level."""

    reach: np.ndarray  # [2, depth + 1, private]: a row is written where the seat has moved
    row: np.ndarray  # [2, depth + 1]: the row that holds for a level
    strategy: np.ndarray  # [depth + 1, most, private]
    acted: np.ndarray  # [depth + 1, most, private]: values of the mover's actions
    values: np.ndarray  # [depth + 1, 2, private]
    entry: np.ndarray  # [depth + 1]: the node's first entry
    totals: np.ndarray  # [2, private]
    value: np.ndarray  # [1] f8: expected payoff of seat 0, summed over leaves


class Walker:
    """Walks a public tree by threads, each with vectors of its own."""

    def __init__(self, tree: PublicTree, kind: Any, threads: int) -> None:
        self.tree, self.kind, self.threads = tree, np.dtype(kind), threads
        n, depth, most = tree.private, tree.depth + 1, tree.most
        self.ends = Ends(
            np.ascontiguousarray(tree.payoffs.transpose(0, 2, 1), kind), np.ascontiguousarray(-tree.payoffs, kind)
        )
        self.scratch = [
            Scratch(
                np.zeros((2, depth, n), kind),
                np.zeros((2, depth), np.int64),
                np.zeros((depth, most, n), kind),
                np.zeros((depth, most, n), kind),
                np.zeros((depth, 2, n), kind),
                np.zeros(depth, np.int64),
                np.zeros((2, n), kind),
                np.zeros(1),
            )
            for _ in range(threads)
        ]
        self.paths = [tree.path() for _ in range(threads)]
        parts = tree.subtrees
        self.vectors = np.zeros((len(parts.length), 2, n), kind)
        self.shares = np.zeros(1 + len(parts.length))  # of the expected payoff of seat 0: subtrees, then the trunk
        self.cuts = {}
        for packed in (False, True):  # packed: the tables of the trunk have no entries for subtrees
            size = parts.size.copy()
            size[:, 1] *= not packed
            self.cuts[packed] = Cut(parts.start[:, 0].copy(), size, self.vectors)
        self.pool = ThreadPoolExecutor(threads)

    def trunk(self, way: int, tables: Tables, rates: Rates, learner: int, packed: bool = False) -> np.ndarray:
        """Walk the trunk; return [2, private]: the values of both seats."""
        scratch, path = self.scratch[0], self.paths[0]
        path.states[0] = self.tree.root[0]
        scratch.reach[:, 0] = 1
        start, scratch.value[0] = np.zeros(3, np.int64), 0.0
        walk(self.tree.game, path, scratch, self.ends, tables, self.cuts[packed], start, way, rates, learner)
        self.shares[-1] = scratch.value[0]
        return scratch.values[0].copy()

    def subtree(
        self, number: int, tables: Tables, rates: Rates, learner: int, thread: int, first: int | None = None
    ) -> None:
        """Walk a subtree: reaches become values. `first`: the place of its first entry in the tables."""
        parts, scratch, path = self.tree.subtrees, self.scratch[thread], self.paths[thread]
        start = parts.start[number].copy()
        start[1] = start[1] if first is None else first
        scratch.reach[:, 0], scratch.value[0] = self.vectors[number], 0.0
        path.states[0] = self.tree.root[0]
        _lead(self.tree.game, path.states, parts.actions[number], parts.length[number])
        cut = self.cuts[False]
        walk(self.tree.game, path, scratch, self.ends, tables, cut, start, WHOLE, rates, learner)
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
def _lead(game, states, actions, length):
    for k in range(length):
        game.play(states[0], np.int64(actions[k]))


@kernel
def walk(game, path, scratch, ends, tables, cut, start, way, rates, learner):
    """Walk the trunk or a subtree from `path.states[0]` with the reaches in row 0; values are in row 0 then.

    The learner's regrets and average strategy are updated; where it is BOTH, each seat's values are those of a best
    response, and nothing is updated.
    """
    node, entry, leaf, stop = start[0], start[1], start[2], 0
    values, reach, row = scratch.values, scratch.reach, scratch.row
    depth = 0
    row[0, 0] = 0
    row[1, 0] = 0
    path.tried[0] = -1
    while depth >= 0:
        tried = path.tried[depth]
        turn = game.turn(path.states[depth])
        if tried < 0:
            if turn == OVER:
                if way != DOWN:
                    number = np.int64(game.payoff_class(path.states[depth]))
                    pay(scratch, ends, leaf if number < 0 else number, depth, rates, learner)
                leaf += 1
                depth -= 1
                continue
            if way != WHOLE and stop < len(cut.start) and node == cut.start[stop]:
                for seat in range(2):
                    if way == DOWN:
                        copy(cut.vectors[stop, seat], reach[seat, row[seat, depth]])
                    else:
                        copy(values[depth, seat], cut.vectors[stop, seat])
                node += cut.size[stop, 0]
                entry += cut.size[stop, 1]
                leaf += cut.size[stop, 2]
                stop += 1
                depth -= 1
                continue
            node += 1
            path.n[depth] = game.actions(path.states[depth], path.actions[depth])
            scratch.entry[depth] = entry
            fill(values[depth, 0], rates.zero)
            fill(values[depth, 1], rates.zero)
            if turn >= 0:
                choose(scratch, tables, depth, path.n[depth], rates)
                entry += path.n[depth]
            tried = 0
        elif turn < 0:
            add(values[depth, 0], values[depth + 1, 0])
            add(values[depth, 1], values[depth + 1, 1])
        else:
            if learner != 1 - turn:
                copy(scratch.acted[depth, tried - 1], values[depth + 1, turn])
            if learner != turn:
                add(values[depth, 1 - turn], values[depth + 1, 1 - turn])
        if tried == path.n[depth]:
            if turn >= 0 and way != DOWN:
                if learner == BOTH:
                    best(scratch, depth, turn, tried)
                elif learner == turn:
                    update(scratch, tables, depth, turn, tried, rates)
            depth -= 1
            continue
        path.tried[depth] = tried + 1
        path.states[depth + 1] = path.states[depth]
        game.play(path.states[depth + 1], path.actions[depth, tried])
        path.tried[depth + 1] = -1
        row[0, depth + 1] = row[0, depth]
        row[1, depth + 1] = row[1, depth]
        if turn >= 0:
            multiply(reach[turn, depth + 1], reach[turn, row[turn, depth]], scratch.strategy[depth, tried])
            row[turn, depth + 1] = depth + 1
        depth += 1


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


@helper
def choose(scratch, tables, depth, n, rates):
    """Regret matching for every private state."""
    totals, rest = scratch.totals[0], scratch.totals[1]
    private = len(totals)
    first = scratch.entry[depth]
    for h in range(private):
        totals[h] = rates.zero
    for a in range(n):
        regrets = tables.regrets[first + a]
        for h in range(private):
            totals[h] += max(regrets[h], rates.zero)
    even = rates.one / n
    for h in range(private):
        totals[h], rest[h] = scale_and_rest(totals[h], even, rates.zero, rates.one, rates.tiny)
    for a in range(n):
        regrets = tables.regrets[first + a]
        strategy = scratch.strategy[depth, a]
        for h in range(private):
            strategy[h] = max(regrets[h], rates.zero) * totals[h] + rest[h]


@helper
def pay(scratch, ends, number, depth, rates, learner):
    """The values at a leaf: sums over the other seat's private states."""
    for seat in range(2):
        if learner != 1 - seat:
            values, reach = scratch.values[depth, seat], scratch.reach[1 - seat, scratch.row[1 - seat, depth]]
            payoffs = ends.first[number] if seat == 0 else ends.second[number]
            for h in range(len(values)):
                values[h] = rates.zero
            for other in range(len(values)):
                share = reach[other]
                if share > rates.zero:
                    row = payoffs[other]
                    for h in range(len(values)):
                        values[h] += share * row[h]
    if learner == BOTH:
        values, reach = scratch.values[depth, 0], scratch.reach[0, scratch.row[0, depth]]
        for h in range(len(values)):
            scratch.value[0] += np.float64(reach[h]) * np.float64(values[h])


@helper
def best(scratch, depth, turn, n):
    """The value of the best action for every private state of the mover."""
    values = scratch.values[depth, turn]
    for a in range(n):
        acted = scratch.acted[depth, a]
        for h in range(len(values)):
            values[h] = acted[h] if a == 0 else max(values[h], acted[h])


@helper
def update(scratch, tables, depth, turn, n, rates):
    """The learner's value, and what a node adds to its regrets and its average strategy."""
    values, weighted = scratch.values[depth, turn], scratch.totals[0]
    reach = scratch.reach[turn, scratch.row[turn, depth]]
    private = len(values)
    first = scratch.entry[depth]
    for h in range(private):
        weighted[h] = rates.weight * reach[h]
    for a in range(n):
        strategy, acted = scratch.strategy[depth, a], scratch.acted[depth, a]
        for h in range(private):
            values[h] += strategy[h] * acted[h]
    for a in range(n):
        strategy, acted = scratch.strategy[depth, a], scratch.acted[depth, a]
        regrets = tables.regrets[first + a]
        sums = tables.sums[first + a]
        for h in range(private):
            regrets[h] = discounted(regrets[h] + (acted[h] - values[h]), rates.gain, rates.loss)
            sums[h] += weighted[h] * strategy[h]
