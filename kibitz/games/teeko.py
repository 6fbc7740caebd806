"""Teeko (John Scarne): four markers each are dropped on 25 cells by turns, then moved one step at a time, any way.

All four in a row or in a square of neighbours win: 44 patterns. Nobody can force it (Guy Steele, 1998), so there is a
limit. There is always a move: whatever four markers stand on, they have five neighbours or more, unless they have won.

An action is 9 * cell + step. Steps are numbered as on a keypad: 0 is to the lower left, 1 straight down, ..., 8 to the
upper right; from = cell. Step 4 drops a marker: from is none, to = cell. To is always cell + SIZE * (step // 3 - 1) +
step % 3 - 1.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ..jit import below, helper, lowest, mix, record
from .bitboards import ONE, bit, mask, nth
from .boards import square
from .display import show_board
from .game import OVER, game

SIZE = 5
CELLS = SIZE * SIZE
MARKERS = 4  # of a seat
DROP = 4  # the step that stays where it is
FULL = mask(range(CELLS))
STATE = record(
    ("markers", "u8", (2,)),  # of each seat: bit c is cell c, from the lower left, row by row
    ("plies", "i2"),
    ("to_move", "i1"),
    ("winner", "i1"),  # -1 as long as there is none
)

BOARD = square(SIZE, SIZE)
BLOCKS = [[cell, cell + 1, cell + SIZE, cell + SIZE + 1] for cell in range(CELLS - SIZE) if cell % SIZE < SIZE - 1]
PATTERNS = [mask(cells) for cells in [*BOARD.lines(MARKERS), *BLOCKS]]
# [cell]: those whose lowest cell it is, at most five; 0 where there are fewer
WINS = np.array(
    [([each for each in PATTERNS if lowest(each) == cell] + [0] * 5)[:5] for cell in range(CELLS)], np.uint64
)
# [9 * cell + step]: the cell where it ends; nothing off the board
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
    """Teeko: four markers each, dropped and then moved; four in a row or in a square win."""

    limit: Annotated[int, "plies after which it is a draw", range(8, 10_001)] = 300

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
        while True:  # any marker, any step, until one is onto an empty cell: more than half are
            luck = below(rng, 8 * MARKERS)
            some = mine & (mine - ONE) if luck & 1 else mine
            fewer = some & (some - ONE)
            cell = lowest(fewer & (fewer - ONE) if luck & 2 else some)
            step = luck >> 2
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
        key = mix(np.uint64((4 * seat + int(state.to_move) + 2) * 32768 + int(state.plies)), 0)
        return mix(mix(key, state.markers[0]), state.markers[1])

    def observe(self, state, seat, out):
        """Own markers, then the other's."""
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
    """From, -1 where a marker is dropped, and to."""
    cell, step = action // 9, action % 9
    return -1 if step == DROP else cell, cell + SIZE * (step // 3 - 1) + step % 3 - 1
