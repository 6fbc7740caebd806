"""Yavalath: a stone that makes four own stones in a row wins; one that makes three and no four loses.

A full board is a draw.

An action is the cell on which a stone is placed. Cells are numbered row by row from the lower left.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ..jit import below, helper, record, xor_mix
from .bitboards import bit, list_bits, mask
from .boards import hexagon
from .game import OVER, game

SIDES = range(3, 6)
NOBODY = -1
STATE = record(
    ("stones", "u8", (2,)),  # of each seat: bit c is cell c
    ("to_move", "i1"),
    ("winner", "i1"),
)


def _rows_through(length: int, most: int) -> np.ndarray:
    """[side, cell, most]: the rows of `length` cells through a cell, padded with a row that is never full."""
    found = np.full((SIDES.stop, len(hexagon(SIDES[-1]).places), most), np.uint64(2**63))
    for side in SIDES:
        rows = hexagon(side).lines(length)
        for cell in range(len(hexagon(side).places)):
            through = [mask(row) for row in rows.tolist() if cell in row]
            found[side, cell, : len(through)] = through
    return found


FOURS, THREES = _rows_through(4, 12), _rows_through(3, 9)


@helper
def cells(game):
    """Number of cells."""
    return 3 * game.side * (game.side - 1) + 1


@game(
    "yavalath",
    state=STATE,
    num_actions=lambda game: cells(game),
    max_game_length=lambda game: cells(game),
    payoffs=(-1.0, 1.0),
    encoding=lambda game: 2 * cells(game),
)
class Yavalath(NamedTuple):
    """Yavalath: four in a row win, but three in a row lose."""

    side: Annotated[int, "cells along a side of the hexagon", SIDES] = 5

    def board(self):
        return hexagon(self.side)

    def start(self, state):
        state.stones[:] = 0
        state.to_move = 0
        state.winner = NOBODY

    def turn(self, state):
        return int(state.to_move)

    def actions(self, state, out):
        return list_bits(everywhere(self) & ~(state.stones[0] | state.stones[1]), 0, out, 0)

    def sample_action(self, state, rng):
        """Try cells until one is empty."""
        taken, most = state.stones[0] | state.stones[1], cells(self)
        cell = below(rng, most)
        while taken & bit(cell):
            cell = below(rng, most)
        return cell

    def play(self, state, action):
        mover = int(state.to_move)
        own = state.stones[mover] | bit(action)
        state.stones[mover] = own
        result = made(self, own, action)
        if result != 0:
            state.winner = mover if result > 0 else 1 - mover
        over = result != 0 or own | state.stones[1 - mover] == everywhere(self)
        state.to_move = OVER if over else 1 - mover

    def payoff(self, state, seat):
        return 0.0 if state.winner == NOBODY else 1.0 if state.winner == seat else -1.0

    def infoset(self, state, seat):
        key = xor_mix(np.uint64(4 * seat + int(state.to_move) + 2), 0)
        return xor_mix(xor_mix(key, state.stones[0]), state.stones[1])

    def observe(self, state, seat, out):
        """The stones of the seat, then those of the other seat."""
        most = cells(self)
        for cell in range(most):
            out[cell] = state.stones[seat] >> np.uint64(cell) & np.uint64(1)
            out[most + cell] = state.stones[1 - seat] >> np.uint64(cell) & np.uint64(1)

    def from_to(self, state, action):
        return cells_of(self, action)

    def pieces(self, state, seat, word):
        return state.stones[seat]

    def action_to_string(self, state, action):
        return self.board().names[action]


@helper
def everywhere(game):
    return bit(cells(game)) - np.uint64(1)


@helper
def made(game, own, cell):
    """The longest row that a stone at a cell completes: 1 for four, -1 for three, 0 for neither."""
    three = four = False
    for i in range(9):
        row = THREES[game.side, cell, i]
        three |= own & row == row
    if not three:  # then there is no row of four
        return 0
    for i in range(12):
        row = FOURS[game.side, cell, i]
        four |= own & row == row
    return 1 if four else -1


@helper
def cells_of(game, action):
    """From (-1, as a piece is placed) and to."""
    return -1, action
