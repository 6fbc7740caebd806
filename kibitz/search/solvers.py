"""The solvers by name, and the loop that runs one and measures its NashConv."""

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..core.names import BadInput, at_least, choose
from ..games import Game
from .best_response import evaluate
from .cfr import VARIANTS, Cfr
from .mccfr import SAMPLERS
from .sequence_form import SequenceForm, two_seats_zero_sum, unfold

# Name -> description, for `kibitz solve --help`: variants of CFR (`cfr.VARIANTS`), then samplers (`mccfr.SAMPLERS`).
METHODS = {
    "cfr": "counterfactual regret minimization (Zinkevich et al. 2007)",
    "cfr+": "CFR+: regrets floored at zero, linear averaging (Tammelin 2014)",
    "linear": "Linear CFR: regrets and average weighted by the iteration (Brown and Sandholm 2019)",
    "dcfr": "Discounted CFR with parameters 1.5, 0, 2 (Brown and Sandholm 2019)",
    "pcfr+": "predictive CFR+, quadratic averaging (Farina, Kroer and Sandholm 2021)",
    "external": "Monte Carlo CFR with external sampling (Lanctot et al. 2009)",
    "outcome": "Monte Carlo CFR with outcome sampling (Lanctot et al. 2009)",
}
MEASURABLE = 3_000_000  # leaves up to which the NashConv of a sampling solver is measured
KERNEL_SECONDS = 0.25  # per call of a kernel, so that progress is shown and Ctrl-C works


class Measurement(NamedTuple):
    iterations: int
    seconds: float  # spent solving
    nash_conv: float | None  # None: not measured here


def new_solver(game: Game, method: str, seed: int = 1) -> tuple[Any, SequenceForm | None]:
    """A solver, and the sequence form of the game where it is small enough to measure NashConv."""
    choose("solver", method, METHODS)
    two_seats_zero_sum(game, method)
    if method in VARIANTS:
        solver = Cfr(game, method)
        return solver, solver.form
    solver = SAMPLERS[method](game, seed)
    try:
        return solver, unfold(game, MEASURABLE)
    except BadInput:
        return solver, None


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
            if form is not None:
                nash_conv = evaluate(form, solver.strategy()).nash_conv
        yield Measurement(solver.iterations, spent, nash_conv)


def next_due(done: int) -> int:
    """The next of 1, 2, 3, 5, 7, 10, 15, 20, 30, 50, ..."""
    scale = 1
    while True:
        for step in (1.0, 1.5, 2.0, 3.0, 5.0, 7.0):
            if step * scale > done and (step * scale).is_integer():
                return int(step * scale)
        scale *= 10
