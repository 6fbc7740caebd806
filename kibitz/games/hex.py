"""Hex: join your two sides of the board by a chain of stones. One side always succeeds, and only one.

An action is the cell that gets a stone: to = action, there is no from. Cells go row by row from the upper left. Seat 0
joins top and bottom, seat 1 left and right. With the swap rule the second move may also be action size * size: the
first stone changes its owner, and goes to the cell that means to him what the old one meant to the other, its mirror
image on the long diagonal.

In the record a row is 16 bits, four rows a word, with a border around the board: the rows above and below it are seat
0's, the columns to the left and right seat 1's. A side that is joined is then a stone like others.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ..jit import below, draw, helper, mix, popcount, record
from .bitboards import list_bits
from .boards import rhombus
from .display import show_board
from .game import OVER, game

MOST = 14  # a border on each side makes it 16
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
    """Whether a stone joins what wasn't joined around it: of the cells around it the own ones are more than one run.

    Bit 3 * r + c of the window is row r, column c of the nine cells around the stone; two of them don't touch it.
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
    """Hex: join your two sides of the board by a chain of stones."""

    size: Annotated[int, "cells along a side", range(2, MOST + 1)] = 11
    swap: Annotated[bool, "the second player may take over the first stone"] = False

    def board(self):
        return rhombus(self.size)

    def regions(self, seat):
        """The sides that a seat joins: the first and the last row, or column."""
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
        """Fill the board, and look once: who has joined his sides then is who was first to do so.

        Each empty cell goes by a coin, to seat 0 as if both seats had a stone there. What that seat got too many, or
        too few, is then set right one random cell at a time, so that all ways to share the cells are equally likely.
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
        while surplus != 0:  # without a branch for cells that don't fit: nobody could foresee it
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
        first = mix(np.uint64(4 * seat + int(state.to_move) + 2), 0)
        second = first
        for word in range(self.size + 4 >> 2):
            first, second = mix(first, state.stones[0, word]), mix(second, state.stones[1, word])
        return mix(mix(first, 0), second)

    def observe(self, state, seat, out):
        """The stones of the seat, then those of the other, then the cells along the two sides that the seat joins."""
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
    """All cells of the four rows of a word, of those outside the board too: they are seat 0's."""
    return ((ONE << np.uint64(game.size)) - ONE << ONE) * ROWS


@helper
def lane(word, row):
    """One row of four."""
    return word >> ROW * np.uint64(row & 3) & np.uint64(0xFFFF)


@helper
def random_place(game, rng):
    """The bit of any cell of the board, from one draw."""
    luck, size = draw(rng), np.uint64(game.size)
    row, column = (luck >> np.uint64(32)) * size >> np.uint64(32), (luck & LOW) * size >> np.uint64(32)
    return np.int64((row + ONE) * ROW + column + ONE)


@helper
def can_swap(game, state):
    return game.swap and state.placed == 1 and state.to_move == 1


@helper
def take_over(game, state):
    """The only stone becomes seat 1's, mirrored."""
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
    """The seat's stones on the nine cells around a place, three bits a row."""
    row, left = place >> 4, np.uint64((place & 15) - 1)
    above = lane(state.stones[seat, row - 1 >> 2], row - 1) >> left & np.uint64(7)
    here = lane(state.stones[seat, row >> 2], row) >> left & np.uint64(7)
    under = lane(state.stones[seat, row + 1 >> 2], row + 1) >> left & np.uint64(7)
    return np.int64(above | here << np.uint64(3) | under << np.uint64(6))


@helper
def owner(game, state, rest):
    """Who has joined his sides, if the seat `rest` has all cells that aren't the other's.

    The board is seen as the corner of a triangle with 2 * size - 1 cells a side (the game of Y), which shrinks by one
    each round: of each three cells that touch each other there is left one, the owner's of two of them. That joins what
    was joined, and nothing else. Outside the board all below is seat 0's, all to the right is not, and stays so: words
    that lie there all their way aren't touched.
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
    """Of each cell, its neighbour to the right and the one below, what two of them are.

    Right of a row comes the next one: its first bit, which is left of the board, is 0 and stays so.
    """
    right, under = word >> ONE, word >> ROW | following << np.uint64(48)
    return word & right | under & (word | right)


@helper
def cells_of(game, action):
    """From, -1 as nothing moves, and to; -1 for the swap."""
    return -1, (action if action < game.size * game.size else -1)
