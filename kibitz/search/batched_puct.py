"""Tree search with a network, as in AlphaZero, for many games at the same time.

Each game has a tree of its own (`batched_trees`). A kernel walks all trees to their next leaf and writes the encodings
of the leaves into one batch; a network evaluates the batch; the next call adds its answers to the trees and walks on.
Two ways to select:

- PUCT (Silver et al. 2017): mean + c P sqrt(N) / (1 + n), an unvisited action counts as its parent.
- Gumbel (Danihelka et al. 2022): see `gumbel`.
"""

import math
from typing import NamedTuple

import numpy as np

from ..core.names import BadInput
from ..games import Game, full_name
from ..games.protocol import OVER, TooLong
from ..jit import helper, kernel, long_helper
from .batched_trees import backward, expand, leaf_value, mean_of, plant, sign_of, tried
from .gumbel import select_at_root, select_improved
from .selection import UNKNOWN


class Settings(NamedTuple):
    """Constants of a search."""

    gumbel: bool
    c: float  # exploration constant of PUCT
    c_visit: float  # weight of values against logits in the improved policy: (c_visit + most visits) * c_scale
    c_scale: float
    prove: bool
    scale: float  # payoff -> -1..1
    middle: float


class Batch(NamedTuple):
    """Input and output of the network, in its own numbering of actions (see `frames` of `expand`)."""

    encodings: np.ndarray  # [rows, encoding] f4
    logits: np.ndarray  # [rows, actions] f4
    values: np.ndarray  # [rows] f4: for the seat to move


def refuse(game: Game) -> None:
    """Raise BadInput for games that a network's tree search can't play."""
    facts = game.facts
    if facts.hidden or facts.max_chance_outcomes or facts.seats != 2 or not facts.zero_sum:
        raise BadInput(
            f"a network's tree search needs two seats, zero-sum payoffs, no hidden information and no chance: "
            f"it can't play {full_name(game)}"
        )
    if not facts.encoding:
        raise BadInput(f"{full_name(game)} has no encoding for a network: it needs the rule `observe`")


def new_batch(game: Game, rows: int) -> Batch:
    facts = game.facts
    return Batch(
        np.zeros((rows, facts.encoding), np.float32),
        np.zeros((rows, facts.num_actions), np.float32),
        np.zeros(rows, np.float32),
    )


def settings_for(
    game: Game, gumbel: bool = False, c: float = 1.5, c_visit: float = 50.0, c_scale: float = 0.3, prove: bool = True
) -> Settings:
    low, high = game.facts.payoffs
    return Settings(gumbel, float(c), float(c_visit), float(c_scale), prove, 2.0 / (high - low), (high + low) / 2.0)


@long_helper
def select_puct(trees, g, node, settings):
    """The child of the highest mean + c P sqrt(N) / (1 + n)."""
    first, count = np.int64(trees.first[g, node]), np.int64(trees.children[g, node])
    sign = sign_of(trees.mover[g, node])
    visits, total = 0.0, sign * np.float64(trees.value[g, node])
    for child in range(first, first + count):
        visits += tried(trees, g, child)
        total += sign * trees.total[g, child] - np.float64(trees.pending[g, child])
    unknown, scale = total / (1.0 + visits), settings.c * math.sqrt(max(visits, 1.0))
    best, highest = first, -1e30
    for child in range(first, first + count):
        n = tried(trees, g, child)
        score = (mean_of(trees, g, child, sign) if n else unknown) + scale * trees.prior[g, child] / (1.0 + n)
        if trees.proven[g, child] != UNKNOWN:
            score = sign * np.float64(trees.proven[g, child])
            if score <= -1.0:
                score = -1e20
        if score > highest:
            best, highest = child, score
    return best


@helper
def descend(game, state, trees, g, leaves, row, settings, noise, wanted):
    """Walk from the root to a leaf, playing its moves; return whether it has to wait for the network.

    The path has pending visits then; else the leaf's value is exact. `wanted` is that of sequential halving, or -1.
    """
    node, depth = np.int64(0), 0
    leaves.path[row, 0] = 0
    while True:
        if tried(trees, g, node) == 0:
            trees.mover[g, node] = game.turn(state)
            if trees.mover[g, node] == OVER:
                trees.proven[g, node] = (game.payoff(state, 0) - settings.middle) * settings.scale
        trees.pending[g, node] += 1
        leaves.depth[row] = depth
        if trees.proven[g, node] != UNKNOWN and depth:
            return False
        if trees.children[g, node] == 0:
            return True
        if depth + 1 >= leaves.path.shape[1]:
            raise TooLong
        if depth == 0 and wanted >= 0:
            node = select_at_root(trees, g, settings, noise, wanted)
        elif settings.gumbel:
            node = select_improved(trees, g, node, settings, leaves.scores)
        else:
            node = select_puct(trees, g, node, settings)
        game.play(state, np.int64(trees.action[g, node]))
        depth += 1
        leaves.path[row, depth] = node


@kernel
def start(game, roots, trees):
    for g in range(len(roots)):
        plant(trees, g, game.turn(roots[g]))


@kernel
def advance(game, roots, trees, leaves, waiting, batch, settings, frames, simulations, others):
    """Add the network's answers for `waiting` rows to the tree of roots[0], and walk to new leaves.

    Args:
        simulations: That may begin, at most.
        others: Simulations that wait for another batch.

    Returns:
        The simulations that were finished by exact leaves or answers, and the rows that wait now.
    """
    done = 0
    for row in range(waiting):
        node = np.int64(leaves.path[row, leaves.depth[row]])
        if trees.children[0, node] == 0:  # else another simulation in flight had the same leaf
            expand(
                game, leaves.states[row], trees, 0, node, batch.logits[row], np.float64(batch.values[row]), frames,
                leaves,
            )  # fmt: skip
        backward(trees, 0, leaves, row, leaf_value(trees, 0, leaves, row), settings)
        done += 1
    rows, begun = 0, 0
    # One row until the root has children: all would wait for the same answer.
    most = len(leaves.depth) if trees.children[0, 0] else 1 - min(others, 1)
    wide = len(leaves.actions)
    while rows < most and begun < simulations and trees.proven[0, 0] == UNKNOWN:
        if trees.used[0] + (rows + 1 + others) * wide > trees.visits.shape[1]:
            break  # the tree has to grow
        leaves.states[rows] = roots[0]
        state = leaves.states[rows]
        begun += 1
        if descend(game, state, trees, 0, leaves, rows, settings, leaves.scores, -1):
            game.observe(state, game.turn(state), batch.encodings[rows])
            rows += 1
        else:
            backward(trees, 0, leaves, rows, leaf_value(trees, 0, leaves, rows), settings)
            done += 1
    return done, rows
