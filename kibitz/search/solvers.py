"""All solvers by name, and the loop that runs and measures one."""

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..core.names import BadInput, at_least, choose
from ..games import Game
from .best_response import evaluate
from .cfr import VARIANTS, Cfr
from .mccfr import SAMPLERS
from .sequence_form import SequenceForm, unfold

METHODS = {
    "cfr": "counterfactual regret minimisation",
    "cfr+": "regrets never below zero, linear average",
    "linear": "linear CFR: later iterations weigh more",
    "dcfr": "discounted CFR (1.5, 0, 2)",
    "pcfr+": "predictive CFR+, quadratic average",
    "external": "Monte Carlo CFR, all of one's own actions, the rest sampled",
    "outcome": "Monte Carlo CFR, one sampled game at a time",
}
MEASURABLE = 3_000_000  # leaves up to which a sampling solver is measured by the way
KERNEL_SECONDS = 0.25  # a kernel gives way this often: for the progress bar, and for Ctrl-C


class Measurement(NamedTuple):
    iterations: int
    seconds: float  # spent solving
    nash_conv: float | None  # None: not measured here


def new_solver(game: Game, method: str, seed: int = 1) -> tuple[Any, SequenceForm | None]:
    """The solver, and the game written out where it is small enough to measure NashConv."""
    choose("solver", method, METHODS)
    if method in VARIANTS:
        solver = Cfr(game, method)
        return solver, solver.form
    solver = SAMPLERS[method](game, seed)
    try:
        return solver, unfold(game, MEASURABLE)
    except BadInput:
        return solver, None


def solve(solver: Any, form: SequenceForm | None, iterations: int) -> Iterator[Measurement]:
    """Run up to `iterations`, yielding several times a second, NashConv at 1, 2, 3, 5, 7, 10, 15, ... and the end."""
    at_least("iterations", iterations, 1)
    spent, chunk, due = 0.0, 1, 1
    while solver.iterations < iterations:
        began = time.perf_counter()
        count = min(chunk, iterations - solver.iterations, max(due - solver.iterations, 1))
        solver.run(count)
        took = time.perf_counter() - began
        spent += took
        # The first call may have compiled; from then on half or double towards the time that a kernel should take.
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
