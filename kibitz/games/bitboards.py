"""Sets of cells as bits of a uint64: bit c is cell c of a board."""

from collections.abc import Iterable

import numpy as np

from ..jit import helper, lowest, popcount, wrapping

ONE = np.uint64(1)
ONES, TWOS, FOURS = (np.uint64((1 << 64) // (2**k + 1)) for k in (1, 2, 4))  # every other 1, 2, 4 bits
BYTES, HIGH = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
IN_BYTE = np.array(  # [byte, n]: the index of its n-th bit
    [([place for place in range(8) if byte >> place & 1] + [0] * 8)[:8] for byte in range(256)], np.int8
)


def mask(cells: Iterable[int]) -> np.uint64:
    """The set of some cells. For tables: it is not compiled."""
    return np.uint64(sum(1 << int(cell) for cell in cells))


@helper
def bit(cell):
    return ONE << np.uint64(cell)


@wrapping
def nth(bits, n):
    """The index of the n-th set bit, counted from 0; more than n bits must be set.

    A loop that clears bit after bit ends with a branch that no processor predicts: this counts in all bytes at once.
    """
    pairs = bits - (bits >> np.uint64(1) & ONES)
    fours = (pairs & TWOS) + (pairs >> np.uint64(2) & TWOS)
    byte, left = nth_of_bytes(fours + (fours >> np.uint64(4)) & FOURS, n)
    return 8 * byte + np.int64(IN_BYTE[np.int64(bits >> np.uint64(8 * byte) & np.uint64(255)), left])


@wrapping
def nth_of_bytes(counts, n):
    """Of items of eight kinds, `counts` of each in one byte: the kind of the n-th item and its index in its kind.

    There must be more than n and at most 128 items.
    """
    n = np.uint64(n)
    sums = counts * BYTES  # byte b: number of items of kinds 0..b
    before = popcount((n * BYTES | HIGH) - sums & HIGH)  # number of kinds b for which kinds 0..b have at most n items
    return before, np.int64(n - (sums << np.uint64(8) >> np.uint64(8 * before) & np.uint64(255)))


@wrapping
def sum_of_bytes(counts):
    """The sum of eight bytes, if it is below 256."""
    return np.int64(counts * BYTES >> np.uint64(56))


@helper
def list_bits(bits, first, out, n):
    """Write `first` + each cell into `out` from index n on, ascending; return the next free index."""
    while bits:
        out[n] = first + lowest(bits)
        bits &= bits - ONE  # clear the lowest bit
        n += 1
    return n
