"""Tic-tac-toe: three in a row on nine cells. With best play it is a draw.

An action is the cell that is marked. Cells are numbered row by row from the lower left.
"""

from typing import NamedTuple

import numpy as np

from ..jit import below, draw, helper, popcount, record
from .boards import square
from .game import OVER, game

CELLS = 9
FULL = (1 << CELLS) - 1
STATE = record(("marks", "i2", (2,)), ("to_move", "i1"))  # bit c: cell c is the seat's

# Facts about each set of cells, for lookup.
SETS = range(FULL + 1)
LINES = [sum(1 << int(cell) for cell in line) for line in square(3, 3).lines(3)]
WON = np.array([int(any(cells & line == line for line in LINES)) for cells in SETS], np.int8)
NTH = np.array(  # [set, n]: its n-th cell; behind them the cells outside it
    [sorted(range(CELLS), key=lambda cell: (not cells >> cell & 1, cell)) for cells in SETS], np.int8
)

FRACTION = np.uint64(60)  # bits of a random fraction: times nine it still fits into 64


@game("tic_tac_toe", state=STATE, num_actions=CELLS, max_game_length=CELLS, payoffs=(-1.0, 1.0), encoding=2 * CELLS)
class TicTacToe(NamedTuple):
    """Tic-tac-toe: three in a row wins."""

    def board(self):
        return square(3, 3)

    def start(self, state):
        state.marks[:] = 0
        state.to_move = 0

    def turn(self, state):
        return int(state.to_move)

    def actions(self, state, out):
        taken = int(state.marks[0]) | int(state.marks[1])
        n = 0
        for cell in range(CELLS):
            if not taken >> cell & 1:
                out[n] = cell
                n += 1
        return n

    def sample_action(self, state, rng):
        empty = FULL & ~(int(state.marks[0]) | int(state.marks[1]))
        return int(NTH[empty, below(rng, popcount(empty))])

    def play(self, state, action):
        mover = int(state.to_move)
        own = int(state.marks[mover]) | 1 << action
        state.marks[mover] = own
        over = WON[own] or own | int(state.marks[1 - mover]) == FULL
        state.to_move = OVER if over else 1 - mover

    def random_playout(self, state, rng):
        """Play to the end with one draw: the rest of a random fraction after a move decides the next move."""
        mover = int(state.to_move)
        if mover == OVER:
            return
        own, other = int(state.marks[mover]), int(state.marks[1 - mover])
        empty = FULL & ~(own | other)
        fraction, left = draw(rng) >> np.uint64(64) - FRACTION, np.uint64(popcount(empty))
        while True:
            fraction *= left
            left -= np.uint64(1)
            bit = 1 << int(NTH[empty, np.int64(fraction >> FRACTION)])
            fraction &= (np.uint64(1) << FRACTION) - np.uint64(1)
            own |= bit
            empty ^= bit
            if WON[own] or left == 0:
                break
            own, other, mover = other, own, 1 - mover
        state.marks[mover] = own
        state.marks[1 - mover] = other
        state.to_move = OVER

    def payoff(self, state, seat):
        return float(int(WON[int(state.marks[seat])]) - int(WON[int(state.marks[1 - seat])]))

    def observe(self, state, seat, out):
        """The marks of the seat, then those of the other seat."""
        for cell in range(CELLS):
            out[cell] = int(state.marks[seat]) >> cell & 1
            out[CELLS + cell] = int(state.marks[1 - seat]) >> cell & 1

    def from_to(self, state, action):
        return cells_of(self, action)

    def pieces(self, state, seat, word):
        return np.uint64(state.marks[seat])

    def action_to_string(self, state, action):
        return self.board().names[action]


@helper
def cells_of(game, action):
    """From (-1, as a piece is placed) and to."""
    return -1, action
