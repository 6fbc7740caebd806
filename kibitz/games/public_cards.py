"""A game of cards as its public tree sees it: all hands of a seat at once, on one board.

A game of two seats that offers the hook `public_cards`, an object of a class derived from `PublicCards`, can be solved
on its public tree, whatever its cards and streets. Its record needs the fields `dealt`, the number of cards that are
dealt, and `line`, a number for the bets so far; what a seat may do depends on these only.

Hands with a card in common can't be held together, and a hand can't hold a card of the board. Boards that differ by a
permutation of suits are one class, its *canonical* board; the hands are permuted with it.
"""

from functools import cached_property
from itertools import combinations, permutations
from math import comb
from typing import Any

import numpy as np

from ..jit import kernel


def masks(cards):
    """[...] i8: sets of cards as bits, from cards [..., n]."""
    found = np.zeros(cards.shape[:-1], np.int64)
    for i in range(cards.shape[-1]):
        found |= np.int64(1) << cards[..., i].astype(np.int64)
    return found


class PublicCards:
    """Cards are numbered from 0, rank by rank: rank * suits + suit. A board is one card after the other."""

    ranks: int
    suits: int
    hole: int  # cards in a hand
    dealt: tuple[int, ...]  # number of cards on the board by street

    def __init__(self) -> None:
        self.deck = self.ranks * self.suits
        self.hands = np.array(sorted(hand[::-1] for hand in combinations(range(self.deck), self.hole)), np.int64)
        self.held = masks(self.hands)  # [hands]: as bits
        # hand_index[card, card]: the number of a hand
        self.hand_index = np.full((self.deck,) * self.hole, -1, np.int32)
        for order in permutations(range(self.hole)):
            self.hand_index[tuple(self.hands[:, i] for i in order)] = np.arange(len(self.hands))
        self.suit_orders = np.array(list(permutations(range(self.suits))), np.int64)

    @property
    def streets(self) -> int:
        return len(self.dealt)

    def street_of(self, dealt: int) -> int:
        """The street after so many cards have been dealt to hands and board."""
        return self.dealt.index(dealt - 2 * self.hole)

    def free(self, board: np.ndarray) -> np.ndarray:
        """[..., hands] bool: hands that don't hold a card of a board, or of each of many, [..., cards]."""
        return self.held & np.asarray(masks(board))[..., None] == 0

    def permuted(self, cards: np.ndarray, order: np.ndarray) -> np.ndarray:
        """Cards with their suits permuted."""
        return cards // self.suits * self.suits + order[cards % self.suits]

    @cached_property
    def hand_orders(self) -> np.ndarray:
        """[orders, hands] i2: the number of each hand after each permutation of suits."""
        moved = [self.permuted(self.hands, order) for order in self.suit_orders]
        return np.array([self.hand_index[tuple(each.T)] for each in moved], np.int16)

    def canonical(self, boards: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For boards [boards, cards]: their classes as numbers, and the permutation of suits that leads there.

        The order of cards on a board doesn't count: the number is the least set of cards, as bits.
        """
        best, which = np.zeros(len(boards), np.int64), np.zeros(len(boards), np.int64)
        least_sets(np.ascontiguousarray(boards, np.int64), self.suit_orders, best, which)
        return best, which

    def classes(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """All canonical boards of `count` cards as sets, ascending, and how many boards each stands for."""
        if count == 0:
            return np.zeros(1, np.int64), np.ones(1, np.int64)
        boards = np.zeros((comb(self.deck, count), count), np.int64)
        all_sets(self.deck, boards)
        return np.unique(self.canonical(boards)[0], return_counts=True)

    def values(self, boards: np.ndarray) -> np.ndarray:
        """[boards, hands] i8: the rank of each hand at a showdown; -1: it shares a card with the board."""
        raise NotImplementedError

    def lossless(self, street: int) -> np.ndarray:
        """[canonical boards, hands] i4: a bucket for each class of hands that a permutation of suits makes equal.

        -1 where a hand shares a card with the board.
        """
        keys, _ = self.classes(self.dealt[street])
        found = np.full((len(keys), len(self.hands)), -1, np.int32)
        count = 0
        for row, key in zip(found, keys.tolist(), strict=True):
            board = self.bits_to_board(key)
            same = [i for i, order in enumerate(self.suit_orders) if masks(self.permuted(board, order)) == key]
            least = self.hand_orders[same].min(axis=0)
            free = np.flatnonzero(self.free(board))
            _, row[free] = np.unique(least[free], return_inverse=True)
            row[free] += count
            count = int(row.max()) + 1
        return found

    def read(self, views: np.ndarray, seats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of views, one seat each: the number of the hand, and the board, [views, cards], as far as it is dealt."""
        raise NotImplementedError

    def write(self, views: np.ndarray, seat: int, hands: np.ndarray) -> None:
        """Give a seat these hands, by their numbers, one in each view."""
        raise NotImplementedError

    def stake(self, state: Any) -> float:
        """What the winner of a showdown wins from the other seat, in payoffs, if all bets of a position are called."""
        raise NotImplementedError

    def two_deals(self) -> list[list[int]]:
        """Two deals in the order of the game, the hands of the two seats exchanged, with different ranks of hands."""
        raise NotImplementedError

    def bits_to_board(self, key: int) -> np.ndarray:
        return np.array([card for card in range(self.deck) if key >> card & 1], np.int64)


# ---------------------------------------------------------------- kernels


@kernel
def least_sets(boards, orders, best, which):
    """The least set of cards, as bits, that a permutation of suits makes of each board, and that permutation."""
    suits = orders.shape[1]
    for b in range(len(boards)):
        best[b] = np.iinfo(np.int64).max
        for i in range(len(orders)):
            found = np.int64(0)
            for card in boards[b]:
                found |= np.int64(1) << (card // suits * suits + orders[i, card % suits])
            if found < best[b]:
                best[b], which[b] = found, i


@kernel
def all_sets(deck, out):
    """All sets of `out.shape[1]` cards, in lexicographic order."""
    size = out.shape[1]
    for i in range(size):
        out[0, i] = i
    for row in range(1, len(out)):
        place = size - 1
        while out[row - 1, place] == deck - size + place:
            place -= 1
        for i in range(size):
            out[row, i] = out[row - 1, i] if i < place else out[row - 1, place] + 1 + i - place
