"""N-tuple networks: the contents of each of many groups of cells are a number, which looks a weight up.

The sum of the weights is the logit of the probability that seat 0 wins; each seat to move has weights of its own. A
move changes few cells, so only the groups around them are looked up again. Weights are whole numbers where positions
are evaluated: their sum doesn't depend on the order of additions, nor a value on what was evaluated before.
"""

import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from ...games import Game
from ...games.boards import Board
from ...jit import helper, kernel, lowest
from ...search.evaluations import evaluation

UNIT = 2.0**-16  # of a weight, as logit
KINDS = ("cells", "blocks", "lines", "both")
LINE = 4  # cells of a line
BITS = 64


@evaluation
class NTuples(NamedTuple):
    """Weights and buffers: one instance serves one search at a time."""

    cell_at: np.ndarray  # [64 * words] i2: the cell of a bit; -1: none
    groups_of: np.ndarray  # [cells, most] i4: the groups of a cell; -1: no more
    powers: np.ndarray  # [cells, most] i4: 3 to the power of its place in the group
    offset: np.ndarray  # [groups] i8: of its weights
    units: np.ndarray  # [weights, 2] i4: by the seat to move
    stones: np.ndarray  # [2, words] u8: of the last position
    contents: np.ndarray  # [cells] i1: 0 empty, 1 and 2 of seat 0 and 1
    codes: np.ndarray  # [groups] i8: index of the weight
    total: np.ndarray  # [2] i8: sum of the weights

    def leaf_value(self, game, state):
        look(game, state, self)
        return math.tanh(0.5 * UNIT * self.total[game.turn(state)])


@helper
def look(game, state, tuples):
    """Update codes and sums by what has changed since the last position."""
    for word in range(tuples.stones.shape[1]):
        first, second = game.pieces(state, 0, word), game.pieces(state, 1, word)
        different = (first ^ tuples.stones[0, word]) | (second ^ tuples.stones[1, word])
        tuples.stones[0, word] = first
        tuples.stones[1, word] = second
        while different:
            bit = lowest(different)
            different &= different - np.uint64(1)
            cell = np.int64(tuples.cell_at[BITS * word + bit])
            if cell < 0:
                continue
            shift, one = np.uint64(bit), np.uint64(1)
            content = np.int64(first >> shift & one) + 2 * np.int64(second >> shift & one)
            change = content - np.int64(tuples.contents[cell])
            tuples.contents[cell] = content
            for k in range(tuples.groups_of.shape[1]):
                group = np.int64(tuples.groups_of[cell, k])
                if group < 0:
                    break
                old = tuples.codes[group]
                new = old + change * np.int64(tuples.powers[cell, k])
                tuples.codes[group] = new
                tuples.total[0] += np.int64(tuples.units[new, 0]) - np.int64(tuples.units[old, 0])
                tuples.total[1] += np.int64(tuples.units[new, 1]) - np.int64(tuples.units[old, 1])


def groups(board: Board, kind: str) -> list[tuple[int, ...]]:
    """The groups of cells: each cell; blocks of two by three in all orientations; lines of four."""
    found: dict[tuple[int, ...], None] = {(cell,): None for cell in range(len(board.places))}
    if kind in ("blocks", "both"):
        axes = [board.directions[i] for i in range(0, len(board.directions) // 2, board.orthogonal)]
        for one, two in itertools.permutations(axes, 2):
            for row, column in board.places:
                steps = [(i * one[0] + j * two[0], i * one[1] + j * two[1]) for i in range(2) for j in range(3)]
                cells = [board.cell.get((row + r, column + c), -1) for r, c in steps]
                if min(cells) >= 0:
                    found[tuple(sorted(cells))] = None
    if kind in ("lines", "both"):
        found |= {tuple(sorted(line)): None for line in board.lines(LINE).tolist()}
    return list(found)


def count_weights(game: Any, kind: str) -> int:
    return sum(3 ** len(group) for group in groups(game.board(), kind))


def ntuples(game: Any, kind: str, weights: np.ndarray) -> NTuples:
    """Compile an evaluation. `weights`: [count_weights, 2] logits."""
    board = game.board()
    chosen, cells = groups(board, kind), len(board.places)
    offset = np.cumsum([0, *(3 ** len(group) for group in chosen)])[:-1].astype(np.int64)
    uses: list[list[tuple[int, int]]] = [[] for _ in range(cells)]
    for number, group in enumerate(chosen):
        for place, cell in enumerate(group):
            uses[cell].append((number, 3**place))
    most = max(map(len, uses))
    groups_of, powers = np.full((cells, most), -1, np.int32), np.zeros((cells, most), np.int32)
    for cell, each in enumerate(uses):
        groups_of[cell, : len(each)], powers[cell, : len(each)] = zip(*each, strict=True)
    bits = np.array(game.places(), np.int64)
    words = int(bits.max()) // BITS + 1
    cell_at = np.full(words * BITS, -1, np.int16)
    cell_at[bits] = np.arange(cells)
    units = np.rint(np.asarray(weights, float) / UNIT).astype(np.int32)
    return NTuples(
        cell_at, groups_of, powers, offset, units, np.zeros((2, words), np.uint64), np.zeros(cells, np.int8),
        offset.copy(), units[offset].sum(axis=0, dtype=np.int64),
    )  # fmt: skip


def fit(
    game: Game, tuples: NTuples, weights: np.ndarray, squares: np.ndarray, states: np.ndarray, wins: np.ndarray,
    rate: float,
) -> float:  # fmt: skip
    """A pass of logistic regression by AdaGrad over positions; return the mean cross-entropy before each step.

    Args:
        tuples: Whose groups are used, not its weights.
        weights: [count_weights, 2] f8, changed.
        squares: The same shape: sums of squared gradients, changed.
        wins: [states] f8: how much of a win of seat 0 each position was, from 0 to 1.
        rate: How far the first step moves a logit.
    """
    return float(_fit(game, tuples, weights, squares, states, wins, rate / len(tuples.offset)))


@kernel
def _fit(game, tuples, weights, squares, states, wins, rate):
    loss = 0.0
    for i in range(len(states)):
        look(game, states[i], tuples)
        turn, logit = game.turn(states[i]), 0.0
        for code in tuples.codes:
            logit += weights[code, turn]
        p = 1.0 / (1.0 + math.exp(-min(max(logit, -30.0), 30.0)))
        slope = p - wins[i]
        loss -= wins[i] * math.log(max(p, 1e-12)) + (1.0 - wins[i]) * math.log(max(1.0 - p, 1e-12))
        for code in tuples.codes:
            squares[code, turn] += slope * slope
            weights[code, turn] -= rate * slope / math.sqrt(squares[code, turn] + 1e-8)
    return loss / max(len(states), 1)
