"""Logistic regression of who wins on the contents of groups of cells.

While it learns, the weight of a group's contents is the sum of its own and one that the groups of the same shape in the
same rows share; and squares have the weights of the blocks within them besides. So rare contents learn from frequent
ones. `Regression.folded` adds them all up, for players.
"""

import functools
import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from ...games import Game
from ...games.protocol import of_a_game
from ...jit import helper, kernel
from .tuples import BITS, groups, offsets, share

PARTS = 4  # of a batch, for threads


class Regression(NamedTuple):
    """What is learned: groups of cells, and the weights of their contents."""

    places: np.ndarray  # [cells] i8: the bit of each cell
    cells: np.ndarray  # [groups, most] i8; -1: no more
    offset: np.ndarray  # [groups] i8: of its contents
    weight: np.ndarray  # [contents, 2] i4: by the seat to move
    sign: np.ndarray  # [2] f8: by the seat to move; -1: its weights are the other's, exchanged

    @property
    def size(self) -> int:
        """Number of weights."""
        return int(self.weight.max()) + 1

    def initial(self, values: np.ndarray) -> np.ndarray:
        """[size] f4: weights that give the first contents these values, [contents, 2]."""
        weights = np.zeros(self.size, np.float32)
        weights[self.weight[: len(values)]] = values * self.sign
        return weights

    def folded(self, weights: np.ndarray, kept: int) -> np.ndarray:
        """[contents, 2] f8: the values of the first `kept` groups; those of groups within one of them are added to it.

        Groups that are within another have zeros then, and players leave them out.
        """
        values = weights[self.weight] * self.sign
        chosen = [row[row >= 0].tolist() for row in self.cells]
        sets, ends = [set(group) for group in chosen], [*self.offset.tolist(), len(values)]
        for number, part in enumerate(chosen):
            whole = next((i for i in range(kept) if i != number and sets[number] <= sets[i]), None)
            if whole is not None:
                within = _within(tuple(chosen[whole].index(cell) for cell in part), len(chosen[whole]))
                mine = slice(ends[number], ends[number + 1])
                values[ends[whole] : ends[whole + 1]] += values[mine][within]
                values[mine] = 0
        return values[: ends[kept]]


@functools.cache
def _within(indices: tuple[int, ...], size: int) -> np.ndarray:
    """[3 ** size] i8: the contents of some of the cells of a group, by the contents of the group."""
    digits = np.arange(3**size)[:, None] // 3 ** np.array(indices) % 3
    return digits @ 3 ** np.arange(len(indices))


@of_a_game
def regression(game: Any, kind: str) -> Regression:
    """The groups of a kind come first, those that only help to learn it after them."""
    board = game.board()
    own = groups(board, kind)
    alike = [group for group in own if len(group) > 1]
    if kind == "squares":
        own = list(dict.fromkeys([*own, *groups(board, "blocks")]))
    weights, shared = share(game, own), share(game, alike, by_row=True)
    chosen = [*own, *alike]
    cells = np.full((len(chosen), max(map(len, chosen))), -1, np.int64)
    for number, group in enumerate(chosen):
        cells[number, : len(group)] = group
    return Regression(
        np.array(game.places(), np.int64), cells, offsets(chosen)[0],
        np.concatenate([weights.weight, shared.weight + np.int32(weights.size)]), weights.sign[0].astype(float),
    )  # fmt: skip


def fit(
    game: Game, model: Regression, weights: np.ndarray, states: np.ndarray, wins: np.ndarray, rate: float,
    damping: float, batch_size: int, threads: int = 1,
) -> float:  # fmt: skip
    """Batch by batch, move every weight towards the mean error of its positions; return the mean cross-entropy.

    Args:
        game: The game.
        model: What is learned.
        weights: [model.size] f4, changed.
        states: Positions.
        wins: [states]: how much of a win of seat 0 each was, from 0 to 1.
        rate: By how much of their mean error the logits of positions move in a step, if all have the same one.
        damping: Number of positions without an error that are added to those of each weight.
        batch_size: Positions per step.
        threads: How many work at the same time; the result doesn't depend on it.
    """
    sums, used = np.zeros((PARTS, len(weights), 2), np.float32), np.zeros((PARTS, len(model.cells)), np.int64)
    contents, loss = np.zeros((PARTS, len(model.places)), np.int64), 0.0

    def add(part: int, first: int, end: int) -> float:
        mine = slice(first + part * (end - first) // PARTS, first + (part + 1) * (end - first) // PARTS)
        return _errors(game, model, weights, sums[part], used[part], contents[part], states[mine], wins[mine])

    with ThreadPoolExecutor(min(threads, PARTS)) as pool:
        for first in range(0, len(states), batch_size):
            end = min(first + batch_size, len(states))
            loss += sum(pool.map(add, range(PARTS), [first] * PARTS, [end] * PARTS))
            _step(weights, sums, rate / len(model.cells), damping)
    return loss / max(len(states), 1)


@kernel
def _errors(game, model, weights, sums, used, contents, states, wins):
    """Add up the errors and the number of positions of each weight; return the sum of cross-entropies."""
    loss = 0.0
    for i in range(len(states)):
        turn = game.turn(states[i])
        find(game, model, states[i], turn, contents, used)
        logit = 0.0
        for index in used:
            logit += weights[index]
        p = 1.0 / (1.0 + math.exp(-model.sign[turn] * min(max(logit, -30.0), 30.0)))
        error = np.float32(model.sign[turn] * (p - wins[i]))
        for index in used:
            sums[index, 0] += error
            sums[index, 1] += np.float32(1.0)
        loss -= wins[i] * math.log(max(p, 1e-12)) + (1.0 - wins[i]) * math.log(max(1.0 - p, 1e-12))
    return loss


@kernel
def _step(weights, sums, rate, damping):
    """Change the weights, and clear the sums."""
    for i in range(len(weights)):
        error, count = 0.0, 0.0
        for part in range(PARTS):
            error += sums[part, i, 0]
            count += sums[part, i, 1]
            sums[part, i, 0] = sums[part, i, 1] = 0.0
        if count > 0:
            weights[i] -= rate * error / (count + damping)


@helper
def find(game, model, state, turn, contents, used):
    """Write the indices of a position's weights into `used`."""
    for cell in range(len(model.places)):
        place = model.places[cell]
        word, shift, one = place // BITS, np.uint64(place % BITS), np.uint64(1)
        first, second = game.pieces(state, 0, word) >> shift & one, game.pieces(state, 1, word) >> shift & one
        contents[cell] = np.int64(first) + 2 * np.int64(second)
    for group in range(len(model.cells)):
        code, power = model.offset[group], 1
        for cell in model.cells[group]:
            if cell < 0:
                break
            code += power * contents[cell]
            power *= 3
        used[group] = model.weight[code, turn]
