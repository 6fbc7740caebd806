"""Knightthrough: Breakthrough with knights, which only leap ahead, onto an empty cell or an enemy.

There is always a move, as a board has at least four columns: no own piece is ahead of the foremost one, and one row
ahead, two columns to the left or to the right, is a cell.

An action is (4 * seat + leap) * cells + from; leaps go from left to right, for both seats as seat 0 sees the board:
to = from + SIDEWAYS[leap] + AHEAD[leap] * columns for seat 0, which starts below, - AHEAD[leap] * columns for seat 1.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ..jit import below, helper, popcount
from .bitboards import bit, list_bits, mask, nth
from .race import race

SIDEWAYS = np.array([-2, -1, 1, 2])
AHEAD = np.array([1, 2, 2, 1])
# [columns, leap]: cells of eight rows from which a leap doesn't cross the left or the right edge
INSIDE = np.array(
    [
        [mask(cell for cell in range(8 * columns) if 0 <= cell % columns + sideways < columns) for sideways in SIDEWAYS]
        for columns in range(9)
    ]
)


@race("knightthrough", moves=4)
class Knightthrough(NamedTuple):
    """Knightthrough: knights that only leap ahead; the seat that reaches the far row wins."""

    rows: Annotated[int, "rows of the board; each seat fills two", range(4, 9)] = 8
    columns: Annotated[int, "columns of the board", range(4, 9)] = 8

    def actions(self, state, out):
        cells = self.rows * self.columns
        first = 4 * cells * int(state.to_move)
        far_left, left, right, far_right = movers(self, state)
        n = list_bits(far_left, first, out, 0)
        n = list_bits(left, first + cells, out, n)
        n = list_bits(right, first + 2 * cells, out, n)
        return list_bits(far_right, first + 3 * cells, out, n)

    def sample_action(self, state, rng):
        far_left, left, right, far_right = movers(self, state)
        one = popcount(far_left)
        two = one + popcount(left)
        three = two + popcount(right)
        k = below(rng, three + popcount(far_right))
        leap = int(k >= one) + int(k >= two) + int(k >= three)
        chosen = (far_left if leap == 0 else left) if leap < 2 else (right if leap == 2 else far_right)
        k -= (0 if leap == 0 else one) if leap < 2 else (two if leap == 2 else three)
        return (4 * int(state.to_move) + leap) * self.rows * self.columns + nth(chosen, k)

    def from_to(self, state, action):
        return cells_of(self, action)


@helper
def movers(game, state):
    """The pieces that can make each leap."""
    columns, one, two = np.uint64(game.columns), np.uint64(1), np.uint64(2)
    seat = int(state.to_move)
    mine = state.pieces[seat]
    inside = INSIDE[game.columns]
    # The cells where a leap ends are shifted onto the cells of departure. Long leaps need two rows ahead.
    if seat == 0:
        deep = mine & (bit((game.rows - 2) * game.columns) - one)
        far_left, far_right = mine >> (columns - two), mine >> (columns + two)
        left, right = mine >> (two * columns - one), mine >> (two * columns + one)
    else:
        deep = mine & ~(bit(2 * game.columns) - one)
        far_left, far_right = mine << (columns + two), mine << (columns - two)
        left, right = mine << (two * columns + one), mine << (two * columns - one)
    return (
        mine & ~far_left & inside[0],
        deep & ~left & inside[1],
        deep & ~right & inside[2],
        mine & ~far_right & inside[3],
    )


@helper
def cells_of(game, action):
    """From and to."""
    cells = game.rows * game.columns
    seat = int(action >= 4 * cells)
    start = action - 4 * cells * seat
    leap = int(start >= cells) + int(start >= 2 * cells) + int(start >= 3 * cells)
    start -= leap * cells
    return start, start + int(SIDEWAYS[leap]) + (1 - 2 * seat) * int(AHEAD[leap]) * game.columns
