"""Kuhn poker for three, as a user would write it: four cards, one bet, and the others in turn fold or call."""

from typing import NamedTuple

import numpy as np

from kibitz import CHANCE, OVER, game, record
from kibitz.jit import below, copy_record, mix

CARDS, HIDDEN = 4, -1
STATE = record(("cards", "i1", (3,)), ("dealt", "i1"), ("moves", "i1"), ("line", "i1", (5,)), ("bettor", "i1"))


@game(
    "three_kuhn", state=STATE, seats=3, num_actions=2, max_chance_outcomes=CARDS, max_game_length=8, payoffs=(-2.0, 4.0)
)
class ThreeKuhn(NamedTuple):
    """Action 0: check or fold, 1: bet or call."""

    def start(self, state):
        state.cards[:] = HIDDEN
        state.dealt = 0
        state.moves = 0
        state.line[:] = HIDDEN
        state.bettor = HIDDEN

    def turn(self, state):
        if state.dealt < 3:
            return CHANCE
        if state.bettor < 0:
            return OVER if state.moves == 3 else int(state.moves)
        return OVER if state.moves == int(state.bettor) + 3 else int(state.moves) % 3

    def actions(self, state, out):
        n = 0
        for action in range(CARDS if state.dealt < 3 else 2):
            free = True
            for seat in range(3 if state.dealt < 3 else 0):
                free = free and state.cards[seat] != action
            if free:
                out[n] = action
                n += 1
        return n

    def play(self, state, action):
        if state.dealt < 3:
            state.cards[state.dealt] = action
            state.dealt = int(state.dealt) + 1
            return
        state.line[state.moves] = action
        if state.bettor < 0 and action == 1:
            state.bettor = state.moves
        state.moves = int(state.moves) + 1

    def payoff(self, state, seat):
        pot, best, winner, mine = 0.0, -1, 0, 0.0
        for who in range(3):
            paid = 1.0
            stays = state.bettor < 0
            for move in range(who, int(state.moves), 3):
                if state.line[move] == 1:
                    paid, stays = 2.0, True
            pot += paid
            if stays and state.cards[who] > best:
                best, winner = int(state.cards[who]), who
            if who == seat:
                mine = paid
        return pot - mine if winner == seat else -mine

    def infoset(self, state, seat):
        key = mix(np.uint64(seat), int(state.cards[seat]) + 1)
        key = mix(key, int(state.dealt))
        for i in range(5):
            key = mix(key, int(state.line[i]) + 1)
        return key

    def look(self, state, seat, out):
        copy_record(out, state)
        for other in range(3):
            if other != seat:
                out.cards[other] = HIDDEN

    def determinize(self, view, seat, notes, rng, out):
        copy_record(out, view)
        for other in range(int(view.dealt)):
            if other != seat:
                fits = False
                while not fits:
                    card = below(rng, CARDS)
                    fits = True
                    for who in range(3):
                        fits = fits and out.cards[who] != card
                out.cards[other] = card
        return True
