"""What a poker hand is worth: two to seven cards as one number, the higher the better.

Cards add up to a key with a lane of 16 bits for each suit: a bit for each rank, and above them a count of the cards.
The lanes show a flush, and together which ranks are there once, twice, three and four times. The largest table has 96
kB, so that it may be part of every kernel: a table of all rank multisets (16 MB) may not, and needs a place on disk.
"""

import numpy as np

from ...jit import kernel, long_helper, lowest, popcount

HIGH, PAIR, TWO_PAIR, TRIPS, STRAIGHT, FLUSH, FULL_HOUSE, QUADS, STRAIGHT_FLUSH = range(9)
CATEGORY = 26  # a value is category << 26 | ranks that make it << 13 | ranks beside them

CARDS = np.arange(52)
KEYS = np.uint64(1) << (CARDS % 4 * 16 + CARDS // 4).astype(np.uint64)
KEYS += np.uint64(1) << (CARDS % 4 * 16 + 13).astype(np.uint64)

_RANKS = np.uint64(0x1FFF)
_COUNTS, _THREES, _EIGHTS = (np.uint64(0x0001000100010001 * each) for each in (7, 3, 8))
_B, _C, _D, _COUNT = (np.uint64(shift) for shift in (16, 32, 48, 13))


def _highest(count: int) -> np.ndarray:
    """Set of ranks -> its `count` highest."""
    found = np.arange(8192, dtype=np.uint16)
    while (many := np.bitwise_count(found) > count).any():
        found[many] &= found[many] - 1
    return found


def _straights() -> np.ndarray:
    """Set of ranks -> the highest of five in a row; 0: none. The ace may be the lowest."""
    sets, found = np.arange(8192), np.zeros(8192, np.uint16)
    for top, run in [(3, 0b1000000001111), *((top, 31 << top - 4) for top in range(4, 13))]:
        found[sets & run == run] = top
    return found


TOP = np.array([_highest(count) for count in range(6)])  # [count, set]
RUN = _straights()


@long_helper
def value(key):
    """Of the sum of the keys of two to seven different cards."""
    suited = (key >> _COUNT & _COUNTS) + _THREES & _EIGHTS
    if suited:  # five cards of a suit leave no room for four of a kind or a full house
        ranks = np.int64(key >> np.uint64(lowest(suited) - 3) & _RANKS)
        run = np.int64(RUN[ranks])
        return STRAIGHT_FLUSH << CATEGORY | run if run else FLUSH << CATEGORY | np.int64(TOP[5, ranks])
    a, b = np.int64(key & _RANKS), np.int64(key >> _B & _RANKS)
    c, d = np.int64(key >> _C & _RANKS), np.int64(key >> _D & _RANKS)
    both, either, both_too, either_too = a & b, a | b, c & d, c | d
    ranks = either | either_too
    twice = both | both_too | either & either_too
    thrice = both & either_too | both_too & either
    run = np.int64(RUN[ranks])
    if thrice:
        fours = both & both_too
        if fours:
            return QUADS << CATEGORY | fours << 13 | np.int64(TOP[1, ranks ^ fours])
        best = np.int64(TOP[1, thrice])
        if twice != best:
            return FULL_HOUSE << CATEGORY | best << 13 | np.int64(TOP[1, twice ^ best])
        found = TRIPS << CATEGORY | thrice << 13 | np.int64(TOP[2, ranks ^ thrice])
    else:  # without branches: which of these it is can't be foreseen
        pairs = popcount(twice)
        kind = min(pairs, 2)
        made = twice & twice - 1 if pairs > 2 else twice  # the lowest of three pairs doesn't count
        found = kind << CATEGORY | made << 13 | np.int64(TOP[5 - 2 * kind, ranks ^ made])
    return STRAIGHT << CATEGORY | run if run else found


@kernel
def evaluate(cards, out):
    """Hands side by side: `cards[i, n]` is card i of hand n, `out[n]` its value."""
    for n in range(cards.shape[1]):
        key = KEYS[cards[0, n]]
        for i in range(1, cards.shape[0]):
            key += KEYS[cards[i, n]]
        out[n] = value(key)
