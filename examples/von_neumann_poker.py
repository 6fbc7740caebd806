"""Von Neumann's poker with a deck of N cards: one card per seat, one bet, one answer."""

from typing import Annotated, NamedTuple

import numpy as np

from kibitz import CHANCE, OVER, game, record
from kibitz.jit import below, copy_record

HIDDEN = -1
STATE = record(("cards", "i1", (2,)), ("step", "i1"), ("bets", "i1"), ("calls", "i1"))


@game(
    "von_neumann_poker",
    state=STATE,
    num_actions=2,
    max_chance_outcomes=lambda game: game.cards,
    max_game_length=4,
    payoffs=lambda game: (-1.0 - game.bet, 1.0 + game.bet),
)
class VonNeumannPoker(NamedTuple):
    """Ante 1; seat 0 checks or bets, seat 1 folds or calls; the higher card wins."""

    cards: Annotated[int, "cards in the deck", range(2, 101)] = 10
    bet: Annotated[int, "size of the bet", range(1, 101)] = 2

    def start(self, state):
        state.cards[:] = HIDDEN
        state.step = 0
        state.bets = 0
        state.calls = 0

    def turn(self, state):
        return (CHANCE, CHANCE, 0, 1, OVER)[int(state.step)]

    def actions(self, state, out):
        n = 0
        for action in range(self.cards if state.step < 2 else 2):
            if state.step != 1 or action != state.cards[0]:  # seat 1 can't be dealt the card of seat 0
                out[n] = action
                n += 1
        return n

    def play(self, state, action):
        step = int(state.step)
        state.step = step + 1
        if step < 2:
            state.cards[step] = action
        elif step == 2:
            state.bets = action
            state.step = 3 if action == 1 else 4  # after a check the cards are shown
        else:
            state.calls = action

    def payoff(self, state, seat):
        if state.bets and not state.calls:  # seat 1 folded
            return 1.0 if seat == 0 else -1.0
        stake = 1.0 + self.bet * int(state.bets)
        return stake if state.cards[seat] > state.cards[1 - seat] else -stake

    def infoset(self, state, seat):
        key = 128 * (2 + seat) + int(state.cards[seat]) + 1
        key = 8 * key + int(state.step)
        return np.uint64(4 * key + 2 * int(state.bets) + int(state.calls))

    def look(self, state, seat, out):
        copy_record(out, state)
        out.cards[1 - seat] = HIDDEN

    def determinize(self, view, seat, notes, rng, out):
        copy_record(out, view)
        if view.step > 1 - seat:  # the other seat holds a card: any except this seat's own
            own = int(view.cards[seat])
            card = below(rng, self.cards - (own >= 0))
            out.cards[1 - seat] = card + (0 <= own <= card)
        return True

    def show(self, state, seat):
        cards = " against ".join("?" if card < 0 else str(card + 1) for card in state.cards)
        return f"{cards}{', a bet' if state.bets else ''}{', a call' if state.calls else ''}"

    def action_to_string(self, state, action):
        if state.step < 2:
            return str(action + 1)
        return (("check", "bet"), ("fold", "call"))[int(state.step) - 2][action]
