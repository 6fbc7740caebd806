"""The predicted duration of a run: from recorded times, with steps that grow, and before the first iteration."""

import math

import numpy as np
import pytest

from kibitz.core.progress import Reporter
from kibitz.train import trainer
from kibitz.train.deep_cfr import DeepCfr
from kibitz.train.deep_cfr.config import DeepCfrConfig
from kibitz.train.deep_cfr.duration import Rates, seconds_left

from .test_learner import begun

# A run on a GPU: 20,000 new samples per iteration, steps from 200 to 2,000, full reservoirs after 150 iterations.
CONFIG = DeepCfrConfig(
    "holdem", iterations=200, capacity=3_000_000, batch_size=1000, epochs=1.0, min_steps=200, steps=2000,
    strategy_steps=3000, strategy_batch_size=2000, keep_every=50, evaluate_every=0,
)  # fmt: skip


def recorded(config, noise=0.1, seed=1, slow_start=20.0, evaluating=None):
    """Lines of metrics and times as such a run writes them, with noise and a slow first iteration."""
    generator, lines = np.random.default_rng(seed), []
    for iteration in range(1, config.iterations + 1):
        samples = min(2 * config.capacity, 40_000 * iteration)
        steps = config.steps_for(samples // 2)
        parts = {"sampling": 1.5, "preparing": 0.2 + 2e-7 * samples, "fitting": 2 * steps * 0.001}
        if iteration % config.keep_every == 0:
            parts["averaging"] = 2 * config.strategy_steps * 0.0018
        if evaluating and iteration % config.evaluate_every == 0:
            parts["evaluating"] = evaluating
        parts = {part: seconds * generator.uniform(1 - noise, 1 + noise) for part, seconds in parts.items()}
        parts["sampling"] += slow_start if iteration == 1 else 0
        lines.append({"iteration": iteration, "rows": samples, "steps_1": steps, "steps_2": steps} | parts)
    return lines


def duration(lines):
    parts = ("sampling", "preparing", "fitting", "averaging", "evaluating")
    return sum(line.get(part, 0.0) for line in lines for part in parts)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("done", [3, 10, 100])
def test_the_rest_is_predicted_from_few_iterations_though_steps_grow(seed, done):
    lines = recorded(CONFIG, seed=seed)
    found, wanted = DeepCfr.predict(CONFIG, lines[:done]), duration(lines[done:])
    assert 1 / 1.5 < found / wanted < 1.5
    speed_so_far = duration(lines[1:done]) / (done - 1) * (CONFIG.iterations - done)
    assert done > 10 or speed_so_far < wanted / 1.5  # which a prediction by speed would be


def test_evaluations_and_fits_that_stop_early_are_counted():
    config = DeepCfrConfig("leduc", iterations=50, evaluate_every=10, keep_every=50, steps=1000, strategy_steps=1000)
    lines = recorded(config, noise=0.0, evaluating=30.0)
    assert DeepCfr.predict(config, lines[:10]) == pytest.approx(duration(lines[10:]), rel=0.1)
    half = [line | {"steps_1": 500, "steps_2": 500, "fitting": line["fitting"] / 2} for line in lines]
    assert DeepCfr.predict(config, half[:10]) == pytest.approx(duration(half[10:]), rel=0.1)


def test_the_first_iteration_alone_predicts_nothing():
    assert math.isnan(DeepCfr.predict(CONFIG, recorded(CONFIG)[:1]))


def test_seconds_left_are_the_sum_over_the_iterations_that_are_left():
    config = DeepCfrConfig("leduc", iterations=4, steps=10, keep_every=2, evaluate_every=4, capacity=100)
    rates = Rates(1.0, 0.5, 0.001, 0.1, 7.0, 20.0, 80.0)
    each = 1.0 + 0.5 + 2 * 10 * 0.1
    wanted = 3 * each + 0.001 * (160 + 200 + 200) + 2 * 7.0 + 20.0
    assert seconds_left(config, rates, 1) == pytest.approx(wanted)
    assert seconds_left(config, rates._replace(evaluating=math.nan), 1) == pytest.approx(wanted - 20.0)
    assert seconds_left(config, rates, 4) == 0


def test_a_run_reports_what_is_left_from_the_third_iteration_on(tmp_path):
    class Listener(Reporter):
        def remaining(self, seconds):
            told.append(seconds)

    told = []
    run = begun(tmp_path / "run", iterations=6, evaluate_every=0, keep_every=6)
    trainer.train(run, 1, report=Listener())
    assert len(told) == 3
    assert min(told) > 0
    times = run.read_lines("times.jsonl")
    assert {"iteration", "sampling", "preparing", "fitting", "collecting", "learning"} == times[0].keys()
    assert times[-1]["averaging"] > 0
    parts = sum(times[-1][part] for part in ("sampling", "preparing", "fitting", "averaging"))
    assert 0.5 * times[-1]["learning"] < parts <= times[-1]["learning"] + 0.01
