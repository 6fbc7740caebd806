"""Kuhn poker: three cards, one each, one bet. The smallest game in which bluffing is right."""

from typing import NamedTuple

import numpy as np

from ..jit import below, copy_record, record
from .protocol import CHANCE, IST, OVER, game

HIDDEN = -1
PASS, BET = 0, 1
STATE = record(("cards", "i1", (2,)), ("moves", "i1", (3,)), ("dealt", "i1"), ("moved", "i1"))


@game(
    "kuhn",
    state=STATE,
    most_actions=2,
    most_outcomes=3,
    longest=5,
    payoffs=(-2.0, 2.0),
    encoding=9,
    targets=("pst", "ist"),
)
class Kuhn(NamedTuple):
    """Kuhn poker: one card of three each, ante 1, one bet of 1."""

    def start(self, state):
        state.cards[:] = HIDDEN
        state.moves[:] = -1
        state.dealt = 0
        state.moved = 0

    def turn(self, state):
        if state.dealt < 2:
            return CHANCE
        moved = int(state.moved)
        if moved < 2 or (moved == 2 and state.moves[0] == PASS and state.moves[1] == BET):
            return moved % 2
        return OVER

    def actions(self, state, out):
        if state.dealt == 2:
            out[0] = PASS
            out[1] = BET
            return 2
        n = 0
        for card in range(3):
            if state.dealt == 0 or card != state.cards[0]:
                out[n] = card
                n += 1
        return n

    def pick(self, state, rng):
        if state.dealt == 2:
            return below(rng, 2)
        if state.dealt == 0:
            return below(rng, 3)
        card = below(rng, 2)
        return card + (card >= state.cards[0])

    def play(self, state, action):
        if state.dealt < 2:
            state.cards[int(state.dealt)] = action
            state.dealt += 1
        else:
            state.moves[int(state.moved)] = action
            state.moved += 1

    def payoff(self, state, seat):
        last = int(state.moved) - 1
        if state.moves[last] == PASS and state.moves[last - 1] == BET:  # the last mover folded
            return -1.0 if last % 2 == seat else 1.0
        stake = 2.0 if state.moves[last] == BET else 1.0
        return stake if state.cards[seat] > state.cards[1 - seat] else -stake

    def infoset(self, state, seat):
        key = 2 + seat
        key = 4 * key + int(state.cards[seat]) + 1
        key = 4 * key + int(state.dealt)
        for i in range(int(state.moved)):
            key = 4 * key + 1 + int(state.moves[i])
        return np.uint64(key)

    def observe(self, state, seat, out):
        out[:] = 0
        if state.cards[seat] >= 0:
            out[int(state.cards[seat])] = 1
        for i in range(int(state.moved)):
            out[3 + 2 * i + int(state.moves[i])] = 1

    def view(self, state, seat, out):
        copy_record(out, state)
        out.cards[1 - seat] = HIDDEN

    def guess(self, view, seat, notes, rng, out):
        copy_record(out, view)
        if view.dealt == 2 or (view.dealt == 1 and seat == 1):  # the other's card is on the table, face down
            card = below(rng, 3 if view.cards[seat] < 0 else 2)
            out.cards[1 - seat] = card + (view.cards[seat] >= 0 and card >= view.cards[seat])
        return True

    def aim(self, state, view, seat, mode, actions, n, keep):
        if state.dealt < 2:
            forced = mode == IST and state.dealt == seat and view.dealt > seat
            wanted = int(view.cards[seat])
        else:
            forced = state.moved < view.moved
            wanted = int(view.moves[min(int(state.moved), 2)])
        # The other's private card must leave the seat its own: nothing to aim at that can't be had.
        blocked = mode == IST and seat == 1 and state.dealt == 0 and view.dealt == 2
        kept = 0
        for i in range(n):
            keep[i] = (not forced or actions[i] == wanted) and not (blocked and actions[i] == view.cards[1])
            kept += keep[i]
        return kept

    def show(self, state, seat):
        names = "JQK"
        lines = []
        for who in range(2):
            card = names[state.cards[who]] if state.cards[who] >= 0 else "?"
            lines.append(f"seat {who + 1}{' (you)' if who == seat else ''}: {card}")
        moves = " ".join(("pass", "bet")[move] for move in state.moves[: int(state.moved)])
        return "\n".join([*lines, f"moves: {moves or '-'}"])

    def spell(self, state, action):
        return "JQK"[action] if state.dealt < 2 else ("pass", "bet")[action]
