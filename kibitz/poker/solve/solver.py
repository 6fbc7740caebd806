"""Linear CFR with public chance sampling (Johanson, Bard, Lanctot, Gibson and Bowling 2012), on processor cores.

An iteration samples a board and walks the betting tree once, with vectors over all hands of both seats. Regrets and
average strategies of hands in one bucket are added up. Each iteration is weighted by its number, in the regrets and in
the average (Brown and Sandholm 2019).
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ...core.workers import cores
from ...solve.public_tree.walk import BOTH, Nodes, Parts, Rates, Walker
from ...solve.regrets import matched
from ...solve.sequence_form import SequenceForm, measurable_form
from ...solve.solvers import MEASURABLE
from .betting_tree import BettingTree, after_subtree, betting_tree, street_roots
from .buckets import Buckets
from .cards import Cards
from .hands import CardHands, card_hands

TRUNK = 2  # streets that one thread walks; the subtrees below them are shared out to threads
SHARED = 10**6  # nodes times hands from which threads are worth their start


class Tables(NamedTuple):
    """Sums over iterations, by node, bucket and action."""

    first: np.ndarray  # [nodes] i8: bucket b of a node with n actions begins at first + b * n
    regrets: np.ndarray  # f4
    sums: np.ndarray  # f4: of strategies, weighted by iteration and own reach


def first_entries(tree: BettingTree, counts: tuple[int, ...]) -> tuple[np.ndarray, int]:
    """Where the entries of each node begin, and how many there are in all."""
    sizes = tree.choices.astype(np.int64) * np.array(counts, np.int64)[tree.street]
    ends = np.cumsum(sizes)
    return ends - sizes, int(ends[-1])


def empty_tables(tree: BettingTree, counts: tuple[int, ...]) -> Tables:
    """Tables of a game before the first iteration."""
    first, size = first_entries(tree, counts)
    return Tables(first, np.zeros(size, np.float32), np.zeros(size, np.float32))


def walker_for(
    tree: BettingTree, first: np.ndarray, roots: np.ndarray, hands: int, deck: int, threads: int = 1
) -> Walker:
    """What walks a betting tree; threads share the subtrees at `roots`. `first`: see `Tables`."""
    ends, after = np.cumsum(tree.choices == 0), [after_subtree(tree, root) for root in roots.tolist()]
    before = np.stack([np.arange(len(first)), first, ends - (tree.choices == 0)], axis=1)
    before = np.vstack([before, before[-1] + np.array([1, 0, 1])])  # the last node is an end
    parts = Parts(before[roots], before[after] - before[roots])
    levels = int(tree.depth.max()) + 1
    return Walker(
        Nodes(tree.seat, tree.choices, tree.street), parts, hands, levels, tree.most, np.float32, threads, deck
    )


def possible_hands(tree: BettingTree, buckets: Buckets, board: np.ndarray) -> CardHands:
    """The hands that are possible with a complete board."""
    values = buckets.cards.values(board[None])[0]
    order = np.argsort(values, kind="stable")
    order = order[np.searchsorted(values[order], 0) :]
    found = np.array([buckets.on(board, street)[order] for street in range(buckets.cards.streets)], np.int32)
    return card_hands(tree, buckets.cards.hands[order], found, values[order], buckets.counts)


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
        self._roots = street_roots(self.tree, stop)
        self._walkers: dict[int, Walker] = {}  # by number of hands

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
        hands = possible_hands(self.tree, self.buckets, board)
        count, deck = len(hands.cards), self.buckets.cards.deck
        if count not in self._walkers:
            self._walkers[count] = walker_for(self.tree, self.tables.first, self._roots, count, deck, self.threads)
        tasks = [range(thread, len(self._roots), self.threads) for thread in range(self.threads)]
        return self._walkers[count].iterate(hands, self.tables, Rates.of(np.float32, weight), BOTH, tasks)

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


def poker_form(game: Any, tree: BettingTree, cards: Cards) -> SequenceForm | None:
    """As `measurable_form`, for poker, where the number of leaves is known without enumerating them."""
    ends = tree.street[tree.choices == 0].tolist()
    if sum(math.perm(cards.deck, 2 * cards.hole + cards.dealt[street]) for street in ends) > 20 * MEASURABLE:
        return None
    return measurable_form(game, MEASURABLE)
