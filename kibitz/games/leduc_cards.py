"""The cards of Leduc poker, for solvers on its public tree."""

from typing import Any

import numpy as np

from .public_cards import PublicCards


class LeducCards(PublicCards):
    """One card in hand, one on the board; a pair with it beats the higher card."""

    hole = 1
    dealt = (0, 1)

    def __init__(self, game: Any) -> None:
        self.game, self.ranks, self.suits = game, game.ranks, game.suits
        super().__init__()

    def values(self, boards: np.ndarray) -> np.ndarray:
        ranks = self.hands[:, 0] // self.suits
        paired = ranks == boards[:, :1] // self.suits
        return np.where(self.hands[:, 0] == boards[:, :1], -1, ranks + self.ranks * paired)

    def lossless(self, street: int) -> np.ndarray:
        if self.game.distinct_suits:
            return super().lossless(street)
        ranks = self.hands[:, 0] // self.suits
        if street == 0:
            return ranks[None].astype(np.int32)
        boards = np.array([self.bits_to_board(key) for key in self.classes(1)[0].tolist()])
        return np.where(self.values(boards) < 0, -1, boards // self.suits * self.ranks + ranks).astype(np.int32)

    def read(self, views: np.ndarray, seats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        copies = 1 if self.game.distinct_suits else self.suits
        hand = views["cards"][np.arange(len(views)), seats].astype(np.int64) * copies
        public = np.maximum(views["public"], 0).astype(np.int64) * copies
        return hand, (public + (public == hand) * (copies > 1))[:, None]  # of equal ranks, another card

    def write(self, views: np.ndarray, seat: int, hands: np.ndarray) -> None:
        views["cards"][:, seat] = hands // (1 if self.game.distinct_suits else self.suits)

    def stake(self, state: Any) -> float:
        return float(state.level)

    def two_deals(self) -> list[list[int]]:
        kind = 1 if self.game.distinct_suits else self.suits
        one, two = 0, self.deck - 1
        board = next(card for card in range(self.deck) if card not in (one, two))
        return [[a // kind, b // kind, board // kind] for a, b in ((one, two), (two, one))]
