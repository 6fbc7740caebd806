"""Trees of many games at the same time, which grow by the answers of a network: nodes, expansion and backing up.

Values are those of seat 0, from -1 to 1, so a seat may move twice in a row. Finished games have exact values, and what
follows from them is proven up the tree (MCTS-Solver, Winands et al. 2008).
"""

import math
from typing import NamedTuple

import numpy as np

from ..games import Game
from ..games.protocol import TooManyActions
from ..jit import helper, long_helper, record
from .selection import UNKNOWN


class Trees(NamedTuple):
    """One row per game, one entry per node; the children of a node are adjacent. Node 0 is the root.

    All are views of two arrays of records, so that what is read together is in the same cache lines. Nodes that aren't
    used have no visits, children and proof, so that an expansion writes the actions and priors of children only.
    """

    total: np.ndarray  # [games, nodes] f8: sum of the values of its visits
    visits: np.ndarray  # [games, nodes] i4
    pending: np.ndarray  # [games, nodes] i2: simulations through the node that wait for the network
    value: np.ndarray  # [games, nodes] f4: the network's value
    proven: np.ndarray  # [games, nodes] f4: exact value, or UNKNOWN
    first: np.ndarray  # [games, nodes] i4: first child
    children: np.ndarray  # [games, nodes] i4: their number; 0 before the network has answered
    mover: np.ndarray  # [games, nodes] i1: the seat to move, or OVER; of visited nodes
    action: np.ndarray  # [games, nodes] i4: the action that led here
    prior: np.ndarray  # [games, nodes] f4: the network's probability
    logit: np.ndarray  # [games, nodes] f4: the logarithm of it
    used: np.ndarray  # [games] i8: number of nodes


NODE = record(
    ("total", "f8"),
    ("visits", "i4"),
    ("value", "f4"),
    ("proven", "f4"),
    ("first", "i4"),
    ("children", "i4"),
    ("pending", "i2"),
    ("mover", "i1"),
)
EDGE = record(("action", "i4"), ("prior", "f4"), ("logit", "f4"))
BYTES = NODE.itemsize + EDGE.itemsize  # per node
LEAST_LOGIT = math.log(1e-30)


class Leaves(NamedTuple):
    """Simulations that wait for the network, one row each: `Batch` has the same rows."""

    states: np.ndarray  # [rows] positions
    path: np.ndarray  # [rows, turns] i4: nodes from the root
    depth: np.ndarray  # [rows] i4: of the leaf
    actions: np.ndarray  # [wide] i8: scratch
    scores: np.ndarray  # [wide] f8: scratch
    weights: np.ndarray  # [wide] f8: scratch


def new_trees(games: int, nodes: int) -> Trees:
    records = [np.zeros((games, nodes), kind) for kind in (NODE, EDGE)]
    fields = {name: each[name] for each in records for name in each.dtype.names or ()}
    fields["proven"][:] = UNKNOWN
    return Trees(**fields, used=np.zeros(games, np.int64))


def new_leaves(game: Game, rows: int) -> Leaves:
    facts = game.facts
    return Leaves(
        states=np.zeros(rows, game.state),
        path=np.zeros((rows, facts.max_game_length + 2), np.int32),
        depth=np.zeros(rows, np.int32),
        actions=np.zeros(facts.num_actions, np.int64),
        scores=np.zeros(facts.num_actions),
        weights=np.zeros(facts.num_actions),
    )


@helper
def sign_of(seat):
    return 1.0 if seat == 0 else -1.0


@helper
def plant(trees, g, turn):
    """Reduce a tree to an unexpanded root."""
    for node in range(trees.used[g]):
        trees.total[g, node] = 0.0
        trees.visits[g, node] = 0
        trees.pending[g, node] = 0
        trees.proven[g, node] = UNKNOWN
        trees.children[g, node] = 0
    trees.used[g] = 1
    trees.mover[g, 0] = turn


@long_helper
def expand(game, state, trees, g, node, logits, value, frames, leaves):
    """Add all children of a node by the network's answer: logits by its own number of an action, frames[seat, a]."""
    mover = np.int64(trees.mover[g, node])
    n = game.actions(state, leaves.actions)
    highest = -1e30
    for i in range(n):
        if leaves.actions[i] >= len(logits):
            raise TooManyActions
        leaves.scores[i] = np.float64(logits[frames[mover, leaves.actions[i]]])
        highest = max(highest, leaves.scores[i])
    first, total = trees.used[g], 0.0
    for i in range(n):
        leaves.weights[i] = math.exp(leaves.scores[i] - highest)
        total += leaves.weights[i]
    shift = highest + math.log(total)
    for i in range(n):
        trees.action[g, first + i] = leaves.actions[i]
    for i in range(n):
        trees.prior[g, first + i] = leaves.weights[i] / total
    for i in range(n):
        trees.logit[g, first + i] = max(leaves.scores[i] - shift, LEAST_LOGIT)
    trees.value[g, node] = value * sign_of(mover)
    trees.first[g, node] = first
    trees.children[g, node] = n
    trees.used[g] = first + n


@helper
def mean_of(trees, g, child, sign):
    """The value of a visited child for the seat that moves to it; simulations that wait count as lost."""
    if trees.proven[g, child] != UNKNOWN:
        return sign * np.float64(trees.proven[g, child])
    pending = np.float64(trees.pending[g, child])
    return (sign * trees.total[g, child] - pending) / (np.float64(trees.visits[g, child]) + pending)


@helper
def tried(trees, g, child):
    return np.int64(trees.visits[g, child]) + np.int64(trees.pending[g, child])


@helper
def backward(trees, g, leaves, row, value, settings):
    """Add a value to all nodes of a path, and prove what follows from a proven leaf."""
    depth = np.int64(leaves.depth[row])
    proven = trees.proven[g, leaves.path[row, depth]] != UNKNOWN
    for level in range(depth, -1, -1):
        node = np.int64(leaves.path[row, level])
        trees.pending[g, node] -= 1
        trees.visits[g, node] += 1
        trees.total[g, node] += value
        if proven and settings.prove and level < depth:
            proven = prove(trees, g, node)


@long_helper
def prove(trees, g, node):
    """Prove a node if its children decide it; return whether."""
    first, count = np.int64(trees.first[g, node]), np.int64(trees.children[g, node])
    sign, best, open_ones = sign_of(trees.mover[g, node]), -2.0, False
    for child in range(first, first + count):
        if trees.proven[g, child] == UNKNOWN:
            open_ones = True
        else:
            best = max(best, sign * np.float64(trees.proven[g, child]))
    if open_ones and best < 1.0:
        return False
    trees.proven[g, node] = sign * best
    return True


@helper
def leaf_value(trees, g, leaves, row):
    """The value of a leaf that was just expanded, or is proven."""
    node = np.int64(leaves.path[row, leaves.depth[row]])
    known = trees.proven[g, node] != UNKNOWN
    return np.float64(trees.proven[g, node]) if known else np.float64(trees.value[g, node])
