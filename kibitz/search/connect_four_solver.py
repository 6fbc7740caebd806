"""The outcome of positions of Connect Four with perfect play: win, draw or loss, whatever the number of moves.

A boolean search: the seat to move reaches at least a draw (goal 0), or a win (goal 1), if after one of its moves the
other doesn't reach the opposite goal. Moves that let the other win at once are left out, as they are found by shifting
bitboards; the others are ordered by the number of threats that they make (Pons 2015, "Solving Connect Four").

The search can stop after any number of positions. What it knows by then is in its table, so that it may ask something
else and come back.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.names import BadInput
from ..games import full_name, legal_actions
from ..games.connect_four import ConnectFour
from ..jit import helper, kernel, popcount
from .evaluations import evaluation

ENTRIES = 1 << 22  # of the table
KNOWN, REACHED = 1, 4  # bits of an entry, shifted by the goal
YES, NO, OPEN = 1, 0, -1
FIRST_LIMIT = 1000  # positions for the first try of each question; it doubles
# Logits of a cell that completes four in a row: for a seat that profits when columns fill up from below, or another.
GOOD_THREAT, THREAT = 0.5, 0.2


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
        if not has_solver(game):
            raise BadInput(f"this solver is for connect_four with rows of four, not for {full_name(game)}")
        self.game: Any = game
        self.shape = self.shape_of(game)
        plies, columns = self.shape.cells + 2, game.columns
        self.rows = Rows(
            np.zeros(plies, np.uint64), np.zeros(plies, np.uint64), np.zeros(plies, np.int64),
            np.zeros((plies, columns), np.uint64), np.zeros((plies, columns), np.int64),
            np.zeros(plies, np.int64), np.zeros(plies, np.int64),
        )  # fmt: skip
        self.keys, self.known = np.zeros(ENTRIES, np.uint64), np.zeros(ENTRIES, np.uint8)
        self.nodes = np.zeros(1, np.int64)  # positions visited so far

    @staticmethod
    def shape_of(game: Any) -> Shape:
        height = game.rows + 1
        bottom = sum(1 << column * height for column in range(game.columns))
        board = bottom * ((1 << game.rows) - 1)
        return Shape(height, np.uint64(board), np.uint64(bottom), game.rows * game.columns)

    def empty(self, state: Any) -> int:
        """Number of empty cells."""
        return int(self.shape.cells) - int(state.stones[0] | state.stones[1]).bit_count()

    def reaches(self, state: Any, goal: int, limit: int = 2**62) -> int:
        """Whether the seat to move reaches a goal: YES, NO, or OPEN after visiting `limit` positions."""
        seat = int(state.to_move)
        self.rows.own[0], self.rows.taken[0] = state.stones[seat], state.stones[0] | state.stones[1]
        return int(_reaches(self.rows, self.shape, self.keys, self.known, self.nodes, goal, int(self.nodes[0]) + limit))

    def value(self, state: Any) -> int:
        """1, 0 or -1 for the seat to move; the game must not be over."""
        return -1 if not self.reaches(state, 0) else self.reaches(state, 1)

    def outcomes(self, state: Any) -> list[int]:
        seat, found = self.game.turn(state), []
        for action in legal_actions(self.game, state):
            following = self._after(state, action)
            over = self.game.turn(following) < 0
            found.append(int(self.game.payoff(following, seat)) if over else -self.value(following))
        return found

    def bounds(self, state: Any, actions: Sequence[int], left: Callable[[], int]) -> np.ndarray:
        """[actions, 2] i8: the least and the highest outcome of each action, as far as they are known.

        Args:
            state: A position.
            actions: Legal actions, the most promising first.
            left: How many positions may be visited now; 0: no more. It is asked again and again.
        """
        seat, bounds = self.game.turn(state), np.tile(np.array([-1, 1]), (len(actions), 1))
        following = [self._after(state, action) for action in actions]
        for i, each in enumerate(following):
            if self.game.turn(each) < 0:
                bounds[i] = self.game.payoff(each, seat)
        limit = FIRST_LIMIT
        while not decided(bounds):
            for goal in (1, 0):  # does an action win; does it draw at least?
                for i, each in enumerate(following):
                    low, high = bounds[i]
                    if (high < 1 or low == 1) if goal else (low > -1 or high < 0):
                        continue
                    spent = 0
                    answer = OPEN
                    while answer == OPEN and spent < limit:
                        allowed = min(left(), limit - spent)
                        if allowed <= 0:
                            return bounds
                        before = int(self.nodes[0])
                        answer = self.reaches(each, 1 - goal, allowed)
                        spent += int(self.nodes[0]) - before
                    if answer == NO:
                        bounds[i, 0] = goal
                    elif answer == YES:
                        bounds[i, 1] = goal - 1
                    if decided(bounds):
                        return bounds
            limit *= 2
        return bounds

    def _after(self, state: Any, action: int) -> Any:
        following = np.array([state], self.game.state)[0]
        self.game.play(following, action)
        return following


def has_solver(game: Any) -> bool:
    return isinstance(game, ConnectFour) and game.connect == 4


def decided(bounds: np.ndarray) -> bool:
    """Whether one action is known to be the best, or one of the best."""
    return bool(bounds[:, 0].max() >= bounds[:, 1].max())


@evaluation
class Threats(NamedTuple):
    """Cells that complete four in a row: on odd rows they serve the seat that moved first, on even rows the other."""

    height: int  # bits of a column
    board: np.uint64  # all cells
    odd: np.uint64  # cells of odd rows, counted from 1

    def leaf_value(self, game, state):
        first, second = state.stones[0], state.stones[1]
        taken, odd = first | second, np.uint64(self.odd)
        mine = spots(first, taken, self.height, np.uint64(self.board))
        theirs = spots(second, taken, self.height, np.uint64(self.board))
        good = popcount(mine & odd) - popcount(theirs & ~odd)
        return math.tanh(0.5 * (THREAT * (popcount(mine) - popcount(theirs)) + (GOOD_THREAT - THREAT) * good))


def threats(game: Any) -> Threats:
    shape = ConnectFourSolver.shape_of(game)
    odd = int(shape.bottom) * sum(1 << row for row in range(0, game.rows, 2))
    return Threats(shape.height, shape.board, np.uint64(odd))


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
def _reaches(rows, shape, keys, known, nodes, goal, limit):
    """Whether the seat to move in row 0 reaches a goal; OPEN if `limit` positions were visited before that is known."""
    at = 0
    rows.n[0], rows.goal[0] = -1, goal
    while True:
        answer = OPEN
        if rows.n[at] < 0:
            if nodes[0] >= limit:
                return OPEN
            nodes[0] += 1
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
                return answer
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
