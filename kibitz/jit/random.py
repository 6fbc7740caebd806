"""Hashing and pseudo-random numbers (splitmix64) for kernels."""

import numpy as np

from .compiler import helper, wrapping

_GOLDEN, _A, _B = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_C = np.uint64(0xD1342543DE82EF95)


@wrapping
def mix(key, value):
    """Hash a value (a whole number ≥ 0) into a uint64 key; the result is never 0.

    Different pairs of small numbers have different hashes, and so has another order: `mix(mix(1, 2), 3)` is not
    `mix(mix(1, 3), 2)`.
    """
    z = np.uint64(key) * _C + np.uint64(value) + _GOLDEN
    z = (z ^ (z >> np.uint64(30))) * _A
    z = (z ^ (z >> np.uint64(27))) * _B
    return (z ^ (z >> np.uint64(31))) | np.uint64(1) << np.uint64(63)


@wrapping
def xor_mix(key, value):
    """The hash of the shipped games, in whose strategy files and run folders its keys are stored.

    It is sound only where the key is a hash already: it depends on `key ^ value`, so that of two small numbers
    `xor_mix(1, 4) == xor_mix(2, 7)`. Elsewhere use `mix`.
    """
    z = (key ^ np.uint64(value)) + _GOLDEN
    z = (z ^ (z >> np.uint64(30))) * _A
    z = (z ^ (z >> np.uint64(27))) * _B
    return (z ^ (z >> np.uint64(31))) | np.uint64(1) << np.uint64(63)


@wrapping
def draw(rng):
    """64 random bits from `rng`, an array of two uint64 (splitmix64, one draw ahead).

    The bits were computed by the draw before, so that a processor that waits for a random branch doesn't wait for the
    multiplications too.
    """
    ready = rng[1]
    rng[0] += _GOLDEN
    z = rng[0]
    z = (z ^ (z >> np.uint64(30))) * _A
    z = (z ^ (z >> np.uint64(27))) * _B
    rng[1] = z ^ (z >> np.uint64(31))
    return ready


@helper
def below(rng, n):
    """A uniformly random whole number in 0..n-1, n < 2**32."""
    return np.int64((draw(rng) >> np.uint64(32)) * np.uint64(n) >> np.uint64(32))


@helper
def uniform(rng):
    """A uniformly random number in [0, 1)."""
    return float(draw(rng) >> np.uint64(11)) * 2.0**-53


def generators(seed: int, count: int) -> np.ndarray:
    """`count` independent generators, one per row: kernels take `rngs[i]`."""
    return np.random.SeedSequence(seed).generate_state(2 * count, np.uint64).reshape(count, 2)
