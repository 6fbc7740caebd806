"""The tree of all searches of positions: its nodes, backing up, proofs, and what is read from it.

Values are from -1 to 1, those of the seat that moved to a node, so that any number of seats may play and one may move
twice in a row. Where positions have proven values (MCTS-Solver, Winands, Björnsson and Saito 2008), seats are two.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..core.names import BadInput
from ..games.protocol import NoSeat, TooLong
from ..jit import hash_record, helper, kernel, record
from .selection import UNKNOWN


class Tree(NamedTuple):
    """One entry per node; the children of a node are adjacent, and node 0 is the root.

    Several trees may share the arrays, each with a root of its own. Of the last fields each selection needs some: the
    trees of a network have `logit` and `pending`, the others the rest; what isn't needed is empty.
    """

    visits: np.ndarray  # [nodes] u4
    total: np.ndarray  # [nodes] f8: sum of the rewards of the seat that moved here
    own: np.ndarray  # [nodes] f4: for the seat to move here: the network's value, or the sum of the node's own playouts
    proven: np.ndarray  # [nodes] f4: exact value for the seat that moved here, or UNKNOWN
    first: np.ndarray  # [nodes] u4: first child, where there are any
    children: np.ndarray  # [nodes] u2: their number
    mover: np.ndarray  # [nodes] i1: the seat to move; CHANCE, OVER
    action: np.ndarray  # [nodes] i4: the action that led here
    prior: np.ndarray  # [nodes] f4
    mean: np.ndarray  # [nodes] f4
    spread: np.ndarray  # [nodes] f4: factor of the selection's exploration term; stored, as most children don't change
    tried: np.ndarray  # [nodes] u2: number of visited children, where the selection puts them first
    logit: np.ndarray  # [nodes] f4: the logarithm of the prior
    pending: np.ndarray  # [nodes] i2: simulations through the node that wait for the network; not kept for a root
    used: np.ndarray  # [1] i8: number of nodes; of trees with a share of the nodes each: [trees], end of each one's


# What is read together of a network's trees is in the same cache lines.
NODE = record(
    ("total", "f8"),
    ("visits", "u4"),
    ("own", "f4"),
    ("proven", "f4"),
    ("first", "u4"),
    ("children", "u2"),
    ("pending", "i2"),
    ("mover", "i1"),
)
EDGE = record(("action", "i4"), ("prior", "f4"), ("logit", "f4"))


def new_tree(nodes: int) -> Tree:
    kinds = ("u4", "f8", "f4", "f4", "u4", "u2", "i1", "i4", "f4", "f4", "f4", "u2")
    fields = {name: np.zeros(nodes, kind) for name, kind in zip(Tree._fields, kinds, strict=False)}
    return Tree(**fields, logit=np.zeros(0, "f4"), pending=np.zeros(0, "i2"), used=np.zeros(1, np.int64))


def new_network_trees(trees: int, nodes: int) -> Tree:
    """Trees of so many nodes each: the root of tree i is node i * nodes.

    Nodes that aren't used are clear, so that an expansion only writes what is read of children without visits.
    """
    records = [np.zeros(trees * nodes, kind) for kind in (NODE, EDGE)]
    fields = {name: each[name] for each in records for name in each.dtype.names or ()}
    rest = {"mean": np.zeros(0, "f4"), "spread": np.zeros(0, "f4"), "tried": np.zeros(0, "u2")}
    fields["proven"][:] = UNKNOWN
    return Tree(**fields, **rest, used=np.zeros(trees, np.int64))


BYTES = sum(array.itemsize for array in new_tree(1)[:-3])
NETWORK_BYTES = NODE.itemsize + EDGE.itemsize


def larger(tree: Tree, nodes: int) -> Tree:
    """A copy with more room, of a single tree."""
    grown = new_network_trees(1, nodes) if len(tree.pending) else new_tree(nodes)
    used = int(tree.used[0])
    for old, new in zip(tree[:-1], grown[:-1], strict=True):
        new[:used] = old[:used]
    grown.used[0] = used
    return grown


@kernel
def plant(game, roots, tree):
    """Reduce the tree to one root per position: the root of position i is node i."""
    tree.used[0] = 0
    for i in range(len(roots)):
        add_node(tree, i, -1, game.turn(roots[i]), 0.0)
    tree.used[0] = len(roots)


@helper
def add_node(tree, node, action, mover, prior):
    clear(tree, node)
    tree.own[node] = 0.0
    tree.mover[node] = mover
    tree.action[node] = action
    tree.prior[node] = prior


@helper
def clear(tree, node):
    tree.visits[node] = 0
    tree.total[node] = 0.0
    tree.proven[node] = UNKNOWN
    tree.children[node] = 0


@helper
def child_of(tree, node, action):
    child = np.int64(tree.first[node])
    end = child + np.int64(tree.children[node])
    while child < end and tree.action[child] != action:
        child += 1
    if child == end:
        raise BadInput("sample_action drew an outcome that actions doesn't list")
    return child


@helper
def play_on(game, state, tree, child, path, depth, seats):
    """Play the action of a child, and write the child into the path at this depth."""
    game.play(state, np.int64(tree.action[child]))
    if depth == len(path):
        raise TooLong
    path[depth] = child
    if tree.visits[child] == 0:
        turn = game.turn(state)
        if turn >= seats:
            raise NoSeat
        tree.mover[child] = turn


@helper
def backward(tree, path, depth, rewards, select, proven):
    """Add the rewards to all nodes of the path, and prove what follows from a proven leaf."""
    for level in range(depth, -1, -1):
        node = path[level]
        tree.visits[node] += 1
        if level == 0:
            break
        above = path[level - 1]
        mover = tree.mover[above]
        if mover >= 0:
            tree.total[node] += rewards[mover]
            select.visited(tree, node)
            if proven:
                proven = prove(tree, above, tree.mover[path[level - 2]] if level > 1 else 1 - mover)
        else:
            proven = False


@helper
def proven_rewards(tree, path, depth, rewards):
    """Write the value of a proven leaf for each of the two seats."""
    seat = tree.mover[path[depth - 1]] if depth else 0
    rewards[seat] = tree.proven[path[depth]]
    rewards[1 - seat] = -tree.proven[path[depth]]


@helper
def prove(tree, node, before):
    """Prove a node if its children decide it, for the seat `before` that moved into it; return whether."""
    mover, best = tree.mover[node], np.float32(-1.0)
    first = np.int64(tree.first[node])
    open_ones = False
    for child in range(first, first + np.int64(tree.children[node])):
        value = tree.proven[child]
        if value == UNKNOWN:
            open_ones = True
        else:
            best = max(best, value)
    if (open_ones and best < 1) or before < 0:
        return False
    tree.proven[node] = best if before == mover else -best
    return True


def children_of(tree: Tree, root: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A root's children by ascending action: nodes, actions, visits, values (NaN: unknown)."""
    first = int(tree.first[root])
    nodes = first + np.argsort(tree.action[first : first + int(tree.children[root])], kind="stable")
    visits, proven = tree.visits[nodes].astype(np.int64), tree.proven[nodes]
    with np.errstate(invalid="ignore"):
        value = np.where(proven != UNKNOWN, proven, np.where(visits > 0, tree.total[nodes] / visits, np.nan))
    return nodes, tree.action[nodes].astype(np.int64), visits, value


def line(tree: Tree, node: int, best: Callable[[np.ndarray], int]) -> tuple[int, ...]:
    """The actions from a node along the best children, as far as they were visited."""
    found: list[int] = []
    while count := int(tree.children[node]):
        first = int(tree.first[node])
        node = best(np.arange(first, first + count))
        if not tree.visits[node]:
            break
        found.append(int(tree.action[node]))
    return tuple(found)


@kernel
def find_below(game, tree, states, children, wanted, depth):
    """The most visited node at most `depth` moves below the root whose position has this hash; -1 if there is none."""
    found, level = -1, 0
    children[0] = tree.first[0]
    while level >= 0:
        above = children[level - 1] if level else 0
        child = children[level]
        if child == np.int64(tree.first[above]) + np.int64(tree.children[above]):
            level -= 1
            if level >= 0:
                children[level] += 1
            continue
        if tree.visits[child]:
            states[level + 1] = states[level]
            game.play(states[level + 1], tree.action[child])
            if hash_record(states[level + 1]) == wanted:
                if found < 0 or tree.visits[child] > tree.visits[found]:
                    found = child
            elif level + 1 < depth and tree.children[child]:
                level += 1
                children[level] = tree.first[child]
                continue
        children[level] += 1
    return found


@kernel
def keep_below(tree, kept, node):
    """Copy a node and its descendants, breadth first, into a tree of which it is the root."""
    copy_node(tree, kept, node, 0)
    kept.first[0] = node
    kept.used[0] = 1
    at = 0
    while at < kept.used[0]:
        old = np.int64(kept.first[at])  # of the old tree, until its turn comes
        count = np.int64(tree.children[old])
        kept.first[at] = kept.used[0] if count else 0
        for i in range(count):
            new = kept.used[0] + i
            copy_node(tree, kept, np.int64(tree.first[old]) + i, new)
            kept.first[new] = np.int64(tree.first[old]) + i
        kept.used[0] += count
        at += 1


@helper
def copy_node(tree, kept, node, new):
    kept.visits[new] = tree.visits[node]
    kept.total[new] = tree.total[node]
    kept.mean[new] = tree.mean[node]
    kept.own[new] = tree.own[node]
    kept.spread[new] = tree.spread[node]
    kept.prior[new] = tree.prior[node]
    kept.proven[new] = tree.proven[node]
    kept.action[new] = tree.action[node]
    kept.children[new] = tree.children[node]
    kept.tried[new] = tree.tried[node]
    kept.mover[new] = tree.mover[node]
