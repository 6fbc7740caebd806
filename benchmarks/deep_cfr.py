"""Sampling by Deep CFR: in batches against one traversal at a time, and two processes against one."""

from functools import partial

import numpy as np

from kibitz.core.workers import Workers
from kibitz.games import load
from kibitz.jit import generators
from kibitz.train.deep_cfr.config import DeepCfrConfig
from kibitz.train.deep_cfr.networks import new_weights
from kibitz.train.deep_cfr.traits import packing_of
from kibitz.train.deep_cfr.traversal import Settings, Traverser
from kibitz.train.deep_cfr.worker import Networks, traversing

from .measuring import Row, Work

HIDDEN = {"leduc": "64-64-64", "holdem": "64"}
BATCH = 4096
PART = 500  # traversals in flight, which share batches
SMALL_PART = 50


def untrained(config: DeepCfrConfig) -> Networks:
    shape = config.shape(load(config.game))
    return new_weights(shape, np.random.default_rng(1)), new_weights(shape, np.random.default_rng(2))


def our_traversals(name: str, in_flight: int = PART, nodes: bool = False) -> Work:
    """By turns of the two seats, with untrained networks; counted as traversals, or as their nodes."""
    from kibitz.train.deep_cfr.fitting import evaluator

    config, game = DeepCfrConfig(name, hidden=HIDDEN[name]), load(name)
    asks = [evaluator(config.shape(game), weights, "cpu") for weights in untrained(config) if weights is not None]
    traverser = Traverser(game, packing_of(game), Settings(True, False, False))

    def work(count: int) -> int:
        found, number = 0, 0
        while count > 0:
            part = min(count, in_flight)
            streams = generators(number, 2 * part)
            found += traverser.run(number % 2, streams[:part], streams[part:], asks).nodes
            count, number = count - part, number + 1
        return found

    if not nodes:
        return work
    each = work(2 * PART) / (2 * PART)
    return lambda count: work(max(1, round(count / each)))


def evaluations(name: str, batch: int) -> Work:
    """The forward pass alone, so many positions at a time."""
    from kibitz.train.deep_cfr.fitting import evaluator

    config = DeepCfrConfig(name, hidden=HIDDEN[name])
    answer = evaluator(config.shape(load(name)), untrained(config)[0], "cpu")  # type: ignore[arg-type]
    encodings = (np.random.default_rng(1).random((batch, load(name).facts.encoding)) < 0.1).astype(np.float32)

    def work(count: int) -> None:
        for _ in range(-(-count // batch)):
            answer(encodings)

    return work


def with_workers(name: str, processes: int) -> Work:
    """Traversals by worker processes, as in an iteration: parts go out, samples come back."""
    config = DeepCfrConfig(name, hidden=HIDDEN[name], traversals=10**8, in_flight=SMALL_PART)
    workers = Workers(traversing, (config,), processes, alone=0.0)
    workers.share(untrained(config))

    def work(count: int) -> None:
        parts = [(1, part % 2, part) for part in range(-(-count // SMALL_PART))]
        for _ in workers.do(parts):
            pass

    work(8 * processes * SMALL_PART)  # starts the processes and loads compiled kernels
    return work


# One traversal of hold'em is a batch by itself, so the ratio is smaller there.
ROWS = [
    Row(
        "deep-cfr-traversals-leduc", "traversals/s", 10,
        partial(our_traversals, "leduc"), partial(our_traversals, "leduc", 1),
    ),
    Row(
        "deep-cfr-traversals-holdem", "traversals/s", 3,
        partial(our_traversals, "holdem"), partial(our_traversals, "holdem", 1),
    ),
    Row(
        "deep-cfr-nodes-holdem", "nodes/s", 3,
        partial(our_traversals, "holdem", nodes=True), partial(our_traversals, "holdem", 1, nodes=True),
    ),
    Row(
        "deep-cfr-batched-leduc", "evaluations/s", 20,
        partial(evaluations, "leduc", BATCH), partial(evaluations, "leduc", 1),
    ),
    Row(
        "deep-cfr-batched-holdem", "evaluations/s", 20,
        partial(evaluations, "holdem", BATCH), partial(evaluations, "holdem", 1),
    ),
    Row(
        "deep-cfr-two-workers-holdem", "traversals/s", 1.8,
        partial(with_workers, "holdem", 2), partial(with_workers, "holdem", 1),
    ),
]  # fmt: skip
