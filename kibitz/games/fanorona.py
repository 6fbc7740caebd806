"""Fanorona, the game of Madagascar: capture by approaching an enemy or by withdrawing from one.

Points are connected by the lines of Alquerque: only every other point has diagonals. A piece steps to an empty
neighbour. If the next point ahead holds an enemy (approach), or the point behind its origin does (withdrawal), that
enemy is captured, with all enemies in line behind it up to the first gap. Captures are compulsory; if both kinds are
possible, the player chooses. The same piece may then capture again, or stop; within a turn it visits no point twice and
never continues in the direction of its last step. A seat without pieces or without a move has lost.

With `compulsory=no` a turn may also be a plain step (paika) while captures are possible elsewhere: any step that
captures nothing. A step that would capture does so.

An action is (2 * direction + kind) * cells + from, with the directions of `boards`; kind 1 is a withdrawal, kind 0 an
approach or a plain step. The last action is to stop.
"""

from typing import Annotated, NamedTuple

import numpy as np

from ..jit import below, helper, popcount, record
from .bitboards import bit, list_bits, mask, nth, nth_of_bytes, sum_of_bytes
from .boards import SQUARE, alquerque
from .display import show_board
from .game import OVER, game
from .race import observe_pieces

APPROACH, WITHDRAWAL, STEP = 0, 1, 2
NONE = -1
STATE = record(
    ("pieces", "u8", (2,)),  # of each seat: bit c is cell c, from the lower left, row by row
    ("visited", "u8"),  # points of this turn, while a piece may capture again
    ("turns", "i2"),  # completed turns
    ("at", "i1"),  # the piece that may capture again, NONE at the start of a turn
    ("heading", "i1"),  # direction of its last step
    ("to_move", "i1"),
    ("winner", "i1"),  # NONE until there is one
)
HEIGHTS, WIDTHS = (3, 5), (3, 5, 7, 9)
AHEAD = np.array([[up * columns + right for up, right in SQUARE] for columns in range(10)])  # what a step adds
LINES = np.zeros((6, 10, 8), np.uint64)  # [rows, columns, direction]: the points with a line in a direction
for _rows in HEIGHTS:
    for _columns in WIDTHS:
        _lines = alquerque(_rows, _columns).neighbours >= 0
        for _direction in range(8):
            LINES[_rows, _columns, _direction] = mask(np.flatnonzero(_lines[:, _direction]).tolist())


@game(
    "fanorona",
    state=STATE,
    num_actions=lambda game: 16 * game.rows * game.columns + 1,
    # A turn is one action, and one more per capture: to capture again, or to stop. A piece is left at the end.
    max_game_length=lambda game: game.limit + game.rows * game.columns - 2,
    payoffs=(-1.0, 1.0),
    encoding=lambda game: 4 * game.rows * game.columns,
)
class Fanorona(NamedTuple):
    """Fanorona: capture whole lines by approach or withdrawal; the seat without pieces loses."""

    rows: Annotated[int, "rows of the board", HEIGHTS] = 5
    columns: Annotated[int, "columns of the board", WIDTHS] = 9
    limit: Annotated[int, "turns after which it is a draw; successive captures are one turn", range(1, 10_001)] = 300
    compulsory: Annotated[bool, "whether a seat that can capture must"] = True

    opponent = "uct:seconds=0.5"  # type: ignore[misc]  # patterns cost more time than they are worth here

    def board(self):
        return alquerque(self.rows, self.columns)

    def regions(self, seat):
        """The points with diagonals."""
        return {"strong": [cell for cell, place in enumerate(self.board().places) if sum(place) % 2 == 0]}

    def start(self, state):
        """Fill the rows below the middle one and above it, and the middle row in turn: seat 0 is left of the centre."""
        centre, side = self.rows * self.columns // 2, self.rows // 2 * self.columns
        state.pieces[0] = bit(side) - np.uint64(1)
        state.pieces[1] = state.pieces[0] << np.uint64(side + self.columns)
        for i in range(1, self.columns // 2 + 1):
            state.pieces[(i + 1) % 2] |= bit(centre - i)
            state.pieces[i % 2] |= bit(centre + i)
        state.visited = 0
        state.turns = 0
        state.at = NONE
        state.heading = NONE
        state.to_move = 0
        state.winner = NONE

    def turn(self, state):
        return int(state.to_move)

    def actions(self, state, out):
        cells, n = self.rows * self.columns, 0
        mine, theirs, empty = sides(self, state)
        for direction in range(8):
            for kind in range(2):
                movers = moving(self, mine, theirs, empty, direction, kind)
                if kind == APPROACH and state.at == NONE and not self.compulsory:
                    movers |= moving(self, mine, theirs, empty, direction, STEP)
                n = list_bits(movers, (2 * direction + kind) * cells, out, n)
        if state.at != NONE:
            out[n] = 16 * cells
            return n + 1
        if n == 0:
            for direction in range(8):
                n = list_bits(moving(self, mine, theirs, empty, direction, STEP), 2 * direction * cells, out, n)
        return n

    def sample_action(self, state, rng):
        cells = self.rows * self.columns
        mine, theirs, empty = sides(self, state)
        chosen, withdrawals = captures(self, mine, theirs, empty)
        many = sum_of_bytes(chosen)
        more = many + sum_of_bytes(withdrawals)
        kind, going_on = APPROACH, int(state.at != NONE)
        plain = np.uint64(0)
        if not going_on and (more == 0 or not self.compulsory):
            plain = steps(self, mine, theirs, empty)
        k = below(rng, more + sum_of_bytes(plain) + going_on)
        if k >= more:
            if going_on:
                return 16 * cells
            kind, chosen, k = STEP, plain, k - more
        elif k >= many:
            kind, chosen, k = WITHDRAWAL, withdrawals, k - many
        direction, left = nth_of_bytes(chosen, k)
        return (2 * direction + kind % 2) * cells + nth(moving(self, mine, theirs, empty, direction, kind), left)

    def play(self, state, action):
        seat = int(state.to_move)
        start, to = cells_of(self, action)
        if start < 0:
            pass_on(self, state)
            return
        gone = captured(self, state, action)
        state.pieces[seat] ^= bit(start) | bit(to)
        state.pieces[1 - seat] &= ~gone
        if state.pieces[1 - seat] == 0:
            state.winner = seat
            state.to_move = OVER
        elif gone == 0:
            pass_on(self, state)
        else:
            state.visited |= bit(start) | bit(to)
            state.at = to
            state.heading = action // (2 * self.rows * self.columns)
            mine, theirs, empty = sides(self, state)
            approaches, withdrawals = captures(self, mine, theirs, empty)
            if approaches | withdrawals == 0:
                pass_on(self, state)

    def payoff(self, state, seat):
        return 0.0 if state.winner == NONE else (1.0 if state.winner == seat else -1.0)

    def observe(self, state, seat, out):
        """Pieces of the seat, of the other seat, the piece that may capture again and the points barred to it.

        All as the seat sees the board: its own home row first.
        """
        cells = self.rows * self.columns
        observe_pieces(self, state, seat, out)
        closed = barred(self, state)
        for cell in range(cells):
            place = cell if seat == 0 else cells - 1 - cell
            out[2 * cells + place] = 1.0 if state.at == cell else 0.0
            out[3 * cells + place] = float(closed >> np.uint64(cell) & np.uint64(1))

    def from_to(self, state, action):
        return cells_of(self, action)

    def pieces(self, state, seat, word):
        return state.pieces[seat]

    def show(self, state, seat):
        lines = show_board(self, state, seat).splitlines()
        if state.at != NONE and state.to_move != OVER:
            lines[state.to_move] += f", may go on with {self.board().names[state.at]}"
        return "\n".join([*lines[:2], f"turns: {state.turns} of {self.limit}", *lines[2:]])

    def action_to_string(self, state, action):
        """The cells, with A for an approach and W for a withdrawal."""
        start, to = cells_of(self, action)
        if start < 0:
            return "stop"
        kind = "AW"[action // (self.rows * self.columns) % 2] if captured(self, state, action) else ""
        return f"{self.board().names[start]}-{self.board().names[to]}{kind}"


@helper
def cells_of(game, action):
    """From and to; -1 and -1 for the action that stops."""
    cells = game.rows * game.columns
    if action == 16 * cells:
        return -1, -1
    plane = action // cells
    start = action - plane * cells
    return start, start + int(AHEAD[game.columns, plane >> 1])


# ---------------------------------------------------------------- sets of points


@helper
def back(points, offset):
    """The points from which a step of `offset` ends on one of `points`. It crosses edges: only LINES exclude that."""
    by = np.uint64(offset & 63)
    return points >> by | points << np.uint64(64) - by


@helper
def barred(game, state):
    """The points barred to a piece that captures again: those of its turn, and the one straight ahead."""
    if state.at == NONE:
        return np.uint64(0)
    there = LINES[game.rows, game.columns, int(state.heading)]
    return state.visited | back(bit(int(state.at)) & there, -int(AHEAD[game.columns, int(state.heading)]))


@helper
def sides(game, state):
    """The pieces that may move, those that may be captured, and the points to step on."""
    seat = int(state.to_move)
    mine, theirs = state.pieces[seat], state.pieces[1 - seat]
    empty = bit(game.rows * game.columns) - np.uint64(1) & ~(mine | theirs | barred(game, state))
    return mine if state.at == NONE else bit(int(state.at)), theirs, empty


@helper
def moving(game, mine, theirs, empty, direction, kind):
    """The pieces that can step in a direction with this kind of capture, or with STEP without capturing."""
    offset = int(AHEAD[game.columns, direction])
    there, behind = LINES[game.rows, game.columns, direction], LINES[game.rows, game.columns, direction ^ 4]
    movers = mine & there & back(empty, offset)
    approaching = back(back(theirs, offset) & there, offset)
    withdrawing = behind & back(theirs, -offset)
    if kind == APPROACH:
        return movers & approaching
    if kind == WITHDRAWAL:
        return movers & withdrawing
    return movers & ~(approaching | withdrawing)


@helper
def captures(game, mine, theirs, empty):
    """The number of approaches in each direction, and of withdrawals: one byte per direction.

    All together are fewer than 128 of a kind, as no board has that many lines between points.
    """
    approaches, withdrawals = np.uint64(0), np.uint64(0)
    for direction in range(8):
        place = np.uint64(8 * direction)
        approaches |= np.uint64(popcount(moving(game, mine, theirs, empty, direction, APPROACH))) << place
        withdrawals |= np.uint64(popcount(moving(game, mine, theirs, empty, direction, WITHDRAWAL))) << place
    return approaches, withdrawals


@helper
def steps(game, mine, theirs, empty):
    """The number of plain steps in each direction, one byte per direction."""
    found = np.uint64(0)
    for direction in range(8):
        found |= np.uint64(popcount(moving(game, mine, theirs, empty, direction, STEP))) << np.uint64(8 * direction)
    return found


@helper
def captured(game, state, action):
    """The enemies in line ahead of the destination (approach) or behind the origin (withdrawal), up to a gap."""
    plane = action // (game.rows * game.columns)
    start, to = cells_of(game, action)
    direction = plane >> 1 ^ plane % 2 * 4
    offset, there = int(AHEAD[game.columns, direction]), LINES[game.rows, game.columns, direction]
    theirs = state.pieces[1 - int(state.to_move)]
    found, last = np.uint64(0), bit(start if plane % 2 else to)
    while last:
        last = back(last & there, -offset) & theirs
        found |= last
    return found


@helper
def pass_on(game, state):
    """End the turn. The game is over if the other seat can't move or the limit is reached."""
    seat = int(state.to_move)
    state.visited = 0
    state.turns += 1
    state.at = NONE
    state.heading = NONE
    state.to_move = 1 - seat
    mine, _, empty = sides(game, state)
    if steps(game, mine, np.uint64(0), empty) == 0:  # captures are steps too
        state.winner = seat
        state.to_move = OVER
    elif state.turns == game.limit:
        state.to_move = OVER
