"""Games whose encodings are 0 and 1 but for rare features, of which a survey of some games sees nothing."""

from typing import NamedTuple

import numpy as np

from kibitz.games import CHANCE, OVER, game
from kibitz.games.tic_tac_toe import CELLS, TicTacToe
from kibitz.games.tic_tac_toe import STATE as MARKS
from kibitz.jit import below, copy_record, record

CARDS, HIDDEN = 250, -1
STATE = record(("cards", "i2", (2,)), ("step", "i1"), ("bets", "i1"), ("calls", "i1"))
QUARTER, SEVEN, MINUS = 2, 3, 5  # cards with a feature of their own: 0.25, 7 and -0


@game(
    "rare_poker", state=STATE, num_actions=2, max_chance_outcomes=CARDS, max_game_length=4, payoffs=(-3.0, 3.0),
    encoding=13,
)  # fmt: skip
class RarePoker(NamedTuple):
    """Von Neumann's poker. The encoding is the card in binary, the step, and a number for each of three cards."""

    def start(self, state):
        state.cards[:] = HIDDEN
        state.step = 0
        state.bets = 0
        state.calls = 0

    def turn(self, state):
        return (CHANCE, CHANCE, 0, 1, OVER)[int(state.step)]

    def actions(self, state, out):
        n = 0
        for action in range(CARDS if state.step < 2 else 2):
            if state.step != 1 or action != state.cards[0]:
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
            state.step = 3 if action == 1 else 4
        else:
            state.calls = action

    def payoff(self, state, seat):
        if state.bets and not state.calls:
            return 1.0 if seat == 0 else -1.0
        stake = 1.0 + 2.0 * int(state.bets)
        return stake if state.cards[seat] > state.cards[1 - seat] else -stake

    def infoset(self, state, seat):
        key = 512 * (2 + seat) + int(state.cards[seat]) + 1
        return np.uint64(32 * key + 4 * int(state.step) + 2 * int(state.bets) + int(state.calls))

    def look(self, state, seat, out):
        copy_record(out, state)
        out.cards[1 - seat] = HIDDEN

    def determinize(self, view, seat, notes, rng, out):
        copy_record(out, view)
        if view.step > 1 - seat:
            own = int(view.cards[seat])
            card = below(rng, CARDS - (own >= 0))
            out.cards[1 - seat] = card + (0 <= own <= card)
        return True

    def observe(self, state, seat, out):
        card = int(state.cards[seat])
        for bit in range(8):
            out[bit] = card >> bit & 1 if card >= 0 else 0
        out[8] = state.step == 2
        out[9] = state.step == 3
        out[10] = 0.25 if card == QUARTER else 0.0
        out[11] = 7.0 if card == SEVEN else 0.0
        out[12] = -0.0 if card == MINUS else 0.0


@game(
    "rare_board", state=MARKS, num_actions=CELLS, max_game_length=CELLS, payoffs=(-1.0, 1.0), encoding=2 * CELLS
)  # fmt: skip
class RareBoard(NamedTuple):
    """Tic-tac-toe, in which three marks of a seat that are alone on their column and on their row count a quarter."""

    board, start, turn, actions = TicTacToe.board, TicTacToe.start, TicTacToe.turn, TicTacToe.actions
    play, payoff, from_to, pieces = TicTacToe.play, TicTacToe.payoff, TicTacToe.from_to, TicTacToe.pieces

    def observe(self, state, seat, out):
        for cell in range(CELLS):
            for side in range(2):
                marks = int(state.marks[seat if side == 0 else 1 - seat])
                out[CELLS * side + cell] = (marks >> cell & 1) * (0.25 if marks == 0b001100010 else 1.0)
