"""Linear CFR with public chance sampling (Johanson, Bard, Lanctot, Gibson and Bowling 2012), on processor cores.

An iteration samples a board and walks the betting tree once, with vectors over all hands of both seats. Regrets and
average strategies of hands in one bucket are added up. Each iteration is weighted by its number, in the regrets and in
the average (Brown and Sandholm 2019).
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from ...core.workers import cores
from ...jit import kernel, long_helper
from ..regrets import matched, scale_and_rest
from .betting_tree import FOLD, BettingTree, betting_tree
from .buckets import Buckets

NOBODY = -1  # no seat
TRUNK = 2  # streets that one thread walks; the subtrees below them are shared out to threads
TINY = np.finfo(np.float32).tiny  # the inverse of a smaller number would be infinite
SHARED = 10**6  # nodes times hands from which threads are worth their start


class Tables(NamedTuple):
    """Sums over iterations, by node, bucket and action."""

    first: np.ndarray  # [nodes] i8: bucket b of a node with n actions begins at first + b * n
    regrets: np.ndarray  # f4
    sums: np.ndarray  # f4: of strategies, weighted by iteration and own reach


class Hands(NamedTuple):
    """The hands that are possible with a board, in ascending order of their rank at the showdown."""

    cards: np.ndarray  # [hands, cards] i8
    buckets: np.ndarray  # [streets, hands] i4
    order: np.ndarray  # [streets, hands] i4: the hands by their buckets: tables are read from front to back
    group: np.ndarray  # [hands] i4: where the hands of the same rank begin
    end: np.ndarray  # [hands] i4: and where they end


class Scratch(NamedTuple):
    """Vectors over hands by depth in the tree."""

    reach: np.ndarray  # [2, depth, hands] f4: a row is written where the seat has moved
    row: np.ndarray  # [2, depth] i8: the row that holds for a depth
    strategy: np.ndarray  # [depth, actions, hands] f4
    acted: np.ndarray  # [depth, actions, hands] f4: values of the mover's actions
    values: np.ndarray  # [depth, 2, hands] f4
    node: np.ndarray  # [depth] i4
    tried: np.ndarray  # [depth] i8
    by_card: np.ndarray  # [2, deck] f8


def scratch_for(tree: BettingTree, hands: int, deck: int) -> Scratch:
    """Vectors for walks by one thread."""
    depth, most = int(tree.depth.max()) + 1, tree.most
    return Scratch(
        np.zeros((2, depth, hands), np.float32),
        np.zeros((2, depth), np.int64),
        np.zeros((depth, most, hands), np.float32),
        np.zeros((depth, most, hands), np.float32),
        np.zeros((depth, 2, hands), np.float32),
        np.zeros(depth, np.int32),
        np.zeros(depth, np.int64),
        np.zeros((2, deck)),
    )


def first_entries(tree: BettingTree, counts: tuple[int, ...]) -> tuple[np.ndarray, int]:
    """Where the entries of each node begin, and how many there are in all."""
    sizes = tree.choices.astype(np.int64) * np.array(counts, np.int64)[tree.street]
    ends = np.cumsum(sizes)
    return ends - sizes, int(ends[-1])


def empty_tables(tree: BettingTree, counts: tuple[int, ...]) -> Tables:
    """Tables of a game before the first iteration."""
    first, size = first_entries(tree, counts)
    return Tables(first, np.zeros(size, np.float32), np.zeros(size, np.float32))


def possible_hands(buckets: Buckets, board: np.ndarray) -> Hands:
    """The hands that are possible with a complete board."""
    cards = buckets.cards
    values = cards.values(board[None])[0]
    order = np.argsort(values, kind="stable")
    order = order[np.searchsorted(values[order], 0) :]
    ranked = values[order]
    found = np.array([buckets.on(board, street)[order] for street in range(cards.streets)], np.int32)
    group, end = (np.searchsorted(ranked, ranked, side).astype(np.int32) for side in ("left", "right"))
    return Hands(cards.hands[order], found, np.argsort(found, axis=1, kind="stable").astype(np.int32), group, end)


class PublicChanceCfr:
    """`run(n)` does n iterations, each on a board of its own; the tables have the regrets and the average strategy.

    The result depends on the seed only: threads update different parts of the tables.
    """

    def __init__(self, game: Any, buckets: Buckets, seed: int = 1, threads: int | None = None) -> None:
        self.game, self.buckets, self.seed, self.iterations = game, buckets, seed, 0
        self.tree = betting_tree(game, buckets.cards)
        self.tables = empty_tables(self.tree, buckets.counts)
        work = len(self.tree.seat) * len(buckets.cards.hands)
        self.threads = threads or (cores() if work > SHARED else 1)
        stop = min(TRUNK, buckets.cards.streets - 1)
        before = np.zeros(len(self.tree.seat), np.int8)  # the street of the node's parent
        for node, (count, children) in enumerate(zip(self.tree.choices, self.tree.child, strict=True)):
            before[children[:count]] = self.tree.street[node]
        self._roots = np.flatnonzero((self.tree.street >= stop) & (before < stop)) if stop else np.zeros(1, np.int64)
        self._stop = stop
        self._scratch: list[Scratch] = []

    def run(self, iterations: int) -> None:
        """Do some iterations."""
        for _ in range(iterations):
            self.iterations += 1
            self.step(self.sample(self.iterations), float(self.iterations))

    def sample(self, iteration: int) -> np.ndarray:
        """The board of an iteration."""
        cards = self.buckets.cards
        return np.random.default_rng([self.seed, iteration]).permutation(cards.deck)[: cards.dealt[-1]]

    def step(self, board: np.ndarray, weight: float) -> np.ndarray:
        """Update the tables on a board; return [2, hands]: the value of each possible hand times the other's number."""
        hands = possible_hands(self.buckets, board)
        count = len(hands.cards)
        self._allocate(count)
        trunk = self._scratch[0]
        trunk.reach[:, 0] = 1.0
        trunk.row[:, 0] = 0
        stops = np.zeros((len(self._roots), 2, count), np.float32)
        arguments = self.tree, self.tables, hands
        if self.threads == 1 or not self._stop:
            walk(*arguments, trunk, 0, 99, False, self._roots, stops, np.float32(weight), NOBODY)
            return trunk.values[0].copy()
        walk(*arguments, trunk, 0, self._stop, True, self._roots, stops, np.float32(weight), NOBODY)

        def below(thread: int) -> None:
            own = self._scratch[thread]
            for i in range(thread, len(self._roots), self.threads):
                own.reach[:, 0] = stops[i]
                own.row[:, 0] = 0
                walk(*arguments, own, self._roots[i], 99, False, self._roots, stops, np.float32(weight), NOBODY)
                stops[i] = own.values[0]

        list(self._pool.map(below, range(self.threads)))
        trunk.reach[:, 0] = 1.0
        walk(*arguments, trunk, 0, self._stop, False, self._roots, stops, np.float32(weight), NOBODY)
        return trunk.values[0].copy()

    def _allocate(self, hands: int) -> None:
        if self._scratch and self._scratch[0].reach.shape[2] == hands:
            return
        self._scratch = [scratch_for(self.tree, hands, self.buckets.cards.deck) for _ in range(self.threads)]
        self._pool = ThreadPoolExecutor(self.threads)

    def probs(self) -> np.ndarray:
        """The average strategy, as the tables are ordered."""
        return normalised(self.tree, self.tables, self.buckets.counts)


def normalised(tree: BettingTree, tables: Tables, counts: tuple[int, ...]) -> np.ndarray:
    """Sums of strategies as probabilities; uniform where nothing was added."""
    found = np.zeros_like(tables.sums)
    for node in np.flatnonzero(tree.choices):
        n, start = int(tree.choices[node]), int(tables.first[node])
        part = slice(start, start + n * counts[tree.street[node]])
        found[part] = matched(tables.sums[part].reshape(-1, n)).reshape(-1)
    return found


# ---------------------------------------------------------------- kernels


@kernel
def walk(tree, tables, hands, scratch, root, stop, forward, roots, stops, weight, best):
    """Walk a subtree: values of both seats by hand, and all updates of its tables.

    At the first node of street `stop` it takes the values from `stops`; where `forward`, it writes the two reaches
    there instead and updates nothing. Where `best` is a seat, it plays a best response, and nothing is updated.
    """
    depth, stopped = 0, 0
    scratch.node[0] = root
    scratch.tried[0] = 0
    while depth >= 0:
        node = np.int64(scratch.node[depth])
        seat, count = np.int64(tree.seat[node]), np.int64(tree.choices[node])
        if tree.street[node] >= stop:
            if forward:
                for each in range(2):
                    stops[stopped, each] = scratch.reach[each, scratch.row[each, depth]]
            scratch.values[depth] = stops[stopped]
            stopped += 1
        elif seat < 0:
            if not forward:
                end(tree, hands, scratch, node, depth)
        else:
            tried = scratch.tried[depth]
            if tried == 0:
                choose(tree, tables, hands, scratch, node, depth)
            if tried > 0:
                scratch.acted[depth, tried - 1] = scratch.values[depth + 1, seat]
                for h in range(scratch.values.shape[2]):
                    scratch.values[depth, 1 - seat, h] += scratch.values[depth + 1, 1 - seat, h]
            if tried < count:
                scratch.tried[depth] += 1
                reach, own = scratch.reach, scratch.row[seat, depth]
                for h in range(reach.shape[2]):
                    reach[seat, depth + 1, h] = reach[seat, own, h] * scratch.strategy[depth, tried, h]
                scratch.row[seat, depth + 1] = depth + 1
                scratch.row[1 - seat, depth + 1] = scratch.row[1 - seat, depth]
                depth += 1
                scratch.node[depth] = tree.child[node, tried]
                scratch.tried[depth] = 0
                continue
            if best == seat:
                for h in range(scratch.values.shape[2]):
                    scratch.values[depth, seat, h] = scratch.acted[depth, :count, h].max()
            elif not forward:
                update(tree, tables, hands, scratch, node, depth, weight, best == NOBODY)
        depth -= 1


@long_helper
def choose(tree, tables, hands, scratch, node, depth):
    """Regret matching for every hand; the values of both seats start at 0."""
    n, street, first = np.int64(tree.choices[node]), tree.street[node], tables.first[node]
    regrets, strategy = tables.regrets, scratch.strategy
    even = np.float32(1.0) / np.float32(n)
    for i in range(scratch.values.shape[2]):
        h = hands.order[street, i]
        at = first + np.int64(hands.buckets[street, h]) * n
        total = np.float32(0.0)
        for a in range(n):
            total += max(regrets[at + a], np.float32(0.0))
        scale, rest = scale_and_rest(total, even, np.float32(0.0), np.float32(1.0), TINY)
        for a in range(n):
            strategy[depth, a, h] = max(regrets[at + a], np.float32(0.0)) * scale + rest
    scratch.values[depth] = np.float32(0.0)


@long_helper
def update(tree, tables, hands, scratch, node, depth, weight, learning):
    """The mover's value, and what a node adds to its regrets and its average strategy."""
    n, street, first = np.int64(tree.choices[node]), tree.street[node], tables.first[node]
    seat = np.int64(tree.seat[node])
    own = scratch.row[seat, depth]
    regrets, sums, strategy, acted = tables.regrets, tables.sums, scratch.strategy, scratch.acted
    for i in range(scratch.values.shape[2]):
        h = hands.order[street, i]
        at = first + np.int64(hands.buckets[street, h]) * n
        value = np.float32(0.0)
        for a in range(n):
            value += strategy[depth, a, h] * acted[depth, a, h]
        scratch.values[depth, seat, h] = value
        share = weight * scratch.reach[seat, own, h]
        for a in range(n if learning else 0):
            regrets[at + a] += weight * (acted[depth, a, h] - value)
            sums[at + a] += share * strategy[depth, a, h]


@long_helper
def end(tree, hands, scratch, node, depth):
    """The values at a fold or a showdown: sums over the other seat's hands that share no card with the own one."""
    count, hole = hands.cards.shape
    payoff = np.float64(tree.payoff[node])
    for seat in range(2):
        weights = scratch.reach[1 - seat, scratch.row[1 - seat, depth]]
        out, by_card = scratch.values[depth, seat], scratch.by_card[seat]
        by_card[:] = 0.0
        total = 0.0
        if tree.seat[node] == FOLD:
            for h in range(count):
                total += weights[h]
                for i in range(hole):
                    by_card[hands.cards[h, i]] += weights[h]
            won = payoff if seat == 0 else -payoff
            for h in range(count):
                shared = 0.0
                for i in range(hole):
                    shared += by_card[hands.cards[h, i]]
                out[h] = won * (total - shared + (hole - 1) * weights[h])
            continue
        start = 0
        while start < count:  # upwards: weaker hands are beaten
            stop = np.int64(hands.end[start])
            for h in range(start, stop):
                shared = 0.0
                for i in range(hole):
                    shared += by_card[hands.cards[h, i]]
                out[h] = total - shared
            for h in range(start, stop):
                total += weights[h]
                for i in range(hole):
                    by_card[hands.cards[h, i]] += weights[h]
            start = stop
        by_card[:] = 0.0
        total, stop = 0.0, count
        while stop > 0:  # downwards: stronger ones win
            start = np.int64(hands.group[stop - 1])
            for h in range(start, stop):
                shared = 0.0
                for i in range(hole):
                    shared += by_card[hands.cards[h, i]]
                out[h] = payoff * (out[h] - (total - shared))
            for h in range(start, stop):
                total += weights[h]
                for i in range(hole):
                    by_card[hands.cards[h, i]] += weights[h]
            stop = start
