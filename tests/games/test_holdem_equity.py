"""Equity of a hand against a range: against an enumeration by a slow evaluator, and known values before the flop."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from kibitz import games
from kibitz.poker.rules.display import card_of
from kibitz.poker.rules.equity import equity, equity_by_hand
from kibitz.poker.rules.ranges import all_hands, deck_of
from kibitz.poker.rules.state import HOLE

FULL, SMALL = games.load("holdem"), games.load("holdem:flop,ranks=5,suits=3")


def cards(text):
    return sorted((card_of(text[i : i + 2]) for i in range(0, len(text), 2)), reverse=True)


def strength(five):
    """Five cards without an ace, as a value that is larger for better hands."""
    counts = sorted(Counter(card // 4 for card in five).items(), key=lambda each: (-each[1], -each[0]))
    ranks, shape = [rank for rank, _ in counts], [count for _, count in counts]
    flush, straight = len({card % 4 for card in five}) == 1, len(ranks) == 5 and ranks[0] - ranks[4] == 4
    kinds = [flush and straight, shape == [4, 1], shape == [3, 2], flush, straight, shape == [3, 1, 1]]
    kinds += [shape == [2, 2, 1], shape == [2, 1, 1, 1], True]
    return -kinds.index(True), ranks


def enumerated(game, own, other, board):
    left = [card for card in deck_of(game) if card not in (*own, *other, *board)]
    shares = []
    for more in combinations(left, 3 - len(board)):
        mine, theirs = (strength([*hand, *board, *more]) for hand in (own, other))
        shares.append(1.0 if mine > theirs else 0.5 if mine == theirs else 0.0)
    return np.mean(shares)


@pytest.mark.parametrize(("own", "board"), [("6c6d", ""), ("5h2c", ""), ("4c3c", "6c5c2d")])
def test_equity_equals_an_enumeration_of_all_boards(own, board):
    own, board = cards(own), cards(board)
    found, exact, _ = equity_by_hand(SMALL, own, board)
    assert exact
    for hand, share in zip(all_hands(SMALL).tolist(), found, strict=True):
        expected = 0.0 if {*hand} & {*own, *board} else enumerated(SMALL, own, hand, board)
        assert share == pytest.approx(expected)


@pytest.mark.parametrize(
    ("own", "other", "known"),
    [("AhAs", "KdKc", 0.8124), ("AhAs", "KhKs", 0.8264), ("AcKc", "QhQd", 0.4606), ("7d2c", "AhAs", 0.1246)],
)
def test_equities_before_the_flop_are_the_known_ones(own, other, known):
    found, exact, boards = equity_by_hand(FULL, cards(own), [], most=4000)
    assert (exact, boards) == (False, 4000)
    assert found[all_hands(FULL).tolist().index(cards(other))] == pytest.approx(known, abs=0.03)


def test_equity_against_a_range_is_the_mean_over_its_hands():
    view = games.positions(SMALL)[0]
    view.hole[0], view.board[:3] = cards("6c6d"), cards("5c4d2h")
    view.dealt = HOLE + 3
    by_hand, *_ = equity_by_hand(SMALL, cards("6c6d"), cards("5c4d2h"))
    hands = all_hands(SMALL).tolist()
    probs = np.zeros(len(hands))
    probs[hands.index(cards("5h5d"))], probs[hands.index(cards("4c3c"))] = 0.25, 0.75
    found = equity(SMALL, view, 0, probs)
    assert by_hand[hands.index(cards("5h5d"))] == 0  # three fives
    assert by_hand[hands.index(cards("4c3c"))] == 1
    assert (found.hand, found.share, found.exact, found.boards) == ("6d 6c", 0.75, True, 1)
