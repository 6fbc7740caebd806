"""Rows of numbers in few bytes, none of them changed: what learners keep of encodings.

What a column takes follows from its own numbers: a bit where all are 0 or 1, a byte where they are whole and at most
255, else the four bytes of a float32. A row has the bits first, then the bytes, then the floats, each in the order of
the columns. Rows that need more than those before them widen their columns.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..jit import helper, kernel

if TYPE_CHECKING:
    import torch

BIT, BYTE, FLOAT = range(3)
COLUMNS = ".columns"  # behind the name of packed rows in a file: what their columns take
ONE = np.uint32(0x3F800000)  # 1.0 as float32
BITS = 1 << 17  # numbers that are checked and packed at once: they stay in a core's cache
BLOCK = 1 << 14  # rows that are widened at once
NEGATIVE = np.uint32(0x80000000)  # the first negative number, which is -0


@dataclass(frozen=True)
class Packed:
    """Rows in few bytes."""

    rows: np.ndarray  # [rows, bytes] u1
    columns: np.ndarray  # [width] u1: BIT, BYTE or FLOAT

    @classmethod
    def empty(cls, width: int, kind: int = BIT) -> "Packed":
        """No rows."""
        columns = np.full(width, kind, np.uint8)
        return cls(np.zeros((0, size_of(columns)), np.uint8), columns)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, which: Any) -> "Packed":
        """Some of the rows, by a slice, a mask or their numbers."""
        return Packed(self.rows[which], self.columns)

    def numbers(self) -> np.ndarray:
        """Return the rows as they were packed, [rows, width] f4."""
        bits, whole, floats = places(self.columns)
        first, second = -(-len(bits) // 8), -(-len(bits) // 8) + len(whole)
        zeros_and_ones = np.unpackbits(self.rows[:, :first], axis=1, count=len(bits)).astype(np.float32)
        if len(bits) == len(self.columns):
            return zeros_and_ones
        found = np.zeros((len(self.rows), len(self.columns)), np.float32)
        found[:, bits], found[:, whole] = zeros_and_ones, self.rows[:, first:second]
        found[:, floats] = self.rows[:, second:].copy().view(np.float32)
        return found

    def widened(self, columns: np.ndarray) -> "Packed":
        """The same rows with columns that are as wide or wider."""
        if np.array_equal(columns, self.columns):
            return self
        rows = np.zeros((len(self), size_of(columns)), np.uint8)
        for first in range(0, len(self), BLOCK):
            rows[first : first + BLOCK] = _packed(self[first : first + BLOCK].numbers(), columns).rows
        return Packed(rows, columns)


@helper
def to_bits(numbers, out):
    """Write float32 numbers, given as their bit patterns, as bits; return whether all of them are 0 or 1."""
    others = 0
    for i in range(len(numbers)):
        number = numbers[i]
        is_one = number == ONE
        others |= np.int32((number != 0) & ~is_one)
        out[i] = is_one
    return others == 0


@kernel
def all_to_bits(numbers, out):
    """Do so with rows, up to the first that has other numbers; return whether there is none."""
    row = 0
    while row < len(numbers) and to_bits(numbers[row], out[row]):
        row += 1
    return row == len(numbers)


def pack(numbers: np.ndarray) -> Packed:
    """Pack rows of numbers, [rows, width] of float32 or a type that it holds exactly."""
    if not np.can_cast(numbers.dtype, np.float32, "safe"):
        raise TypeError(f"{numbers.dtype} can't be packed: float32 doesn't hold all of its numbers")
    columns = np.full(numbers.shape[1], BIT, np.uint8)
    if numbers.dtype == bool or (numbers.dtype == np.uint8 and numbers.max(initial=0) <= 1):
        return Packed(np.packbits(numbers, axis=1), columns)
    numbers = np.ascontiguousarray(numbers, np.float32)
    patterns, rows = numbers.view(np.uint32), np.zeros((len(numbers), size_of(columns)), np.uint8)
    bits = np.zeros((max(1, min(BITS // max(1, len(columns)), len(rows))), len(columns)), np.uint8)
    for first in range(0, len(rows), len(bits)):
        block = patterns[first : first + len(bits)]
        if not all_to_bits(block, bits):
            break
        rows[first : first + len(bits)] = np.packbits(bits[: len(block)], axis=1)
    else:
        return Packed(rows, columns)
    others = (patterns != 0) & (patterns != ONE)
    if others.any():
        wide = np.flatnonzero(others.any(axis=0))
        whole = (
            (patterns[:, wide] < NEGATIVE)
            & (numbers[:, wide] <= 255)
            & (np.floor(numbers[:, wide]) == numbers[:, wide])
        )
        columns[wide] = np.where(whole.all(axis=0), BYTE, FLOAT)
    return _packed(numbers, columns)


def joined(parts: Sequence[Packed]) -> Packed:
    """All rows of the parts, one after the other."""
    columns = np.max([part.columns for part in parts], axis=0)
    return Packed(np.concatenate([part.widened(columns).rows for part in parts]), columns)


def stored(rows: np.ndarray, columns: np.ndarray | None, width: int) -> Packed:
    """The rows of a file, checked. Files from before version 0.3 have no `columns`: all are alike.

    Raises:
        ValueError: They don't fit together, or are of another width.
    """
    if columns is None:
        rows = np.ascontiguousarray(rows).view(np.uint8)
        alike = [np.full(width, kind, np.uint8) for kind in (BIT, BYTE, FLOAT)]
        columns = next((each for each in alike if size_of(each) == rows.shape[1]), np.zeros(0, np.uint8))
    if len(columns) != width or columns.max(initial=0) > FLOAT or size_of(columns) != rows.shape[1]:
        raise ValueError("its rows don't fit their columns")
    return Packed(rows, columns)


def size_of(columns: np.ndarray) -> int:
    """Bytes of a row."""
    bits, whole, floats = (int((columns == kind).sum()) for kind in (BIT, BYTE, FLOAT))
    return -(-bits // 8) + whole + 4 * floats


def places(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The numbers of the columns that are bits, bytes and floats."""
    bits, whole, floats = (np.flatnonzero(columns == kind) for kind in (BIT, BYTE, FLOAT))
    return bits, whole, floats


def unpacker(columns: np.ndarray, device: "torch.device | str") -> "Callable[[torch.Tensor], torch.Tensor]":
    """Return the function [rows, bytes] u1 -> [rows, width] f4, by torch on a device."""
    import torch

    bits, whole, floats = places(columns)
    shifts = torch.arange(7, -1, -1, dtype=torch.uint8, device=device)
    first, second = -(-len(bits) // 8), -(-len(bits) // 8) + len(whole)
    order = torch.from_numpy(np.argsort(np.concatenate([bits, whole, floats]))).to(device)

    def unpack(rows: torch.Tensor) -> torch.Tensor:
        found = (rows[:, :first, None] >> shifts & 1).flatten(1)[:, : len(bits)].float()
        if len(bits) == len(columns):
            return found
        last = rows[:, second:].reshape(len(rows), len(floats), 4).clone().view(torch.float32).flatten(1)
        return torch.cat([found, rows[:, first:second].float(), last], 1)[:, order]

    return unpack


def on_device(packed: Packed, device: "torch.device | str") -> "torch.Tensor":
    """Packed rows as numbers on a device, to which their bytes are sent."""
    import torch

    return unpacker(packed.columns, device)(torch.from_numpy(packed.rows).to(device))


def _packed(numbers: np.ndarray, columns: np.ndarray) -> Packed:
    bits, whole, floats = places(columns)
    if len(bits) == len(columns):
        return Packed(np.packbits(numbers.astype(bool), axis=1), columns)
    parts = np.packbits(numbers[:, bits].astype(bool), axis=1), numbers[:, whole].astype(np.uint8)
    return Packed(np.concatenate([*parts, numbers[:, floats].copy().view(np.uint8)], axis=1), columns)
