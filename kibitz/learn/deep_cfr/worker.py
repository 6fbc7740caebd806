"""What a worker process does: the traversals of one part of an iteration."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...games import load
from .config import DeepCfrConfig
from .memory import Packing
from .networks import Weights
from .traversal import Fair, Samples, Settings, Traverser, WholePot

LUCK, MEMORY, FIT, INIT = 3, 4, 5, 6  # what a seed is for

Known = tuple[Weights | None, Weights | None]  # advantage networks; None: uniform
Task = tuple[int, int, int]  # iteration, seat, part


def traversing(config: DeepCfrConfig) -> Callable[[Task, Known], tuple[int, Samples, Samples, int]]:
    """What a worker needs: the function from a part of an iteration's traversals, and networks, to samples."""
    game = config.traversed(load(config.game))
    settings = Settings(config.shared_chance, config.flipped_signs, config.fallback == "uniform")
    traverser = Traverser(game, Packing(game), settings, WholePot() if config.whole_pot else Fair())
    shape = config.shape(game)
    last: list[Any] = [None, None]  # networks, and how they answer

    def traverse(task: Task, known: Known) -> tuple[int, Samples, Samples, int]:
        iteration, seat, part = task
        if last[0] is not known:
            from .learning import answerer

            last[:] = known, [None if each is None else answerer(shape, each, config.answers) for each in known]
        count = min(config.in_flight, config.traversals - part * config.in_flight)
        streams = _streams([config.seed, LUCK, iteration, seat, part], 2 * count)
        luck = streams[:count]
        if config.one_deal:
            luck = np.repeat(_streams([config.seed, LUCK, iteration], 1), count, axis=0)
        found = traverser.run(seat, luck, streams[count:], last[1])
        return part, found.advantages, found.strategies, found.nodes

    return traverse


def _streams(seed: list[int], count: int) -> np.ndarray:
    return np.random.SeedSequence(seed).generate_state(2 * count, np.uint64).reshape(count, 2)
