"""Teeko (John Scarne): each seat drops four markers on 25 cells in turn, then moves one marker by one step per turn.

Four markers in a row or in a 2 x 2 square win: 44 patterns. Neither seat can force a win (Guy Steele, 1998), so the
number of plies is limited. There is always a move: four markers have at least five neighbours, unless they have won.

An action is 9 * cell + step. Steps are numbered as on a keypad: 0 is to the lower left, 1 straight down, ..., 8 to the
upper right. Step 4 drops a marker on the cell. An action ends on cell + SIZE * (step // 3 - 1) + step % 3 - 1.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ..jit import below, helper, lowest, record, xor_mix
from .bitboards import ONE, bit, mask, nth
from .boards import square
from .display import show_board
from .game import OVER, game

SIZE = 5
CELLS = SIZE * SIZE
MARKERS = 4  # per seat
DROP = 4  # the step that stays on its cell
FULL = mask(range(CELLS))
STATE = record(
    ("markers", "u8", (2,)),  # of each seat: bit c is cell c, from the lower left, row by row
    ("plies", "i2"),
    ("to_move", "i1"),
    ("winner", "i1"),  # -1 until there is one
)

BOARD = square(SIZE, SIZE)
BLOCKS = [[cell, cell + 1, cell + SIZE, cell + SIZE + 1] for cell in range(CELLS - SIZE) if cell % SIZE < SIZE - 1]
PATTERNS = [mask(cells) for cells in [*BOARD.lines(MARKERS), *BLOCKS]]
# [cell]: the patterns whose lowest cell it is, at most five, padded with 0
WINS = np.array(
    [([each for each in PATTERNS if lowest(each) == cell] + [0] * 5)[:5] for cell in range(CELLS)], np.uint64
)
# [9 * cell + step]: the cell where the step ends, as a bit; 0 off the board
REACH = np.array(
    [
        mask([cell + SIZE * up + right] if 0 <= cell // SIZE + up < SIZE and 0 <= cell % SIZE + right < SIZE else [])
        for cell in range(CELLS)
        for up in (-1, 0, 1)
        for right in (-1, 0, 1)
    ]
)


@game(
    "teeko",
    state=STATE,
    num_actions=9 * CELLS,
    max_game_length=lambda game: game.limit,
    payoffs=(-1.0, 1.0),
    encoding=2 * CELLS,
)
class Teeko(NamedTuple):
    """Teeko: four markers per seat, dropped and then moved; four in a row or in a square win."""

    limit: Annotated[int, "number of plies after which the game is a draw", range(8, 10_001)] = 300

    def board(self):
        return BOARD

    def start(self, state):
        state.markers[:] = 0
        state.plies = 0
        state.to_move = 0
        state.winner = -1

    def turn(self, state):
        return int(state.to_move)

    def actions(self, state, out):
        mine = state.markers[int(state.to_move)]
        empty = FULL & ~(state.markers[0] | state.markers[1])
        n = 0
        if state.plies < 2 * MARKERS:
            while empty:
                out[n] = 9 * lowest(empty) + DROP
                empty &= empty - ONE
                n += 1
            return n
        while mine:
            first = 9 * lowest(mine)
            mine &= mine - ONE
            for action in range(first, first + 9):
                if REACH[action] & empty:
                    out[n] = action
                    n += 1
        return n

    def sample_action(self, state, rng):
        empty = FULL & ~(state.markers[0] | state.markers[1])
        if state.plies < 2 * MARKERS:
            return 9 * nth(empty, below(rng, CELLS - int(state.plies))) + DROP
        mine = state.markers[int(state.to_move)]
        while True:  # try random markers and steps until one ends on an empty cell: more than half do
            drawn = below(rng, 8 * MARKERS)
            some = mine & (mine - ONE) if drawn & 1 else mine
            fewer = some & (some - ONE)
            cell = lowest(fewer & (fewer - ONE) if drawn & 2 else some)
            step = drawn >> 2
            action = 9 * cell + step + int(step >= DROP)
            if REACH[action] & empty:
                return action

    def play(self, state, action):
        seat = int(state.to_move)
        mine = state.markers[seat] & ~bit(action // 9) | REACH[action]
        state.markers[seat] = mine
        state.plies += 1
        if won(mine):
            state.winner = seat
        state.to_move = OVER if state.winner >= 0 or state.plies == self.limit else 1 - seat

    def payoff(self, state, seat):
        return 0.0 if state.winner < 0 else (1.0 if state.winner == seat else -1.0)

    def infoset(self, state, seat):
        key = xor_mix(np.uint64((4 * seat + int(state.to_move) + 2) * 32768 + int(state.plies)), 0)
        return xor_mix(xor_mix(key, state.markers[0]), state.markers[1])

    def observe(self, state, seat, out):
        """The markers of the seat, then those of the other seat."""
        for cell in range(CELLS):
            out[cell] = float(state.markers[seat] >> np.uint64(cell) & np.uint64(1))
            out[CELLS + cell] = float(state.markers[1 - seat] >> np.uint64(cell) & np.uint64(1))

    def from_to(self, state, action):
        return cells_of(self, action)

    def pieces(self, state, seat, word):
        return state.markers[seat]

    def show(self, state, seat):
        first, second, *drawn = show_board(self, state, seat).splitlines()
        return "\n".join([first, second, f"plies: {state.plies} of {self.limit}", *drawn])

    def action_to_string(self, state, action):
        start, to = cells_of(self, action)
        return BOARD.names[to] if start < 0 else f"{BOARD.names[start]}-{BOARD.names[to]}"


@helper
def won(markers):
    first = WINS[lowest(markers)]
    found = False
    for i in range(5):
        found |= first[i] == markers
    return found


@helper
def cells_of(game, action):
    """From (-1 if a marker is dropped) and to."""
    cell, step = action // 9, action % 9
    return -1 if step == DROP else cell, cell + SIZE * (step // 3 - 1) + step % 3 - 1
