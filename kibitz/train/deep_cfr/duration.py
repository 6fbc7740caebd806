"""How long the rest of a run takes, from the times of a few iterations, or of a probe before the first one.

An iteration samples traversals, prepares the samples of each seat for the device, and makes gradient steps; now and
then strategy networks are fitted and NashConv is computed. Samples become more until the reservoirs are full, and with
`epochs` so do the steps.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from .config import DeepCfrConfig

RECENT = 10  # iterations whose times count


class Rates(NamedTuple):
    """Seconds of the parts of an iteration, for both seats together."""

    sampling: float  # per iteration
    preparing: float  # per iteration,
    preparing_sample: float  # and per sample
    step: float  # per gradient step of an advantage network
    strategies: float  # per fit of the strategy networks
    evaluating: float  # per evaluation; NaN: the game is too large for it
    samples: float  # new ones per iteration
    stopped: float = 1.0  # share of the steps that are made, where fits stop early


def measured(config: DeepCfrConfig, lines: list[dict[str, Any]]) -> Rates | None:
    """The rates by the metrics and times of iterations, one line each; None: too few of them.

    The first line doesn't count: kernels are compiled and processes started then.
    """
    recent = lines[1:][-RECENT:]
    if not recent:
        return None

    def mean(key: str) -> float:
        found = [line[key] for line in recent if key in line]
        return float(np.mean(found)) if found else math.nan

    samples = np.array([line["rows"] for line in recent], float)
    preparing = np.array([line["preparing"] for line in recent], float)
    slope = 0.0
    if samples.max() >= 1.5 * samples.min():  # else noise would decide
        slope = max(0.0, float(np.polyfit(samples, preparing, 1)[0]))
    steps = sum(line["steps_1"] + line["steps_2"] for line in recent)
    allowed = sum(2 * config.steps_for(round(line["rows"] / 2)) for line in recent)
    step = sum(line["fitting"] for line in recent) / max(steps, 1)
    strategies = mean("averaging")
    if math.isnan(strategies):  # none yet
        strategies = 2 * config.strategy_steps * step * config.strategy_batch_size / config.batch_size
    last = recent[-1]
    return Rates(
        mean("sampling"), max(0.0, float(preparing.mean() - slope * samples.mean())), slope, step, strategies,
        mean("evaluating"), last["rows"] / last["iteration"], min(1.0, steps / allowed),
    )  # fmt: skip


def seconds_left(config: DeepCfrConfig, rates: Rates, done: int) -> float:
    """Predict the duration of the iterations after `done`."""
    total = 0.0
    for iteration in range(done + 1, config.iterations + 1):
        samples = min(2 * config.capacity, rates.samples * iteration)
        total += rates.sampling + rates.preparing + rates.preparing_sample * samples
        total += 2 * config.steps_for(round(samples / 2)) * rates.stopped * rates.step
        evaluates = not math.isnan(rates.evaluating) and _due(config, iteration, config.evaluate_every)
        total += rates.evaluating if evaluates else 0.0
        if config.with_network and (evaluates or _due(config, iteration, config.keep_every)):
            total += rates.strategies
    return total


def _due(config: DeepCfrConfig, iteration: int, every: int) -> bool:
    return every > 0 and (iteration % every == 0 or iteration == config.iterations)
