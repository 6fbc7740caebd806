"""CFR-BR (Johanson, Bard, Burch and Bowling 2012): CFR in a card abstraction against best responses in the whole game.

Each seat's strategy learns by regret matching against an opponent without abstraction, so its regrets bound its
exploitability in the whole game, and not only in the abstract one. In a game of two streets the opponent of every
iteration is an exact best response, over all boards. In longer games an iteration samples boards of the street before
the last: from there on, and over all cards that can come last, the opponent is an exact best response; on the streets
before (the *trunk*) it learns by regret matching, with a bucket for every hand.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from ...nets.devices import with_own_products
from ..solve.buckets import Buckets
from ..solve.cards import check_board
from .public_chance import TorchPublicChanceCfr
from .public_levels import Levels, levels
from .public_replies import PublicReplies
from .public_streets import (
    Batch,
    Node,
    Pair,
    Street,
    first_entries,
    halved,
    lay_out,
    moved,
    public_street,
    street_values,
)


class CfrBr(TorchPublicChanceCfr):
    """`run(n)` does n iterations.

    Attributes:
        boards: Number of boards of the street before the last per iteration; in a game of two streets one, the empty.
        trunk: Regrets of the opponents in the trunk, [entries]; empty in a game of two streets.
        total: Sum over iterations, weighted by their numbers, of what the opponents of both seats win.
    """

    def __init__(self, game: Any, buckets: Buckets, seed: int = 1, boards: int = 1, device: str = "cpu") -> None:
        cards = buckets.cards
        check_board(game, cards)
        super().__init__(game, buckets, seed, boards if cards.streets > 2 else 1, device)
        self.rounded = cards.streets > 2
        self.last, self.trunk_streets = cards.streets - 1, cards.streets - 2
        self._tables = [cards.lossless(street) for street in range(self.trunk_streets)]
        self._trunk_counts = (*(int(each.max()) + 1 for each in self._tables), 0, 0)
        root = public_street(self.tree, np.zeros(1, np.int64))
        self.trunk = torch.zeros(lay_out(root, self.tree, self._trunk_counts, device), device=device)
        self._trunk_first = first_entries(root, np.zeros(len(self.tree.seat), np.int64))
        self._lossless = Buckets(cards, buckets.keys, (*self._tables, *buckets.tables[-2:]), buckets.counts)
        self._levels: Levels | None = None  # of a game of two streets: they are the same in all iterations

    @with_own_products
    def run(self, iterations: int) -> None:
        """Do some iterations."""
        for _ in range(iterations):
            self.iterations += 1
            if self.trunk_streets:  # the next boards are prepared meanwhile
                for number in range(self.iterations, self.iterations + 3):
                    if number not in self._ahead:
                        self._ahead[number] = self._pool.submit(self.sampled, number)
            ready = self._ahead.pop(self.iterations, None)
            found = ready.result() if ready else self.sampled(self.iterations)
            self.learn(found, float(self.iterations))

    def sampled(self, iteration: int) -> Levels:
        """The boards of an iteration."""
        cards = self.buckets.cards
        if self._levels is not None:
            return self._levels
        random = np.random.default_rng([self.seed, iteration]).random((self.boards, cards.deck))
        found = levels(self.buckets, random.argsort(axis=1)[:, : cards.dealt[-2]], self.device, self.half)
        found.apart = self.trunk_buckets(found)
        if not self.trunk_streets:
            self._levels = found
        return found

    def learn(self, found: Levels, weight: float) -> None:
        """Find the opponents' answers to the present strategy, then update the tables against them."""
        walk = Walk(self, found, weight)
        values = walk.answer(self.root, found.start())
        self.add_sums()
        won = values[0].sum(dtype=torch.float64) + values[1].sum(dtype=torch.float64)
        self.total.add_(won, alpha=weight / (found.pairs * len(found.boards)))
        walk.update(self.root, found.start())

    def start_trunk(self, regrets: np.ndarray, first: np.ndarray) -> np.ndarray:
        """Regrets of the opponents in the trunk that give each hand those of its bucket.

        Args:
            regrets: Of the learners, as a checkpoint has them.
            first: Where the entries of each node begin there.
        """
        counts, found = self.buckets.counts, np.zeros(len(self.trunk), np.float32)
        for street, hands in enumerate(self._tables):
            buckets = np.zeros(self._trunk_counts[street], np.int64)
            buckets[hands[hands >= 0]] = self.buckets.tables[street][hands >= 0]
            for node in np.flatnonzero((self.tree.street == street) & (self.tree.choices > 0)):
                n, start = int(self.tree.choices[node]), int(self._trunk_first[node])
                given = regrets[first[node] :][: n * counts[street]].reshape(-1, n)
                found[start : start + n * len(buckets)] = given[buckets].reshape(-1)
        return found

    def trunk_part(self, node: Node) -> torch.Tensor:
        """The regrets of an opponent at a node of the trunk, [ways, hands, actions] in one row."""
        street = int(self.tree.street[node.nodes[0]])
        start = int(self._trunk_first[node.nodes[0]])
        return self.trunk[start : start + len(node.nodes) * self._trunk_counts[street] * len(node.children)]

    def trunk_count(self, street: int) -> int:
        """The number of hands in the trunk, up to permutations of suits, times the boards of the street."""
        return self._trunk_counts[street]

    def trunk_buckets(self, found: Levels) -> list[torch.Tensor]:
        """By street of the trunk: the number of each hand on the upper boards."""
        hands, size = found.hands, found.upper.meets.shape[1]
        numbers = []
        for street in range(self.trunk_streets):
            every = self._lossless.of(found.boards[:, : self.buckets.cards.dealt[street]], street)
            here = np.pad(np.take_along_axis(every, hands, 1), ((0, 0), (0, size - hands.shape[1])))
            numbers.append(moved(here.astype(np.int32), self.device))
        return numbers

    def opponents_win(self) -> float:
        """What the opponents of both seats win, the mean over the iterations, weighted as the average strategy."""
        return float(self.total) / (self.iterations * (self.iterations + 1) / 2)

    @with_own_products
    def best_responses(self, table: torch.Tensor) -> tuple[float, float]:
        """What a best response of each seat wins against the strategy in a table, in a game of two streets."""
        return PublicReplies(self.root, self.buckets.counts, self.device).values(table, self.sampled(0))


class Walk:
    """An iteration: once down and up the tree for the opponents' answers, once more for the learners' regrets."""

    def __init__(self, solver: CfrBr, found: Levels, weight: float) -> None:
        self.solver, self.levels, self.weight = solver, found, weight
        self.strategies: dict[int, torch.Tensor] = {}  # by node: of the learner, [actions, boards, ways, hands]
        self.answers: dict[int, torch.Tensor] = {}  # by node: of the opponent, the same; or one action for each hand

    def answer(self, street: Street, reach: Pair, scale: Any = (None, None)) -> Pair:
        """The values of both opponents, who answer the learners' strategies, at the beginning of a street.

        `scale`, by seat [boards, ways]: by which the reach was divided.
        """
        solver, batch = self.solver, self._batch(street)
        buckets, count = batch.buckets[street.number], solver.buckets.counts[street.number]

        def follow(node: Node, reach: Pair) -> torch.Tensor:
            regrets, sums, n = solver.regrets[node.table], solver.added[node.table], len(node.children)
            self.strategies[id(node)], after = solver.steps.choose(
                regrets, sums, buckets, reach[node.seat], n, count, self.weight, scale[node.seat]
            )
            return after

        return street_values(street, reach, batch, follow, self._visited(self.answer), partial(self._answer, street))

    def _answer(self, street: Street, node: Node, children: list, reach: Pair) -> Pair:
        """The opponent's value and the other's; its answer is kept."""
        solver, seat, n = self.solver, node.seat, len(node.children)
        if street.number >= solver.trunk_streets:
            own, rest, self.answers[id(node)] = solver.steps.answer(seat, children)
            return own, rest
        part, buckets = solver.trunk_part(node), self.levels.apart[street.number]
        count = solver.trunk_count(street.number)
        strategy, _ = solver.steps.choose(part, part, buckets, reach[seat], n, count, 0.0)
        self.answers[id(node)] = strategy
        return solver.steps.update(part, buckets, strategy, seat, children, count, self.weight)

    def update(self, street: Street, reach: Pair, scale: Any = (None, None)) -> Pair:
        """Update the learners' regrets; `reach` and values are those against the answers of the opponents."""
        solver, batch = self.solver, self._batch(street)
        buckets, count = batch.buckets[street.number], solver.buckets.counts[street.number]

        def follow(node: Node, reach: Pair) -> torch.Tensor:
            answer, mine = self.answers.pop(id(node)), reach[node.seat]
            trunk = answer.is_floating_point()
            return mine * answer if trunk else solver.steps.obey(answer, mine, len(node.children))

        def back(node: Node, children: list, reach: Pair) -> Pair:
            strategy, factor = self.strategies.pop(id(node)), scale[1 - node.seat]
            if factor is not None and batch.weights is not None:
                factor = factor * batch.weights[:, None]
            return solver.steps.update(
                solver.regrets[node.table], buckets, strategy, node.seat, children, count, self.weight, factor
            )

        return street_values(street, reach, batch, follow, self._visited(self.update), back)

    def _batch(self, street: Street) -> Batch:
        return self.levels.lower if street.number == self.solver.last else self.levels.upper

    def _visited(self, visit: Callable[..., Pair]) -> Callable[[Street, Pair], Pair]:
        """A visit of next streets that goes down to the boards of the last one, and up again."""
        found = self.levels

        def on_boards(below: Street, reach: Pair) -> Pair:
            if below.number < self.solver.last:
                return visit(below, reach)
            if not self.solver.half:
                first, second = visit(below, (found.down(reach[0]), found.down(reach[1])))
                return found.up(first), found.up(second)
            halves, most = halved(reach)
            scale = most[0][found.parents], most[1][found.parents]
            first, second = visit(below, (found.down(halves[0]), found.down(halves[1])), scale)
            return found.up(first) * most[1][..., None], found.up(second) * most[0][..., None]

        return on_boards
