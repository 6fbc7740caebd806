"""Gomoku: five stones in a row win, in any direction. A full board is a draw.

An action is the cell on which a stone is placed. Cells are numbered row by row from the lower left. The record holds
each stone on four lines (row, column, two diagonals), each the bits of one number, so that a winning row is found
without looking at other cells.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ..jit import draw, helper, record, xor_mix
from .bitboards import list_bits
from .boards import square
from .game import OVER, game

MOST = 15
NOBODY = -1
UPRIGHT, RISING, FALLING, LINES = (
    MOST,
    2 * MOST,
    4 * MOST - 1,
    6 * MOST - 2,
)  # where each kind begins; rows first
STATE = record(("lines", "i2", (2, LINES)), ("placed", "i2"), ("to_move", "i1"), ("winner", "i1"))
LOW = np.uint64(0xFFFFFFFF)
PLACE = np.array(  # [size, cell]: 16 * row + column; a lookup is faster than a division
    [[16 * (cell // max(size, 1)) + cell % max(size, 1) for cell in range(MOST**2)] for size in range(MOST + 1)],
    np.int16,
)


@game(
    "gomoku",
    state=STATE,
    num_actions=lambda game: game.size**2,
    max_game_length=lambda game: game.size**2,
    payoffs=(-1.0, 1.0),
    encoding=lambda game: 2 * game.size**2,
    check=lambda game: (
        f"a row of connect={game.connect} doesn't fit into size={game.size}" if game.connect > game.size else None
    ),
)
class Gomoku(NamedTuple):
    """Gomoku: five in a row win."""

    size: Annotated[int, "cells along a side", range(3, MOST + 1)] = 15
    connect: Annotated[int, "stones in a row that win", range(3, MOST + 1)] = 5
    overlines: Annotated[bool, "whether longer rows win too, as in freestyle Gomoku"] = True

    def board(self):
        return square(self.size, self.size)

    def places(self):
        return PLACE[self.size, : self.size**2]

    def start(self, state):
        state.lines[:, :] = 0
        state.placed = 0
        state.to_move = 0
        state.winner = NOBODY

    def turn(self, state):
        return int(state.to_move)

    def actions(self, state, out):
        n = 0
        for row in range(self.size):
            taken = int(state.lines[0, row]) | int(state.lines[1, row])
            n = list_bits(np.uint64((1 << self.size) - 1 & ~taken), row * self.size, out, n)
        return n

    def sample_action(self, state, rng):
        """Try cells until one is empty."""
        while True:
            bits, size = draw(rng), np.uint64(self.size)
            row = np.int64((bits >> np.uint64(32)) * size >> np.uint64(32))
            column = np.int64((bits & LOW) * size >> np.uint64(32))
            if not (int(state.lines[0, row]) | int(state.lines[1, row])) >> column & 1:
                return row * self.size + column

    def play(self, state, action):
        seat, place = int(state.to_move), int(PLACE[self.size, action])
        row, column = place >> 4, place & 15
        placed = int(state.placed) + 1
        level = add(state, seat, row, column)
        upright = add(state, seat, UPRIGHT + column, row)
        rising = add(state, seat, RISING + self.size - 1 + row - column, row)
        falling = add(state, seat, FALLING + row + column, row)
        state.placed = placed
        state.to_move = 1 - seat
        if connected(self, level, upright, rising, falling):
            state.winner = seat
            state.to_move = OVER
        elif placed == self.size * self.size:
            state.to_move = OVER

    def payoff(self, state, seat):
        return 0.0 if state.winner == NOBODY else 1.0 if state.winner == seat else -1.0

    def infoset(self, state, seat):
        key = xor_mix(np.uint64(seat + 1), 0)
        for row in range(self.size):
            key = xor_mix(key, int(state.lines[0, row]) << MOST | int(state.lines[1, row]))
        return key

    def observe(self, state, seat, out):
        """The stones of the seat, then those of the other seat."""
        cells = self.size * self.size
        for row in range(self.size):
            for column in range(self.size):
                out[row * self.size + column] = int(state.lines[seat, row]) >> column & 1
                out[cells + row * self.size + column] = int(state.lines[1 - seat, row]) >> column & 1

    def from_to(self, state, action):
        return cells_of(self, action)

    def pieces(self, state, seat, word):
        found = np.uint64(0)
        for row in range(3, -1, -1):
            found = found << np.uint64(16) | np.uint64(state.lines[seat, 4 * word + row])
        return found

    def action_to_string(self, state, action):
        return self.board().names[action]


@helper
def add(state, seat, line, place):
    """Place a stone on a line and return the line."""
    stones = int(state.lines[seat, line]) | 1 << place
    state.lines[seat, line] = stones
    return stones


@helper
def connected(game, level, upright, rising, falling):
    """Whether one of the lines has a winning row.

    Each step keeps, of the places where a row of n stones begins, those where a row of n + more begins.
    """
    n = 1
    while n < game.connect:
        more = min(n, game.connect - n)
        level &= level >> more
        upright &= upright >> more
        rising &= rising >> more
        falling &= falling >> more
        n += more
    if not game.overlines:  # an overline begins at two adjacent places
        level &= ~(level << 1 | level >> 1)
        upright &= ~(upright << 1 | upright >> 1)
        rising &= ~(rising << 1 | rising >> 1)
        falling &= ~(falling << 1 | falling >> 1)
    return level | upright | rising | falling != 0


@helper
def cells_of(game, action):
    """From (-1, as a piece is placed) and to."""
    return -1, action
