"""Poker hand evaluation: the value of two to seven cards as one integer, the higher the better.

The keys of cards are summed. A key has a lane of 16 bits per suit: one bit per rank, and above them a count of the
cards. One lane shows a flush; all together show which ranks occur once, twice, three and four times. The largest
lookup table has 96 kB, small enough to be part of every kernel; a table of all rank multisets would need a file of
16 MB.
"""

import numpy as np

from ...jit import kernel, long_helper, lowest, popcount

HIGH, PAIR, TWO_PAIR, TRIPS, STRAIGHT, FLUSH, FULL_HOUSE, QUADS, STRAIGHT_FLUSH = range(9)
CATEGORY = 26  # a value is category << 26 | ranks that make it << 13 | kickers

CARDS = np.arange(52)
KEYS = np.uint64(1) << (CARDS % 4 * 16 + CARDS // 4).astype(np.uint64)
KEYS += np.uint64(1) << (CARDS % 4 * 16 + 13).astype(np.uint64)

_RANKS = np.uint64(0x1FFF)
_COUNTS, _THREES, _EIGHTS = (np.uint64(0x0001000100010001 * each) for each in (7, 3, 8))
_B, _C, _D, _COUNT = (np.uint64(shift) for shift in (16, 32, 48, 13))


def _highest(count: int) -> np.ndarray:
    """[set of ranks]: its `count` highest."""
    found = np.arange(8192, dtype=np.uint16)
    while (more := np.bitwise_count(found) > count).any():
        found[more] &= found[more] - 1
    return found


def _straights() -> np.ndarray:
    """[set of ranks]: the highest rank of a straight; 0: none. The ace may be the lowest."""
    sets, found = np.arange(8192), np.zeros(8192, np.uint16)
    for top, run in [(3, 0b1000000001111), *((top, 31 << top - 4) for top in range(4, 13))]:
        found[sets & run == run] = top
    return found


TOP = np.array([_highest(count) for count in range(6)])  # [count, set]
RUN = _straights()


@long_helper
def value(key):
    """The value of a hand, from the sum of the keys of its two to seven cards."""
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
    else:  # without branches: the processor couldn't predict which it is
        pairs = popcount(twice)
        kind = min(pairs, 2)
        made = twice & twice - 1 if pairs > 2 else twice  # the lowest of three pairs doesn't count
        found = kind << CATEGORY | made << 13 | np.int64(TOP[5 - 2 * kind, ranks ^ made])
    return STRAIGHT << CATEGORY | run if run else found


@kernel
def evaluate(cards, out):
    """Evaluate many hands: `cards[i, n]` is card i of hand n, `out[n]` its value."""
    for n in range(cards.shape[1]):
        key = KEYS[cards[0, n]]
        for i in range(1, cards.shape[0]):
            key += KEYS[cards[i, n]]
        out[n] = value(key)
