"""A game as a user would write it, for three seats, each for itself: it isn't zero-sum, and some move twice in a row.

At each turn a seat says 0 or 1. The sequence, as a binary number, has a different value for each seat.
"""

from typing import Annotated, NamedTuple

import numpy as np

from kibitz.games import OVER, game
from kibitz.jit import record

STATE = record(("turns", "i1"), ("said", "i1"))
ORDER = np.array([0, 0, 1, 2, 2])
ENDS = 2 ** len(ORDER)
WORTH = np.random.default_rng(1).permuted(np.tile(np.arange(ENDS), (3, 1)), axis=1)  # [seat, end]


@game(
    "heirs", state=STATE, seats=3, num_actions=2, max_game_length=len(ORDER), payoffs=(0.0, ENDS - 1.0), zero_sum=False
)
class Heirs(NamedTuple):
    will: Annotated[int, "added to all values, modulo their number", range(ENDS)] = 0

    def start(self, state):
        state.turns = 0
        state.said = 0

    def turn(self, state):
        return int(ORDER[state.turns]) if state.turns < len(ORDER) else OVER

    def actions(self, state, out):
        out[0] = 0
        out[1] = 1
        return 2

    def play(self, state, action):
        state.turns += 1
        state.said = 2 * int(state.said) + action

    def payoff(self, state, seat):
        return float((WORTH[seat, state.said] + self.will) % ENDS)
