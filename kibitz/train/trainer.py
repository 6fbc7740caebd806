"""Training runs: `configured` makes a configuration, `new_run` a folder, `train` starts or resumes the run in it.

What a run folder holds:

    config.json                   the learner's name and every field of its configuration
    checkpoints/, journal/        what a killed run resumes from (see `checkpoints`)
    networks/000100.safetensors   what was learned by an iteration;  network.safetensors: by the last checkpoint
    metrics.jsonl                 one line per iteration, the same for the same seed;  times.jsonl: their duration
"""

import functools
import math
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from ..core.files import make_folder
from ..core.names import BadInput, absolute, absolute_path, check, choose, located, paths, present
from ..core.pool import Places, at_most, pool, processes_here
from ..core.progress import SILENT, Reporter
from ..core.runs import Run
from ..core.steps import Work, steps
from ..core.trust import only_named
from ..core.workers import Pool, check_main_guard, cores
from ..games import full_name, load, load_stored
from ..jit import compiled
from .checkpoints import Checkpoints, Journal, origin
from .learner import Learner, learner_class, make_worker
from .removed_options import without_removed

PREDICTED_AFTER = 3  # iterations: from then on the duration of the rest is predicted by their times


def configured(name: str, game_name: str, preset: str | None, given: dict[str, Any]) -> Any:
    """Make a learner's configuration: defaults, then a preset, then the given values (None: not given); checked."""
    cls, game = learner_class(name), load(game_name)
    values: dict[str, Any] = {"game": full_name(game)}
    if preset is not None:
        values |= cls.preset(game, choose("preset", preset, cls.presets))
    given = {key: value for key, value in given.items() if value is not None}
    config = cls.Config(**check(name, cls.Config, values | given))
    cls.refuse(config, game)
    for device in ("device", "inference_device"):
        if getattr(config, device, "") == "cuda":
            from ..nets.torch_mlp import pick_device

            pick_device("cuda", large=True)
    return replace(config, **{key: absolute_path(getattr(config, key)) for key in paths(cls.Config)})


def new_run(folder: Path | None, name: str, config: Any) -> Run:
    """Create the folder of a run, or the next free `runs/GAME-LEARNER-001`."""
    check_main_guard()
    name = present("learner", name)
    title = f"{load_stored(config.game).name}-{Path(name.rpartition(':')[0]).stem or name}"
    return Run.create(folder, title, {"command": "train", "method": absolute(name), **asdict(config)})


def open_run(folder: Path, iterations: int | None = None) -> Run:
    """The training run in a folder, with a larger total number of iterations where one is given."""
    run = Run(folder)
    if not run.path("config.json").is_file():
        raise BadInput(f"{folder} holds no run")
    config = config_of(run)
    if iterations is None:
        return run
    if iterations < config.iterations:
        raise BadInput(f"{folder} was started for {config.iterations} iterations: {iterations} is less")
    config_of(run, iterations=iterations)  # refused before it is written
    return Run.create_or_resume(folder, "", run.config() | {"iterations": iterations}, may_grow=("iterations",))


def class_of(run: Run) -> type[Learner]:
    """The class of a run's learner."""
    with only_named():
        return learner_class(method_of(run))


def config_of(run: Run, **changes: Any) -> Any:
    """The configuration of a run, or what it would be with these changes, checked."""
    found = run.config() | changes
    if found.get("command") != "train":
        raise BadInput(f"{run.folder} is no training run: it was made by {found.get('command', 'something else')!r}")
    cls = class_of(run).Config
    known = {field.name for field in fields(cls)}
    with located(run.path("config.json")):
        found = without_removed(str(found["method"]), found)
    values = {key: value for key, value in found.items() if key not in ("command", "method")}
    if set(values) != known:
        raise BadInput(f"{run.path('config.json')}: {', '.join(sorted(set(values) ^ known))} missing or unknown")
    return cls(**check(str(found["method"]), cls, values))


def check_workers(learner: str, places: Places | None) -> None:
    """Refuse options about workers where a learner, of this name, has none."""
    if places is not None and not has_workers(learner):
        name = "--cluster" if isinstance(places, str) else "--processes"
        raise BadInput(f"{name} {places} is for learners with worker processes: {learner} has none")


def has_workers(learner: str) -> bool:
    """Whether a learner, of this name, has worker processes."""
    with only_named():
        return learner_class(learner).worker is not Learner.worker


def method_of(run: Run) -> str:
    """The name of a run's learner."""
    return str(run.config().get("method"))


def train(run: Run, processes: Places | None = None, report: Reporter = SILENT) -> None:
    """Start a run, or resume it from its last checkpoint and journal, until all its iterations are done.

    Args:
        run: From `new_run`, or `Run(folder)` of an earlier one.
        processes: Worker processes; None: one per core; or the address of a Ray cluster.
        report: Receives the progress, in units of the learner's own (games, steps, iterations).
    """
    check_main_guard()
    config, cls, name = config_of(run), class_of(run), method_of(run)
    if isinstance(processes, str):
        check_workers(name, processes)
    learner = cls(config, load_stored(config.game))
    learner.processes = processes_here(processes) or cores()
    with run.lock(), _workers(learner, name, processes or cores(), report) as workers:
        train_loop(run, learner, workers, report)


def train_loop(run: Run, learner: Learner, workers: Pool, report: Reporter = SILENT) -> None:
    """Collect, learn, evaluate and save, iteration by iteration, from wherever the run is."""
    steps(Training(run, learner, workers), report)


class Training(Work):
    """A run of a learner. Samples are in the journal before it learns from them: Ctrl-C needs to wait for nothing."""

    run: Run
    defers = False

    def __init__(self, run: Run, learner: Learner, workers: Pool) -> None:
        super().__init__(run, learner.config.iterations)
        self.learner, self.workers = learner, workers
        self.checkpoints, self.journal = Checkpoints(run, learner), Journal(run.path("journal"))

    def restore(self) -> bool:
        restored = self.checkpoints.restore()
        self.done = restored or 0
        return restored is not None

    def begin(self) -> None:
        if not self.resumed:
            self.run.log(iteration=0, **self.learner.totals(0), **self.learner.evaluate())
        self.status = Status(self.report, self.learner, self.run.read_lines())
        self.learner.pause = self.save_if_due

    def step(self) -> None:
        learner, status, iteration = self.learner, self.status, self.done + 1
        began, compiled_before = time.perf_counter(), len(compiled)
        samples = self.journal.samples(iteration, functools.partial(learner.collect, self.workers, iteration, status))
        collected = time.perf_counter()
        metrics = learner.totals(iteration) | learner.learn(iteration, samples, status)
        learned = time.perf_counter()
        times = learner.times | {"collecting": collected - began, "learning": learned - collected}
        if learner.evaluates(iteration) and (found := learner.evaluate()):
            metrics |= found
            times["evaluating"] = time.perf_counter() - learned
        self.run.log(iteration=iteration, **metrics)
        self.run.log_times(iteration=iteration, **{part: round(seconds, 3) for part, seconds in times.items()})
        if learner.keeps(iteration):
            make_folder(self.run.path("networks"))
            learner.export(self.run.path(f"networks/{iteration:06d}.safetensors"), origin(self.run, learner, iteration))
        self.done, self.news = iteration, (metrics, times, len(compiled) == compiled_before)

    def tell(self) -> None:
        self.status.finished(self.done, *self.news)

    def save(self) -> None:
        self.checkpoints.save(self.done, self.learner.step % self.learner.steps)
        self.journal.forget(self.done)


class Status(Reporter):
    """Passes on what the learner reports, with the iteration and the last measurements added to the note."""

    def __init__(self, report: Reporter, learner: Learner, lines: list[dict[str, Any]]) -> None:
        self.report, self.learner = report, learner
        self.metrics = {key: value for line in lines for key, value in line.items()}
        self.iteration = int(self.metrics.get("iteration", 0))
        self.last: tuple[float, float | None] = 0, None
        self.lines: list[dict[str, Any]] = []  # metrics and times of the typical iterations

    def progress(self, done: float, total: float | None = None, note: str = "") -> None:
        self.last = done, total
        shown = [f"{key} {self.metrics[key]:.3f}" for key in self.learner.headline if key in self.metrics]
        self.report.progress(done, total, "  ".join(filter(None, [f"iteration {self.iteration}", note, *shown])))

    def message(self, text: str) -> None:
        self.report.message(text)

    def finished(self, iteration: int, metrics: dict[str, float], times: dict[str, float], typical: bool) -> None:
        """Report that an iteration is done and saved, and predict the duration of the rest.

        An iteration that compiled kernels isn't typical of those to come.
        """
        self.iteration, self.metrics = iteration, self.metrics | metrics
        self.progress(*self.last)
        if not typical:
            return
        self.lines.append(metrics | times | {"iteration": iteration})
        if len(self.lines) >= PREDICTED_AFTER and iteration < self.learner.config.iterations:
            seconds = self.learner.predict(self.learner.config, self.lines)
            if not math.isnan(seconds):
                self.report.remaining(seconds)


def _workers(learner: Learner, name: str, places: Places, report: Reporter) -> AbstractContextManager[Any]:
    if not learner.tasks:
        return nullcontext()
    return pool(make_worker, (name, asdict(learner.config)), at_most(places, learner.tasks), report, alone=0.0)
