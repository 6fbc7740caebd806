"""Equilibria of games."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.names import counted
from ..core.progress import SILENT, Reporter
from ..games import Game, full_name
from ..solve.best_response import Exploitability
from .arguments import AnyGame, path_or_none
from .loading import load

if TYPE_CHECKING:
    from ..search.strategy import AnyStrategy


@dataclass(frozen=True)
class Solution:
    """An equilibrium approximated by a solver. Prints its NashConv; `plot()` shows how it converged."""

    game: Game
    method: str  # the solver
    iterations: int
    seconds: float  # without measuring
    strategy: AnyStrategy  # the average one; a table where the game isn't enumerated
    exploitability: Exploitability | None  # None: the game is too large to measure
    curve: list[tuple[int, float]]  # (iterations, NashConv)

    @property
    def nash_conv(self) -> float:
        """The sum over seats of what a best response gains; NaN where the game is too large to measure it."""
        return self.exploitability.nash_conv if self.exploitability else math.nan

    @property
    def value(self) -> float:
        """Expected payoff of seat 0 when both seats play the strategy; NaN where it is not measured."""
        return self.exploitability.value if self.exploitability else math.nan

    def plot(self, path: str | Path | None = None) -> Any:
        """Plot NashConv over iterations: into a file if a path is given. A notebook shows the plot."""
        from ..app.ui import plots

        lines = {self.method: self.curve}
        return plots.curves(path_or_none(path), lines, f"{full_name(self.game)}, {self.method}", "NashConv", log_x=True)

    def __str__(self) -> str:
        measured = f"NashConv {self.nash_conv:.6g}, value {self.value:.6g}" if self.exploitability else "not measured"
        return f"{full_name(self.game)} by {self.method}, {counted(self.iterations, 'iteration')}: {measured}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


def solve(
    game: AnyGame,
    method: str = "cfr+",
    iterations: int = 1000,
    seed: int = 1,
    report: Reporter = SILENT,
    abstraction: str | Path | None = None,
) -> Solution:
    """Approximate an equilibrium of a two-seat zero-sum game.

    Args:
        game: A game or its name.
        method: `cfr`, `cfr+`, `linear`, `dcfr`, `pcfr+` (exact, on the sequence form; large games
            that declare a public tree are solved on it, by all of these but `pcfr+`), `external` or `outcome`
            (Monte Carlo, on the rules); `pcs` (public chance sampling, for games with public cards).
        iterations: Number of iterations; each updates both seats.
        seed: The same seed gives the same result; only sampling solvers use it.
        report: Receives progress.
        abstraction: For `pcs`, the folder of a card abstraction; by default all hands are kept apart.

    Returns:
        The solution: `.strategy`, `.nash_conv`, `.value`, `.plot()`.

    Example:
        >>> import kibitz
        >>> kibitz.solve("kuhn", "cfr+", iterations=1000).nash_conv < 0.001
        True
    """
    from ..solve import solvers

    loaded = load(game)
    solver, form = solvers.new_solver(loaded, method, seed, path_or_none(abstraction))
    curve: list[tuple[int, float]] = []
    seconds = 0.0
    for measured in solvers.solve(solver, form, iterations):
        seconds = measured.seconds
        if measured.nash_conv is not None:
            curve.append((measured.iterations, measured.nash_conv))
        report.progress(measured.iterations, iterations, f"NashConv {curve[-1][1]:.4g}" if curve else "")
    strategy = solver.strategy()
    exploitability = solvers.measure(solver, form)
    return Solution(loaded, method, solver.iterations, seconds, strategy, exploitability, curve)
