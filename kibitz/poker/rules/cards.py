"""The cards of hold'em, for solvers on its public tree."""

from typing import Any

import numpy as np

from ...core.names import BadInput
from ...games import full_name
from ...games.public_cards import PublicCards, masks
from .ranges import all_hands, hand_values
from .state import DEALT_BY, HOLE


class HoldemCards(PublicCards):
    """Two hole cards; three, one and one on the board."""

    hole = 2

    def __init__(self, game: Any) -> None:
        self.game = game
        self.ranks, self.suits = game.ranks, game.suits
        self.dealt = tuple(int(each) - HOLE for each in DEALT_BY[: game.streets])
        super().__init__()
        self.codes = np.array([4 * rank + suit for rank in range(self.ranks) for suit in range(self.suits)])
        assert (self.codes[self.hands] == all_hands(game)).all()

    def values(self, boards: np.ndarray) -> np.ndarray:
        found = np.zeros((len(boards), len(self.hands)), np.int64)
        coded, codes = self.codes[boards], self.codes[self.hands]
        hand_values(codes, masks(codes), coded, masks(coded), found)
        return found

    def read(self, views: np.ndarray, seats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        numbers = np.zeros(53, np.int64)
        numbers[self.codes] = np.arange(self.deck)
        hole = numbers[views["hole"][np.arange(len(views)), seats]]
        return self.hand_index[hole[:, 0], hole[:, 1]].astype(np.int64), numbers[views["board"][:, : self.dealt[-1]]]

    def write(self, views: np.ndarray, seat: int, hands: np.ndarray) -> None:
        views["hole"][:, seat] = self.codes[self.hands[hands]]

    def stake(self, state: Any) -> float:
        return int(state.paid.max()) / self.game.big_blind

    def two_deals(self) -> list[list[int]]:
        for seed in range(1000):
            cards = np.random.default_rng(seed).permutation(self.deck)[: 4 + self.dealt[-1]]
            (one, two, three, four), board = cards[:4], cards[4:]
            values = self.values(board[None])[0, self.hand_index[[one, three], [two, four]]]
            if values[0] != values[1]:
                orders = ((one, two, three, four), (three, four, one, two))
                return [self.codes[[*order, *board]].tolist() for order in orders]
        raise BadInput(f"{full_name(self.game)} has no two hands of different ranks")
