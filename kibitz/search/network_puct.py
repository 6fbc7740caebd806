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
from .batched_puct import advance, new_batch, new_leaves, refuse, settings_for, start
from .search import Search
from .selection import UNKNOWN
from .tree import NETWORK_BYTES, children_of, larger, line, new_network_trees

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
        self.max_nodes = max(int((megabytes * 1e6 or memory_limit()) // NETWORK_BYTES), self._step)
        self.root, self.tree = positions(game), new_network_trees(1, 1 << 12)

    @property
    def _step(self) -> int:
        """Nodes that may be added before the tree can grow: those of all simulations that wait."""
        rows = sum(len(group.leaves.depth) for group in self.groups)
        return 1 + (1 + rows) * self.game.facts.num_actions

    def target(self, view: Any, seat: int = 0) -> None:
        for group in self.groups:  # of an interrupted search
            group.waiting = 0
        self.root[0] = view
        start(self.game, self.root, self.tree)

    def run(self, simulations: int) -> int:
        """Do simulations; the first one of a view is the network's answer for the view itself."""
        done, number = 0, 0
        while done < simulations and not self.finished:
            if int(self.tree.used[0]) + self._step > len(self.tree.visits) < self.max_nodes:
                self.tree = larger(self.tree, min(2 * len(self.tree.visits) + self._step, self.max_nodes))
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
            self.game, self.root, self.tree, group.leaves, group.waiting, group.batch, self.settings, self.frames,
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
        return bool(self.tree.proven[0] != UNKNOWN)

    def advice(self, view: Any, simulations: int, seconds: float = 0.0) -> Advice:
        tree = self.tree
        nodes, actions, visits, mean = children_of(tree)
        proven, prior = tree.proven[nodes], tree.prior[nodes]
        known = np.where(proven == UNKNOWN, 0.0, proven)
        best = np.lexsort((prior, np.nan_to_num(mean, nan=-1.0), visits, known))[-1]
        policy = np.zeros(len(nodes))
        policy[best] = 1.0
        below = line(tree, int(nodes[best]), lambda children: int(children[tree.visits[children].argmax()]))
        return Advice(
            actions, policy, mean / self.settings.scale + self.settings.middle, visits, prior.astype(float),
            simulations, seconds, line=(int(actions[best]), *below), exact=self.finished,
        )  # fmt: skip
