"""The outcome of positions of Connect Four with perfect play: win, draw or loss, whatever the number of moves.

A boolean search: the seat to move reaches at least a draw (goal 0), or a win (goal 1), if after one of its moves the
other doesn't reach the opposite goal. Moves that let the other win at once are left out, as they are found by shifting
bitboards; the others are ordered by the number of threats that they make (Pons 2015, "Solving Connect Four"). Positions
are not searched where one seat reaches its goal by a simple strategy, to play on top of the other's stones (claimeven
and follow-up, Allis 1988, "A Knowledge-based Approach of Connect-Four"; see `guaranteed`).

The search can stop after any number of positions and go on later. What it knows is in its table, so that one question
profits from others.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.names import BadInput
from ..games import full_name, legal_actions
from ..games.connect_four import ConnectFour
from ..jit import helper, kernel, popcount, wrapping
from .evaluations import evaluation

# The table has 2 ** PLACES entries. Positions with at least LATE stones, which are many and quickly searched again,
# share the first 2 ** FEW_PLACES, which fit into the processor's cache.
PLACES, FEW_PLACES, LATE = 21, 16, 24
FACTOR = np.uint64(11400714819323198485)  # odd: the product of a key with it, modulo 2 ** 64, tells the key
KNOWN, REACHED, FLAGS = 1, 4, 15  # bits of an entry, shifted by the goal; the others are those of the product
YES, NO, OPEN = 1, 0, -1
SLICE = 2000  # positions before another question is asked
# Logits of a cell that completes four in a row: for a seat that profits when columns fill up from below, or another.
GOOD_THREAT, THREAT = 0.5, 0.2


class Rows(NamedTuple):
    """One row per ply of the present path."""

    at: np.ndarray  # [1] i8: the present row
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
    top: np.uint64  # the spare bit of each column
    first: np.uint64  # cells from which on a column has an even number of cells
    cells: int
    columns: np.ndarray  # [columns] u8: the cells of each, from the middle to the sides


class ConnectFourSolver:
    """`outcomes(state)`: the payoff of the seat to move after each legal move, if both play perfectly."""

    def __init__(self, game: Any) -> None:
        if not has_solver(game):
            raise BadInput(f"this solver is for connect_four with rows of four, not for {full_name(game)}")
        self.game: Any = game
        self.shape = self.shape_of(game)
        self.table = np.zeros(1 << PLACES, np.uint64)
        self.nodes = np.zeros(1, np.int64)  # positions visited so far

    @staticmethod
    def shape_of(game: Any) -> Shape:
        height = game.rows + 1
        bottom = sum(1 << column * height for column in range(game.columns))
        board = bottom * ((1 << game.rows) - 1)
        first = sum(bottom << row for row in range(game.rows % 2, game.rows, 2))
        order = sorted(range(game.columns), key=lambda column: abs(2 * column - game.columns + 1))
        columns = np.array([((1 << game.rows) - 1) << column * height for column in order], np.uint64)
        board, bottom, top, first = (np.uint64(mask) for mask in (board, bottom, bottom << game.rows, first))
        return Shape(height, board, bottom, top, first, game.rows * game.columns, columns)

    def empty(self, state: Any) -> int:
        """Number of empty cells."""
        return int(self.shape.cells) - int(state.stones[0] | state.stones[1]).bit_count()

    def ask(self, state: Any, goal: int) -> Rows:
        """The beginning of a search for whether the seat to move reaches a goal."""
        plies, columns, seat = self.shape.cells + 2, self.game.columns, int(state.to_move)
        rows = Rows(
            np.zeros(1, np.int64), np.zeros(plies, np.uint64), np.zeros(plies, np.uint64), np.zeros(plies, np.int64),
            np.zeros((plies, columns), np.uint64), np.zeros((plies, columns), np.int64),
            np.full(plies, -1, np.int64), np.zeros(plies, np.int64),
        )  # fmt: skip
        rows.own[0], rows.taken[0], rows.goal[0] = state.stones[seat], state.stones[0] | state.stones[1], goal
        return rows

    def search_on(self, rows: Rows, limit: int) -> int:
        """Go on with a search: YES, NO, or OPEN after visiting `limit` more positions."""
        return int(_search_on(rows, self.shape, self.table, self.nodes, int(self.nodes[0]) + limit))

    def reaches(self, state: Any, goal: int, limit: int = 2**62) -> int:
        """Whether the seat to move reaches a goal: YES, NO, or OPEN after visiting `limit` positions."""
        return self.search_on(self.ask(state, goal), limit)

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

        It asks of each action whether it wins, and until one is known to, whether it draws at least. The questions are
        searched by turns; those of the n-th action get 1 / n of the positions that those of the first get.

        Args:
            state: A position.
            actions: Legal actions, the most promising first.
            left: How many positions may be visited now; 0: no more. It is asked again and again.
        """
        seat, bounds = self.game.turn(state), np.tile(np.array([-1, 1]), (len(actions), 1))
        searches, spent = {}, {}
        for i, action in enumerate(actions):
            following = self._after(state, action)
            if self.game.turn(following) < 0:
                bounds[i] = self.game.payoff(following, seat)
                continue
            for goal in (1, 0):
                searches[i, goal], spent[i, goal] = self.ask(following, 1 - goal), 0
        while not decided(bounds):
            reached = bounds[:, 0].max()
            wanted = [(i, goal) for i, goal in searches if bounds[i, 0] < goal <= bounds[i, 1] and reached < goal]
            i, goal = min(wanted, key=lambda question: spent[question] * (1 + question[0]))
            allowed, before = min(left(), max(SLICE, spent[i, goal] // 2)), int(self.nodes[0])
            if allowed <= 0:
                break
            answer = self.search_on(searches[i, goal], allowed)
            spent[i, goal] += int(self.nodes[0]) - before
            if answer == NO:
                bounds[i, 0] = goal
            elif answer == YES:
                bounds[i, 1] = goal - 1
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
    found |= spots_along(own, height - 1) | spots_along(own, height) | spots_along(own, height + 1)
    return found & (board ^ taken)


@helper
def spots_along(own, step):
    one, two, three = np.uint64(step), np.uint64(2 * step), np.uint64(3 * step)
    up, down = own << one, own >> one
    return (up & (own << two) & ((own << three) | down)) | (down & (own >> two) & ((own >> three) | up))


@helper
def connected(upright, stones, height):
    """Whether there are four in a row: of `upright` in a column, or of `stones` in a row or diagonal."""
    level, falling = fours(stones, height), fours(stones, height - 1)
    return fours(upright, 1) | level | falling | fours(stones, height + 1) != 0


@helper
def fours(stones, step):
    pairs = stones & stones >> np.uint64(step)
    return pairs & pairs >> np.uint64(2 * step)


@helper
def guaranteed(shape, defender, attacker, threats, to_move):
    """What a seat, the defender, reaches at least by a simple strategy: 1, a win, 0, a draw, or -1: this isn't known.

    It plays on top of each stone of the attacker. Where it can't, as the column is full or the defender is `to_move`,
    it plays in another column with an odd number of empty cells. Of two neighbours in a column the attacker so gets one
    at most: the lowest, third and fifth empty cells where their number is even, and any where it is odd. It gets none
    above a cell where the defender by playing so completes four in a row (`threats`); a column with such a cell is
    never filled, so that its number doesn't matter.
    """
    height, board, first = np.uint64(shape.height - 1), np.uint64(shape.board), np.uint64(shape.first)
    taken = defender | attacker
    empty = board ^ taken
    # The top bits of columns with an odd number of empty cells: adding the lowest of them carries up to the top.
    odd = (empty + ((taken + np.uint64(shape.bottom)) & empty & ~first)) & np.uint64(shape.top)
    columns = odd - (odd >> height)  # their cells
    theirs = empty & (first ^ columns)
    wins = threats & ~theirs
    odd &= ~((wins & columns) + columns)  # those without a win
    number = popcount(odd)
    if number & 1 != to_move:
        return -1
    columns = odd - (odd >> height)
    if number == 1:  # the defender plays there now
        theirs ^= empty & columns
        wins = threats & ~theirs
        columns = np.uint64(0)
    above = wins
    for _ in range(shape.height - 2):
        above |= above << np.uint64(1) & board
    theirs = attacker | (theirs & ~above)
    if connected(theirs, theirs | (empty & columns), shape.height):
        return -1
    mine = defender | (empty & ~theirs & ~columns)
    return 1 if wins != 0 or connected(mine, mine, shape.height) else 0


@wrapping
def multiplied(own, taken):
    """The product of a position's key and FACTOR."""
    return (own + taken) * FACTOR


@helper
def place(product, stones):
    return np.int64(product >> np.uint64(64 - FEW_PLACES if stones >= LATE else 64 - PLACES))


@helper
def look_up(table, product, stones):
    """The flags of a position; 0: it isn't in the table."""
    entry = table[place(product, stones)]
    same = (entry ^ product << np.uint64(FEW_PLACES)) >> np.uint64(FEW_PLACES) == 0
    return np.int64(entry & np.uint64(FLAGS)) if same else 0


@helper
def enter(rows, shape, table, at):
    """YES or NO where the answer is plain or known; OPEN where moves have to be tried, which are listed in order."""
    own, taken, goal = rows.own[at], rows.taken[at], rows.goal[at]
    board, other = np.uint64(shape.board), own ^ taken
    playable = (taken + np.uint64(shape.bottom)) & board
    chances = spots(own, taken, shape.height, board)
    if chances & playable:
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
    rows.next[at] = 0
    if playable & (playable - np.uint64(1)) == 0:
        rows.n[at], rows.moves[at, 0] = 1, playable
        return OPEN
    known = look_up(table, multiplied(own, taken), stones)
    if known >> goal & KNOWN:
        return YES if known // REACHED >> goal & 1 else NO
    if guaranteed(shape, other, own, threats, 0) > -goal:
        return NO
    if guaranteed(shape, own, other, chances, 1) >= goal:
        return YES
    n, good = 0, np.uint64(shape.first) if stones % 2 == 0 else ~np.uint64(shape.first)
    for cells in shape.columns:
        move = playable & cells
        if move == 0:
            continue
        made = spots(own | move, taken | move, shape.height, board)
        score, i = 2 * popcount(made) + popcount(made & good), n
        while i > 0 and rows.order[at, i - 1] < score:
            rows.order[at, i], rows.moves[at, i] = rows.order[at, i - 1], rows.moves[at, i - 1]
            i -= 1
        rows.order[at, i], rows.moves[at, i] = score, move
        n += 1
    rows.n[at] = n
    return OPEN


@kernel
def _search_on(rows, shape, table, nodes, limit):
    """Whether the seat to move in row 0 reaches its goal; OPEN if `limit` positions were visited before that is known.

    Where it is OPEN, another call resumes the search.
    """
    at = rows.at[0]
    while True:
        answer = OPEN
        if rows.n[at] < 0:
            if nodes[0] >= limit:
                rows.at[0] = at
                return OPEN
            nodes[0] += 1
            answer = enter(rows, shape, table, at)
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
            remember(rows, table, at, 0)
        while True:
            if at == 0:
                return answer
            at -= 1
            if answer == YES:
                break
            remember(rows, table, at, 1)  # the other doesn't reach its goal: this seat does
            answer = YES


@helper
def remember(rows, table, at, reached):
    """Write an answer into the table, unless there was a single move; what else is known of the position stays."""
    if rows.n[at] == 1:
        return
    product, stones = multiplied(rows.own[at], rows.taken[at]), popcount(rows.taken[at])
    known = look_up(table, product, stones) | (KNOWN | reached * REACHED) << rows.goal[at]
    table[place(product, stones)] = product << np.uint64(FEW_PLACES) | np.uint64(known)
