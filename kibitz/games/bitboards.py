"""Sets of cells as the bits of one uint64: bit c is cell c of a board."""

from collections.abc import Iterable

import numpy as np

from ..jit import helper, lowest, popcount, wrapping

ONE = np.uint64(1)
ONES, TWOS, FOURS = (np.uint64((1 << 64) // (2**k + 1)) for k in (1, 2, 4))  # every other 1, 2, 4 bits
BYTES, HIGH = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
IN_BYTE = np.array(  # [byte, n]: the place of its nth bit
    [([place for place in range(8) if byte >> place & 1] + [0] * 8)[:8] for byte in range(256)], np.int8
)


def mask(cells: Iterable[int]) -> np.uint64:
    """The set of these cells. For tables: not compiled."""
    return np.uint64(sum(1 << int(cell) for cell in cells))


@helper
def bit(cell):
    return ONE << np.uint64(cell)


@wrapping
def nth(bits, n):
    """The place of the n-th bit that is set, from 0; there must be so many.

    A loop that takes away bit after bit ends where no processor foresees it: this counts in all bytes at once.
    """
    pairs = bits - (bits >> np.uint64(1) & ONES)
    fours = (pairs & TWOS) + (pairs >> np.uint64(2) & TWOS)
    byte, left = nth_of_bytes(fours + (fours >> np.uint64(4)) & FOURS, n)
    return 8 * byte + np.int64(IN_BYTE[np.int64(bits >> np.uint64(8 * byte) & np.uint64(255)), left])


@wrapping
def nth_of_bytes(counts, n):
    """Where eight bytes say how many there are of each kind: the kind of the n-th, and which of that kind, from 0.

    There must be so many, and 128 in all at most.
    """
    n = np.uint64(n)
    sums = counts * BYTES  # byte b: how many there are of kinds 0..b
    before = popcount((n * BYTES | HIGH) - sums & HIGH)  # kinds up to which there are n at most
    return before, np.int64(n - (sums << np.uint64(8) >> np.uint64(8 * before) & np.uint64(255)))


@wrapping
def sum_of_bytes(counts):
    """Less than 256."""
    return np.int64(counts * BYTES >> np.uint64(56))


@helper
def list_bits(bits, first, out, n):
    """Write `first` + each cell into `out` from place n on, ascending; returns the next free place."""
    while bits:
        out[n] = first + lowest(bits)
        bits &= bits - ONE  # without the lowest
        n += 1
    return n
