"""Training runs by name of their method: `train(run, ...)` goes on with any run from wherever it stands."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from ..core.names import BadInput, check, choose
from ..core.runs import Run
from ..core.workers import Workers, cores
from ..games import full_name, load
from . import lessons
from .deep_cfr import method as deep_cfr_method
from .doppelkopf import cards, exit_cards, next_card
from .exit_oos import method as exit_oos_method
from .expert_iteration import Schedule, expert_iteration
from .method import Lessons, Method, Solving
from .tspg import method as tspg_method

METHODS: dict[str, Method | Lessons | Solving] = {
    "exit-oos": exit_oos_method.METHOD,
    "tspg": tspg_method.METHOD,
    "next-card": next_card.METHOD,
    "cards": cards.METHOD,
    "exit-cards": exit_cards.METHOD,
    "deep-cfr": deep_cfr_method.METHOD,
}
PROBE = 2000  # simulations a move, to see how fast it goes
PROBE_SECONDS = 1.0
PROBE_STEPS = 5  # of lessons


def configured(method: str, game_name: str, preset: str | None, given: dict[str, Any]) -> Any:
    """A configuration: the defaults, then a preset, then what was given, checked."""
    found = METHODS[choose("method", method, METHODS)]
    game = load(game_name)
    values: dict[str, Any] = {"game": full_name(game)}
    if preset is not None:
        values |= found.preset(game, choose("preset", preset, found.presets))
    given = {key: value for key, value in given.items() if value is not None}
    config = found.config(**check(method, found.config, values | given))
    found.refuse(config, game)
    return config


def new_run(folder: Path | None, method: str, config: Any) -> Run:
    game = load(config.game)
    return Run.create(folder, f"{game.name}-{method}", {"command": "train", "method": method, **asdict(config)})


def method_of(run: Run) -> Method | Lessons | Solving:
    return METHODS[choose("method", str(run.config().get("method")), METHODS)]


def config_of(run: Run, **changes: Any) -> Any:
    """The configuration that a run was begun with, or what it would be with these changes, checked."""
    found = run.config() | changes
    if found.get("command") != "train":
        raise BadInput(f"{run.folder} is no training run: it was made by {found.get('command', 'something else')!r}")
    cls = method_of(run).config
    known = {field.name for field in fields(cls)}
    values = {key: value for key, value in found.items() if key not in ("command", "method")}
    if set(values) != known:
        raise BadInput(f"{run.path('config.json')}: {', '.join(sorted(set(values) ^ known))} missing or unknown")
    return cls(**check(str(found["method"]), cls, values))


def train(
    run: Run,
    processes: int | None = None,
    cluster: str | None = None,
    watch: Callable[[Any], None] = lambda progress: None,
    tell: Callable[[str], None] = lambda text: None,
) -> None:
    """Go on with a run, from its last checkpoint and journal, until all its iterations are done.

    `watch` is told `Progress`, or `Passed` where it learns from recorded games, or `Stage` by Deep CFR.
    """
    config, method = config_of(run), method_of(run)
    game = load(config.game)
    if isinstance(method, Lessons):
        with run.held():
            run.show_in_tensorboard()
            lessons.learn(run, method.learner(config, game), config.iterations, watch)
        return
    workers = processes or cores()
    if isinstance(method, Solving):
        with run.held(), _workers(method.worker, config, min(workers, method.parts(config)), cluster, tell) as workers:
            run.show_in_tensorboard()
            method.solve(run, config, workers, watch)
        return
    tasks = method.tasks(config, game, workers)
    evaluate_every = getattr(config, "evaluate_every", 0)
    keep_first = getattr(config, "keep_first", False)
    schedule = Schedule(config.iterations, config.games, tasks, config.keep_every, evaluate_every, keep_first)
    with run.held(), _workers(method.self_play, config, min(workers, tasks), cluster, tell) as workers:
        run.show_in_tensorboard()
        expert_iteration(run, workers, method.learner(config, game), schedule, method.evaluate(config, game), watch)


def _workers(
    make: Any, config: Any, workers: int, cluster: str | None, tell: Callable[[str], None]
) -> AbstractContextManager[Any]:
    if cluster is None:
        return Workers(make, (config,), workers, tell, alone=0.0)
    from ..core.ray_cluster import Cluster

    return Cluster(cluster, make, (config,), tell)


@dataclass(frozen=True)
class Estimate:
    """What is still to come of a run."""

    seconds: float
    bytes: int  # on disk, at the end
    processes: int
    done: int  # iterations
    iterations: int


def estimate(run: Run, processes: int | None = None) -> Estimate:
    """By some games with fewer simulations a move, and a few steps of learning."""
    config, method = config_of(run), method_of(run)
    game, count = load(config.game), processes or cores()
    lines = run.lines()
    done = int(lines[-1]["iteration"]) if lines else 0
    if isinstance(method, Lessons):
        return _estimate_lessons(method.learner(config, game), config.iterations, done)
    if isinstance(method, Solving):
        seconds, size = method.estimate(config, game, min(count, method.parts(config)), done)
        return Estimate(seconds, size, count, done, config.iterations)
    smaller, share = method.probe(config)
    learner = method.learner(smaller, game)
    knowledge, fewer = learner.knowledge(), {}
    if hasattr(config, "simulations"):
        fewer = {"simulations": min(config.simulations, PROBE)}
    play = method.self_play(replace(config, **fewer))
    play((0,), knowledge)  # compiles
    began, probes = time.perf_counter(), 0
    while not probes or (time.perf_counter() - began < PROBE_SECONDS and probes < config.games):
        [(_, rows)] = play((probes,), knowledge)
        probes += 1
    playing = (time.perf_counter() - began) / probes
    if fewer:
        playing *= config.simulations / fewer["simulations"]
    learner.take(rows)
    learner.learn()
    began = time.perf_counter()
    learner.take(rows)
    learner.learn()
    learning = (time.perf_counter() - began) * share
    at_once = min(count, config.games)
    seconds = (config.iterations - done) * (playing * config.games / at_once + learning)
    size = method.size(config, game, knowledge, rows)
    return Estimate(seconds, size + 200 * config.iterations, count, done, config.iterations)


def _estimate_lessons(pupil: Any, iterations: int, done: int) -> Estimate:
    pupil.learn(0, 0)
    pupil.loss()
    began = time.perf_counter()
    for step in range(min(PROBE_STEPS, pupil.steps)):
        pupil.learn(0, step)
    pupil.loss()  # waits for the device
    a_step = (time.perf_counter() - began) / min(PROBE_STEPS, pupil.steps)
    return Estimate((iterations - done) * pupil.steps * a_step, 5 * pupil.bytes, 1, done, iterations)
