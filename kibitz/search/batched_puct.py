"""Tree search with a network, as in AlphaZero, for many games at the same time.

Each game has a tree of its own. A kernel walks all trees to their next leaf and writes the encodings
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
from ..games.protocol import OVER, TooManyActions
from ..jit import helper, kernel, long_helper
from .gumbel import select_at_root, select_improved
from .selection import UNKNOWN, mean_below, mean_of, selection, tried
from .tree import backward, clear, play_on, proven_rewards

LEAST_LOGIT = math.log(1e-30)


@selection
class Settings(NamedTuple):
    """Constants of a search."""

    gumbel: bool
    c: float  # exploration constant of PUCT
    c_visit: float  # weight of values against logits in the improved policy: (c_visit + most visits) * c_scale
    c_scale: float
    prove: bool
    scale: float  # payoff -> -1..1
    middle: float

    def visited(self, tree, node):
        tree.pending[node] -= 1


class Leaves(NamedTuple):
    """Simulations that wait for the network, one row each: `Batch` has the same rows."""

    states: np.ndarray  # [rows] positions
    path: np.ndarray  # [rows, turns] i8: nodes from the root
    depth: np.ndarray  # [rows] i4: of the leaf
    actions: np.ndarray  # [wide] i8: scratch
    scores: np.ndarray  # [wide] f8: scratch
    weights: np.ndarray  # [wide] f8: scratch
    rewards: np.ndarray  # [2] f8: scratch


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


def new_leaves(game: Game, rows: int) -> Leaves:
    facts = game.facts
    return Leaves(
        states=np.zeros(rows, game.state),
        path=np.zeros((rows, facts.max_game_length + 2), np.int64),
        depth=np.zeros(rows, np.int32),
        actions=np.zeros(facts.num_actions, np.int64),
        scores=np.zeros(facts.num_actions),
        weights=np.zeros(facts.num_actions),
        rewards=np.zeros(2),
    )


def settings_for(
    game: Game, gumbel: bool = False, c: float = 1.5, c_visit: float = 50.0, c_scale: float = 0.3, prove: bool = True
) -> Settings:
    low, high = game.facts.payoffs
    return Settings(gumbel, float(c), float(c_visit), float(c_scale), prove, 2.0 / (high - low), (high + low) / 2.0)


@kernel
def start(game, root, tree):
    replant(tree, 0, 0, game.turn(root[0]))


@helper
def replant(tree, g, root, turn):
    """Reduce tree g to an unexpanded root."""
    for node in range(root, tree.used[g]):
        clear(tree, node)
        tree.pending[node] = 0
    tree.mover[root] = turn
    tree.used[g] = root + 1


@long_helper
def expand(game, state, tree, g, node, logits, value, frames, leaves):
    """Add all children of a node by the network's answer: logits by its own number of an action, frames[seat, a]."""
    mover = np.int64(tree.mover[node])
    n = game.actions(state, leaves.actions)
    highest = -1e30
    for i in range(n):
        if leaves.actions[i] >= len(logits):
            raise TooManyActions
        leaves.scores[i] = np.float64(logits[frames[mover, leaves.actions[i]]])
        highest = max(highest, leaves.scores[i])
    first, total = tree.used[g], 0.0
    for i in range(n):
        leaves.weights[i] = math.exp(leaves.scores[i] - highest)
        total += leaves.weights[i]
    shift = highest + math.log(total)
    for i in range(n):
        tree.action[first + i] = leaves.actions[i]
    for i in range(n):
        tree.prior[first + i] = leaves.weights[i] / total
    for i in range(n):
        tree.logit[first + i] = max(leaves.scores[i] - shift, LEAST_LOGIT)
    tree.own[node] = value
    tree.first[node] = first
    tree.children[node] = n
    tree.used[g] = first + n


@long_helper
def select_puct(tree, node, settings):
    """The child of the highest mean + c P sqrt(N) / (1 + n)."""
    first, count = np.int64(tree.first[node]), np.int64(tree.children[node])
    visits, unknown = mean_below(tree, node, first, count)
    scale = settings.c * math.sqrt(max(visits, 1.0))
    best, highest = first, -1e30
    for child in range(first, first + count):
        n = tried(tree, child)
        score = (mean_of(tree, child) if n else unknown) + scale * tree.prior[child] / (1.0 + n)
        if tree.proven[child] != UNKNOWN:
            score = np.float64(tree.proven[child])
            if score <= -1.0:
                score = -1e20
        if score > highest:
            best, highest = child, score
    return best


@helper
def descend(game, state, tree, root, leaves, row, settings, noise, wanted):
    """Walk from the root to a leaf, playing its moves; return whether it has to wait for the network.

    The path has pending visits then; else the leaf's value is exact. `wanted` is that of sequential halving, or -1.
    """
    node, depth, path = root, 0, leaves.path[row]
    path[0] = root
    while tree.proven[node] == UNKNOWN and tree.children[node]:
        mover = tree.mover[node]
        if depth == 0 and wanted >= 0:
            node = select_at_root(tree, root, settings, noise, wanted)
        elif settings.gumbel:
            node = select_improved(tree, node, settings, leaves.scores)
        else:
            node = select_puct(tree, node, settings)
        depth += 1
        play_on(game, state, tree, node, path, depth, 2)
        tree.pending[node] += 1
        if tree.mover[node] == OVER and tree.proven[node] == UNKNOWN:
            value = (game.payoff(state, 0) - settings.middle) * settings.scale
            tree.proven[node] = value if mover == 0 else -value
    leaves.depth[row] = depth
    return tree.proven[node] == UNKNOWN


@helper
def back_up(tree, leaves, row, settings):
    """Back up the value of a leaf that was just expanded, or is proven."""
    path, depth, rewards = leaves.path[row], np.int64(leaves.depth[row]), leaves.rewards
    node = path[depth]
    proven = tree.proven[node] != UNKNOWN
    if proven:
        proven_rewards(tree, path, depth, rewards)
    else:
        mover = tree.mover[node]
        rewards[mover] = tree.own[node]
        rewards[1 - mover] = -tree.own[node]
    backward(tree, path, depth, rewards, settings, proven and settings.prove)


@kernel
def advance(game, root, tree, leaves, waiting, batch, settings, frames, simulations, others):
    """Add the network's answers for `waiting` rows to the tree of root[0], and walk to new leaves.

    Args:
        simulations: That may begin, at most.
        others: Simulations that wait for another batch.

    Returns:
        The simulations that were finished by exact leaves or answers, and the rows that wait now.
    """
    done = 0
    for row in range(waiting):
        node = np.int64(leaves.path[row, leaves.depth[row]])
        if tree.children[node] == 0:  # else another simulation in flight had the same leaf
            expand(
                game, leaves.states[row], tree, 0, node, batch.logits[row], np.float64(batch.values[row]), frames,
                leaves,
            )  # fmt: skip
        back_up(tree, leaves, row, settings)
        done += 1
    rows, begun = 0, 0
    # One row until the root has children: all would wait for the same answer.
    most = len(leaves.depth) if tree.children[0] else 1 - min(others, 1)
    wide = len(leaves.actions)
    while rows < most and begun < simulations and tree.proven[0] == UNKNOWN:
        if tree.used[0] + (rows + 1 + others) * wide > len(tree.visits):
            break  # the tree has to grow
        leaves.states[rows] = root[0]
        state = leaves.states[rows]
        begun += 1
        if descend(game, state, tree, 0, leaves, rows, settings, leaves.scores, -1):
            game.observe(state, game.turn(state), batch.encodings[rows])
            rows += 1
        else:
            back_up(tree, leaves, rows, settings)
            done += 1
    return done, rows
