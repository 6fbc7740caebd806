"""The rules of Cuckoo."""

from typing import Annotated, NamedTuple

import numpy as np

from kibitz import CHANCE, OVER, game, helper, record
from kibitz.jit import below, copy_record

HIDDEN = -1
KEEP, SWAP = 0, 1
DEAL_FIRST, DEAL_SECOND, FIRST, DRAW_FIRST, SECOND, DRAW_SECOND, DONE = range(7)
TURN = np.array([CHANCE, CHANCE, 0, CHANCE, 1, CHANCE, OVER])
STATE = record(("step", "i1"), ("dealt", "i1", (2,)), ("held", "i1", (2,)), ("swapped", "i1", (2,)))


@game(
    "cuckoo",
    state=STATE,
    num_actions=2,
    max_chance_outcomes=lambda game: game.cards,
    max_game_length=6,
    payoffs=(-1.0, 1.0),
)
class Cuckoo(NamedTuple):
    """Cuckoo: each seat may exchange its card once for the top card of the deck; the higher card wins."""

    cards: Annotated[int, "cards in the deck", range(4, 61)] = 13

    def start(self, state):
        state.step = DEAL_FIRST
        state.dealt[:] = HIDDEN
        state.held[:] = HIDDEN
        state.swapped[:] = 0

    def turn(self, state):
        return TURN[int(state.step)]

    def actions(self, state, out):
        if TURN[int(state.step)] >= 0:
            out[0] = KEEP
            out[1] = SWAP
            return 2
        n, taken = 0, gone(state)
        for card in range(self.cards):
            if not taken >> card & 1:
                out[n] = card
                n += 1
        return n

    def play(self, state, action):
        step = int(state.step)
        seat = int(step == DEAL_SECOND or step >= SECOND)
        if TURN[step] >= 0:
            state.swapped[seat] = action
            state.step = step + (1 if action == SWAP else 2)
        else:
            if step < FIRST:
                state.dealt[seat] = action
            state.held[seat] = action
            state.step = step + 1

    def payoff(self, state, seat):
        return 1.0 if state.held[seat] > state.held[1 - seat] else -1.0

    def infoset(self, state, seat):
        own = (int(state.dealt[seat]) + 1) * 64 + int(state.held[seat]) + 1
        public = int(state.step) * 4 + 2 * int(state.swapped[0]) + int(state.swapped[1])
        return np.uint64((own * 4 + 2 + seat) * 32 + public)

    def look(self, state, seat, out):
        copy_record(out, state)
        out.dealt[1 - seat] = HIDDEN
        out.held[1 - seat] = HIDDEN

    def determinize(self, view, seat, notes, rng, out):
        copy_record(out, view)
        other = 1 - seat
        if view.step > other:
            out.dealt[other] = draw(self, out, rng)
            out.held[other] = out.dealt[other]
        if view.swapped[other] and view.step > DRAW_FIRST + 2 * other:
            out.held[other] = draw(self, out, rng)
        return True

    def show(self, state, seat):
        return "\n".join(
            f"seat {who + 1}: {'?' if state.held[who] < 0 else state.held[who] + 1}"
            + (", exchanged" if state.swapped[who] else "")
            for who in range(2)
        )

    def action_to_string(self, state, action):
        return ("keep", "swap")[action] if TURN[int(state.step)] >= 0 else str(action + 1)

    def beliefs(self, view, seat, assumed=None, own=None):
        from .beliefs import CardBeliefs

        return CardBeliefs(self, view, seat)


@helper
def gone(state):
    """The cards that aren't in the deck, as bits."""
    found = np.uint64(0)
    for seat in range(2):
        for card in (int(state.dealt[seat]), int(state.held[seat])):
            if card >= 0:
                found |= np.uint64(1) << np.uint64(card)
    return int(found)


@helper
def draw(game, state, rng):
    """A random card that is in the deck."""
    taken, left = gone(state), 0
    for card in range(game.cards):
        left += 1 - (taken >> card & 1)
    nth = below(rng, left)
    for card in range(game.cards):
        if not taken >> card & 1:
            if nth == 0:
                return card
            nth -= 1
    return HIDDEN
