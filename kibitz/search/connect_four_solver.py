"""The outcome of positions of Connect Four with perfect play: win, draw or loss, whatever the number of moves.

A boolean search: the seat to move reaches at least a draw (goal 0), or a win (goal 1), if after one of its moves the
other doesn't reach the opposite goal. Moves that let the other win at once are left out, as they are found by shifting
bitboards; the others are ordered by the number of threats that they make (Pons 2015, "Solving Connect Four").
"""

from typing import Any, NamedTuple

import numpy as np

from ..core.names import BadInput
from ..games import full_name, legal_actions
from ..games.connect_four import ConnectFour
from ..jit import helper, kernel, popcount

ENTRIES = 1 << 22  # of the table
KNOWN, REACHED = 1, 4  # bits of an entry, shifted by the goal
YES, NO, OPEN = 1, 0, -1


class Rows(NamedTuple):
    """One row per ply of the present path."""

    own: np.ndarray  # [plies] u8: stones of the seat to move
    taken: np.ndarray  # [plies] u8: all stones
    goal: np.ndarray  # [plies] i8: 1: a win, 0: at least a draw
    moves: np.ndarray  # [plies, columns] u8: bit of each move
    order: np.ndarray  # [plies, columns] i8
    n: np.ndarray  # [plies] i8; -1: not entered yet
    next: np.ndarray  # [plies] i8


class Shape(NamedTuple):
    height: int  # bits of a column
    board: np.uint64  # all cells
    bottom: np.uint64  # the lowest cell of each column
    cells: int


class ConnectFourSolver:
    """`outcomes(state)`: the payoff of the seat to move after each legal move, if both play perfectly."""

    def __init__(self, game: Any) -> None:
        if not isinstance(game, ConnectFour) or game.connect != 4:
            raise BadInput(f"this solver is for connect_four with rows of four, not for {full_name(game)}")
        height = game.rows + 1
        bottom = sum(1 << column * height for column in range(game.columns))
        board = bottom * ((1 << game.rows) - 1)
        self.game: Any = game
        self.shape = Shape(height, np.uint64(board), np.uint64(bottom), game.rows * game.columns)
        plies, columns = self.shape.cells + 2, game.columns
        self.rows = Rows(
            np.zeros(plies, np.uint64), np.zeros(plies, np.uint64), np.zeros(plies, np.int64),
            np.zeros((plies, columns), np.uint64), np.zeros((plies, columns), np.int64),
            np.zeros(plies, np.int64), np.zeros(plies, np.int64),
        )  # fmt: skip
        self.keys, self.known = np.zeros(ENTRIES, np.uint64), np.zeros(ENTRIES, np.uint8)

    def value(self, state: Any) -> int:
        """1, 0 or -1 for the seat to move; the game must not be over."""
        seat = int(state.to_move)
        self.rows.own[0], self.rows.taken[0] = state.stones[seat], state.stones[0] | state.stones[1]
        found = -1
        for goal in (0, 1):
            if not _reaches(self.rows, self.shape, self.keys, self.known, goal):
                break
            found = goal
        return found

    def outcomes(self, state: Any) -> list[int]:
        seat, found = self.game.turn(state), []
        for action in legal_actions(self.game, state):
            following = np.array([state], self.game.state)[0]
            self.game.play(following, action)
            over = self.game.turn(following) < 0
            found.append(int(self.game.payoff(following, seat)) if over else -self.value(following))
        return found


@helper
def spots(own, taken, height, board):
    """The empty cells that complete four in a row of `own`."""
    found = (own << np.uint64(1)) & (own << np.uint64(2)) & (own << np.uint64(3))
    for step in (height, height - 1, height + 1):
        one, two, three = np.uint64(step), np.uint64(2 * step), np.uint64(3 * step)
        pair = (own << one) & (own << two)
        found |= (pair & (own << three)) | (pair & (own >> one))
        pair = (own >> one) & (own >> two)
        found |= (pair & (own << one)) | (pair & (own >> three))
    return found & (board ^ taken)


@helper
def enter(rows, shape, keys, known, at):
    """YES or NO where the answer is plain or known; OPEN where moves have to be tried, which are listed in order."""
    own, taken, goal = rows.own[at], rows.taken[at], rows.goal[at]
    board, other = np.uint64(shape.board), own ^ taken
    playable = (taken + np.uint64(shape.bottom)) & board
    if spots(own, taken, shape.height, board) & playable:
        return YES
    threats = spots(other, taken, shape.height, board)
    forced = playable & threats
    if forced:
        if forced & (forced - np.uint64(1)):
            return NO
        playable = forced
    playable &= ~(threats >> np.uint64(1))  # not below a cell where the other wins
    stones = popcount(taken)
    if stones >= shape.cells - 1 or (playable != 0 and stones >= shape.cells - 2):
        return YES if goal == 0 else NO  # the board is filled without a win
    if playable == 0:
        return NO
    place = np.int64((own + taken) * np.uint64(11400714819323198485) >> np.uint64(42))
    if keys[place] == own + taken and np.int64(known[place]) >> goal & KNOWN:
        return YES if (np.int64(known[place]) // REACHED) >> goal & 1 else NO
    n, columns = 0, rows.moves.shape[1]
    for k in range(columns):  # from the middle to the sides
        column = columns // 2 + (k + 1) // 2 * (1 - 2 * (k % 2))
        if columns % 2 == 0:
            column = columns // 2 + (k // 2 if k % 2 == 0 else -1 - k // 2)
        cells = ((np.uint64(1) << np.uint64(shape.height - 1)) - np.uint64(1)) << np.uint64(column * shape.height)
        move = playable & cells
        if move == 0:
            continue
        score = popcount(spots(own | move, taken | move, shape.height, board))
        i = n
        while i > 0 and rows.order[at, i - 1] < score:
            rows.order[at, i], rows.moves[at, i] = rows.order[at, i - 1], rows.moves[at, i - 1]
            i -= 1
        rows.order[at, i], rows.moves[at, i] = score, move
        n += 1
    rows.n[at], rows.next[at] = n, 0
    return OPEN


@kernel
def _reaches(rows, shape, keys, known, goal):
    """Whether the seat to move in row 0 reaches a goal."""
    at = 0
    rows.n[0], rows.goal[0] = -1, goal
    while True:
        answer = OPEN
        if rows.n[at] < 0:
            answer = enter(rows, shape, keys, known, at)
        if answer == OPEN and rows.next[at] < rows.n[at]:
            move = rows.moves[at, rows.next[at]]
            rows.next[at] += 1
            rows.own[at + 1] = rows.own[at] ^ rows.taken[at]
            rows.taken[at + 1] = rows.taken[at] | move
            rows.goal[at + 1] = 1 - rows.goal[at]
            rows.n[at + 1] = -1
            at += 1
            continue
        if answer == OPEN:
            answer = NO
            remember(rows, keys, known, at, 0)
        while True:
            if at == 0:
                return answer == YES
            at -= 1
            if answer == YES:
                answer = OPEN
                break
            remember(rows, keys, known, at, 1)  # the other doesn't reach its goal: this seat does
            answer = YES


@helper
def remember(rows, keys, known, at, reached):
    key, goal = rows.own[at] + rows.taken[at], rows.goal[at]
    place = np.int64(key * np.uint64(11400714819323198485) >> np.uint64(42))
    if keys[place] != key:
        keys[place] = key
        known[place] = 0
    known[place] |= np.uint8((KNOWN << goal) | (reached * REACHED << goal))
