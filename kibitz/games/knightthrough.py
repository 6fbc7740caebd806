"""Knightthrough: Breakthrough with knights, which leap ahead only, onto an empty cell or an enemy.

Who reaches the far row wins, and so does who captures the last enemy. There is always a move, as a board has four
columns at least: ahead of the foremost piece stands none of its own side, and one row ahead, two columns to the left or
to the right, is a cell.

An action is (4 * seat + leap) * cells + from; leaps go from left to right, for both seats as seat 0 sees the board:
to = from + ASIDE[leap] + AHEAD[leap] * columns for seat 0, which starts below, - AHEAD[leap] * columns for seat 1.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ..jit import below, helper, mix, popcount, record
from .bitboards import bit, list_bits, mask, nth
from .boards import square
from .breakthrough import observe_race, show_race
from .game import OVER, game

ASIDE = np.array([-2, -1, 1, 2])
AHEAD = np.array([1, 2, 2, 1])
STATE = record(
    ("pieces", "u8", (2,)),  # of each seat: bit c is cell c, from the lower left, row by row
    ("to_move", "i1"),
    ("winner", "i1"),  # -1 until there is one
)
# [columns, leap]: cells of eight rows of so many columns from which a leap isn't over the left or the right edge
INSIDE = np.array(
    [
        [mask(cell for cell in range(8 * columns) if 0 <= cell % columns + aside < columns) for aside in ASIDE]
        for columns in range(9)
    ]
)


@game(
    "knightthrough",
    state=STATE,
    num_actions=lambda game: 8 * game.rows * game.columns,
    # No piece gets further than the row before the far one, but the last that moves.
    max_game_length=lambda game: 2 * game.columns * (2 * game.rows - 5) + 1,
    payoffs=(-1.0, 1.0),
    encoding=lambda game: 2 * game.rows * game.columns,
)
class Knightthrough(NamedTuple):
    """Knightthrough: knights that leap ahead only; who reaches the far row wins."""

    rows: Annotated[int, "rows of the board; each side fills two", range(4, 9)] = 8
    columns: Annotated[int, "columns of the board", range(4, 9)] = 8

    def board(self):
        return square(self.rows, self.columns)

    def regions(self, seat):
        return {"goal": [cell for cell, (row, _) in enumerate(self.board().places) if row == (self.rows - 1, 0)[seat]]}

    def start(self, state):
        home = bit(2 * self.columns) - np.uint64(1)
        state.pieces[0] = home
        state.pieces[1] = home << np.uint64((self.rows - 2) * self.columns)
        state.to_move = 0
        state.winner = -1

    def turn(self, state):
        return int(state.to_move)

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

    def play(self, state, action):
        seat = int(state.to_move)
        start, to = cells_of(self, action)
        theirs = state.pieces[1 - seat] & ~bit(to)
        state.pieces[seat] ^= bit(start) | bit(to)
        state.pieces[1 - seat] = theirs
        if theirs == 0 or to < self.columns or to >= (self.rows - 1) * self.columns:
            state.winner = seat
            state.to_move = OVER
        else:
            state.to_move = 1 - seat

    def payoff(self, state, seat):
        return 1.0 if state.winner == seat else -1.0

    def infoset(self, state, seat):
        key = mix(np.uint64(4 * seat + int(state.to_move) + 2), 0)
        return mix(mix(key, state.pieces[0]), state.pieces[1])

    def observe(self, state, seat, out):
        """Own pieces, then the other's, as the seat sees the board: its own home row first."""
        observe_race(self, state, seat, out)

    def from_to(self, state, action):
        return cells_of(self, action)

    def pieces(self, state, seat, word):
        return state.pieces[seat]

    def show(self, state, seat):
        return show_race(self, state, seat)

    def action_to_string(self, state, action):
        start, to = cells_of(self, action)
        takes = int(state.pieces[1 - int(state.to_move)]) >> to & 1
        return f"{self.board().names[start]}{'x' if takes else '-'}{self.board().names[to]}"


@helper
def movers(game, state):
    """The pieces that can make each leap."""
    columns, one, two = np.uint64(game.columns), np.uint64(1), np.uint64(2)
    seat = int(state.to_move)
    mine = state.pieces[seat]
    inside = INSIDE[game.columns]
    # What stands where a leap would end is moved onto its cell of departure. Two rows ahead there must be one.
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
    return start, start + int(ASIDE[leap]) + (1 - 2 * seat) * int(AHEAD[leap]) * game.columns
