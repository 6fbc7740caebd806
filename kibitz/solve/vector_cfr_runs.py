"""Runs of CFR on the public tree: a large game solved into a run folder, which is resumed exactly.

The files are those of `solver_runs`; metrics are NashConv and value, times are seconds per iteration.

On processor cores the result depends on the configuration only, bit by bit, whatever the number of threads.
"""

import time
from pathlib import Path
from typing import Any, NamedTuple

from ..core import memory
from ..core.files import check_fits, readable
from ..core.names import BadInput, at_least, choose
from ..core.progress import SILENT, Reporter
from ..core.runs import Run
from ..core.steps import steps
from ..core.tensor_files import Expected, Format
from ..games import Game, full_name, load_stored
from ..nets.devices import DEVICES
from .public_tree.cfr import METHODS, VectorCfr, needed
from .public_tree.table import strategy_of
from .public_tree.tree import PublicTree
from .solver_runs import STATE_FILE, STRATEGY_FILE, Solving, open_solver_run

STATE = Format("kibitz vector cfr 1", "checkpoint", about={"iterations": int}, sealed=True)
TREE = "public"  # in the configuration: tells these runs from those on the sequence form
LONG = 60.0  # seconds of all iterations from which their duration is told


def is_vector_run(run: Run) -> bool:
    """Whether a run folder is one of CFR on the public tree."""
    return run.path("config.json").is_file() and run.config().get("tree") == TREE


def new_run(
    game: Game, method: str = "cfr+", iterations: int = 1000, device: str = "cpu", folder: Path | None = None
) -> Run:
    """Start a run, or continue the one in `folder` if its configuration is the same; its iterations may grow.

    Args:
        game: A game that declares a public tree.
        method: `cfr`, `cfr+`, `linear` or `dcfr`.
        iterations: Number of iterations in all.
        device: `cpu` (compiled kernels), or `cuda` (torch), which is for Liar's Dice.
        folder: The run folder; None: the next free `runs/GAME-METHOD-001`.

    Raises:
        BadInput: The game has no public tree, or its tables need too much memory.
    """
    at_least("iterations", iterations, 1)
    choose("device", device, DEVICES)
    choose("solver on the public tree", method, METHODS)
    tree = PublicTree(game)
    memory.check(needed(tree), f"{full_name(game)} with {tree.infosets:,} infosets", "choose a smaller game")
    if device == "cuda":
        from .bidding_cfr import check_solvable

        check_solvable(game, device)
    config = {
        "command": "solve",
        "game": full_name(game),
        "with": method,
        "tree": TREE,
        "iterations": iterations,
        "device": device,
    }
    return Run.create_or_resume(folder, f"{game.name}-{method}", config, may_grow=("iterations",))


def open_run(folder: Path, iterations: int | None = None) -> Run:
    """The run in a folder, with a larger number of iterations where one is given."""
    return open_solver_run(folder, iterations, _config)


def _config(run: Run) -> dict[str, Any]:
    config = run.config()
    if config.get("tree") != TREE:
        raise BadInput(f"{run.folder} is no run of CFR on the public tree")
    with readable(run.path("config.json"), "configuration"):
        check_fits(config, {"game": str, "with": str, "device": str, "iterations": int})
        choose("device", config["device"], DEVICES)
        choose("solver on the public tree", config["with"], METHODS)
    return config


def _solver(game: Game, method: str, device: str, threads: int | None, tree: PublicTree | None = None) -> Any:
    if device == "cpu":
        return VectorCfr(game, method, threads, tree)
    from .bidding_cfr import BiddingCfr

    return BiddingCfr(game, method, device, tree)


def check_threads(threads: int | None, device: str) -> None:
    """Refuse threads on a GPU."""
    if threads is not None:
        at_least("threads", threads, 1, 1024)
        if device != "cpu":
            raise BadInput(f"--threads {threads} is for processor cores, not for {device}")


class Solved(NamedTuple):
    """What a run has reached."""

    iterations: int
    infosets: int
    seconds: float  # of this call, without those of earlier ones
    seconds_per_iteration: float  # without measurements and checkpoints
    metrics: dict[str, float]  # the last measurement


def solve_run(run: Run, threads: int | None = None, report: Reporter = SILENT) -> Solved:
    """Start a run, or resume it from its last checkpoint, until all its iterations are done.

    What is raised after Ctrl-C: see `steps`.
    """
    config = _config(run)
    check_threads(threads, config["device"])
    with run.lock():
        solver = _solver(load_stored(config["game"]), config["with"], config["device"], threads)
        solved: Solved = steps(VectorSolving(run, config, solver), report)
    return solved


class VectorSolving(Solving):
    """A run being solved by CFR on the public tree."""

    def __init__(self, run: Run, config: dict[str, Any], solver: Any) -> None:
        super().__init__(run, config)
        self.solver = solver
        self.spent = 0.0  # seconds of the iterations of this call, without measurements and checkpoints

    def iterate(self) -> None:
        began = time.perf_counter()
        self.solver.run(1)
        seconds = time.perf_counter() - began
        self.spent += seconds
        done, left = self.solver.iterations, self.total - self.solver.iterations
        if done == self.start + 2 and left * seconds > LONG:  # the first one may have compiled
            self.report.message(f"about {left * seconds / 60:,.0f} minutes for {left:,} iterations")

    def measure(self) -> dict[str, float]:
        found = self.solver.evaluate()
        return {"nash_conv": found.nash_conv, "value": found.value}

    def each(self) -> float:
        """Seconds per iteration."""
        return self.spent / max(self.done - self.start, 1)

    def speed(self) -> dict[str, float]:
        return {"seconds_per_iteration": round(self.each(), 4)}

    def note(self) -> str:
        shown = [f"{self.each():.3g} s per iteration"] if self.done > self.start else []
        return "  ".join(shown + ([f"NashConv {self.metrics['nash_conv']:.4g}"] if self.metrics else []))

    def result(self) -> Solved:
        return Solved(self.done, self.solver.tree.infosets, self.seconds, self.each(), self.metrics)

    def save(self) -> None:
        """Write the average strategy and a checkpoint, last: a run without it starts again."""
        done, tables = self.done, self.solver.tables
        strategy_of(self.solver.tree, tables.sums).save(self.run.path(STRATEGY_FILE), iterations=done)
        tensors = tables._asdict()
        about = {"game": self.config["game"], "with": self.config["with"], "iterations": done}
        STATE.write(self.run.path(STATE_FILE), tensors, **about)

    def restore(self) -> bool:
        path, tree = self.run.path(STATE_FILE), self.solver.tree
        if not path.exists():
            return False
        kind = Expected((str(self.solver.kind),), (tree.entries, tree.private))
        same = {key: self.config[key] for key in ("game", "with")}
        tensors, about = STATE.read(path, dict.fromkeys(("regrets", "sums"), kind), same=same)
        self.solver.restore(about["iterations"], tensors["regrets"], tensors["sums"])
        self.done = int(about["iterations"])
        self.restore_metrics()
        return True
