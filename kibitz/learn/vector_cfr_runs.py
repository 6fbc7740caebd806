"""Runs of CFR on the public tree: a large game solved into a run folder, which is resumed exactly.

    config.json            game, method, iterations, device
    state.safetensors      regrets and sums of strategies at the last checkpoint: what a killed run resumes from
    strategy.safetensors   the average strategy then, for players
    metrics.jsonl          NashConv and value at 1, 2, 3, 5, 7, 10, ... iterations and at the end
    times.jsonl            seconds per iteration

On processor cores the result depends on the configuration only, bit by bit, whatever the number of threads.
"""

import time
from pathlib import Path
from typing import Any, NamedTuple

from ..core import memory
from ..core.files import Expected, Shapes, check_fits, read_tensors, readable, write_large_tensors
from ..core.interrupts import deferred_interrupts
from ..core.names import BadInput, at_least, choose
from ..core.progress import SILENT, Reporter
from ..core.runs import Run
from ..games import Game, full_name, load_stored
from ..search.public_tree.cfr import METHODS, VectorCfr, needed
from ..search.public_tree.table import checksum, strategy_of
from ..search.public_tree.tree import PublicTree
from ..search.solvers import next_due
from .devices import DEVICES
from .pcs_runs import CHECKPOINT_SECONDS, CHECKPOINT_SHARE, REPORT_SECONDS

STATE = "kibitz vector cfr 1"
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
    run = Run(folder)
    config = _config(run)
    if iterations is not None and iterations != config["iterations"]:
        run.check_same(config | {"iterations": iterations}, ("iterations",))
        run.grow(config | {"iterations": iterations}, ("iterations",))
    return run


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


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, after the checkpoint was written."""

    def __init__(self, solved: Solved) -> None:
        super().__init__()
        self.solved = solved


def solve_run(run: Run, threads: int | None = None, report: Reporter = SILENT) -> Solved:
    """Start a run, or resume it from its last checkpoint, until all its iterations are done.

    An interrupt (Ctrl-C) ends it after the present iteration, with a checkpoint; then `Interrupted` is raised. Before
    the first iteration is done, KeyboardInterrupt is raised at once; where one takes long, after some seconds.

    Raises:
        BadInput: A file of the run is damaged, or isn't the run's.
    """
    config = _config(run)
    check_threads(threads, config["device"])
    with run.lock():
        return _solve(run, config, threads, report)


def _solve(run: Run, config: dict[str, Any], threads: int | None, report: Reporter) -> Solved:
    solver = _solver(load_stored(config["game"]), config["with"], config["device"], threads)
    work, total = Work(run, config, solver), config["iterations"]
    run.show_in_tensorboard()
    start = work.restore()
    run.keep_metrics(lambda line: line["iteration"] <= start)
    with deferred_interrupts(lambda: solver.iterations > start) as interrupted:
        began = shown = saved = time.perf_counter()
        wait, due, spent = CHECKPOINT_SECONDS, next_due(start), 0.0
        while not interrupted() and solver.iterations < total:
            before = time.perf_counter()
            solver.run(1)
            done, now = solver.iterations, time.perf_counter()
            spent += now - before
            rate = spent / (done - start)
            if done == start + 2 and (total - done) * (now - before) > LONG:  # the first one may have compiled
                minutes = (total - done) * (now - before) / 60
                report.message(f"about {minutes:,.0f} minutes for {total - done:,} iterations")
            if done >= due or done == total:
                due = next_due(done)
                work.measure()
                run.log_times(iteration=done, seconds_per_iteration=round(rate, 4))
            now = time.perf_counter()
            if now - shown > REPORT_SECONDS:
                shown = now
                report.progress(done, total, work.note(rate))
            if now - saved > wait:
                work.save()
                saved = time.perf_counter()
                wait = max(CHECKPOINT_SECONDS, CHECKPOINT_SHARE * (saved - now))
        done = solver.iterations
        if done > start or not run.path("state.safetensors").exists():
            work.save()
        seconds, count = time.perf_counter() - began, max(done - start, 1)
        solved = Solved(done, solver.tree.infosets, seconds, spent / count, work.metrics)
        if interrupted():
            raise Interrupted(solved)
    return solved


class Work:
    """A run being solved: solver, measurements, checkpoints."""

    def __init__(self, run: Run, config: dict[str, Any], solver: Any) -> None:
        self.run, self.config, self.solver = run, config, solver
        self.metrics: dict[str, float] = {}

    def note(self, seconds: float) -> str:
        shown = f"{seconds:.3g} s per iteration"
        return shown + (f"  NashConv {self.metrics['nash_conv']:.4g}" if self.metrics else "")

    def measure(self) -> None:
        """Write a line of metrics."""
        found = self.solver.evaluate()
        self.metrics = {"nash_conv": found.nash_conv, "value": found.value}
        self.run.log(iteration=self.solver.iterations, **self.metrics)

    def save(self) -> None:
        """Write the average strategy and a checkpoint, last: a run without it starts again."""
        done, tables = self.solver.iterations, self.solver.tables
        strategy_of(self.solver.tree, tables.sums).save(self.run.path("strategy.safetensors"), iterations=done)
        tensors = tables._asdict()
        about = {"game": self.config["game"], "with": self.config["with"], "iterations": done}
        path = self.run.path("state.safetensors")
        write_large_tensors(path, STATE, tensors, checksum=checksum(tensors), **about)

    def restore(self) -> int:
        """Restore the last checkpoint and return the number of finished iterations."""
        path, tree = self.run.path("state.safetensors"), self.solver.tree
        if not path.exists():
            return 0

        def schema(shapes: Shapes, about: dict[str, Any]) -> dict[str, Expected]:
            if any(about.get(key) != self.config[key] for key in ("game", "with")):
                raise BadInput(f"{path} is the state of another run")
            kind = Expected(str(self.solver.kind), (tree.entries, tree.private))
            return dict.fromkeys(("regrets", "sums"), kind)

        tensors, about = read_tensors(path, STATE, "checkpoint", schema)
        with readable(path, "checkpoint"):
            check_fits(about, {"iterations": int, "checksum": str})
            if checksum(tensors) != about["checksum"]:
                raise ValueError("its checksum is wrong")
        self.solver.restore(about["iterations"], tensors["regrets"], tensors["sums"])
        lines = [line for line in self.run.read_lines() if line["iteration"] <= about["iterations"]]
        if lines:
            self.metrics = {key: value for key, value in lines[-1].items() if key != "iteration"}
        return int(about["iterations"])
