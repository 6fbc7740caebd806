"""Dark Hex, as a user would write it: nobody sees the other's stones, but who plays on one is told, and plays again."""

from typing import Annotated, NamedTuple

import numpy as np

from kibitz import OVER, game, helper, record
from kibitz.jit import below, copy_record, mix

EMPTY, UNSEEN = -1, -1
CELLS = 36
STATE = record(("owner", "i1", (CELLS,)), ("seen", "i1", (2, CELLS)), ("mover", "i1"), ("stones", "i1"))


@helper
def connects(owner, seat, size):
    """Whether a seat's stones join its sides: seat 0 top and bottom, seat 1 left and right."""
    reached = 0
    for i in range(size):
        cell = i if seat == 0 else i * size
        if owner[cell] == seat:
            reached |= 1 << cell
    grows = True
    while grows:
        grows = False
        for cell in range(size * size):
            if owner[cell] == seat and not reached >> cell & 1:
                row, column = cell // size, cell % size
                near = 0
                if row > 0:
                    near |= 1 << cell - size
                    if column + 1 < size:
                        near |= 1 << cell - size + 1
                if row + 1 < size:
                    near |= 1 << cell + size
                    if column > 0:
                        near |= 1 << cell + size - 1
                if column > 0:
                    near |= 1 << cell - 1
                if column + 1 < size:
                    near |= 1 << cell + 1
                if reached & near:
                    reached |= 1 << cell
                    grows = True
    for i in range(size):
        cell = (size - 1) * size + i if seat == 0 else i * size + size - 1
        if reached >> cell & 1:
            return True
    return False


@game(
    "dark_hex",
    state=STATE,
    num_actions=lambda game: game.size**2,
    max_game_length=lambda game: 2 * game.size**2,
    payoffs=(-1.0, 1.0),
)
class DarkHex(NamedTuple):
    """`seen[s]` is what seat s knows of the cells: its own stones, and those of the other that it has met."""

    size: Annotated[int, "rows and columns", range(2, 7)] = 3

    def start(self, state):
        state.owner[:] = EMPTY
        state.seen[:] = UNSEEN
        state.mover = 0
        state.stones = 0

    def turn(self, state):
        if connects(state.owner, 1 - int(state.mover), self.size):
            return OVER
        return int(state.mover)

    def actions(self, state, out):
        n = 0
        for cell in range(self.size**2):
            if state.seen[state.mover, cell] == UNSEEN:
                out[n] = cell
                n += 1
        return n

    def play(self, state, action):
        mover = int(state.mover)
        if state.owner[action] == EMPTY:
            state.owner[action] = mover
            state.stones = int(state.stones) + 1
            state.mover = 1 - mover
        state.seen[mover, action] = state.owner[action]

    def payoff(self, state, seat):
        return 1.0 if connects(state.owner, seat, self.size) else -1.0

    def infoset(self, state, seat):
        key = mix(np.uint64(seat), int(state.stones))
        for cell in range(self.size**2):
            key = mix(key, int(state.seen[seat, cell]) + 1)
        return mix(mix(key, int(state.mover)), int(connects(state.owner, 1 - int(state.mover), self.size)))

    def look(self, state, seat, out):
        copy_record(out, state)
        if self.turn(state) == OVER:  # the board is shown
            return
        for cell in range(CELLS):
            out.owner[cell] = state.seen[seat, cell]
            out.seen[1 - seat, cell] = UNSEEN

    def determinize(self, view, seat, notes, rng, out):
        copy_record(out, view)
        if self.turn(view) == OVER:
            return True
        other, cells = 1 - seat, self.size**2
        stones = int(view.stones) // 2 + (int(view.stones) % 2 if other == 0 else 0)
        for _ in range(10_000):
            copy_record(out, view)
            left = stones
            for cell in range(cells):
                left -= int(view.owner[cell] == other)
            while left > 0:
                cell = below(rng, cells)
                if out.owner[cell] == EMPTY:
                    out.owner[cell] = other
                    left -= 1
            if not connects(out.owner, other, self.size):
                break
        else:
            return False
        for cell in range(cells):
            if out.owner[cell] == other:
                out.seen[other, cell] = other
        for cell in range(cells):  # the other may have met any of this seat's stones
            if out.owner[cell] == seat and below(rng, 2) == 1:
                out.seen[other, cell] = seat
        return True

    def likelihood(self, state, seat):
        return 1.0
