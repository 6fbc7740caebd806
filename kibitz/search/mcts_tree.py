"""The tree of Monte Carlo tree search: arrays with one entry per node. The part below a node can become the tree."""

from typing import Any, NamedTuple

import numpy as np

from ..games import Game
from ..jit import hash_record, helper, kernel
from .selection import UNKNOWN


class Tree(NamedTuple):
    """One entry per node, 45 bytes; the children of a node are adjacent. Node 0 is the root."""

    visits: np.ndarray  # [nodes] u4
    total: np.ndarray  # [nodes] f8: sum of the rewards of the seat that moved here
    mean: np.ndarray  # [nodes] f4
    own: np.ndarray  # [nodes] f4: sum of the rewards of playouts from the node itself, of the seat to move here
    spread: np.ndarray  # [nodes] f4: the selection's `spread(visits)`; stored, as most children don't change
    prior: np.ndarray  # [nodes] f4
    proven: np.ndarray  # [nodes] f4: exact value for the seat that moved here, or UNKNOWN
    action: np.ndarray  # [nodes] i4: the action that led here
    first: np.ndarray  # [nodes] u4: first child; 0 where there is none yet
    children: np.ndarray  # [nodes] u2: their number
    tried: np.ndarray  # [nodes] u2: number of visited children, where the selection puts them first
    mover: np.ndarray  # [nodes] i1: the seat to move; CHANCE, OVER
    used: np.ndarray  # [1] i8: number of nodes


def new_tree(nodes: int) -> Tree:
    kinds = ("u4", "f8", "f4", "f4", "f4", "f4", "f4", "i4", "u4", "u2", "u2", "i1")
    return Tree(*(np.zeros(nodes, kind) for kind in kinds), np.zeros(1, np.int64))  # type: ignore[call-arg]


BYTES = sum(array.itemsize for array in new_tree(1)[:-1])


def larger(tree: Tree, nodes: int) -> Tree:
    grown = new_tree(nodes)
    used = int(tree.used[0])
    for old, new in zip(tree[:-1], grown[:-1], strict=True):
        new[:used] = old[:used]
    grown.used[0] = used
    return grown


def plant(game: Game, root: Any, tree: Tree) -> None:
    """Reduce the tree to a new root."""
    tree.used[0] = 0
    _plant(game, root, tree)


@kernel
def _plant(game, root, tree):
    add_node(tree, 0, -1, game.turn(root[0]), 0.0)
    tree.used[0] = 1


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


@helper
def add_node(tree, node, action, mover, prior):
    tree.visits[node] = 0
    tree.total[node] = 0.0
    tree.mean[node] = 0.0
    tree.own[node] = 0.0
    tree.spread[node] = 0.0
    tree.prior[node] = prior
    tree.proven[node] = UNKNOWN
    tree.action[node] = action
    tree.first[node] = 0
    tree.children[node] = 0
    tree.tried[node] = 0
    tree.mover[node] = mover
