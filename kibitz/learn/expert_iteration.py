"""Expert iteration (Anthony, Tian and Barber 2017): an expert plays games, an apprentice learns from its decisions,
and the expert searches with what the apprentice has learned.

`ExpertIteration` is the base class of learners of this kind. Workers play whole games with what the apprentice shares;
each game has a random stream of its own, made of the run's seed and the game's number, so that it doesn't matter which
worker plays it.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.progress import SILENT, Reporter
from .learner import Cost, Learner, Metrics, Samples, WorkerPool, joined

PROBE_SIMULATIONS = 2000  # per move, when the duration of a run is estimated
PROBE_SECONDS = 1.0


class ExpertIteration(Learner):
    """A learner whose worker function plays games: `work(game numbers, shared value) -> [(number, samples), ...]`.

    The configuration has `games`, the number of games per iteration.
    """

    @property
    def tasks(self) -> int:
        return self.config.games

    def shared(self) -> Any:
        """Return what the expert needs of the apprentice, such as the layers of its network."""
        raise NotImplementedError

    def update(self, samples: Samples) -> Metrics:
        """Learn from the samples of new games, in the order of the games' numbers."""
        raise NotImplementedError

    def collect(self, workers: WorkerPool, iteration: int, report: Reporter) -> Samples:
        config, began, decisions = self.config, time.perf_counter(), 0
        first, games = (iteration - 1) * config.games, dict[int, Samples]()
        workers.share(self.shared())
        for finished in workers.do(cut(range(first, first + config.games), self.tasks)):
            games |= dict(finished)
            decisions += sum(len(next(iter(samples.values()))) for _, samples in finished)
            speed = decisions * getattr(config, "simulations", 1) / max(time.perf_counter() - began, 1e-9)
            unit = "simulations" if hasattr(config, "simulations") else "games"
            report.progress(first + len(games), config.iterations * config.games, f"{speed:,.0f} {unit}/s")
        return joined([games[number] for number in sorted(games)])

    def learn(self, iteration: int, samples: Samples | None, report: Reporter) -> Metrics:
        assert samples is not None
        report.progress(iteration * self.config.games, self.config.iterations * self.config.games, "learning")
        return self.update(samples)

    def totals(self, iteration: int) -> dict[str, int]:
        return {"games": iteration * self.config.games}

    # ------------------------------------------------------------ estimate

    @classmethod
    def probe(cls, config: Any) -> tuple[Any, float]:
        """Return a configuration whose updates are shorter, and by which factor."""
        return config, 1.0

    def learning_seconds(self, samples: Samples, config: Any, factor: float) -> float:
        """Update, and return how long an update of the whole configuration takes, of which this one is the probe."""
        return factor * seconds(lambda: self.learn(1, samples, SILENT))

    def disk(self, samples: Samples) -> int:
        """Return the bytes that a run takes on disk at its end, given the samples of one game; 0: unknown."""
        return 0

    def held(self, samples: Samples) -> int:
        """Return the bytes of the replay buffer at the end of a run, given the samples of one game; 0: unknown."""
        return 0

    @classmethod
    def estimate(cls, config: Any, game: Any, processes: int, done: int) -> Cost:
        """Update twice, and play some games with fewer simulations per move; the first time of each compiles.

        The games are those after an update: the expert of the first iteration may be a simpler one.
        """
        shorter, factor = cls.probe(config)
        learner, fewer = cls(shorter, game), {}
        if hasattr(config, "simulations"):
            fewer = {"simulations": min(config.simulations, PROBE_SIMULATIONS)}
        play = cls.worker(replace(config, **fewer))
        [(_, samples)] = play((0,), learner.shared())
        learning = [learner.learning_seconds(samples, config, factor) for _ in range(2)][-1]
        shared = learner.shared()
        play((0,), shared)
        began, probes = time.perf_counter(), 0
        while not probes or (time.perf_counter() - began < PROBE_SECONDS and probes < config.games):
            [(_, samples)] = play((probes,), shared)
            probes += 1
        playing = (time.perf_counter() - began) / probes
        if fewer:
            playing *= config.simulations / fewer["simulations"]
        learner.config = config
        needed = (config.iterations - done) * (playing * config.games / min(processes, config.games) + learning)
        return Cost(needed, learner.disk(samples), processes, learner.held(samples))


def seconds(work: Callable[[], object]) -> float:
    """Return how long some work takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def cut(numbers: range, tasks: int) -> list[tuple[int, ...]]:
    """Cut a range of game numbers into parts of nearly the same size."""
    return [tuple(part.tolist()) for part in np.array_split(np.array(numbers), tasks) if len(part)]
