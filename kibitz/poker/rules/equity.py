"""Equity of a hand against a range: its probability to win at a showdown, where a tie counts half."""

from math import comb
from typing import NamedTuple

import numpy as np

from ...games.public_cards import masks
from .display import card_names
from .ranges import all_hands, boards_to_come, deck_of, equities
from .state import DEALT_BY, HOLE

BOARDS = 10_000  # up to this number all boards that may come are tried, beyond it as many random ones


class Equity(NamedTuple):
    """The probability to win at a showdown against a range, if nobody folds."""

    hand: str  # the own cards
    share: float  # 0 to 1; a tie counts half
    exact: bool  # whether all boards that may come were tried; else random ones
    boards: int  # that were tried


def equity_by_hand(game, own, board, most=BOARDS, seed=1):
    """Equity of a hand on a board against each hand of `all_hands`, 0 where they share a card.

    Returns:
        The equities, [hands] f8; whether all boards were tried: else the standard error is up to 0.5 / sqrt(most); and
        the number of boards.
    """
    own, hands = np.asarray(own, np.int64), all_hands(game)
    boards = boards_to_come(game, own.tolist(), list(board), most, np.random.default_rng(seed))
    found, counts = np.zeros(len(hands)), np.zeros(len(hands))
    equities(own, masks(own), hands, masks(hands), boards, masks(boards), counts, found)
    missing = int(DEALT_BY[game.streets - 1]) - HOLE - len(board)
    return found, comb(len(deck_of(game)) - len(own) - len(board), missing) <= most, len(boards)


def equity(game, view, seat, probs, most=BOARDS, seed=1):
    """Equity of the seat's hand at a view against a range: the probability of each hand of the other seat."""
    board = view.board[: int(view.dealt) - HOLE].tolist()
    found, exact, boards = equity_by_hand(game, view.hole[seat], board, most, seed)
    return Equity(card_names(view.hole[seat]), float(np.dot(probs, found) / np.sum(probs)), exact, boards)
