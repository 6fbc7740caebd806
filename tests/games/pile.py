"""A game as a user would write it, with nothing hidden: take sticks from a pile, the last one wins.

Before each move a die says how many may be taken at most. Who takes just that many moves again.
"""

from typing import Annotated, NamedTuple

from kibitz.games import CHANCE, OVER, game
from kibitz.jit import record

STATE = record(("sticks", "i4"), ("limit", "i1"), ("mover", "i1"), ("last", "i1"))  # one byte short of a full record


@game(
    "pile",
    state=STATE,
    num_actions=4,
    max_chance_outcomes=3,
    max_game_length=lambda game: 2 * game.sticks,
    payoffs=(-1.0, 1.0),
    check=lambda game: "13 sticks bring bad luck" if game.sticks == 13 else None,
)
class Pile(NamedTuple):
    sticks: Annotated[int, "sticks at the start", range(1, 41)] = 7

    def start(self, state):
        state.sticks = self.sticks
        state.limit = 0
        state.mover = 0
        state.last = 0

    def turn(self, state):
        if state.sticks == 0:
            return OVER
        return int(state.mover) if state.limit else CHANCE

    def actions(self, state, out):
        n = 3 if state.limit == 0 else min(int(state.limit), int(state.sticks))
        for i in range(n):
            out[i] = i + 1
        return n

    def chance_probs(self, state, actions, n, out):
        for i in range(n):
            out[i] = (3 - i) / 6

    def play(self, state, action):
        if state.limit == 0:
            state.limit = action
            return
        state.last = state.mover
        if action < state.limit:
            state.mover = 1 - int(state.mover)
        state.sticks -= action
        state.limit = 0

    def payoff(self, state, seat):
        return 1.0 if state.last == seat else -1.0
