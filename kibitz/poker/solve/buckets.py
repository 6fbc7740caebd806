"""Card abstraction: which bucket each hand belongs to, on each street and board. Hands in a bucket play alike."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .cards import Cards


@dataclass(frozen=True)
class Buckets:
    """Buckets by street, for canonical boards."""

    cards: Cards
    keys: tuple[np.ndarray, ...]  # by street: canonical boards, ascending
    tables: tuple[np.ndarray, ...]  # by street: [canonical boards, hands], -1 where a hand shares a card with the board
    counts: tuple[int, ...]  # number of buckets by street

    def on(self, board: np.ndarray, street: int) -> np.ndarray:
        """[hands]: the bucket of each hand on the first cards of a board, by what this street shows of it."""
        return self.of(board[None, : self.cards.dealt[street]], street)[0]

    def of(self, boards: np.ndarray, street: int) -> np.ndarray:
        """[boards, hands]: the same for many boards, with as many cards as the street has."""
        if self.cards.dealt[street] == 0:
            return np.repeat(self.tables[street], len(boards), axis=0)
        keys, orders = self.cards.canonical(boards)
        rows = np.searchsorted(self.keys[street], keys)
        return self.tables[street][rows[:, None], self.cards.hand_orders[orders]]


def lossless(cards: Cards) -> Buckets:
    """No abstraction: a bucket for each hand on each board, but for permutations of suits."""
    tables = tuple(cards.lossless(street) for street in range(cards.streets))
    keys = tuple(cards.classes(count)[0] for count in cards.dealt)
    return Buckets(cards, keys, tables, tuple(int(table.max()) + 1 for table in tables))


def buckets_of(cards: Cards, tables: dict[int, Any]) -> Buckets:
    """Buckets of some streets as given, of the others without abstraction."""
    plain = [tables.get(street) for street in range(cards.streets)]
    found = tuple(cards.lossless(i) if table is None else np.asarray(table) for i, table in enumerate(plain))
    keys = tuple(cards.classes(count)[0] for count in cards.dealt)
    return Buckets(cards, keys, found, tuple(int(table.max()) + 1 for table in found))
