"""Breakthrough: a race of pawns. They move one step ahead, straight or diagonally, and capture only diagonally.

There is always a move: no own piece is ahead of the foremost one, so at least one of its diagonals is open.

An action is (3 * seat + side) * cells + from, where side is 0 to the left, 1 straight, 2 to the right, for both seats
as seat 0 sees the board; to = from + columns + side - 1 for seat 0, which starts below, - columns for seat 1.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ..jit import below, helper, popcount
from .bitboards import list_bits, mask, nth
from .race import race

# [columns]: cells of eight rows without a neighbour to the left, and to the right.
LEFTMOST = np.array([mask(range(0, 8 * n, max(n, 1))) for n in range(9)])
RIGHTMOST = np.array([mask(range(n - 1, 8 * n, max(n, 1))) if n else 0 for n in range(9)], np.uint64)


@race("breakthrough", moves=3)
class Breakthrough(NamedTuple):
    """Breakthrough: pawns that capture diagonally; the seat that reaches the far row wins."""

    rows: Annotated[int, "rows of the board; each seat fills two", range(4, 9)] = 8
    columns: Annotated[int, "columns of the board", range(2, 9)] = 8

    def actions(self, state, out):
        cells = self.rows * self.columns
        first = 3 * cells * int(state.to_move)
        left, straight, right = movers(self, state)
        n = list_bits(left, first, out, 0)
        n = list_bits(straight, first + cells, out, n)
        return list_bits(right, first + 2 * cells, out, n)

    def sample_action(self, state, rng):
        left, straight, right = movers(self, state)
        some = popcount(left)
        more = some + popcount(straight)
        k = below(rng, more + popcount(right))
        side = int(k >= some) + int(k >= more)
        chosen = left if side == 0 else (straight if side == 1 else right)
        k -= 0 if side == 0 else (some if side == 1 else more)
        return (3 * int(state.to_move) + side) * self.rows * self.columns + nth(chosen, k)

    def from_to(self, state, action):
        return cells_of(self, action)


@helper
def movers(game, state):
    """The pieces that can move ahead to the left, straight and to the right."""
    columns = np.uint64(game.columns)
    one = np.uint64(1)
    seat = int(state.to_move)
    mine, theirs = state.pieces[seat], state.pieces[1 - seat]
    if seat == 0:  # the cells ahead are shifted onto the cells of departure
        left, straight, right = mine >> (columns - one), (mine | theirs) >> columns, mine >> (columns + one)
    else:
        left, straight, right = mine << (columns + one), (mine | theirs) << columns, mine << (columns - one)
    return mine & ~left & ~LEFTMOST[game.columns], mine & ~straight, mine & ~right & ~RIGHTMOST[game.columns]


@helper
def cells_of(game, action):
    """From and to."""
    cells = game.rows * game.columns
    seat = int(action >= 3 * cells)
    start = action - 3 * cells * seat
    side = int(start >= cells) + int(start >= 2 * cells)
    start -= side * cells
    return start, start + (1 - 2 * seat) * game.columns + side - 1
