"""Deep CFR from beginning to end: traverse for a seat, learn its network anew, the other seat, and so on.

All that is random follows from the seed and the number of the iteration, and traversals are cut into the same parts
whoever does them: the same run comes out of any number of processes, and after any kill.

    checkpoints/000120/           memories and networks, all that learning goes on from
    networks/000100.safetensors   models on the way;  network.safetensors is the last
    metrics.jsonl                 one line an iteration;  times.jsonl: how long it took
"""

import json
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import safetensors
import safetensors.numpy

from ...files import write_whole
from ...games import full_name, load
from ...names import BadInput
from ...runs import Run
from ...search.sequence_form import unfold
from ..checkpoints import checkpoint, restore
from .average import Table
from .config import DeepCfr
from .memory import Memory, Packing, merged
from .networks import Model, Weights, new_weights, save_model
from .traversal import Fair, Samples, Settings, Traverser, WholePot

CHECKPOINT_SECONDS = 60.0
CHECKPOINT_SHARE = 20.0  # a checkpoint waits so many times as long as the last one took
MOST_LEAVES = 2_000_000  # of a game whose strategies are judged exactly on the way
LUCK, MEMORY, FIT, INIT = 3, 4, 5, 6  # what a seed is for

Known = tuple[Weights | None, Weights | None]  # advantage networks; None: uniform
Task = tuple[int, int, int]  # iteration, seat, part


class Crew(Protocol):
    def share(self, value: Any) -> None: ...

    def do(self, tasks: Iterable[Any]) -> Iterable[Any]: ...


@dataclass(frozen=True)
class Stage:
    """Told now and then."""

    iteration: int  # finished
    what: str  # is being done
    done: int
    total: int
    metrics: dict[str, Any]  # of the last iteration
    seconds: float  # since this process began
    nodes: int  # traversed since then
    traversing: float  # seconds of these


Watch = Callable[[Stage], None]


class Clock:
    """Tells a watcher where a run stands."""

    def __init__(self, watch: Watch) -> None:
        self.watch, self.began = watch, time.perf_counter()
        self.iteration, self.nodes, self.traversing = 0, 0, 0.0
        self.metrics: dict[str, Any] = {}

    def tell(self, what: str, done: int, total: int) -> None:
        seconds = time.perf_counter() - self.began
        self.watch(Stage(self.iteration, what, done, total, self.metrics, seconds, self.nodes, self.traversing))

    def steps(self, what: str, total: int) -> Callable[[int], None]:
        return lambda step: self.tell(what, step, total)

    def iterated(self, iteration: int, metrics: dict[str, Any]) -> None:
        self.iteration, self.metrics = iteration, metrics
        self.tell("done", 1, 1)


def traversing(config: DeepCfr) -> Callable[[Task, Known], tuple[int, Samples, Samples, int]]:
    """What a worker needs: the function from a part of an iteration's traversals, and networks, to samples."""
    game = config.traversed(load(config.game))
    settings = Settings(config.shared_luck, config.flipped_signs, config.fallback == "uniform")
    traverser = Traverser(game, Packing(game), settings, WholePot() if config.whole_pot else Fair())
    shape = config.shape(game)
    last: list[Any] = [None, None]  # networks, and how they answer

    def traverse(task: Task, known: Known) -> tuple[int, Samples, Samples, int]:
        iteration, seat, part = task
        if last[0] is not known:
            from .learning import answerer

            last[:] = known, [None if each is None else answerer(shape, each, config.answers) for each in known]
        count = min(config.under_way, config.traversals - part * config.under_way)
        streams = _streams([config.seed, LUCK, iteration, seat, part], 2 * count)
        luck = streams[:count]
        if config.one_deal:
            luck = np.repeat(_streams([config.seed, LUCK, iteration], 1), count, axis=0)
        found = traverser.run(seat, luck, streams[count:], last[1])
        return part, found.advantages, found.strategies, found.nodes

    return traverse


def _streams(seed: list[int], count: int) -> np.ndarray:
    return np.random.SeedSequence(seed).generate_state(2 * count, np.uint64).reshape(count, 2)


class Solver:
    """Memories and networks of both seats, and what they have come to."""

    def __init__(self, config: DeepCfr, game: Any) -> None:
        self.config, self.game, self.seen = config, game, config.traversed(game)
        self.shape, self.packing = config.shape(self.seen), Packing(self.seen)
        width, actions = self.packing.bytes, game.facts.most_actions
        self.advantages = [Memory(config.capacity, width, actions, config.memory) for _ in range(2)]
        self.strategies = [Memory(config.strategy_capacity, width, actions, config.memory) for _ in range(2)]
        self.networks: list[Weights | None] = [None, None]
        self.all: tuple[list[Weights], list[Weights]] = [], []  # of SD-CFR
        self.iteration = 0
        self.model: tuple[int, list[Weights]] = 0, []  # strategy networks, and of which iteration
        self._device = ""

    @property
    def device(self) -> str:
        if not self._device:
            from ..apprentice import pick_device

            self._device = pick_device(self.config.device, large=True)
        return self._device

    def take(self, iteration: int, seat: int, advantages: list[Samples], strategies: list[Samples]) -> None:
        """Samples of a seat's traversals, in the order of their parts."""
        config = self.config
        generator = np.random.default_rng([config.seed, MEMORY, iteration, seat])
        for memory, found, power in (
            (self.advantages[seat], advantages, config.regret_power),
            (self.strategies[1 - seat], strategies, config.average_power),
        ):
            if found is strategies and config.average == "sd":
                continue
            for each in found:
                weights = np.full(len(each.views), iteration**power, np.float32)
                if config.weight_by_step:
                    weights = each.steps.astype(np.float32)
                memory.add(each.views, each.values, weights, generator)

    def learn(self, iteration: int, seat: int, watch: Callable[[int], None] = lambda step: None) -> dict[str, float]:
        """A new advantage network of a seat."""
        from .learning import ADVANTAGES

        before = self.networks[seat]
        if self.config.scratch or before is None:
            before = self._untrained(iteration, seat)
        learned = self._fit(before, self.advantages[seat], ADVANTAGES, iteration, seat, watch)
        self.networks[seat] = learned.weights
        if self.config.average == "sd":
            self.all[seat].append(learned.weights)
        return {f"loss_{seat + 1}": learned.loss, f"steps_{seat + 1}": learned.steps}

    def learn_strategy(self, watch: Callable[[int], None] = lambda step: None) -> None:
        """Strategy networks of what was played so far; once an iteration is enough."""
        if self.config.average == "sd" or self.model[0] == self.iteration:
            return
        loss, found = self.config.strategy_loss, []
        for seat, memory in enumerate(self.strategies):
            before = self._untrained(self.iteration, 2 + seat)
            found.append(self._fit(before, memory, loss, self.iteration, 2 + seat, watch).weights)
        self.model = self.iteration, found

    def _untrained(self, iteration: int, number: int) -> Weights:
        generator = np.random.default_rng([self.config.seed, INIT, iteration, number])
        return new_weights(self.shape, generator, self.config.init)

    def _fit(
        self, before: Weights, memory: Memory, loss: str, iteration: int, number: int, watch: Callable[[int], None]
    ) -> Any:
        from .learning import ADVANTAGES, Lesson, fit

        config, of_regrets = self.config, loss == ADVANTAGES
        rows = memory.rows()
        if config.merge:
            rows = merged(rows, config.even)
        lesson = Lesson(
            config.steps if of_regrets else config.strategy_steps,
            config.batch if of_regrets else config.strategy_batch,
            config.rate, config.rate_falls, config.clip, config.held_out, config.patience, config.newest_held_out, loss,
        )  # fmt: skip
        seed = int(np.random.SeedSequence([config.seed, FIT, iteration, number]).generate_state(1, np.uint64)[0] >> 1)
        return fit(self.shape, before, rows, self.packing, lesson, seed, self.device, watch)

    # ------------------------------------------------------------ what is kept

    def publish(self, path: Path, made: str) -> None:
        """Write what players read, if there is anything yet."""
        config = self.config
        if config.average == "sd":
            seats, weights = self.all, np.arange(1.0, len(self.all[1]) + 1) ** config.average_power
        elif self.model[0]:
            seats, weights = ([self.model[1][0]], [self.model[1][1]]), np.ones(1)
        else:
            return
        path.parent.mkdir(exist_ok=True)
        names = full_name(self.game), full_name(config.seen(self.game))
        save_model(path, Model(*names, made, config.average, config.fallback, self.shape, seats, weights))

    def save(self, folder: Path) -> None:
        lists: dict[str, Any] = {
            "last": [[each] for each in self.networks],
            "all": self.all,
            "model": [[each] for each in self.model[1]],
        }
        tensors = {
            f"{kind}.{seat}.{name}": np.stack([each[name] for each in networks])
            for kind, seats in lists.items()
            for seat, networks in enumerate(seats)
            for name in (self.shape.shapes() if networks else ())
        }
        meta = {"about": json.dumps([self.iteration, self.model[0]])}
        write_whole(folder / "networks.safetensors", safetensors.numpy.save(tensors, meta))
        for name, memory in self._memories().items():
            memory.save(folder / f"{name}.safetensors")

    def restore(self, folder: Path) -> None:
        with safetensors.safe_open(folder / "networks.safetensors", "numpy") as file:  # type: ignore[no-untyped-call]
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
            self.iteration, made = json.loads((file.metadata() or {})["about"])
        shapes = self.shape.shapes()

        def networks(kind: str, seat: int) -> list[Weights]:
            stacks = {name: tensors[f"{kind}.{seat}.{name}"] for name in shapes if f"{kind}.{seat}.{name}" in tensors}
            for name, stack in stacks.items():
                if stack.shape[1:] != shapes[name]:
                    raise ValueError(f"{name} has the shape {stack.shape[1:]}, not {shapes[name]}")
            count = len(next(iter(stacks.values()))) if len(stacks) == len(shapes) else 0
            return [{name: stack[i] for name, stack in stacks.items()} for i in range(count)]

        self.networks = [networks("last", seat)[0] for seat in range(2)]
        self.all = networks("all", 0), networks("all", 1)
        self.model = made, [networks("model", seat)[0] for seat in range(2)] if made else []
        for name, memory in self._memories().items():
            memory.restore(folder / f"{name}.safetensors")

    def _memories(self) -> dict[str, Memory]:
        kinds = {"advantages": self.advantages, "strategies": self.strategies}
        return {f"{kind}-{seat + 1}": each[seat] for kind, each in kinds.items() for seat in range(2)}


class Judge:
    """NashConv of what a solver has come to, where the game is small enough to be written out."""

    def __init__(self, config: DeepCfr, game: Any) -> None:
        self.table: Table | None = None
        self.odds: tuple[list[np.ndarray], list[np.ndarray]] = [], []  # of the advantage networks, so far
        if config.judge_every:
            with suppress(BadInput):  # too large
                self.table = Table(unfold(game, MOST_LEAVES), config.seen(game))

    def uniform(self) -> dict[str, float]:
        """Of what is played before anything was learned."""
        if self.table is None:
            return {}
        odds = [
            self.table.odds(seat, legal / legal.sum(axis=1, keepdims=True))
            for seat, legal in enumerate(self.table.legal)
        ]
        return {"nash_conv": self.table.judge(*odds).nash_conv}

    def __call__(self, solver: Solver) -> dict[str, float]:
        if self.table is None:
            return {}
        table, config, found = self.table, solver.config, []
        for seat in range(2):
            if config.average == "network":
                found.append(table.softmax(seat, solver.shape, solver.model[1][seat]))
                continue
            for network in solver.all[seat][len(self.odds[seat]) :]:
                self.odds[seat].append(table.matched(seat, solver.shape, network, config.fallback))
            weights = np.arange(1.0, len(self.odds[seat]) + 1) ** config.average_power
            found.append(table.mean(seat, self.odds[seat], weights))
        return {"nash_conv": table.judge(*found).nash_conv}


def solve(run: Run, config: DeepCfr, crew: Crew, watch: Watch = lambda stage: None) -> None:
    """Traverse and learn until all iterations are done, from wherever the run stands."""
    game = load(config.game)
    solver, judge, clock = Solver(config, game), Judge(config, game), Clock(watch)
    done = restore(run, solver)
    run.keep_measures(lambda line: line["iteration"] <= done and done > 0)
    if done == 0:
        run.measure(iteration=0, traversals=0, **judge.uniform())
    last_checkpoint, wait = time.perf_counter(), CHECKPOINT_SECONDS
    for iteration in range(done + 1, config.iterations + 1):
        metrics: dict[str, Any] = {"iteration": iteration, "traversals": 2 * iteration * config.traversals, "nodes": 0}
        known: Known = (solver.networks[0], solver.networks[1])
        began, traversing_before = time.perf_counter(), clock.traversing
        for seat in range(2):
            crew.share((solver.networks[0], solver.networks[1]) if config.alternate else known)
            metrics["nodes"] += traverse_for(solver, crew, iteration, seat, clock)
            metrics |= solver.learn(iteration, seat, clock.steps(f"seat {seat + 1} learns", config.steps))
        solver.iteration = iteration
        last = iteration == config.iterations
        keep = iteration % config.keep_every == 0 or last
        judged = judge.table is not None and (iteration % config.judge_every == 0 or last)
        if keep or judged:
            solver.learn_strategy(clock.steps("strategy learns", config.strategy_steps))
        metrics["rows"] = sum(map(len, solver.advantages))
        if judged:
            metrics |= judge(solver)
        run.measure(**metrics)
        traversed = clock.traversing - traversing_before
        learning = time.perf_counter() - began - traversed
        run.took(iteration=iteration, traversing=round(traversed, 3), learning=round(learning, 3))
        if keep:
            solver.publish(run.path(f"networks/{iteration:06d}.safetensors"), f"{run.title}, iteration {iteration}")
        if last or time.perf_counter() - last_checkpoint > wait:
            began = time.perf_counter()
            checkpoint(run, solver, iteration, iteration)
            last_checkpoint = time.perf_counter()
            wait = max(CHECKPOINT_SECONDS, CHECKPOINT_SHARE * (last_checkpoint - began))
        clock.iterated(iteration, metrics)


def traverse_for(solver: Solver, crew: Crew, iteration: int, seat: int, clock: Clock) -> int:
    """A seat's traversals of an iteration into the memories: how many nodes they had."""
    config, began = solver.config, time.perf_counter()
    parts, total = -(-config.traversals // config.under_way), config.traversals
    found: dict[int, tuple[Samples, Samples]] = {}
    nodes = 0
    for part, advantages, strategies, count in crew.do([(iteration, seat, part) for part in range(parts)]):
        found[part] = advantages, strategies
        nodes += count
        clock.tell(f"seat {seat + 1} traverses", min(len(found) * config.under_way, total), total)
    ordered = [found[part] for part in range(parts)]
    solver.take(iteration, seat, [each[0] for each in ordered], [each[1] for each in ordered])
    clock.nodes += nodes
    clock.traversing += time.perf_counter() - began
    return nodes
