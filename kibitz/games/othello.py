"""Othello: a disc turns all discs of the other seat that it encloses in a row. The seat with more discs wins.

An action is the cell on which a disc is placed. Cells are numbered row by row from a1, which is at the upper left.
Action size * size is a pass, legal only when no disc can be placed. The game ends when neither seat can place a disc,
so that a pass never follows a pass.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ..jit import below, helper, popcount, record, xor_mix
from .bitboards import ONE, bit, list_bits, mask, nth
from .boards import square
from .display import show_board
from .game import OVER, game

MOST = 8
STATE = record(
    ("discs", "u8", (2,)),
    ("moves", "u8"),  # legal cells of the seat to move
    ("to_move", "i1"),
)
ALL = np.array([mask(range(size**2)) for size in range(MOST + 1)])  # [size]: all cells
INNER = np.array(  # [size]: cells neither in the first nor in the last column
    [mask(c for c in range(size**2) if 0 < c % size < size - 1) for size in range(MOST + 1)]
)


@game(
    "othello",
    state=STATE,
    num_actions=lambda game: game.size**2 + 1,
    max_game_length=lambda game: 2 * (game.size**2 - 4),
    payoffs=(-1.0, 1.0),
    encoding=lambda game: 3 * game.size**2,
    check=lambda game: f"size={game.size} should be even" if game.size % 2 else None,
)
class Othello(NamedTuple):
    """Othello: enclose the other's discs to turn them; more discs win."""

    size: Annotated[int, "cells along a side, an even number", range(4, MOST + 1)] = 8

    first_row_on_top = True  # type: ignore[misc]

    def board(self):
        return square(self.size, self.size)

    def start(self, state):
        middle = self.size * (self.size // 2) + self.size // 2  # e5
        state.discs[0] = bit(middle - 1) | bit(middle - self.size)
        state.discs[1] = bit(middle) | bit(middle - self.size - 1)
        state.moves = moves(self, state.discs[0], state.discs[1])
        state.to_move = 0

    def turn(self, state):
        return int(state.to_move)

    def actions(self, state, out):
        if state.moves == 0:
            out[0] = self.size * self.size
            return 1
        return list_bits(state.moves, 0, out, 0)

    def sample_action(self, state, rng):
        if state.moves == 0:
            return self.size * self.size
        return nth(state.moves, below(rng, popcount(state.moves)))

    def play(self, state, action):
        seat = int(state.to_move)
        own, other = state.discs[seat], state.discs[1 - seat]
        if action < self.size * self.size:
            turned = turns(self, own, other, bit(action))
            own ^= turned | bit(action)
            other ^= turned
            state.discs[seat] = own
            state.discs[1 - seat] = other
        state.moves = moves(self, other, own)
        state.to_move = 1 - seat
        if state.moves == 0 and moves(self, own, other) == 0:
            state.to_move = OVER

    def payoff(self, state, seat):
        lead = popcount(state.discs[seat]) - popcount(state.discs[1 - seat])
        return float(int(lead > 0) - int(lead < 0))

    def infoset(self, state, seat):
        return xor_mix(
            xor_mix(xor_mix(np.uint64(4 * seat + int(state.to_move) + 3), 0), state.discs[0]), state.discs[1]
        )

    def observe(self, state, seat, out):
        """The discs of the seat, those of the other seat, and all ones if the seat is to move: passes change that."""
        cells = self.size * self.size
        for cell in range(cells):
            out[cell] = state.discs[seat] >> np.uint64(cell) & ONE
            out[cells + cell] = state.discs[1 - seat] >> np.uint64(cell) & ONE
            out[2 * cells + cell] = state.to_move == seat

    def from_to(self, state, action):
        return cells_of(self, action)

    def pieces(self, state, seat, word):
        return state.discs[seat]

    def show(self, state, seat):
        counts = [f", {popcount(state.discs[who])} discs" for who in range(2)]
        first, second, *rows, columns = show_board(self, state, seat, counts).splitlines()
        return "\n".join([first, second, columns, *reversed(rows)])

    def action_to_string(self, state, action):
        return self.board().names[action] if action < self.size**2 else "pass"


@helper
def moves(game, own, other):
    """The empty cells next to a run of the other seat's discs that ends at an own disc."""
    size, inner = np.uint64(game.size), other & INNER[game.size]
    found = up(own, inner, ONE) << ONE | down(own, inner, ONE) >> ONE
    found |= up(own, other, size) << size | down(own, other, size) >> size
    found |= up(own, inner, size - ONE) << size - ONE | down(own, inner, size - ONE) >> size - ONE
    found |= up(own, inner, size + ONE) << size + ONE | down(own, inner, size + ONE) >> size + ONE
    return found & ALL[game.size] & ~(own | other)


@helper
def turns(game, own, other, disc):
    """The discs that a new disc turns: the runs beside it that end at an own disc."""
    size, inner = np.uint64(game.size), other & INNER[game.size]
    found = both_ways(own, inner, disc, ONE) | both_ways(own, other, disc, size)
    return found | both_ways(own, inner, disc, size - ONE) | both_ways(own, inner, disc, size + ONE)


@helper
def both_ways(own, through, disc, step):
    ahead, behind = up(disc, through, step), down(disc, through, step)
    ahead = ahead if ahead << step & own else np.uint64(0)
    return ahead | (behind if behind >> step & own else np.uint64(0))


@helper
def up(start, through, step):
    """The runs of cells in `through` next to `start`, up to six long: the first two steps one by one, then in pairs."""
    found = through & start << step
    found |= through & found << step
    pairs, two = through & through << step, step + step
    found |= pairs & found << two
    return found | pairs & found << two


@helper
def down(start, through, step):
    found = through & start >> step
    found |= through & found >> step
    pairs, two = through & through >> step, step + step
    found |= pairs & found >> two
    return found | pairs & found >> two


@helper
def cells_of(game, action):
    """From (-1, as a piece is placed) and to (-1 for a pass)."""
    return -1, (action if action < game.size * game.size else -1)
