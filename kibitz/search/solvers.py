"""The solvers by name, and the loop that runs one and measures its NashConv."""

import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ..core.names import BadInput, at_least, choose
from ..games import Game
from .best_response import Exploitability, evaluate
from .cfr import VARIANTS, Cfr
from .mccfr import SAMPLERS
from .public_chance.betting_tree import BettingTree
from .public_chance.buckets import Buckets
from .public_chance.cards import Cards
from .public_chance.files import buckets_for
from .public_chance.solver import PublicChanceCfr
from .public_chance.strategy import TableStrategy
from .public_tree import cfr as vector_cfr
from .public_tree.tree import is_large
from .sequence_form import SequenceForm, measurable_form, two_seats_zero_sum
from .strategy import Strategy

# Name -> description, for `kibitz solve --help`: variants of CFR (`cfr.VARIANTS`), then samplers (`mccfr.SAMPLERS`).
METHODS = {
    "cfr": "counterfactual regret minimization (Zinkevich et al. 2007)",
    "cfr+": "CFR+: regrets floored at zero, linear averaging (Tammelin 2014)",
    "linear": "Linear CFR: regrets and average weighted by the iteration (Brown and Sandholm 2019)",
    "dcfr": "Discounted CFR with parameters 1.5, 0, 2 (Brown and Sandholm 2019)",
    "pcfr+": "predictive CFR+, quadratic averaging (Farina, Kroer and Sandholm 2021)",
    "external": "Monte Carlo CFR with external sampling (Lanctot et al. 2009)",
    "outcome": "Monte Carlo CFR with outcome sampling (Lanctot et al. 2009)",
    "pcs": "Linear CFR with public chance sampling, for poker (Johanson et al. 2012)",
}
MEASURABLE = 3_000_000  # leaves up to which the NashConv of a sampling solver is measured
KERNEL_SECONDS = 0.25  # per call of a kernel, so that progress is shown and Ctrl-C works


class Measurement(NamedTuple):
    iterations: int
    seconds: float  # spent solving
    nash_conv: float | None  # None: not measured here


def new_solver(
    game: Game, method: str, seed: int = 1, abstraction: Path | None = None
) -> tuple[Any, SequenceForm | None]:
    """A solver, and the sequence form of the game where it is small enough to measure NashConv.

    A large game that declares a public tree is solved on it, by a solver that measures itself (`evaluate`).
    """
    choose("solver", method, METHODS)
    two_seats_zero_sum(game, method)
    if method == "pcs":
        sampling = PublicChanceSolver(game, buckets_for(game, abstraction), seed)
        return sampling, sampling.form
    if abstraction is not None:
        raise BadInput(f"{method} takes no card abstraction: it is for pcs")
    if method in vector_cfr.METHODS and is_large(game):
        return vector_cfr.VectorCfr(game, method), None
    if method in VARIANTS:
        solver = Cfr(game, method)
        return solver, solver.form
    return SAMPLERS[method](game, seed), measurable_form(game, MEASURABLE)


def poker_form(game: Any, tree: BettingTree, cards: Cards) -> SequenceForm | None:
    """The same for poker, where the number of leaves is known without enumerating them."""
    ends = tree.street[tree.choices == 0].tolist()
    if sum(math.perm(cards.deck, 2 * cards.hole + cards.dealt[street]) for street in ends) > 20 * MEASURABLE:
        return None
    return measurable_form(game, MEASURABLE)


class PublicChanceSolver(PublicChanceCfr):
    """Public chance sampling, with the average strategy as the loop below takes it."""

    def __init__(self, game: Any, buckets: Buckets, seed: int) -> None:
        super().__init__(game, buckets, seed)
        self.form = poker_form(game, self.tree, buckets.cards)

    def strategy(self) -> Strategy | TableStrategy:
        """The average strategy: by infoset in a small game, else by bucket."""
        table = TableStrategy(self.game, self.tree, self.buckets, self.tables.first, self.probs())
        return table if self.form is None else table.on(self.form)


def solve(solver: Any, form: SequenceForm | None, iterations: int) -> Iterator[Measurement]:
    """Run a solver up to `iterations`; yield several times per second, with NashConv at 1, 2, 3, 5, 7, 10, 15, ...
    iterations and at the end."""
    at_least("iterations", iterations, 1)
    spent, chunk, due = 0.0, 1, 1
    while solver.iterations < iterations:
        began = time.perf_counter()
        count = min(chunk, iterations - solver.iterations, max(due - solver.iterations, 1))
        solver.run(count)
        took = time.perf_counter() - began
        spent += took
        # The first call may have compiled; from then on halve or double towards the time that a kernel should take.
        if took > KERNEL_SECONDS and count == chunk:
            chunk = max(chunk // 2, 1)
        elif took < KERNEL_SECONDS / 2:
            chunk = min(2 * chunk, 2**40)
        nash_conv = None
        if solver.iterations >= due or solver.iterations == iterations:
            due = next_due(solver.iterations)
            found = measure(solver, form)
            nash_conv = found.nash_conv if found is not None else None
        yield Measurement(solver.iterations, spent, nash_conv)


def measure(solver: Any, form: SequenceForm | None) -> Exploitability | None:
    """How far the average strategy is from equilibrium; None where the game is too large to tell."""
    if isinstance(solver, vector_cfr.VectorCfr):
        return solver.evaluate()
    return evaluate(form, solver.strategy()) if form is not None else None


def next_due(done: int) -> int:
    """The next of 1, 2, 3, 5, 7, 10, 15, 20, 30, 50, ..."""
    scale = 1
    while True:
        for step in (1.0, 1.5, 2.0, 3.0, 5.0, 7.0):
            if step * scale > done and (step * scale).is_integer():
                return int(step * scale)
        scale *= 10
