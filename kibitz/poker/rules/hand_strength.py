"""Hand values at a position, and hand strength for simple players: the share of all other hands that a hand beats."""

import numpy as np

from ...jit import long_helper
from .evaluator import KEYS, value
from .ranges import all_hands
from .state import HOLE, bits

# Chen's formula: points of the higher card, and deductions for the gap to the lower one.
POINTS = np.array([1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 10])
GAPS = np.array([0, 1, 2, 4, 5])
QUEEN = 10


def chen_points(one, two):
    """Points of two hole cards by Bill Chen's formula, from -1.5 (72 offsuit) to 20 (aces)."""
    high, low = max(one, two) // 4, min(one, two) // 4
    if high == low:
        return max(2 * POINTS[high], 5.0)
    gap = high - low - 1
    close = gap < 2 and high < QUEEN  # bonus for likely straights that are open at both ends
    return POINTS[high] - GAPS[min(gap, 4)] + close + 2 * (one % 4 == two % 4)


def preflop_strength(game):
    """[52, 52] f8: for two hole cards the share of all hands of the deck with fewer Chen points; ties count half."""
    pairs = all_hands(game)
    points = np.array([chen_points(*pair) for pair in pairs])
    ordered = np.sort(points)
    shares = (np.searchsorted(ordered, points, "left") + np.searchsorted(ordered, points, "right")) / (2 * len(pairs))
    found = np.zeros((52, 52))
    for (one, two), share in zip(pairs, shares, strict=True):
        found[one, two] = found[two, one] = share
    return found


@long_helper
def hand_value(state, seat):
    """The value of a seat's hole cards with the board."""
    key = KEYS[int(state.hole[seat, 0])] + KEYS[int(state.hole[seat, 1])]
    for i in range(int(state.dealt) - HOLE):
        key += KEYS[int(state.board[i])]
    return int(value(key))


@long_helper
def hand_strength(game, view, seat, preflop):
    """The share of possible other hands that a seat's hand beats on the present board; ties count half.

    Cards to come are not considered. Before the flop it is looked up in `preflop` (`preflop_strength`).
    """
    if view.dealt == HOLE:
        return preflop[int(view.hole[seat, 0]), int(view.hole[seat, 1])]
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
