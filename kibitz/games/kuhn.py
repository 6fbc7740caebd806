"""Kuhn poker: three cards, one per seat, one bet. The smallest game in which bluffing is optimal."""

from typing import NamedTuple

import numpy as np

from ..jit import below, copy_record, helper, record
from .display import seat_name
from .game import CHANCE, IST, OVER, game
from .svg import card_svg, table_html

HIDDEN = -1
PASS, BET = 0, 1
STATE = record(("line", "i1"), ("dealt", "i1"), ("cards", "i1", (2,)))

# `line` holds the moves so far as bits below a leading 1: 0b1 none, 0b10 pass, 0b101 pass bet, ...
# Tables instead of branches: in random playouts a branch on the moves is unpredictable.
TURN = np.array([OVER, 0, 1, 1, OVER, 0, OVER, OVER, OVER, OVER, OVER, OVER])
STAKE = np.array([0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 2])  # what the higher card wins
FOLDED = np.array([0, 0, 0, 0, 0, 0, 1, 0, 0, 0, -1, 0])  # what seat 0 wins without a showdown


@game(
    "kuhn",
    state=STATE,
    num_actions=2,
    max_chance_outcomes=3,
    max_game_length=5,
    payoffs=(-2.0, 2.0),
    encoding=9,
    targets=("pst", "ist"),
)
class Kuhn(NamedTuple):
    """Kuhn poker: one of three cards per seat, ante 1, one bet of 1."""

    def start(self, state):
        state.line = 1
        state.dealt = 0
        state.cards[:] = HIDDEN

    def turn(self, state):
        return TURN[int(state.line)] if state.dealt == 2 else CHANCE

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

    def sample_action(self, state, rng):
        card = below(rng, 3 if state.dealt == 0 else 2)
        return card + (state.dealt == 1 and card >= state.cards[0])

    def play(self, state, action):
        if state.dealt == 2:
            state.line = 2 * int(state.line) + action
        else:
            state.cards[int(state.dealt)] = action
            state.dealt += 1

    def payoff(self, state, seat):
        line = int(state.line)
        showdown = 1 if state.cards[0] > state.cards[1] else -1
        return float((FOLDED[line] + STAKE[line] * showdown) * (1 - 2 * seat))

    def infoset(self, state, seat):
        return np.uint64(((2 + seat) * 4 + int(state.dealt)) * 64 + (int(state.cards[seat]) + 1) * 16 + int(state.line))

    def observe(self, state, seat, out):
        out[:] = 0
        if state.cards[seat] >= 0:
            out[int(state.cards[seat])] = 1
        for i in range(moves(state)):
            out[3 + 2 * i + nth_move(state, i)] = 1

    def look(self, state, seat, out):
        copy_record(out, state)
        out.cards[1 - seat] = HIDDEN

    def determinize(self, view, seat, notes, rng, out):
        copy_record(out, view)
        if view.dealt > 1 - seat:  # the other seat has a card
            own = int(view.cards[seat])
            card = below(rng, 3 if own < 0 else 2)
            out.cards[1 - seat] = card + (own >= 0 and card >= own)
        return True

    def target(self, state, view, seat, mode, actions, n, keep):
        own = int(view.cards[seat]) if mode == IST else HIDDEN
        forced, wanted, without = False, 0, HIDDEN
        if state.dealt < 2:
            forced, wanted = own >= 0 and state.dealt == seat, own
            if own >= 0 and state.dealt < seat:  # the other seat can't be dealt this seat's card
                without = own
        elif moves(state) < moves(view):
            forced, wanted = True, nth_move(view, moves(state))
        kept = 0
        for i in range(n):
            keep[i] = (not forced or actions[i] == wanted) and actions[i] != without
            kept += keep[i]
        return kept

    def private_state(self, state, seat):
        return int(state.cards[seat])

    def public_state(self, state):
        return np.uint64(state.line)

    def show(self, state, seat):
        lines = [f"{seat_name(who, seat)}: {card_name(state.cards[who]) or '?'}" for who in range(2)]
        return "\n".join([*lines, f"moves: {played(state)}"])

    def picture(self, state, seat):
        rows = [
            (seat_name(who, seat), [card_svg(card_name(state.cards[who]))] if state.dealt > who else [], "")
            for who in range(2)
        ]
        return table_html([*rows, ("moves", [], played(state))])

    def action_to_string(self, state, action):
        return "JQK"[action] if state.dealt < 2 else ("pass", "bet")[action]


@helper
def moves(state):
    """Number of moves made."""
    return int(state.line > 1) + int(state.line > 3) + int(state.line > 7)


@helper
def nth_move(state, i):
    return int(state.line) >> (moves(state) - 1 - i) & 1


def card_name(card):
    return "JQK"[card] if card >= 0 else None


def played(state):
    return " ".join(("pass", "bet")[nth_move(state, i)] for i in range(moves(state))) or "-"
