"""How good a hand is by rules of thumb, as the share of all other hands that it beats: what simple players go by."""

import numpy as np

from ...jit import long_helper
from .evaluator import KEYS, value
from .state import HOLE, bits

# Chen's points of the higher card; a gap to the lower one costs some.
POINTS = np.array([1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 10])
GAPS = np.array([0, 1, 2, 4, 5])
QUEEN = 10


def chen(one, two):
    """Bill Chen's points for two cards before the flop, from -1.5 (72, not suited) to 20 (aces)."""
    high, low = max(one, two) // 4, min(one, two) // 4
    if high == low:
        return max(2 * POINTS[high], 5.0)
    gap = high - low - 1
    close = gap < 2 and high < QUEEN  # a straight is near, and both ends of it are free
    return POINTS[high] - GAPS[min(gap, 4)] + close + 2 * (one % 4 == two % 4)


def openings(game):
    """[52, 52] f8: by both cards, the share of all hands of the deck with fewer points; ties count half."""
    deck = [4 * rank + suit for rank in range(game.ranks) for suit in range(game.suits)]
    pairs = [(one, two) for one in deck for two in deck if one > two]
    points = np.array([chen(*pair) for pair in pairs])
    ordered = np.sort(points)
    shares = (np.searchsorted(ordered, points, "left") + np.searchsorted(ordered, points, "right")) / (2 * len(pairs))
    found = np.zeros((52, 52))
    for (one, two), share in zip(pairs, shares, strict=True):
        found[one, two] = found[two, one] = share
    return found


@long_helper
def strength(game, view, seat, opening):
    """Of the own hand, as it is now: cards to come don't count. Before the flop by its `openings`."""
    if view.dealt == HOLE:
        return opening[int(view.hole[seat, 0]), int(view.hole[seat, 1])]
    board = np.uint64(0)
    for i in range(int(view.dealt) - HOLE):
        board += KEYS[int(view.board[i])]
    own = value(board + KEYS[int(view.hole[seat, 0])] + KEYS[int(view.hole[seat, 1])])
    cards = bits(view.hole[seat], 0, 2) | bits(view.board, 0, 5)
    beaten, hands = 0, 0
    for one in range(4 * game.ranks):
        if one % 4 >= game.suits or cards >> one + 1 & 1:
            continue
        for two in range(one):
            if two % 4 < game.suits and not cards >> two + 1 & 1:
                other = value(board + KEYS[one] + KEYS[two])
                beaten += 2 * (own > other) + (own == other)
                hands += 1
    return beaten / (2.0 * hands)
