"""Samples of traversals in few bytes: a packed view, a value per action, a weight.

The columns of encodings are packed by what they hold, unless a game packs its views itself (see `traits`). Values of
illegal actions are NaN.
"""

from typing import Any, NamedTuple

import numpy as np

from ...games import Game
from ...jit import kernel, xor_mix
from .. import packing
from ..packing import Packed


class Packing:
    """Packs the views of a game into bytes: the columns of its encoding, by what they hold."""

    def __init__(self, game: Game) -> None:
        self.game = game

    def no_views(self) -> Packed:
        """Views without rows."""
        return Packed.empty(self.game.facts.encoding)

    def empty(self, actions: int) -> dict[str, Any]:
        """The arrays of packed samples without rows, for a `ReplayBuffer`."""
        return {
            "views": self.no_views(),
            "values": np.zeros((0, actions), np.float32),
            "weights": np.zeros(0, np.float32),
        }

    def pack(self, states: np.ndarray, seat: int, encodings: np.ndarray) -> Packed:
        """Pack positions in which a seat is to move, given with their encodings."""
        return packing.pack(encodings)

    def unpack(self, views: Packed) -> np.ndarray:
        """Return the encodings of packed views, [rows, width] f4."""
        return views.numbers()

    def unpacker(self, columns: np.ndarray, device: Any, shuffle: Any = None) -> Any:
        """Return the function from the bytes of views, [rows, bytes] u1, to their encodings, [rows, width] f4.

        Args:
            columns: Of the packed views.
            device: Where they are, for torch.
            shuffle: A generator of torch that permutes suits at random, where the game has `permutes_suits`.
        """
        return packing.unpacker(columns, device)

    def streets(self, columns: np.ndarray, views: Any) -> Any:
        """Return the street of each packed view, [rows] i8 from 0, on their device, where the game has `streets`."""
        raise NotImplementedError


class Rows(NamedTuple):
    """Samples that a network is fitted to."""

    views: Packed
    values: np.ndarray  # [rows, actions] f4
    weights: np.ndarray  # [rows] f4


def merged(rows: Rows) -> Rows:
    """Merge equal views into one row with the weighted mean of their values and the sum of their weights.

    Squared errors and cross-entropies of the mean differ from those of the rows by a constant only.
    """
    n = len(rows.views)
    slots = np.full(1 << (2 * n).bit_length(), -1, np.int32)
    first, weights, sums = np.zeros(n, np.int64), np.zeros(n), np.zeros(rows.values.shape)
    count = _add_up(_keys(rows.views.rows), rows.values, rows.weights, slots, first, weights, sums)
    mean = sums[:count] / weights[:count, None]  # NaN stays NaN
    return Rows(rows.views[first[:count]], mean.astype(np.float32), weights[:count].astype(np.float32))


@kernel
def _add_up(keys, values, weights, slots, first, totals, sums):
    """Sum the rows of equal keys, in order of first appearance; return the number of keys."""
    count, mask = 0, np.uint64(len(slots) - 1)
    for i in range(len(keys)):
        at = xor_mix(keys[i], 0) & mask
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
    """Return one number per view: the view itself if it has at most eight bytes, else a hash."""
    words = -(-views.shape[1] // 8)
    padded = np.zeros((len(views), 8 * words), np.uint8)
    padded[:, : views.shape[1]] = views
    columns = padded.view(np.uint64)
    found = columns[:, 0].copy()
    with np.errstate(over="ignore"):
        for column in columns.T[1:]:
            found = (found ^ (found >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9) + column
    return found
