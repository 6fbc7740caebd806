"""Breakthrough: a race of pawns. One step ahead, straight onto an empty cell, or diagonally, which may capture.

Who reaches the far row wins, and so does who captures the last enemy. There is always a move: ahead of the foremost
piece stands none of its own side, so at least one of its diagonals is open.

An action is (3 * seat + side) * cells + from, where side is 0 to the left, 1 straight, 2 to the right, for both seats
as seat 0 sees the board; to = from + columns + side - 1 for seat 0, which starts below, - columns for seat 1.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ..jit import below, helper, mix, popcount, record
from .bitboards import bit, list_bits, mask, nth
from .boards import picture, square
from .game import OVER, game

SYMBOLS = "xo"
STATE = record(
    ("pieces", "u8", (2,)),  # of each seat: bit c is cell c, from the lower left, row by row
    ("to_move", "i1"),
    ("winner", "i1"),  # -1 until there is one
)
# Cells without a neighbour to the left, and to the right, on eight rows of so many columns.
LEFTMOST = np.array([mask(range(0, 8 * n, max(n, 1))) for n in range(9)])
RIGHTMOST = np.array([mask(range(n - 1, 8 * n, max(n, 1))) if n else 0 for n in range(9)], np.uint64)


@game(
    "breakthrough",
    state=STATE,
    num_actions=lambda game: 6 * game.rows * game.columns,
    # No piece gets further than the row before the far one, but the last that moves.
    max_game_length=lambda game: 2 * game.columns * (2 * game.rows - 5) + 1,
    payoffs=(-1.0, 1.0),
    encoding=lambda game: 2 * game.rows * game.columns,
)
class Breakthrough(NamedTuple):
    """Breakthrough: pawns that capture diagonally; who reaches the far row wins."""

    rows: Annotated[int, "rows of the board; each side fills two", range(4, 9)] = 8
    columns: Annotated[int, "columns of the board", range(2, 9)] = 8

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
    """The pieces that can go ahead to the left, straight and to the right."""
    columns = np.uint64(game.columns)
    one = np.uint64(1)
    seat = int(state.to_move)
    mine, theirs = state.pieces[seat], state.pieces[1 - seat]
    if seat == 0:  # what lies ahead of each cell is moved onto it
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


# ---------------------------------------------------------------- for all races on such boards


@helper
def observe_race(game, state, seat, out):
    cells = game.rows * game.columns
    for cell in range(cells):
        place = cell if seat == 0 else cells - 1 - cell
        out[place] = float(state.pieces[seat] >> np.uint64(cell) & np.uint64(1))
        out[cells + place] = float(state.pieces[1 - seat] >> np.uint64(cell) & np.uint64(1))


def show_race(game, state, seat):
    symbols = ["."] * (game.rows * game.columns)
    lines = []
    for who in range(2):
        for cell in range(len(symbols)):
            if int(state.pieces[who]) >> cell & 1:
                symbols[cell] = SYMBOLS[who]
        lines.append(f"seat {who + 1}{' (you)' if who == seat else ''}: {SYMBOLS[who]}")
        lines[-1] += ", to move" if state.to_move == who else ", wins" if state.winner == who else ""
    return "\n".join([*lines, picture(game.board(), symbols)])
