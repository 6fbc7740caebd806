"""Training runs by name of their method: `train(run, ...)` goes on with any run from wherever it stands."""

import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ..games import Game, full_name, load, positions
from ..games.protocol import CHANCE, OVER
from ..jit import generators
from ..names import BadInput, check, choose
from ..runs import Run
from ..search.best_response import judge_policy
from ..search.budget import most_memory
from ..search.oos import Oos
from ..search.sequence_form import unfold
from ..workers import Workers, cores
from .exit_oos import ExItOos, self_play
from .experience import Experience
from .expert_iteration import Progress, Schedule, expert_iteration
from .perceptron import Layers, compiled, sizes_of

METHODS: dict[str, Any] = {"exit-oos": ExItOos}
MOST_LEAVES = 2_000_000  # of a game whose networks are judged exactly on the way
MOST_WEIGHTS = 100_000_000
PROBE = 2000  # simulations a move, to see how fast it goes
PROBE_SECONDS = 1.0

# What the paper says; simulations are those that its steps of state machines came to.
PAPER: dict[str, dict[str, Any]] = {
    "leduc": {"hidden": "128", "simulations": 66_000, "iterations": 1000},
    "goofspiel:6": {"hidden": "128-64", "simulations": 10_000, "iterations": 2500, "steps": 128},
    "goofspiel:13": {"hidden": "128-128-64", "simulations": 8_000, "iterations": 500, "steps": 512},
    "liars_dice:1": {"hidden": "128-64", "simulations": 10_000, "iterations": 1000},
    "liars_dice:2": {"hidden": "128-64", "simulations": 10_000, "iterations": 1000},
}
SMALL = {"iterations": 60, "simulations": 1000, "judge_every": 5, "keep_every": 20}
# What we found to be better: a network soon plays as well as the search that it learns from, so fewer and deeper ones.
OURS: dict[str, dict[str, Any]] = {
    "leduc": {"simulations": 100_000, "iterations": 300},
    "goofspiel:6": {"simulations": 40_000, "iterations": 200},
    "goofspiel:13": {"simulations": 20_000, "iterations": 30},
    "liars_dice:1": {"simulations": 40_000, "iterations": 300},
    "liars_dice:2": {"simulations": 40_000, "iterations": 200},
}
PRESETS = {
    "paper": "as published",
    "kibitz": "what we found to be better, in its games",
    "small": "a minute or two, in any game",
}


def configured(method: str, game_name: str, preset: str | None, given: dict[str, Any]) -> Any:
    """A configuration: the defaults, then a preset, then what was given, checked."""
    cls = METHODS[choose("method", method, METHODS)]
    game = load(game_name)
    values: dict[str, Any] = {"game": full_name(game)}
    if preset is not None:
        choose("preset", preset, PRESETS)
        values |= _preset(game, preset)
    config = cls(**check(method, cls, values | {key: value for key, value in given.items() if value is not None}))
    _refuse(config, game)
    return config


def _preset(game: Any, preset: str) -> dict[str, Any]:
    """By the game's name; what only changes how it is encoded makes no difference."""
    plain = full_name(game._replace(by_seat=False) if hasattr(game, "by_seat") else game)
    name = next((name for name in PAPER if full_name(load(name)) == plain), None)
    if preset == "small":
        return (PAPER[name] if name else {}) | SMALL
    if name is None:
        raise BadInput(f"preset {preset} has no {full_name(game)}, only {', '.join(PAPER)}; small is for any game")
    return PAPER[name] if preset == "paper" else PAPER[name] | OURS[name] | {"linear": True, "steps": 512}


def _refuse(config: ExItOos, game: Game) -> None:
    """What can't be trained, before anything is written."""
    if not game.facts.encoding:
        raise BadInput(f"{full_name(game)} has no encoding for a network: give it the rule `observe`")
    for name, low, high in (("explore", 0, 1), ("epsilon", 1e-6, 1), ("delta", 0, 0.999999), ("gamma", 0, 0.999999)):
        if not low <= getattr(config, name) <= high:
            raise BadInput(f"{name}={getattr(config, name)} should be from {low:g} to {high:g}")
    if not 0 < config.rate < 1:
        raise BadInput(f"rate={config.rate} should be above 0 and below 1")
    if not 0 < config.decay < math.inf:
        raise BadInput(f"decay={config.decay} should be above 0")
    encoding, actions = game.facts.encoding, game.facts.most_actions
    sizes = sizes_of(game, config.hidden_sizes)
    weights = sum(a * b for a, b in pairwise(sizes))
    if weights > MOST_WEIGHTS:
        raise BadInput(f"hidden={config.hidden} makes {weights:,} weights, and more than {MOST_WEIGHTS:,} is too many")
    held = config.capacity * survey(game)[0] * (-(-encoding // 8) + 2 * actions + -(-actions // 8))
    if held > most_memory():
        raise BadInput(f"capacity={config.capacity} games need {held / 1e9:.1f} GB of memory: give fewer")
    Oos(game, **config.search_settings()).refuse_beyond_memory(config.simulations * game.facts.longest)
    if config.device == "cuda":
        from .apprentice import pick_device

        pick_device(config.device, large=True)


def new_run(folder: Path | None, method: str, config: Any) -> Run:
    game = load(config.game)
    return Run.create(folder, f"{game.name}-{method}", {"command": "train", "method": method, **asdict(config)})


def config_of(run: Run, **changes: Any) -> Any:
    """The configuration that a run was begun with, or what it would be with these changes, checked."""
    found = run.config() | changes
    if found.get("command") != "train":
        raise BadInput(f"{run.folder} is no training run: it was made by {found.get('command', 'something else')!r}")
    cls = METHODS[choose("method", str(found.get("method")), METHODS)]
    known = {field.name for field in fields(cls)}
    values = {key: value for key, value in found.items() if key not in ("command", "method")}
    if set(values) != known:
        raise BadInput(f"{run.path('config.json')}: {', '.join(sorted(set(values) ^ known))} missing or unknown")
    return cls(**check(str(found["method"]), cls, values))


def train(
    run: Run,
    processes: int | None = None,
    cluster: str | None = None,
    watch: Callable[[Progress], None] = lambda progress: None,
    tell: Callable[[str], None] = lambda text: None,
) -> None:
    """Go on with a run, from its last checkpoint and journal, until all its iterations are done."""
    config = config_of(run)
    game = load(config.game)
    learner = _apprentice(config, game)
    workers = processes or cores()
    tasks = min(workers, config.games) if config.in_batches(game) else config.games
    schedule = Schedule(config.iterations, config.games, tasks, config.keep_every, config.judge_every)
    with run.held(), _crew(config, workers, cluster, tell) as crew:
        run.show_in_tensorboard()
        expert_iteration(run, crew, learner, schedule, _judge(game, config), watch)


def _crew(config: Any, workers: int, cluster: str | None, tell: Callable[[str], None]) -> AbstractContextManager[Any]:
    if cluster is None:
        return Workers(self_play, (config,), workers, tell, alone=0.0)
    from ..cluster import Cluster

    return Cluster(cluster, self_play, (config,), tell)


def _judge(game: Game, config: Any) -> Callable[[Layers], dict[str, float]]:
    """NashConv of a network, where the game is small enough to be written out."""
    if not config.judge_every:
        return lambda layers: {}
    try:
        form = unfold(game, MOST_LEAVES)
    except BadInput:
        return lambda layers: {}
    return lambda layers: {"nash_conv": judge_policy(form, compiled(layers)).nash_conv}


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
    config = config_of(run)
    game, count = load(config.game), processes or cores()
    learner = _apprentice(replace(config, capacity=1, steps=5), game)
    knowledge, simulations = learner.knowledge(), min(config.simulations, PROBE)
    play = self_play(replace(config, simulations=simulations))
    play((0,), knowledge)  # compiles
    began, probes = time.perf_counter(), 0
    while not probes or (time.perf_counter() - began < PROBE_SECONDS and probes < config.games):
        [(_, rows)] = play((probes,), knowledge)
        probes += 1
    playing = (time.perf_counter() - began) / probes * config.simulations / simulations
    learner.take(rows)
    learner.learn()
    began = time.perf_counter()
    learner.learn()
    learning = (time.perf_counter() - began) * config.steps / 5
    lines = run.lines()
    done = int(lines[-1]["iteration"]) if lines else 0
    at_once = min(count, config.games)
    seconds = (config.iterations - done) * (playing * config.games / at_once + learning)
    held = Experience(1, game.facts.encoding, game.facts.most_actions, bits=survey(game)[1]).bytes * len(rows["legal"])
    weights = sum(array.nbytes for layer in knowledge for array in layer)
    kept = config.iterations // config.keep_every + 1
    size = held * min(config.capacity, config.iterations * config.games) + weights * (kept + 4)
    return Estimate(seconds, size + 200 * config.iterations, count, done, config.iterations)


def _apprentice(config: Any, game: Game) -> Any:
    from .apprentice import Apprentice, pick_device

    decisions, bits = survey(game)
    facts = game.facts
    experience = Experience(
        config.capacity * decisions, facts.encoding, facts.most_actions, config.rule, config.decay, bits
    )
    device = pick_device(config.device, config.in_batches(game))
    sizes = config.hidden_sizes
    return Apprentice(game, experience, sizes, config.rate, config.batch, config.steps, config.seed, device)


def survey(game: Game, count: int = 50) -> tuple[int, bool]:
    """By some random games: decisions a game (the mean, rounded up), and whether encodings are all 0 and 1."""
    rng, encoding = generators(1, 1)[0], np.zeros(game.facts.encoding, np.float32)
    decisions, bits = 0, True
    for _ in range(count):
        state = positions(game)[0]
        while (turn := game.turn(state)) != OVER:
            if turn != CHANCE:
                decisions += 1
                game.observe(state, turn, encoding)
                bits = bits and bool(np.isin(encoding, (0, 1)).all())
            game.play(state, game.pick(state, rng))
    return -(-decisions // count), bits
