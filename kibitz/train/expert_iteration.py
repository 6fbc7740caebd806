"""Expert iteration (Anthony, Tian and Barber 2017): an expert plays games, an apprentice learns from its decisions,
and the expert searches with what the apprentice has learned.

`ExpertIteration` is the base class of learners of this kind. Workers play whole games with what the apprentice shares;
each game has a random stream of its own, made of the run's seed and the game's number, so that it doesn't matter which
worker plays it.
"""

import time
from typing import Any

import numpy as np

from ..core.progress import Reporter
from ..core.workers import Pool
from .learner import Learner, Metrics, Samples, joined


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

    def collect(self, workers: Pool, iteration: int, report: Reporter) -> Samples:
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


def cut(numbers: range, tasks: int) -> list[tuple[int, ...]]:
    """Cut a range of game numbers into parts of nearly the same size."""
    return [tuple(part.tolist()) for part in np.array_split(np.array(numbers), tasks) if len(part)]
