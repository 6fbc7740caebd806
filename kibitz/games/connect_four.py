"""Connect Four: drop stones into columns; four in a row, column or diagonal win. A full board is a draw.

An action is the column, from 0 on the left; the stone lands on its lowest empty cell. Cells of the board are numbered
row by row from the lower left. In the record a column is rows + 1 bits, from the bottom. The spare bit is always 0: it
keeps lines from continuing in the next column, and dropping a stone is one addition.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ..jit import below, helper, lowest, record, xor_mix
from .boards import square
from .display import show_board
from .game import OVER, game

BITS = 64
NOBODY = -1
STATE = record(("stones", "u8", (2,)), ("to_move", "i1"), ("winner", "i1"))


def _wrong(game):
    if (game.rows + 1) * game.columns > BITS:
        return f"rows={game.rows}, columns={game.columns} is too large: (rows + 1) * columns is more than {BITS}"
    if game.connect > max(game.rows, game.columns):
        return f"a row of connect={game.connect} doesn't fit into rows={game.rows}, columns={game.columns}"
    return None


@game(
    "connect_four",
    state=STATE,
    num_actions=lambda game: game.columns,
    max_game_length=lambda game: game.rows * game.columns,
    payoffs=(-1.0, 1.0),
    encoding=lambda game: 2 * game.rows * game.columns,
    check=_wrong,
)
class ConnectFour(NamedTuple):
    """Connect Four: drop stones into columns; four in a row win."""

    rows: Annotated[int, "cells in a column", range(1, 16)] = 6
    columns: Annotated[int, "columns", range(1, 10)] = 7
    connect: Annotated[int, "stones in a row that win", range(2, 10)] = 4

    numbered_columns = True  # type: ignore[misc]

    def board(self):
        return square(self.rows, self.columns)

    def places(self):
        return [column * (self.rows + 1) + row for row, column in self.board().places]

    def start(self, state):
        state.stones[:] = 0
        state.to_move = 0
        state.winner = NOBODY

    def turn(self, state):
        return int(state.to_move)

    def actions(self, state, out):
        taken = state.stones[0] | state.stones[1]
        n = 0
        for column in range(self.columns):
            if not full(self, taken, column):
                out[n] = column
                n += 1
        return n

    def sample_action(self, state, rng):
        taken = state.stones[0] | state.stones[1]
        column = below(rng, self.columns)
        while full(self, taken, column):
            column = below(rng, self.columns)
        return column

    def play(self, state, action):
        mover = int(state.to_move)
        own, other = state.stones[mover], state.stones[1 - mover]
        own |= drop(self, own | other, action)
        state.stones[mover] = own
        state.to_move = 1 - mover
        if connected(self, own):
            state.winner = mover
            state.to_move = OVER
        elif own | other == all_cells(self):
            state.to_move = OVER

    def random_playout(self, state, rng):
        """As by `sample_action` and `play`, but the stones stay in registers."""
        mover = int(state.to_move)
        if mover == OVER:
            return
        own, other, everything = state.stones[mover], state.stones[1 - mover], all_cells(self)
        while True:
            column = below(rng, self.columns)
            if full(self, own | other, column):
                continue
            own |= drop(self, own | other, column)
            if connected(self, own):
                state.winner = mover
                break
            if own | other == everything:
                break
            own, other, mover = other, own, 1 - mover
        state.stones[mover] = own
        state.stones[1 - mover] = other
        state.to_move = OVER

    def payoff(self, state, seat):
        return 0.0 if state.winner == NOBODY else 1.0 if state.winner == seat else -1.0

    def infoset(self, state, seat):
        return xor_mix(xor_mix(xor_mix(np.uint64(seat + 1), 0), state.stones[0]), state.stones[1])

    def observe(self, state, seat, out):
        """The stones of the seat, then those of the other seat, row by row from the bottom."""
        cells = self.rows * self.columns
        for row in range(self.rows):
            for column in range(self.columns):
                place = np.uint64(column * (self.rows + 1) + row)
                out[row * self.columns + column] = state.stones[seat] >> place & np.uint64(1)
                out[cells + row * self.columns + column] = state.stones[1 - seat] >> place & np.uint64(1)

    def from_to(self, state, action):
        return cells_of(self, state, action)

    def pieces(self, state, seat, word):
        return state.stones[seat]

    def show(self, state, seat):
        *drawn, _ = show_board(self, state, seat).splitlines()
        columns = " ".join(str(column + 1) for column in range(self.columns))
        return "\n".join([*drawn[:2], *(line[3:] for line in drawn[2:]), columns])

    def action_to_string(self, state, action):
        return str(action + 1)


@helper
def full(game, taken, column):
    return taken >> np.uint64(column * (game.rows + 1) + game.rows - 1) & np.uint64(1) != 0


@helper
def drop(game, taken, column):
    """The lowest empty cell of a column that isn't full, as a bit: an addition carries over the taken cells."""
    return (taken + (np.uint64(1) << np.uint64(column * (game.rows + 1)))) & ~taken


@helper
def all_cells(game):
    column, found = (np.uint64(1) << np.uint64(game.rows)) - np.uint64(1), np.uint64(0)
    for _ in range(game.columns):
        found = found << np.uint64(game.rows + 1) | column
    return found


@helper
def connected(game, stones):
    """Whether there is a row. Each step keeps the places of rows of n stones where a row of n + more begins."""
    upright = level = rising = falling = stones
    n = 1
    while n < game.connect:
        more = min(n, game.connect - n)
        upright &= upright >> np.uint64(more)
        falling &= falling >> np.uint64(more * game.rows)
        level &= level >> np.uint64(more * (game.rows + 1))
        rising &= rising >> np.uint64(more * (game.rows + 2))
        n += more
    return upright | level | rising | falling != 0


@helper
def cells_of(game, state, action):
    """From (-1, as a piece is placed) and to, the cell where the stone lands."""
    row = lowest(drop(game, state.stones[0] | state.stones[1], action)) - action * (game.rows + 1)
    return -1, row * game.columns + action
