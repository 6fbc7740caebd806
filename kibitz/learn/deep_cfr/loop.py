"""Deep CFR from beginning to end: traverse for a seat, learn its network anew, the other seat, and so on.

All that is random follows from the seed and the number of the iteration, and traversals are cut into the same parts
whoever does them: the same run comes out of any number of processes, and after any kill.

    checkpoints/000120/           memories and networks, all that learning goes on from
    networks/000100.safetensors   models on the way;  network.safetensors is the last
    metrics.jsonl                 one line an iteration;  times.jsonl: how long it took
"""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.names import BadInput
from ...core.runs import Run
from ...games import load
from ...search.sequence_form import unfold
from ..checkpoints import checkpoint, restore
from ..expert_iteration import WorkerPool
from .average import Table
from .config import DeepCfr
from .solver import Solver
from .traversal import Samples

CHECKPOINT_SECONDS = 60.0
CHECKPOINT_SHARE = 20.0  # a checkpoint waits so many times as long as the last one took
MAX_LEAVES = 2_000_000  # of a game whose strategies are judged exactly on the way


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


class Judge:
    """NashConv of what a solver has come to, where the game is small enough to be written out."""

    def __init__(self, config: DeepCfr, game: Any) -> None:
        self.table: Table | None = None
        self.probs: tuple[list[np.ndarray], list[np.ndarray]] = [], []  # of the advantage networks, so far
        if config.evaluate_every:
            with suppress(BadInput):  # too large
                self.table = Table(unfold(game, MAX_LEAVES), config.seen(game))

    def uniform(self) -> dict[str, float]:
        """Of what is played before anything was learned."""
        if self.table is None:
            return {}
        probs = [
            self.table.probs(seat, legal / legal.sum(axis=1, keepdims=True))
            for seat, legal in enumerate(self.table.legal)
        ]
        return {"nash_conv": self.table.evaluate(*probs).nash_conv}

    def __call__(self, solver: Solver) -> dict[str, float]:
        if self.table is None:
            return {}
        table, config, found = self.table, solver.config, []
        for seat in range(2):
            if config.average == "network":
                found.append(table.softmax(seat, solver.shape, solver.model[1][seat]))
                continue
            for network in solver.all[seat][len(self.probs[seat]) :]:
                self.probs[seat].append(table.matched(seat, solver.shape, network, config.fallback))
            weights = np.arange(1.0, len(self.probs[seat]) + 1) ** config.average_power
            found.append(table.mean(seat, self.probs[seat], weights))
        return {"nash_conv": table.evaluate(*found).nash_conv}


def solve(run: Run, config: DeepCfr, workers: WorkerPool, watch: Watch = lambda stage: None) -> None:
    """Traverse and learn until all iterations are done, from wherever the run stands."""
    game = load(config.game)
    solver, evaluate, clock = Solver(config, game), Judge(config, game), Clock(watch)
    done = clock.iteration = restore(run, solver)
    run.keep_measures(lambda line: line["iteration"] <= done and done > 0)
    if done == 0:
        run.measure(iteration=0, traversals=0, **evaluate.uniform())
    last_checkpoint, wait = time.perf_counter(), CHECKPOINT_SECONDS
    for iteration in range(done + 1, config.iterations + 1):
        metrics: dict[str, Any] = {"iteration": iteration, "traversals": 2 * iteration * config.traversals, "nodes": 0}
        began, traversing_before = time.perf_counter(), clock.traversing
        for seat in range(2):
            workers.share((solver.networks[0], solver.networks[1]))  # seat 2 meets what seat 1 has just learned
            metrics["nodes"] += traverse_for(solver, workers, iteration, seat, clock)
            metrics |= solver.learn(iteration, seat, clock.steps(f"seat {seat + 1} learns", config.steps))
        solver.iteration = iteration
        last = iteration == config.iterations
        keep = iteration % config.keep_every == 0 or last
        judged = evaluate.table is not None and (iteration % config.evaluate_every == 0 or last)
        if keep or judged:
            solver.learn_strategy(clock.steps("strategy learns", config.strategy_steps))
        metrics["rows"] = sum(map(len, solver.advantages))
        if judged:
            metrics |= evaluate(solver)
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


def traverse_for(solver: Solver, workers: WorkerPool, iteration: int, seat: int, clock: Clock) -> int:
    """A seat's traversals of an iteration into the memories: how many nodes they had."""
    config, began = solver.config, time.perf_counter()
    parts, total = -(-config.traversals // config.in_flight), config.traversals
    found: dict[int, tuple[Samples, Samples]] = {}
    nodes = 0
    for part, advantages, strategies, count in workers.do([(iteration, seat, part) for part in range(parts)]):
        found[part] = advantages, strategies
        nodes += count
        clock.tell(f"seat {seat + 1} traverses", min(len(found) * config.in_flight, total), total)
    ordered = [found[part] for part in range(parts)]
    solver.take(iteration, seat, [each[0] for each in ordered], [each[1] for each in ordered])
    clock.nodes += nodes
    clock.traversing += time.perf_counter() - began
    return nodes
