"""Counterfactual regret minimization on the public tree, with vectors over private states.

The same algorithm as on the sequence form (`kibitz.solve.cfr`), seat after seat, without its matrix: memory for
regrets and averages only, and time in proportion to public states times private states.
"""

import numpy as np

from ...core import memory
from ...core.names import BadInput, choose
from ...core.workers import cores
from ...games import Game, full_name
from ..best_response import Exploitability
from ..regrets import VARIANTS, rates
from .matrices import Tables
from .table import PublicStrategy, strategy_of
from .tree import SUBTREE, PublicTree
from .values import evaluate_tables
from .walk import Rates

METHODS = ("cfr", "cfr+", "linear", "dcfr")  # pcfr+ would need a third table
DOUBLE = 10_000_000  # numbers in a table up to which they are float64
SHARED = 100_000  # infosets from which threads are worth their start


class VectorCfr:
    """`run(n)` does n iterations; the tables have the regrets and the sums of the average strategy.

    The result depends on the method only: threads update different parts of the tables.
    """

    def __init__(
        self, game: Game, method: str = "cfr+", threads: int | None = None, tree: PublicTree | None = None
    ) -> None:
        if method in VARIANTS and method not in METHODS:
            raise BadInput(f"{method} is for the sequence form; on the public tree there are {', '.join(METHODS)}")
        choose("solver on the public tree", method, METHODS)
        self.game, self.variant, self.iterations = game, VARIANTS[method], 0
        self.tree = tree or PublicTree(game)
        self.kind = kind_of(self.tree)
        memory.check(
            needed(self.tree), f"{full_name(game)} with {self.tree.infosets:,} infosets", "choose a smaller game"
        )
        shape = self.tree.entries, self.tree.private
        self.tables = Tables(np.zeros(shape, self.kind), np.zeros(shape, self.kind))
        self.threads = threads or (cores() if self.tree.infosets > SHARED else 1)
        self.walker, self.hands = self.tree.walker(self.kind, self.threads)
        self.tasks = self.tree.batches(16 * SUBTREE if self.tree.infosets > SHARED else SUBTREE)

    def run(self, iterations: int) -> None:
        """Do some iterations."""
        for _ in range(iterations):
            self.iterations += 1
            now = Rates.of(self.kind, *rates(self.variant, self.iterations))
            for seat in range(2):  # against the present strategy of the other
                self.walker.iterate(self.hands, self.tables, now, seat, self.tasks)

    def restore(self, iterations: int, regrets: np.ndarray, sums: np.ndarray) -> None:
        """Continue from the tables after some iterations."""
        self.iterations, self.tables = iterations, Tables(regrets, sums)

    def strategy(self) -> PublicStrategy:
        """The average strategy."""
        return strategy_of(self.tree, self.tables.sums)

    def evaluate(self) -> Exploitability:
        """How far the average strategy is from equilibrium."""
        return evaluate_tables(self.tree, self.tables.sums, self.threads)


def kind_of(tree: PublicTree) -> np.dtype:
    """The type of the numbers in tables."""
    return np.dtype(np.float64 if tree.entries * tree.private <= DOUBLE else np.float32)


def needed(tree: PublicTree) -> float:
    """Bytes of the tables, of a checkpoint's strategy and of its index."""
    return 2 * tree.entries * tree.private * (1 + kind_of(tree).itemsize) + 40 * tree.decisions
