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
from ..core.files import readable
from ..core.names import BadInput, at_least, choose
from ..core.tensor_files import About, Declared, Expected, Format, Shapes, like
from .learner import Samples
from .packing import COLUMNS, Packed, pack, size_of, stored

DECAY = 2.0  # d of the exponential rule
RULES = ("exponential", "uniform", "latest")
FORMAT = Format("kibitz replay buffer 1", "replay buffer", about={"added": int, "capacity": int, "rule": str})

Arrays = dict[str, np.ndarray]


class ReplayBuffer:
    """Samples as rows of named arrays, which grow up to the capacity."""

    def __init__(self, capacity: int, empty: Samples, rule: str = "uniform", may_be_nan: Sequence[str] = ()) -> None:
        """
        Args:
            capacity: Maximum number of samples.
            empty: Each array with no rows, [0, ...]: it defines the shape and type of a row. Packed rows stay so, and
                are widened where new ones need it.
            rule: One of RULES.
            may_be_nan: Names of the arrays in which NaN has a meaning.
        """
        at_least("capacity of the replay buffer", capacity, 1)
        self.capacity, self.rule = capacity, choose("rule of the replay buffer", rule, RULES)
        self.arrays: Samples = dict(empty)
        self.may_be_nan = may_be_nan
        self.added = 0  # samples ever added

    def __len__(self) -> int:
        return min(self.added, self.capacity)

    @property
    def bytes_per_sample(self) -> int:
        return sum(int(np.prod(array.shape[1:])) * array.dtype.itemsize for array in self._plain().values())

    def _plain(self) -> Arrays:
        """The arrays, and the bytes of packed rows."""
        return {name: each.rows if isinstance(each, Packed) else each for name, each in self.arrays.items()}

    def add(self, samples: Samples, generator: np.random.Generator) -> None:
        """Add samples, the oldest first; the rule decides which are kept, and which they replace."""
        count = len(next(iter(samples.values())))
        at = slots(self.rule, self.added, self.capacity, count, generator)
        self.added += count
        given = {name: self._alike(name, samples[name]) for name in self.arrays}
        self._grow()
        kept = at >= 0
        for name, array in self._plain().items():
            # Where a slot is hit twice, the last sample stays: NumPy assigns in order.
            array[at[kept]] = given[name][kept]

    def _alike(self, name: str, rows: Any) -> np.ndarray:
        """Rows to be added, as they are stored: packed ones and those before them get the same columns."""
        before = self.arrays[name]
        if not isinstance(before, Packed):
            return np.asarray(rows)
        rows = rows if isinstance(rows, Packed) else pack(rows)
        columns = np.maximum(before.columns, rows.columns)
        memory.check(
            len(before) * size_of(columns), f"a replay buffer of {len(before):,} samples", "lower its capacity"
        )
        self.arrays[name] = before.widened(columns)
        return rows.widened(columns).rows  # type: ignore[no-any-return]

    def _grow(self) -> None:
        for name, old in self._plain().items():
            if len(self) > len(old):
                rows = min(self.capacity, max(len(self), 2 * len(old)))
                need = (rows + len(old)) * self.bytes_per_sample
                memory.check(need, f"a replay buffer of {rows:,} samples", "lower its capacity")
                new = np.zeros((rows, *old.shape[1:]), old.dtype)
                new[: len(old)] = old
                before = self.arrays[name]
                self.arrays[name] = Packed(new, before.columns) if isinstance(before, Packed) else new

    def sample(self, count: int, generator: np.random.Generator) -> Samples:
        """Draw samples uniformly, with replacement."""
        if not len(self):
            raise BadInput("the replay buffer is empty")
        drawn = generator.integers(0, len(self), size=count)
        return {name: array[drawn] for name, array in self.arrays.items()}

    def take(self, which: np.ndarray) -> Samples:
        """Some samples by their numbers; by the rule `latest` 0 is the oldest."""
        at = (which + self._oldest) % max(len(self), 1)
        return {name: array[at] for name, array in self.arrays.items()}

    def all(self) -> Samples:
        """Return all samples; by the rule `latest` from the oldest to the newest."""
        if self._oldest:
            return self.take(np.arange(len(self)))
        return {name: array[: len(self)] for name, array in self.arrays.items()}

    @property
    def _oldest(self) -> int:
        """The slot of sample 0."""
        return self.added % self.capacity if self.rule == "latest" and self.added > self.capacity else 0

    def refill(self, samples: Samples, added: int) -> None:
        """Hold these samples, by their slots, of so many that were ever added; the arrays become its own."""
        self.added = added
        self.arrays = {name: samples[name][: len(self)] for name in self.arrays}

    def save(self, path: Path) -> None:
        arrays = {name: array[: len(self)] for name, array in self._plain().items()}
        for name, array in self.arrays.items():
            if isinstance(array, Packed):
                arrays[name + COLUMNS] = array.columns
        FORMAT.write(path, arrays, added=self.added, capacity=self.capacity, rule=self.rule)

    def restore(self, path: Path) -> None:
        """Read what `save` wrote.

        Raises:
            BadInput: The file is damaged, or its capacity, rule or arrays are not those of this buffer.
        """

        def declared(about: About, shapes: Shapes) -> Declared:
            if about["added"] < 0:
                raise ValueError("it has less than no samples")
            rows, wanted = min(about["added"], self.capacity), dict[str, str | Expected]()
            for name, array in self.arrays.items():
                if isinstance(array, Packed):  # before version 0.3 as floats, or without `columns`
                    wanted[name] = Expected(("uint8", "float32"), (rows, None), finite=False)
                    if name + COLUMNS in shapes:
                        wanted[name + COLUMNS] = f"uint8 {len(array.columns)}"
                else:
                    wanted[name] = like(array, rows, finite=name not in self.may_be_nan)
            return wanted

        arrays, about = FORMAT.read(path, declared, same={"capacity": self.capacity, "rule": self.rule})
        with readable(path, FORMAT.what):
            restored = {
                name: stored(arrays[name], arrays.get(name + COLUMNS), len(empty.columns))
                if isinstance(empty, Packed)
                else arrays[name]
                for name, empty in self.arrays.items()
            }
        self.added, self.arrays = about["added"], restored


def slots(rule: str, added: int, k: int, count: int, generator: np.random.Generator) -> np.ndarray:
    """Return the slot of each of `count` new samples among k, `added` samples after the first; -1: not kept."""
    order = added + np.arange(count)
    if rule == "latest":
        return order % k
    if rule == "uniform":
        found = generator.integers(0, np.maximum(order + 1, k))
        found[found >= k] = -1
    else:
        found = generator.integers(0, k, size=count)
        found[generator.random(count) >= k * -math.expm1(-1 / (DECAY * k))] = -1
    return np.where(order < k, order, found)
