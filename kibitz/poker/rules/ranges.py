"""Ranges: weights for all hands that a seat may hold, and their showdowns.

A hand is a row of `all_hands`; a range is a weight for each. No two seats hold the same card, so against a given hand
only those hands of a range count that share no card with it.
"""

from itertools import combinations
from math import comb

import numpy as np

from ...jit import kernel
from .evaluator import KEYS, value
from .state import DEALT_BY, HOLE


def deck_of(game):
    """The cards of a game's deck."""
    return [4 * rank + suit for rank in range(game.ranks) for suit in range(game.suits)]


def all_hands(game):
    """[hands, 2] i8: all pairs of cards, the higher card first."""
    return np.array([(high, low) for high in deck_of(game) for low in deck_of(game) if low < high])


def boards_to_come(game, own, board, most, generator):
    """[boards, cards] i8: all possible complete boards, or `most` random ones if there are more."""
    left = [card for card in deck_of(game) if card not in own and card not in board]
    missing = int(DEALT_BY[game.streets - 1]) - HOLE - len(board)
    if comb(len(left), missing) <= most:
        more = np.array(list(combinations(left, missing)), np.int64)
    else:
        more = np.array(left)[generator.random((most, len(left))).argpartition(missing)[:, :missing]]
    return np.hstack([np.tile(np.array(board, np.int64), (len(more), 1)), more])


@kernel
def equities(own, own_cards, hands, cards, boards, board_cards, counts, out):
    """Equity of a hand against each other hand over these boards; ties count half, 0 where the two share a card.

    `cards` and `board_cards` are masks of hands and boards; `counts` [hands] is scratch for the number of boards.
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


# ---------------------------------------------------------------- range against range


@kernel
def hand_values(hands, cards, boards, board_cards, out):
    """out[b, h]: the value of hand h on board b; -1 where they share a card."""
    for b in range(len(boards)):
        key = np.uint64(0)
        for i in range(boards.shape[1]):
            key += KEYS[boards[b, i]]
        for h in range(len(hands)):
            out[b, h] = -1
            if cards[h] & board_cards[b] == 0:
                out[b, h] = value(key + KEYS[hands[h, 0]] + KEYS[hands[h, 1]])


@kernel
def opposing_weight(hands, weights, by_card, out):
    """out[b, h]: the total weight of the hands that share no card with hand h; impossible hands have weight 0."""
    for b in range(len(weights)):
        by_card[:] = 0.0
        total = 0.0
        for h in range(len(hands)):
            total += weights[b, h]
            by_card[hands[h, 0]] += weights[b, h]
            by_card[hands[h, 1]] += weights[b, h]
        for h in range(len(hands)):
            out[b, h] = total - by_card[hands[h, 0]] - by_card[hands[h, 1]] + weights[b, h]


@kernel
def showdown(hands, values, order, weights, by_card, out):
    """out[b, h]: the weight of the hands that hand h beats at a showdown, minus the weight of those that beat it.

    `order` sorts each row of values. Upwards, then downwards, the weights of all lower (higher) hands are summed, in
    total and by card: the sums of the two own cards are subtracted, and no other hand contains both.
    """
    count = len(hands)
    for b in range(len(weights)):
        for h in range(count):
            out[b, h] = 0.0
        for way in range(2):
            by_card[:] = 0.0
            total, at, sign = 0.0, 0, 1.0 - 2.0 * way
            while at < count:
                end = at
                level = values[b, order[b, at if way == 0 else count - 1 - at]]
                while end < count and values[b, order[b, end if way == 0 else count - 1 - end]] == level:
                    h = order[b, end if way == 0 else count - 1 - end]
                    out[b, h] += sign * (total - by_card[hands[h, 0]] - by_card[hands[h, 1]])
                    end += 1
                for i in range(at, end):
                    h = order[b, i if way == 0 else count - 1 - i]
                    total += weights[b, h]
                    by_card[hands[h, 0]] += weights[b, h]
                    by_card[hands[h, 1]] += weights[b, h]
                at = end
