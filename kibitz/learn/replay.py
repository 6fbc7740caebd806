"""The replay buffer: a bounded store of samples in named arrays. A rule decides which samples it keeps:

exponential   a new sample replaces a random one with probability k(1 - exp(-1/(d·k))), about 1/d, where k is the
              capacity: the probability that a sample is still there falls as exp(-age/(d·k)); d = 2 in ExIt-OOS
uniform       every sample ever added is kept with the same probability (reservoir sampling, Vitter's algorithm R)
latest        the last k samples
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..core import memory
from ..core.files import Expected, Shapes, read_tensors, tensor_file_format, write_tensors
from ..core.names import BadInput, at_least, choose

RULES = ("exponential", "uniform", "latest")
FORMAT = "kibitz replay buffer 1"
OLD_FORMAT = "kibitz experience 1"  # of ExIt-OOS, before version 0.2

Arrays = dict[str, np.ndarray]


class ReplayBuffer:
    """Samples as rows of named arrays, which grow up to the capacity."""

    def __init__(
        self, capacity: int, empty: Arrays, rule: str = "uniform", decay: float = 2.0, may_be_nan: Sequence[str] = ()
    ) -> None:
        """
        Args:
            capacity: Maximum number of samples.
            empty: Each array with no rows, [0, ...]: it defines the shape and type of a row.
            rule: One of RULES.
            decay: Of the exponential rule: d in the formula above.
            may_be_nan: Names of the arrays in which NaN has a meaning.
        """
        at_least("capacity of the replay buffer", capacity, 1)
        self.capacity, self.rule, self.decay = capacity, choose("rule of the replay buffer", rule, RULES), decay
        self.arrays, self.may_be_nan = dict(empty), may_be_nan
        self.added = 0  # samples ever added

    def __len__(self) -> int:
        return min(self.added, self.capacity)

    @property
    def bytes_per_sample(self) -> int:
        return sum(int(np.prod(array.shape[1:])) * array.dtype.itemsize for array in self.arrays.values())

    def add(self, samples: Arrays, generator: np.random.Generator) -> None:
        """Add samples, the oldest first; the rule decides which are kept, and which they replace."""
        count = len(next(iter(samples.values())))
        at = slots(self.rule, self.added, self.capacity, count, generator, self.decay)
        self.added += count
        self._grow()
        kept = at >= 0
        for name, array in self.arrays.items():
            # Where a slot is hit twice, the last sample stays: NumPy assigns in order.
            array[at[kept]] = samples[name][kept]

    def _grow(self) -> None:
        for name, old in self.arrays.items():
            if len(self) > len(old):
                rows = min(self.capacity, max(len(self), 2 * len(old)))
                need = (rows + len(old)) * self.bytes_per_sample
                memory.check(need, f"a replay buffer of {rows:,} samples", "lower its capacity")
                self.arrays[name] = np.zeros((rows, *old.shape[1:]), old.dtype)
                self.arrays[name][: len(old)] = old

    def sample(self, count: int, generator: np.random.Generator) -> Arrays:
        """Draw samples uniformly, with replacement."""
        if not len(self):
            raise BadInput("the replay buffer is empty")
        drawn = generator.integers(0, len(self), size=count)
        return {name: array[drawn] for name, array in self.arrays.items()}

    def all(self) -> Arrays:
        """Return all samples; by the rule `latest` from the oldest to the newest."""
        n = len(self)
        shift = self.added % n if self.rule == "latest" and self.added > n else 0
        return {name: np.roll(array[:n], -shift, axis=0) if shift else array[:n] for name, array in self.arrays.items()}

    def save(self, path: Path) -> None:
        arrays = {name: array[: len(self)] for name, array in self.arrays.items()}
        about = {"added": self.added, "capacity": self.capacity, "rule": self.rule}
        write_tensors(path, FORMAT, arrays, **about)

    def restore(self, path: Path) -> None:
        """Read what `save` wrote.

        Raises:
            BadInput: The file is damaged, or its capacity, rule or arrays are not those of this buffer.
        """
        old = tensor_file_format(path) == OLD_FORMAT

        def schema(shapes: Shapes, about: dict[str, Any]) -> dict[str, Expected]:
            names = ("seen", "rows", "rule") if old else ("added", "capacity", "rule")
            # Before version 0.2, Deep CFR wrote the three values as a list.
            values = about["values"] if "values" in about else [about[name] for name in names]
            added, capacity, rule = int(values[0]), int(values[1]), values[2]
            if added < 0 or (capacity, rule) != (self.capacity, self.rule):
                raise ValueError("its samples are not those of this run")
            about["added"] = added
            rows = min(added, capacity)
            return {
                name: Expected(str(array.dtype), (rows, *array.shape[1:]), name not in self.may_be_nan)
                for name, array in self.arrays.items()
            }

        format = OLD_FORMAT if old else FORMAT
        arrays, about = read_tensors(path, format, "replay buffer", schema, unmarked=True)
        self.added, self.arrays = about["added"], {name: arrays[name] for name in self.arrays}


def slots(rule: str, added: int, k: int, count: int, generator: np.random.Generator, decay: float = 2.0) -> np.ndarray:
    """Return the slot of each of `count` new samples among k, `added` samples after the first; -1: not kept."""
    order = added + np.arange(count)
    if rule == "latest":
        return order % k
    if rule == "uniform":
        found = generator.integers(0, np.maximum(order + 1, k))
        found[found >= k] = -1
    else:
        found = generator.integers(0, k, size=count)
        found[generator.random(count) >= k * -math.expm1(-1 / (decay * k))] = -1
    return np.where(order < k, order, found)
