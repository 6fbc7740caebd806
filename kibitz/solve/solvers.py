"""The solvers by name, and the loop that runs one and measures its NashConv."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ..core.names import BadInput, at_least, choose
from ..core.registry import Registry
from ..games import Game
from ..games.zero_sum import two_seats_zero_sum
from .best_response import Exploitability, evaluate
from .cfr import Cfr
from .mccfr import SAMPLERS
from .public_tree import cfr as vector_cfr
from .public_tree.tree import is_large
from .regrets import VARIANTS
from .sequence_form import SequenceForm, measurable_form

# Name -> description, for `kibitz solve --help`: `regrets.VARIANTS` of CFR, then samplers (`mccfr.SAMPLERS`).
METHODS = {
    "cfr": "counterfactual regret minimization (Zinkevich et al. 2007)",
    "cfr+": "CFR+: regrets floored at zero, linear averaging (Tammelin 2014)",
    "linear": "Linear CFR: regrets and average weighted by the iteration (Brown and Sandholm 2019)",
    "dcfr": "Discounted CFR with parameters 1.5, 0, 2 (Brown and Sandholm 2019)",
    "pcfr+": "predictive CFR+, quadratic averaging (Farina, Kroer and Sandholm 2021)",
    "external": "Monte Carlo CFR with external sampling (Lanctot et al. 2009)",
    "outcome": "Monte Carlo CFR with outcome sampling (Lanctot et al. 2009)",
}
SOLVERS = solver = Registry("solver")  # others, for games of their own
MEASURABLE = 3_000_000  # leaves up to which the NashConv of a sampling solver is measured
KERNEL_SECONDS = 0.25  # per call of a kernel, so that progress is shown and Ctrl-C works


class Measurement(NamedTuple):
    iterations: int
    seconds: float  # spent solving
    nash_conv: float | None  # None: not measured here


class Solver:
    """A solver beside `METHODS`: a class with `@solver("name")` that has `make`, or `start` and `resume`, or both."""

    about = ""  # what it is, with its paper

    # def make(self, game, seed, abstraction) -> (solver, sequence form or None)
    #     As `new_solver`, for `kibitz.solve`; `abstraction` is a folder, or None.
    #
    # def start(self, game_name, method, given) -> None
    #     `kibitz solve`: solve a game into a run folder and print what was reached. `given` has the options of the
    #     command by name, None where they weren't given.

    def resume(self, folder: Path, iterations: int | None, threads: int | None, json_file: Path | None) -> None:
        """`kibitz solve --resume`: continue a run of this solver, to more iterations if they are given."""
        raise NotImplementedError


def methods() -> dict[str, str]:
    """The solvers of `kibitz.solve` with what they are."""
    return METHODS | {name: cls.about for name, cls in SOLVERS.items() if hasattr(cls, "make")}


def new_solver(
    game: Game, method: str, seed: int = 1, abstraction: Path | None = None
) -> tuple[Any, SequenceForm | None]:
    """A solver, and the sequence form of the game where it is small enough to measure NashConv.

    A large game that declares a public tree is solved on it, by a solver that measures itself (`evaluate`).
    """
    if method not in METHODS:
        choose("solver", method, methods())
        two_seats_zero_sum(game, method)
        made: tuple[Any, SequenceForm | None] = SOLVERS[method]().make(game, seed, abstraction)
        return made
    two_seats_zero_sum(game, method)
    if abstraction is not None:
        raise BadInput(f"{method} takes no card abstraction: it is for {' and '.join(SOLVERS)}")
    if method in vector_cfr.METHODS and is_large(game):
        return vector_cfr.VectorCfr(game, method), None
    if method in VARIANTS:
        solver = Cfr(game, method)
        return solver, solver.form
    return SAMPLERS[method](game, seed), measurable_form(game, MEASURABLE)


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
