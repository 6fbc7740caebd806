"""What a worker process of Deep CFR does: one part of an iteration's traversals."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...games import load
from .config import DeepCfrConfig
from .networks import Weights
from .thesis_defects import final_value
from .traits import packing_of
from .traversal import SeatSamples, Settings, Traverser

CHANCE, REPLAY, FIT, INIT = 3, 4, 5, 6  # second number of a seed: what it is for

Networks = tuple[Weights | None, Weights | None]  # advantage networks; None: uniform
Task = tuple[int, int, int]  # iteration, seat, part


def traversing(config: DeepCfrConfig) -> Callable[[Task, Networks], tuple[int, SeatSamples, SeatSamples, int]]:
    """Return the function of a worker: a part of an iteration's traversals, and both networks -> samples."""
    game = config.traversed(load(config.game))
    settings = Settings(config.shared_chance, "flipped-signs" in config.defect_set, config.fallback == "uniform")
    traverser = Traverser(game, packing_of(game), settings, final_value(config.defect_set))
    shape = config.shape(game)
    last: list[Any] = [None, None]  # the last networks, and the functions that evaluate them

    def traverse(task: Task, networks: Networks) -> tuple[int, SeatSamples, SeatSamples, int]:
        iteration, seat, part = task
        if last[0] is not networks:
            from .fitting import evaluator

            device = config.inference_device
            last[:] = networks, [None if each is None else evaluator(shape, each, device) for each in networks]
        count = min(config.in_flight, config.traversals - part * config.in_flight)
        streams = _streams([config.seed, CHANCE, iteration, seat, part], 2 * count)
        chance = streams[:count]
        if "one-deal" in config.defect_set:
            chance = np.repeat(_streams([config.seed, CHANCE, iteration], 1), count, axis=0)
        found = traverser.run(seat, chance, streams[count:], last[1])
        return part, found.advantages, found.strategies, found.nodes

    return traverse


def _streams(seed: list[int], count: int) -> np.ndarray:
    return np.random.SeedSequence(seed).generate_state(2 * count, np.uint64).reshape(count, 2)
