"""A game with announcements: the higher of two cards wins 1, and each announcement doubles that.

Seat 0 sees its card and may double; seat 1 sees its own and may double again. Then seat 0 shows or gives up. At last
seat 1 may double once more, which its heuristic does.
"""

from typing import Annotated, NamedTuple

import numpy as np

from kibitz.games import CHANCE, OVER, game
from kibitz.jit import below, copy_record, record

CARDS = 10
SHOW, GIVE_UP = 0, 1
STATE = record(("cards", "i1", (2,)), ("step", "i1"), ("stake", "i1"), ("shown", "i1"))


@game("dare", state=STATE, num_actions=2, max_chance_outcomes=CARDS, max_game_length=6, payoffs=(-8.0, 8.0))
class Dare(NamedTuple):
    loud: Annotated[bool, "whether anybody may double"] = True

    def start(self, state):
        state.cards[:] = -1
        state.step = 0
        state.stake = 1
        state.shown = 0

    def turn(self, state):
        return (CHANCE, CHANCE, 0, 1, 0, 1, OVER)[int(state.step)]

    def actions(self, state, out):
        n = 0
        for action in range(CARDS if state.step < 2 else 2):
            if state.step != 1 or action != state.cards[0]:
                out[n] = action
                n += 1
        return n

    def play(self, state, action):
        step = int(state.step)
        if step < 2:
            state.cards[step] = action
        elif step != 4:
            state.stake = int(state.stake) * (1 + action)
        else:
            state.shown = action == SHOW
        state.step = step + 1
        if not self.loud:
            state.step = (1, 4, 4, 4, 6, 6)[step]

    def heuristic(self, state, rng):
        return int(state.step == 5) if state.step > 1 else self.sample_action(state, rng)

    def is_announcement(self, state):
        return state.step == 2 or state.step == 3 or state.step == 5

    def without_announcements(self):
        return self._replace(loud=False)

    def payoff(self, state, seat):
        won = state.shown and state.cards[0] > state.cards[1]
        return float(state.stake) if won == (seat == 0) else -float(state.stake)

    def infoset(self, state, seat):
        key = 32 * (2 + seat) + int(state.cards[seat]) + 1
        return np.uint64(16 * (8 * key + int(state.step)) + 2 * int(state.stake) + int(state.shown))

    def look(self, state, seat, out):
        copy_record(out, state)
        out.cards[1 - seat] = -1

    def determinize(self, view, seat, notes, rng, out):
        copy_record(out, view)
        if view.step > 1 - seat:
            own = int(view.cards[seat])
            card = below(rng, CARDS - (own >= 0))
            out.cards[1 - seat] = card + (0 <= own <= card)
        return True
