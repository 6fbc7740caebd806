"""Sets of patterns as bit vectors: test at once which of many patterns match around a cell."""

from typing import Any

import numpy as np

from .compiler import backend, before_compiling
from .simd import VECTOR

WORDS = (4, 8)  # words of 64 bits per vector: patterns take one vector of 4, or any number of vectors of 8
CODES = 256  # values of a ray: four places, two bits each
ROWS = CODES + 2  # of a ray, with unused ones: at powers of two rows would compete for the same lines of the cache


def matcher(images: np.ndarray) -> tuple[Any, Any]:
    """Make two functions that find the patterns that fit around a cell, all patterns at once (see learn/tspg).

    `images[s, r]` is the ray of the board onto which symmetry s maps ray r of a pattern. The functions `fit` and
    `match` take

        rows    [anchors * rays * ROWS, words] u8: bit f of row (anchor, ray, code): whether pattern f fits this code
        codes   [cells, rays] u1: the contents of the rays around each cell
        cell, anchor    the cell, and the anchor of the patterns that is on it
        out     of `fit`, [symmetries, words] u8: the patterns that fit, per symmetry;
                of `match`, [words] u8: those of the patterns in `one` and `other` that fit under any symmetry

    The images are compiled into the code: each step needs one address, of which only the code is variable, and one AND.
    """
    symmetries, rays = images.shape
    inverse = np.argsort(images, axis=1)  # [symmetry, ray of the board] -> ray of the pattern

    def fit(rows, codes, cell, anchor, out):
        out[:] = ~np.uint64(0)
        for symmetry in range(symmetries):
            for ray in range(rays):
                out[symmetry] &= rows[(anchor * rays + inverse[symmetry, ray]) * ROWS + codes[cell, ray]]

    def match(rows, codes, cell, anchor, one, other, out):
        fits = np.zeros((symmetries, len(out)), np.uint64)
        fit(rows, codes, cell, anchor, fits)
        out[:] = one & other & np.bitwise_or.reduce(fits, axis=0)

    before_compiling(lambda: backend().register_matcher(fit, match, inverse))
    return fit, match


def any_of_three(first, second, third, one, other, out):
    """out = one & other & (first[0] & second[0] & third[0] | first[1] & second[1] & third[1] | ...).

    Arrays of u8: three [symmetries, words] with an even number of symmetries, and three [words].
    """
    out[:] = one & other & np.bitwise_or.reduce(first & second & third, axis=0)


def sum_of_bits(numbers, bits):
    """The sum of the f4 numbers whose bit is set, in the same order on every machine."""
    chosen = np.unpackbits(bits.view(np.uint8), bitorder="little").astype(bool)
    lanes = np.where(chosen, numbers, np.float32(0)).reshape(len(bits), 64 // VECTOR, VECTOR)
    parts = np.zeros((64 // VECTOR, VECTOR), np.float32)
    for word in lanes:
        parts += word
    sums = (parts[0] + parts[1]) + (parts[2] + parts[3])
    while len(sums) > 1:
        sums = sums[: len(sums) // 2] + sums[len(sums) // 2 :]
    return float(sums[0])
