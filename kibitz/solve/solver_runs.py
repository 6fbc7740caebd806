"""Runs of solvers: iterations into a run folder, measured now and then, resumed exactly.

config.json            what is solved, and how
state.safetensors      regrets and sums of strategies at the last checkpoint: what a killed run resumes from
strategy.safetensors   the average strategy then, for players
metrics.jsonl          at 1, 2, 3, 5, 7, 10, ... iterations and at the end;  times.jsonl: the speed
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..core.runs import Run
from ..core.steps import Work
from .solvers import next_due

STATE_FILE, STRATEGY_FILE = "state.safetensors", "strategy.safetensors"


def open_solver_run(folder: Path, iterations: int | None, config_of: Callable[[Run], dict[str, Any]]) -> Run:
    """The run in a folder, with a larger number of iterations where one is given.

    Args:
        folder: The run folder.
        iterations: Number of iterations in all.
        config_of: Returns the configuration of a run, and refuses another kind of run.
    """
    config = config_of(Run(folder))
    if iterations is None:
        return Run(folder)
    return Run.create_or_resume(folder, "", config | {"iterations": iterations}, may_grow=("iterations",))


class Solving(Work):
    """A run being solved. What a solver measures is logged at 1, 2, 3, 5, 7, 10, ... iterations and at the end."""

    run: Run

    def __init__(self, run: Run, config: dict[str, Any]) -> None:
        super().__init__(run, config["iterations"])
        self.config = config
        self.metrics: dict[str, float] = {}  # the last measurement

    def iterate(self) -> None:
        """Do one iteration."""
        raise NotImplementedError

    def measure(self) -> dict[str, float]:
        """Measure the present strategy."""
        raise NotImplementedError

    def totals(self) -> dict[str, int]:
        """The work done so far: each line of metrics begins with it."""
        return {}

    def speed(self) -> dict[str, float]:
        """What times.jsonl says at each measurement."""
        raise NotImplementedError

    def restore_metrics(self) -> None:
        """Take the last measurement from the run folder."""
        for line in self.run.read_lines():
            if line["iteration"] <= self.done:
                self.metrics = {key: line[key] for key in line if key not in ("iteration", *self.totals())}

    def begin(self) -> None:
        super().begin()
        self._due = next_due(self.done)

    def step(self) -> None:
        self.iterate()
        self.done += 1
        if self.done >= self._due or self.done == self.total:
            self._due = next_due(self.done)
            self.metrics = self.measure()
            self.run.log(iteration=self.done, **self.totals(), **self.metrics)
            self.run.log_times(iteration=self.done, **self.speed())
