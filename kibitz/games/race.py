"""Races such as Breakthrough: pieces that only move ahead, onto an empty cell or an enemy, which is captured.

The seat that reaches the far row wins, and so does the seat that captures the last enemy. Seat 0 starts on the two
lowest rows, seat 1 on the two highest. A game adds its parameters `rows` and `columns` and the rules `actions`,
`sample_action` and `from_to`.
"""

from collections.abc import Callable

import numpy as np

from ..jit import helper, record, xor_mix
from .bitboards import bit
from .boards import square
from .game import OVER, C, game

STATE = record(
    ("pieces", "u8", (2,)),  # of each seat: bit c is cell c, from the lower left, row by row
    ("to_move", "i1"),
    ("winner", "i1"),  # -1 until there is one
)


def race(name: str, moves: int) -> Callable[[C], C]:
    """Class decorator that makes a NamedTuple a race; `moves` is the number of ways in which a piece moves ahead."""

    def decorate(cls: C) -> C:
        for rule in RULES:
            setattr(cls, rule.__name__, rule)
        return game(
            name,
            state=STATE,
            num_actions=lambda game: 2 * moves * game.rows * game.columns,
            # No piece gets further than the row before the far one, except the last that moves.
            max_game_length=lambda game: 2 * game.columns * (2 * game.rows - 5) + 1,
            payoffs=(-1.0, 1.0),
            encoding=lambda game: 2 * game.rows * game.columns,
        )(cls)

    return decorate


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


def play(self, state, action):
    seat = int(state.to_move)
    start, to = self.from_to(state, action)
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
    key = xor_mix(np.uint64(4 * seat + int(state.to_move) + 2), 0)
    return xor_mix(xor_mix(key, state.pieces[0]), state.pieces[1])


def observe(self, state, seat, out):
    observe_pieces(self, state, seat, out)


def pieces(self, state, seat, word):
    return state.pieces[seat]


def action_to_string(self, state, action):
    start, to = self.from_to(state, action)
    takes = int(state.pieces[1 - int(state.to_move)]) >> to & 1
    return f"{self.board().names[start]}{'x' if takes else '-'}{self.board().names[to]}"


RULES = (board, regions, start, turn, play, payoff, infoset, observe, pieces, action_to_string)


@helper
def observe_pieces(game, state, seat, out):
    """Own pieces, then the other's, as the seat sees the board: its own home row first."""
    cells = game.rows * game.columns
    for cell in range(cells):
        place = cell if seat == 0 else cells - 1 - cell
        out[place] = float(state.pieces[seat] >> np.uint64(cell) & np.uint64(1))
        out[cells + place] = float(state.pieces[1 - seat] >> np.uint64(cell) & np.uint64(1))
