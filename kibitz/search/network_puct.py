"""PUCT with a network that values leaves, for one position: several simulations wait for the network at a time.

With several threads each evaluates a batch of its own, all from the same tree: simulations that wait count as lost, so
that the next ones go elsewhere. Batches are answered in the order in which they were asked, so equal searches of the
same number of simulations and threads give equal trees.
"""

import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ..core.memory import limit as memory_limit
from ..games import Game, positions
from .advice import Advice
from .batched_puct import advance, new_batch, refuse, settings_for, start
from .batched_trees import BYTES, Trees, new_leaves, new_trees
from .search import Search
from .selection import UNKNOWN

# encodings [rows, encoding] f4 -> logits [rows, actions] f4, values [rows] f4
Evaluate = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
IN_FLIGHT = 8  # simulations that share a batch: larger batches are hardly faster on a processor, and search worse


class Group:
    """Simulations that wait for the same batch."""

    def __init__(self, game: Game, rows: int) -> None:
        self.leaves, self.batch, self.waiting = new_leaves(game, rows), new_batch(game, rows), 0
        self.answer: Callable[[], tuple[np.ndarray, np.ndarray]]  # waits for the network


class NetworkPuct(Search):
    """Tree search by PUCT whose leaves are valued by a network, without playouts."""

    keeps_tree = True  # a forced move has a value, too
    plays = "two-seat zero-sum games without hidden information and chance"

    def __init__(
        self,
        game: Game,
        seed: int,
        evaluate: Evaluate,
        frames: np.ndarray,
        c: float = 1.5,
        prove: bool = True,
        megabytes: float = 0,
        in_flight: int = IN_FLIGHT,
        threads: int = 1,
    ) -> None:
        """
        Args:
            evaluate: The network.
            frames: [seats, actions] i4: its number of each action of a seat.
            c: Exploration constant, for values from -1 to 1.
            prove: Whether to prove wins and losses.
            megabytes: Memory for the tree; 0: what --memory allows.
            in_flight: Simulations that share a batch.
            threads: Batches that are evaluated at the same time.
        """
        refuse(game)
        super().__init__(game, seed)
        self.evaluate, self.frames = evaluate, frames
        self.settings = settings_for(game, c=c, prove=prove)
        self.groups = [Group(game, in_flight) for _ in range(threads)]
        self.threads = ThreadPoolExecutor(threads) if threads > 1 else None
        self.timed_simulations = in_flight * threads  # a batch each
        self.max_nodes = max(int((megabytes * 1e6 or memory_limit()) // BYTES), self._step)
        self.root, self.trees = positions(game), new_trees(1, 1 << 12)

    @property
    def _step(self) -> int:
        """Nodes that may be added before the tree can grow: those of all simulations that wait."""
        rows = sum(len(group.leaves.depth) for group in self.groups)
        return 1 + (1 + rows) * self.game.facts.num_actions

    def target(self, view: Any, seat: int = 0) -> None:
        if any(group.waiting for group in self.groups):  # a search was interrupted: its tree expects answers
            self.trees = new_trees(1, self.trees.visits.shape[1])
            for group in self.groups:
                group.waiting = 0
        self.root[0] = view
        start(self.game, self.root, self.trees)

    def run(self, simulations: int) -> int:
        """Do simulations; the first one of a view is the network's answer for the view itself."""
        done, number = 0, 0
        while done < simulations and not self.finished:
            if int(self.trees.used[0]) + self._step > self.trees.visits.shape[1] < self.max_nodes:
                self.trees = larger(self.trees, min(2 * self.trees.visits.shape[1] + self._step, self.max_nodes))
            more = self._advance(self.groups[number % len(self.groups)], simulations - done)
            number, done = number + 1, done + more
            if not more and not any(group.waiting for group in self.groups):
                break  # the tree is full
        for group in self.groups:  # all of the budget is used: only answers are left
            done += self._advance(group, 0)
        return min(done, simulations)

    def _advance(self, group: Group, left: int) -> int:
        """Add the answers that a group waits for, and begin at most `left` simulations, less those in flight.

        Returns:
            The simulations that were finished.
        """
        rows = slice(group.waiting)
        if group.waiting:
            group.batch.logits[rows], group.batch.values[rows] = group.answer()
        others = sum(each.waiting for each in self.groups) - group.waiting
        done, group.waiting = advance(
            self.game, self.root, self.trees, group.leaves, group.waiting, group.batch, self.settings, self.frames,
            max(left - others - group.waiting, 0), others,
        )  # fmt: skip
        if group.waiting:
            encodings = group.batch.encodings[: group.waiting]
            if self.threads:
                group.answer = self.threads.submit(self.evaluate, encodings).result
            else:
                group.answer = functools.partial(self.evaluate, encodings)
        return int(done)

    @property
    def finished(self) -> bool:
        return bool(self.trees.proven[0, 0] != UNKNOWN)

    def advice(self, view: Any, simulations: int, seconds: float = 0.0) -> Advice:
        trees, seat = self.trees, int(self.game.turn(view))
        first, count = int(trees.first[0, 0]), int(trees.children[0, 0])
        nodes = np.arange(first, first + count)
        visits, proven = trees.visits[0, nodes].astype(np.int64), trees.proven[0, nodes]
        sign = 1 if seat == 0 else -1
        with np.errstate(invalid="ignore"):
            mean = sign * np.where(proven != UNKNOWN, proven, trees.total[0, nodes] / visits)
        mean[(visits == 0) & (proven == UNKNOWN)] = np.nan
        known = np.where(proven == UNKNOWN, 0.0, sign * proven)
        best = np.lexsort((trees.prior[0, nodes], np.nan_to_num(mean, nan=-1.0), visits, known))[-1]
        policy = np.zeros(count)
        policy[best] = 1.0
        value = mean / self.settings.scale + self.settings.middle
        return Advice(
            trees.action[0, nodes].astype(np.int64), policy, value, visits, trees.prior[0, nodes].astype(float),
            simulations, seconds, line=self._principal_variation(int(nodes[best])), exact=self.finished,
        )  # fmt: skip

    def _principal_variation(self, node: int) -> tuple[int, ...]:
        """The action of a node, and the most visited ones after it."""
        trees, found = self.trees, [int(self.trees.action[0, node])]
        while count := int(trees.children[0, node]):
            first = int(trees.first[0, node])
            node = first + int(np.argmax(trees.visits[0, first : first + count]))
            if not trees.visits[0, node]:
                break
            found.append(int(trees.action[0, node]))
        return tuple(found)


def larger(trees: Trees, nodes: int) -> Trees:
    """A copy of the trees with more room."""
    grown, used = new_trees(len(trees.used), nodes), int(trees.used.max())
    for old, new in zip(trees[:-1], grown[:-1], strict=True):
        new[:, :used] = old[:, :used]
    grown.used[:] = trees.used
    return grown
