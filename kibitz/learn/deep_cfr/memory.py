"""What traversals found, kept small: a view packed into bytes, a value for each action, a weight.

Encodings of 0 and 1 are kept as bits, a hand of hold'em as its 16 bytes: with three values and a weight a sample of
hold'em takes 32. Values of illegal actions are NaN.
"""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import safetensors
import safetensors.numpy

from ...core.files import write_atomically
from ...games import Game
from ...games.holdem.encoding import PACKED, pack, unpack
from ...jit import kernel, mix
from ..encodings import survey
from ..replay import places

BITS, FLOATS, HANDS = "bits", "floats", "hands"
RULE = {"reservoir": "uniform", "latest": "latest"}


class Packing:
    """How views of a game are packed into bytes."""

    def __init__(self, game: Game) -> None:
        self.game, self.width = game, game.facts.encoding
        self.kind = HANDS if game.name == "holdem" else BITS if survey(game)[1] else FLOATS
        self.bytes = {HANDS: PACKED.itemsize, BITS: -(-self.width // 8), FLOATS: 4 * self.width}[self.kind]

    def pack(self, states: np.ndarray, seat: int, encodings: np.ndarray) -> np.ndarray:
        """[rows, bytes] u1 of positions in which a seat is to move, and of their encodings."""
        if self.kind == BITS:
            return np.packbits(encodings.astype(bool), axis=1)
        if self.kind == FLOATS:
            return encodings.copy().view(np.uint8)
        packed = np.zeros(len(states), PACKED)
        _pack_hands(states, seat, packed)
        return packed.view(np.uint8).reshape(len(states), self.bytes)

    def unpack(self, views: np.ndarray) -> np.ndarray:
        """The encodings again, [rows, width] f4."""
        if self.kind == BITS:
            return np.unpackbits(views, axis=1, count=self.width).astype(np.float32)
        if self.kind == FLOATS:
            return views.view(np.float32)
        found = np.zeros((len(views), self.width), np.float32)
        packed = np.ascontiguousarray(views).view(PACKED).reshape(len(views))
        _encode_hands(self.game, packed, np.zeros(1, self.game.state), found)
        return found


@kernel
def _pack_hands(states, seat, out):
    for i in range(len(states)):
        pack(states[i], seat, out[i])


@kernel
def _encode_hands(game, packed, room, out):
    for i in range(len(packed)):
        seat = unpack(game, packed[i], room[0])
        game.observe(room[0], seat, out[i])


class Rows(NamedTuple):
    """What is learned from."""

    views: np.ndarray  # [rows, bytes] u1
    values: np.ndarray  # [rows, actions] f4
    weights: np.ndarray  # [rows] f4


class Memory:
    """Arrays that grow up to a capacity, then a rule decides which rows stay."""

    def __init__(self, capacity: int, width: int, actions: int, rule: str) -> None:
        self.capacity, self.rule, self.seen = capacity, RULE[rule], 0
        self.views = np.zeros((0, width), np.uint8)
        self.values = np.zeros((0, actions), np.float32)
        self.weights = np.zeros(0, np.float32)

    def __len__(self) -> int:
        return min(self.seen, self.capacity)

    @property
    def bytes_each(self) -> int:
        return self.views.shape[1] + 4 * self.values.shape[1] + 4

    def add(self, views: np.ndarray, values: np.ndarray, weights: np.ndarray, generator: np.random.Generator) -> None:
        """Offer rows, the oldest first."""
        slots = places(self.rule, self.seen, self.capacity, len(views), generator)
        self.seen += len(views)
        self._grow(len(self))
        taken = slots >= 0
        # Row by row where a slot is hit twice the last one stays: NumPy assigns in order.
        for kept, new in ((self.views, views), (self.values, values), (self.weights, weights)):
            kept[slots[taken]] = new[taken]

    def _grow(self, rows: int) -> None:
        if rows > len(self.views):
            room = min(self.capacity, max(rows, 2 * len(self.views)))
            for name in ("views", "values", "weights"):
                old = getattr(self, name)
                new = np.zeros((room, *old.shape[1:]), old.dtype)
                new[: len(old)] = old
                setattr(self, name, new)

    def rows(self) -> Rows:
        """All, those of `latest` from the oldest to the newest."""
        n = len(self)
        found = Rows(self.views[:n], self.values[:n], self.weights[:n])
        if self.rule == "latest" and self.seen > n:
            return Rows(*(np.roll(each, -(self.seen % n), axis=0) for each in found))
        return found

    def save(self, path: Path) -> None:
        n = len(self)
        arrays = {"views": self.views[:n], "values": self.values[:n], "weights": self.weights[:n]}
        # One key: safetensors writes several in any order, and the same memory should be the same file.
        meta = {"about": json.dumps([self.seen, self.capacity, self.rule])}
        write_atomically(path, safetensors.numpy.save({k: np.ascontiguousarray(v) for k, v in arrays.items()}, meta))

    def restore(self, path: Path) -> None:
        with safetensors.safe_open(path, "numpy") as file:  # type: ignore[no-untyped-call]
            seen, capacity, rule = json.loads((file.metadata() or {})["about"])
            arrays = {key: file.get_tensor(key) for key in ("views", "values", "weights")}
        fits = (capacity, rule) == (self.capacity, self.rule)
        for name, array in arrays.items():
            kept = getattr(self, name)
            fits = fits and array.dtype == kept.dtype and array.shape[1:] == kept.shape[1:]
            fits = fits and len(array) == min(seen, self.capacity)
        if not fits:
            raise ValueError(f"{path.name} holds other samples than those of this run")
        self.seen, self.views, self.values, self.weights = seen, *(arrays[k] for k in ("views", "values", "weights"))


def merged(rows: Rows) -> Rows:
    """Equal views as one row, with their mean by weight, and all their weight.

    Squared errors and cross-entropies of the mean differ from those of the rows by a constant only.
    """
    n = len(rows.views)
    slots = np.full(1 << (2 * n).bit_length(), -1, np.int32)
    first, weights, sums = np.zeros(n, np.int64), np.zeros(n), np.zeros(rows.values.shape)
    count = _add_up(_keys(rows.views), rows.values, rows.weights, slots, first, weights, sums)
    mean = sums[:count] / weights[:count, None]  # NaN stays NaN
    return Rows(rows.views[first[:count]], mean.astype(np.float32), weights[:count].astype(np.float32))


@kernel
def _add_up(keys, values, weights, slots, first, totals, sums):
    """Row by row into the place of its key, new ones behind each other: how many keys there are."""
    count, mask = 0, np.uint64(len(slots) - 1)
    for i in range(len(keys)):
        at = mix(keys[i], 0) & mask
        while slots[at] >= 0 and keys[first[slots[at]]] != keys[i]:
            at = (at + np.uint64(1)) & mask
        if slots[at] < 0:
            slots[at] = count
            first[count] = i
            count += 1
        place = slots[at]
        totals[place] += weights[i]
        for j in range(values.shape[1]):
            sums[place, j] += np.float64(weights[i]) * values[i, j]
    return count


def _keys(views: np.ndarray) -> np.ndarray:
    """One number a view: the view itself where it has no more than eight bytes, else a hash."""
    words = -(-views.shape[1] // 8)
    padded = np.zeros((len(views), 8 * words), np.uint8)
    padded[:, : views.shape[1]] = views
    columns = padded.view(np.uint64)
    found = columns[:, 0].copy()
    with np.errstate(over="ignore"):
        for column in columns.T[1:]:
            found = (found ^ (found >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9) + column
    return found
