"""N-tuple networks: the contents of each of many groups of cells are a number, which looks a weight up.

The sum of the weights is the logit of the probability that seat 0 wins; each seat to move has weights of its own.
Contents that symmetries of the game map onto each other (see `symmetries`) share a weight. A move changes few cells,
so only the numbers of the groups around them change. Weights are whole numbers where positions are evaluated: small
ones, so that more of them fit into the processor's cache.
"""

import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from ...games import OVER, legal_actions, positions
from ...games.boards import Board
from ...games.protocol import of_a_game
from ...jit import helper, lowest
from ...search.evaluations import evaluation

UNIT = 2.0**-12  # of a weight, as logit: less than 8 logits fit into 16 bits
KINDS = ("cells", "blocks", "lines", "both", "squares")
LINE = 4  # cells of a line
BITS = 64
MOST = 2**15 - 1


@evaluation
class NTuples(NamedTuple):
    """Weights and buffers: one instance serves one search at a time."""

    cell_at: np.ndarray  # [64 * words] i2: the cell of a bit; -1: none
    groups_of: np.ndarray  # [cells, most] i4: the groups of a cell; -1: no more
    powers: np.ndarray  # [cells, most] i4: 3 to the power of its place in the group
    units: np.ndarray  # [2, contents] i2: weights, by the seat to move
    stones: np.ndarray  # [2, words] u8: of the last position
    contents: np.ndarray  # [cells] i1: 0 empty, 1 and 2 of seat 0 and 1
    codes: np.ndarray  # [groups] i4: index of the weight

    def leaf_value(self, game, state):
        look(game, state, self)
        turn, total = game.turn(state), 0
        for code in self.codes:
            total += np.int64(self.units[turn, code])
        return math.tanh(0.5 * UNIT * total)


@helper
def look(game, state, tuples):
    """Update the codes by what has changed since the last position."""
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
                tuples.codes[group] += np.int32(change) * tuples.powers[cell, k]


def groups(board: Board, kind: str) -> list[tuple[int, ...]]:
    """The groups of cells: each cell; blocks of two by three in all orientations; lines of four; squares of three."""
    found: dict[tuple[int, ...], None] = {(cell,): None for cell in range(len(board.places))}
    if kind in ("blocks", "both", "squares"):
        axes = [board.directions[i] for i in range(0, len(board.directions) // 2, board.orthogonal)]
        width = 3 if kind == "squares" else 2
        for one, two in itertools.permutations(axes, 2):
            for row, column in board.places:
                steps = [(i * one[0] + j * two[0], i * one[1] + j * two[1]) for i in range(width) for j in range(3)]
                cells = [board.cell.get((row + r, column + c), -1) for r, c in steps]
                if min(cells) >= 0:
                    found[tuple(sorted(cells))] = None
    if kind in ("lines", "both"):
        found |= {tuple(sorted(line)): None for line in board.lines(LINE).tolist()}
    return list(found)


def count_contents(board: Board, kind: str) -> int:
    return sum(3 ** len(group) for group in groups(board, kind))


class Sharing(NamedTuple):
    """Which weight belongs to the contents of a group, by the seat to move."""

    weight: np.ndarray  # [contents, 2] i4
    sign: np.ndarray  # [contents, 2] i1: -1 where the seats are exchanged
    size: int  # number of weights

    def spread(self, weights: np.ndarray) -> np.ndarray:
        """[size] -> [contents, 2]."""
        return weights[self.weight] * self.sign

    def mean(self, values: np.ndarray) -> np.ndarray:
        """[contents, 2] -> [size]: the mean of the values that share a weight."""
        total = np.bincount(self.weight.ravel(), (values * self.sign).ravel(), self.size)
        return total / np.bincount(self.weight.ravel(), minlength=self.size)


@of_a_game
def sharing(game: Any, kind: str) -> Sharing:
    """Contents that a symmetry maps onto each other share the weight."""
    return share(game, groups(game.board(), kind))


def share(game: Any, chosen: list[tuple[int, ...]], by_row: bool = False) -> Sharing:
    """The same for given groups; `by_row`: so do those of groups of the same shape in the same rows."""
    offset, total = offsets(chosen)
    begins = dict(zip(chosen, offset.tolist(), strict=True))
    label = np.tile(np.arange(total), (2, 1))
    if by_row:
        alike: dict[tuple[tuple[int, int], ...], int] = {}  # rows and relative columns -> the first such group
        for group, begin in begins.items():
            places = [game.board().places[cell] for cell in group]
            shape = tuple((row, column - places[0][1]) for row, column in places)
            label[:, begin : begin + 3 ** len(group)] += alike.setdefault(shape, begin) - begin
    label[1] += total
    first = label.ravel().copy()  # the lowest label of all images
    sign = np.ones(2 * total, np.int8)
    for images, swapped in symmetries(game):
        moved = np.zeros((2, total), np.int64)
        for group, begin in begins.items():
            image = sorted(images[cell] for cell in group)
            size = 3 ** len(group)
            digits = np.arange(size)[:, None] // 3 ** np.arange(len(group)) % 3
            if swapped:
                digits = np.array([0, 2, 1])[digits]
            codes = digits @ np.array([3 ** image.index(images[cell]) for cell in group])
            for turn in range(2):
                to = 1 - turn if swapped else turn
                moved[turn, begin : begin + size] = label[to, begins[tuple(image)] + codes]
        lower = moved.ravel() < first
        first = np.where(lower, moved.ravel(), first)
        sign[lower] = -1 if swapped else 1
    kept, index = np.unique(first, return_inverse=True)
    return Sharing(
        np.ascontiguousarray(index.reshape(2, total).T.astype(np.int32)),
        np.ascontiguousarray(sign.reshape(2, total).T),
        len(kept),
    )


def offsets(chosen: list[tuple[int, ...]]) -> tuple[np.ndarray, int]:
    """[groups] i8: where the contents of each group begin; and their total number."""
    sizes = np.array([3 ** len(group) for group in chosen], np.int64)
    return np.cumsum(sizes) - sizes, int(sizes.sum())


def symmetries(game: Any) -> list[tuple[list[int], bool]]:
    """The image of each cell under symmetries of the game, and whether they exchange the seats.

    Reflections and rotations of the board after which a few random games are legal and end as before; and in races
    those that map the goals onto each other, with exchanged seats.
    """
    images = game.board().symmetries.tolist()
    goals = [sorted(game.regions(seat).get("goal", ())) for seat in range(2)]
    return [(each, False) for each in images if _is_symmetry(game, each)] + [
        (each, True) for each in images if goals[0] and sorted(each[cell] for cell in goals[0]) == goals[1]
    ]


def _is_symmetry(game: Any, images: list[int]) -> bool:
    """Whether the image of a random game is a game, too."""
    onto, generator = [*images, -1], np.random.default_rng(1)  # -1 stays -1
    for _ in range(2):
        state, image = positions(game)[0], positions(game)[0]
        while game.turn(state) != OVER:
            moves = {tuple(game.from_to(state, action)): action for action in legal_actions(game, state)}
            answers = {tuple(game.from_to(image, action)): action for action in legal_actions(game, image)}
            if {(onto[start], onto[to]) for start, to in moves} != set(answers):
                return False
            start, to = sorted(moves)[int(generator.integers(len(moves)))]
            game.play(state, moves[start, to])
            game.play(image, answers[onto[start], onto[to]])
            if game.turn(state) != game.turn(image):
                return False
        if game.payoff(state, 0) != game.payoff(image, 0):
            return False
    return True


def ntuples(game: Any, kind: str, weights: np.ndarray) -> NTuples:
    """Compile an evaluation. `weights`: [sharing(game, kind).size] logits."""
    board = game.board()
    cells, units = len(board.places), np.clip(np.rint(np.asarray(weights, float) / UNIT), -MOST, MOST).astype(np.int16)
    chosen, values = with_weights(groups(board, kind), sharing(game, kind).spread(units))
    offset = offsets(chosen)[0].astype(np.int32)
    uses: list[list[tuple[int, int]]] = [[] for _ in range(cells)]
    for number, group in enumerate(chosen):
        for place, cell in enumerate(group):
            uses[cell].append((number, 3**place))
    most = max(map(len, uses))
    groups_of, powers = np.full((cells, most), -1, np.int32), np.zeros((cells, most), np.int32)
    for cell, each in enumerate(uses):
        for k, (group_number, power) in enumerate(each):
            groups_of[cell, k], powers[cell, k] = group_number, power
    bits = np.array(game.places(), np.int64)
    words = int(bits.max()) // BITS + 1
    cell_at = np.full(words * BITS, -1, np.int16)
    cell_at[bits] = np.arange(cells)
    return NTuples(
        cell_at, groups_of, powers, np.ascontiguousarray(values.T), np.zeros((2, words), np.uint64),
        np.zeros(cells, np.int8), offset,
    )  # fmt: skip


def with_weights(chosen: list[tuple[int, ...]], values: np.ndarray) -> tuple[list[tuple[int, ...]], np.ndarray]:
    """Leave out groups without any weight but zero; `values`: [contents, 2]."""
    offset, _ = offsets(chosen)
    kept = np.logical_or.reduceat(values.any(axis=1), offset)
    sizes = [3 ** len(group) for group in chosen]
    return [group for group, keep in zip(chosen, kept, strict=True) if keep], values[np.repeat(kept, sizes)]
