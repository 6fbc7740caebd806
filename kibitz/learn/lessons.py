"""Learning from recorded games: pass by pass, minibatch by minibatch, from wherever a run stands.

Which games a minibatch holds follows from the seed and its number alone, so that a run that was killed in the middle
of a pass goes on from its last checkpoint as if nothing had been.

    checkpoints/012000/       all that learning goes on from, after so many minibatches
    network.safetensors       as it was then
    metrics.jsonl             one line a pass
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from ..core.runs import Run
from .checkpoints import Kept, checkpoint, restore

CHECKPOINT_SECONDS = 60.0
SHOW_SECONDS = 0.5


class Pupil(Kept, Protocol):
    steps: int  # minibatches of a pass

    def learn(self, iteration: int, step: int) -> None:
        """One minibatch, of this number in this pass; both count from 0."""

    def loss(self) -> float:
        """Mean of this pass, so far."""

    def evaluate(self) -> dict[str, float]:
        """What is measured behind a pass."""


@dataclass(frozen=True)
class Passed:
    """Told now and then."""

    steps: int  # done
    total: int
    iteration: int  # passes done
    loss: float
    metrics: dict[str, Any]  # of the last pass
    seconds: float  # since this process began
    fresh: int  # steps since then


def learn(run: Run, pupil: Pupil, iterations: int, watch: Callable[[Passed], None] = lambda passed: None) -> None:
    done, total = restore(run, pupil), iterations * pupil.steps
    run.keep_measures(lambda line: line["iteration"] <= done // pupil.steps and done > 0)
    if done == 0:
        run.measure(iteration=0, **pupil.evaluate())
    began = shown = kept = pass_began = time.perf_counter()
    metrics: dict[str, Any] = {}
    for number in range(done, total):
        iteration, step = divmod(number, pupil.steps)
        pupil.learn(iteration, step)
        last = step + 1 == pupil.steps
        if last:
            metrics = {"iteration": iteration + 1, "loss": pupil.loss(), **pupil.evaluate()}
            run.measure(**metrics)
            run.took(iteration=iteration + 1, learning=round(time.perf_counter() - pass_began, 3))
            pass_began = time.perf_counter()
        now = time.perf_counter()
        if number + 1 == total or now - kept > CHECKPOINT_SECONDS:
            checkpoint(run, pupil, number + 1, (number + 1) // pupil.steps)
            kept = time.perf_counter()
        if last or now - shown > SHOW_SECONDS:
            done_passes = (number + 1) // pupil.steps
            watch(Passed(number + 1, total, done_passes, pupil.loss(), metrics, now - began, number + 1 - done))
            shown = now
