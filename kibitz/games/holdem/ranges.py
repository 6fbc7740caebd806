"""All hands that a seat may hold, at once: what beats what when the cards are shown.

A hand is a row of `all_hands`; a range is a weight for each. No two seats hold the same card, so of a range only the
hands count that share none with the own one.
"""

from itertools import combinations
from math import comb

import numpy as np

from ...jit import kernel
from .evaluator import KEYS, value
from .table import DEALT_BY, HOLE


def deck_of(game):
    return [4 * rank + suit for rank in range(game.ranks) for suit in range(game.suits)]


def all_hands(game):
    """[hands, 2] i8, the higher card first."""
    return np.array([(high, low) for high in deck_of(game) for low in deck_of(game) if low < high])


def masks(cards):
    """[..., n] cards -> [...] i8: a bit each."""
    found = np.zeros(cards.shape[:-1], np.int64)
    for i in range(cards.shape[-1]):
        found |= np.int64(1) << cards[..., i].astype(np.int64)
    return found


def boards_to_come(game, own, board, most, generator):
    """[boards, cards] i8: how the board may look at the end, all of them or, where they are more, `most` drawn."""
    left = [card for card in deck_of(game) if card not in own and card not in board]
    missing = int(DEALT_BY[game.streets - 1]) - HOLE - len(board)
    if comb(len(left), missing) <= most:
        more = np.array(list(combinations(left, missing)), np.int64)
    else:
        more = np.array(left)[generator.random((most, len(left))).argpartition(missing)[:, :missing]]
    return np.hstack([np.tile(np.array(board, np.int64), (len(more), 1)), more])


@kernel
def equities(own, own_cards, hands, cards, boards, board_cards, counts, out):
    """What a hand wins against each other one when all boards are shown, a tie half; 0 where the two can't meet.

    `cards` are masks of hands and boards; `counts` is room for how many boards each hand is there for.
    """
    for h in range(len(hands)):
        out[h] = counts[h] = 0.0
    for b in range(len(boards)):
        key = np.uint64(0)
        for i in range(boards.shape[1]):
            key += KEYS[boards[b, i]]
        mine, taken = value(key + KEYS[own[0]] + KEYS[own[1]]), own_cards | board_cards[b]
        for h in range(len(hands)):
            if cards[h] & taken == 0:
                other = value(key + KEYS[hands[h, 0]] + KEYS[hands[h, 1]])
                out[h] += (mine > other) + 0.5 * (mine == other)
                counts[h] += 1.0
    for h in range(len(hands)):
        out[h] /= max(counts[h], 1.0)
