"""Hex: connect your two sides of the board by a chain of stones. Exactly one seat succeeds.

An action is the cell on which a stone is placed. Cells are numbered row by row from the upper left. Seat 0 connects top
and bottom, seat 1 left and right. With the swap rule the second move may also be action size * size: the first stone
becomes seat 1's and moves to its mirror image in the long diagonal, which is to seat 1 what the old cell was to seat 0.

In the record a row is 16 bits, four rows per word, with a border around the board: the rows above and below it are seat
0's, the columns to the left and right seat 1's. A side of the board is then a stone like others.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ..jit import below, draw, helper, popcount, record, xor_mix
from .bitboards import list_bits
from .boards import rhombus
from .display import show_board
from .game import OVER, game

MOST = 14  # 16 with a border on each side
STATE = record(
    ("stones", "u8", (2, 4)),
    ("placed", "i2"),
    ("to_move", "i1"),
    ("winner", "i1"),  # -1 until there is one
)
ONE, ROW, LOW = np.uint64(1), np.uint64(16), np.uint64(0xFFFFFFFF)
ROWS = np.uint64(0x0001000100010001)  # the lowest bit of each row of a word
PLACE = np.zeros((MOST + 1, MOST**2), np.int16)  # [size, cell]: which of the 256 bits is the cell's
for _size in range(1, MOST + 1):
    for _cell in range(_size**2):
        PLACE[_size, _cell] = 16 * (_cell // _size + 1) + _cell % _size + 1


def _joins(window: int) -> bool:
    """Whether a stone connects stones around it that weren't connected: its own neighbours form more than one run.

    Bit 3 * r + c of the window is row r, column c of the nine cells around the stone; two of them aren't neighbours.
    """
    ring = [bool(window >> bit & 1) for bit in (5, 2, 1, 3, 6, 7)]
    return sum(ring[i] and not ring[i - 1] for i in range(6)) > 1


JOINS = np.array([_joins(window) for window in range(512)])


@game(
    "hex",
    state=STATE,
    num_actions=lambda game: game.size**2 + game.swap,
    max_game_length=lambda game: game.size**2 + game.swap,
    payoffs=(-1.0, 1.0),
    encoding=lambda game: 3 * game.size**2,
)
class Hex(NamedTuple):
    """Hex: connect your two sides of the board by a chain of stones."""

    size: Annotated[int, "cells along a side", range(2, MOST + 1)] = 11
    swap: Annotated[bool, "whether the second player may take over the first stone"] = False

    def board(self):
        return rhombus(self.size)

    def regions(self, seat):
        """The sides that a seat connects: the first and the last row, or column."""
        ends = (0, self.size - 1)
        return {"side": [cell for cell in range(self.size**2) if divmod(cell, self.size)[seat] in ends]}

    def places(self):
        return PLACE[self.size, : self.size**2]

    def start(self, state):
        for word in range(4):
            state.stones[0, word] = 0
            state.stones[1, word] = 0
        for row in range(16):
            shift = ROW * np.uint64(row & 3)
            if 1 <= row <= self.size:
                state.stones[1, row >> 2] |= (ONE | ONE << np.uint64(self.size + 1)) << shift
            else:
                state.stones[0, row >> 2] |= lane(inner(self), 0) << shift
        state.placed = 0
        state.to_move = 0
        state.winner = -1

    def turn(self, state):
        return int(state.to_move)

    def actions(self, state, out):
        n = 0
        for row in range(1, self.size + 1):
            empty = inner(self) & ~(state.stones[0, row >> 2] | state.stones[1, row >> 2])
            n = list_bits(lane(empty, row), (row - 1) * self.size - 1, out, n)
        if can_swap(self, state):
            out[n] = self.size * self.size
            n += 1
        return n

    def sample_action(self, state, rng):
        """Try cells until one is empty."""
        if can_swap(self, state):
            cells = self.size * self.size
            if below(rng, cells) == 0:  # all but one are empty, and one more is the swap
                return cells
        place = random_place(self, rng)
        while (state.stones[0, place >> 6] | state.stones[1, place >> 6]) >> np.uint64(place & 63) & ONE:
            place = random_place(self, rng)
        return (place - 16 >> 4) * self.size + (place & 15) - 1

    def play(self, state, action):
        seat = int(state.to_move)
        if action == self.size * self.size:
            take_over(self, state)
            return
        place = int(PLACE[self.size, action])
        placed = int(state.placed) + 1
        state.stones[seat, place >> 6] |= ONE << np.uint64(place & 63)
        state.placed = placed
        state.to_move = 1 - seat
        if placed >= 2 * self.size - 1 and JOINS[window(state, seat, place)] and owner(self, state, 1 - seat) == seat:
            state.winner = seat
            state.to_move = OVER

    def random_playout(self, state, rng):
        """Fill the board at random and check once who has won: the seat that is connected then was connected first.

        A fair coin decides for each empty cell whether seat 0 gets it (marked by a stone of both seats). The surplus or
        deficit of seat 0 is then corrected one random cell at a time, so that all ways to share the cells are equally
        likely.
        """
        if state.to_move == OVER:
            return
        if can_swap(self, state) and below(rng, self.size * self.size) == 0:
            take_over(self, state)
        empty = self.size * self.size - int(state.placed)
        surplus = -((empty + int(state.to_move == 0)) // 2)
        for word in range(self.size + 4 >> 2):
            given = inner(self) & ~(state.stones[0, word] | state.stones[1, word]) & draw(rng)
            state.stones[0, word] |= given
            state.stones[1, word] |= given
            surplus += popcount(given)
        flip, step = (np.uint64(0), -1) if surplus > 0 else (~np.uint64(0), 1)
        while surplus != 0:  # without a branch for cells that don't fit: it would be unpredictable
            place = random_place(self, rng)
            word, bit = place >> 6, np.uint64(place & 63)
            first, second = state.stones[0, word], state.stones[1, word]
            fits = ((first ^ flip) & (second ^ flip)) >> bit & ONE
            state.stones[0, word] = first ^ fits << bit
            state.stones[1, word] = second ^ fits << bit
            surplus += step * np.int64(fits)
        for word in range(self.size + 4 >> 2):
            first, second = state.stones[0, word], state.stones[1, word]
            state.stones[1, word] = second & ~first | inner(self) & ~(first | second)
        state.placed = self.size * self.size
        state.winner = owner(self, state, 1)
        state.to_move = OVER

    def payoff(self, state, seat):
        return 1.0 if state.winner == seat else -1.0

    def infoset(self, state, seat):
        first = xor_mix(np.uint64(4 * seat + int(state.to_move) + 2), 0)
        second = first
        for word in range(self.size + 4 >> 2):
            first, second = xor_mix(first, state.stones[0, word]), xor_mix(second, state.stones[1, word])
        return xor_mix(xor_mix(first, 0), second)

    def observe(self, state, seat, out):
        """The stones of the seat, those of the other seat, and the cells along the two sides that the seat connects."""
        cells = self.size * self.size
        for cell in range(cells):
            place = int(PLACE[self.size, cell])
            word, bit = place >> 6, np.uint64(place & 63)
            out[cell] = state.stones[seat, word] >> bit & ONE
            out[cells + cell] = state.stones[1 - seat, word] >> bit & ONE
            along = (place >> 4) if seat == 0 else (place & 15)
            out[2 * cells + cell] = along == 1 or along == self.size

    def from_to(self, state, action):
        return cells_of(self, action)

    def pieces(self, state, seat, word):
        return state.stones[seat, word]

    def show(self, state, seat):
        goals = [", top to bottom", ", left to right"]
        first, second, *rows = show_board(self, state, seat, goals).splitlines()
        columns = " " * 5 + " ".join(name[0] for name in self.board().names[: self.size])
        return "\n".join([first, second, columns, *rows])

    def action_to_string(self, state, action):
        return self.board().names[action] if action < self.size**2 else "swap"


@helper
def inner(game):
    """All cells of the four rows of a word, including rows outside the board, which are seat 0's."""
    return ((ONE << np.uint64(game.size)) - ONE << ONE) * ROWS


@helper
def lane(word, row):
    """One of the four rows of a word."""
    return word >> ROW * np.uint64(row & 3) & np.uint64(0xFFFF)


@helper
def random_place(game, rng):
    """The bit of a uniformly random cell of the board, from one draw."""
    bits, size = draw(rng), np.uint64(game.size)
    row, column = (bits >> np.uint64(32)) * size >> np.uint64(32), (bits & LOW) * size >> np.uint64(32)
    return np.int64((row + ONE) * ROW + column + ONE)


@helper
def can_swap(game, state):
    return game.swap and state.placed == 1 and state.to_move == 1


@helper
def take_over(game, state):
    """Make the only stone seat 1's, on its mirror image."""
    for action in range(game.size * game.size):
        place = int(PLACE[game.size, action])
        bit = ONE << np.uint64(place & 63)
        if state.stones[0, place >> 6] & bit:
            state.stones[0, place >> 6] ^= bit
            mirrored = (place & 15) << 4 | place >> 4
            state.stones[1, mirrored >> 6] |= ONE << np.uint64(mirrored & 63)
            break
    state.to_move = 0


@helper
def window(state, seat, place):
    """The seat's stones on the nine cells around a place, three bits per row."""
    row, left = place >> 4, np.uint64((place & 15) - 1)
    above = lane(state.stones[seat, row - 1 >> 2], row - 1) >> left & np.uint64(7)
    here = lane(state.stones[seat, row >> 2], row) >> left & np.uint64(7)
    under = lane(state.stones[seat, row + 1 >> 2], row + 1) >> left & np.uint64(7)
    return np.int64(above | here << np.uint64(3) | under << np.uint64(6))


@helper
def owner(game, state, rest):
    """The seat that has connected its sides, if the seat `rest` owns all cells that aren't the other seat's.

    The board is the corner of a triangle with 2 * size - 1 cells per side (the game of Y), which shrinks by one per
    round: each three cells that touch each other become one, owned by the majority. This preserves connections and
    adds none. Outside the board everything below is seat 0's and everything to the right is not, and stays so: words
    that are always outside are skipped.
    """
    if rest == 1:
        a, b, c, d = state.stones[0, 0], state.stones[0, 1], state.stones[0, 2], state.stones[0, 3]
    else:
        cells = inner(game)
        a, b = cells & ~state.stones[1, 0], cells & ~state.stones[1, 1]
        c, d = cells & ~state.stones[1, 2], cells & ~state.stones[1, 3]
    for _ in range(2 * game.size - 2):
        a = shrunk(a, b)
        b = shrunk(b, c)
        if game.size > 7:
            c = shrunk(c, d)
        if game.size > 11:
            d = shrunk(d, d)
    return 0 if a >> np.uint64(17) & ONE else 1


@helper
def shrunk(word, following):
    """The majority of each cell, its neighbour to the right and the one below.

    The bit to the right of a row is the first bit of the next row, which is left of the board: it is 0 and stays so.
    """
    right, under = word >> ONE, word >> ROW | following << np.uint64(48)
    return word & right | under & (word | right)


@helper
def cells_of(game, action):
    """From (-1, as a piece is placed) and to (-1 for the swap)."""
    return -1, (action if action < game.size * game.size else -1)
