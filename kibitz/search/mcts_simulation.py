"""A simulation of Monte Carlo tree search, as three verbs: simulate, expand, backward; and MCTS-Solver's proofs."""

from typing import NamedTuple

import numpy as np

from ..core.names import BadInput
from ..games.protocol import CHANCE, OVER, NoSeat, TooLong
from ..jit import helper, kernel
from .mcts_tree import add_node
from .selection import UNKNOWN


class Scratch(NamedTuple):
    states: np.ndarray  # [1]
    actions: np.ndarray  # [most] i8
    probs: np.ndarray  # [most] f8
    path: np.ndarray  # [turns + 1] i8: nodes from the root
    rewards: np.ndarray  # [seats] f8


class Limits(NamedTuple):
    plies: int  # length of a playout, after which it counts as a draw
    prove: bool
    scale: float  # reward -> -1..1
    middle: float


@kernel
def simulate(game, root, tree, scratch, limits, select, policy, count, may_grow, rng):
    """Do up to `count` simulations; return how many were done before the root was proven or a tree that may grow was
    full."""
    wide = len(scratch.probs)
    path, rewards = scratch.path, scratch.rewards
    for done in range(count):
        if tree.proven[0] != UNKNOWN:
            return done
        if may_grow and tree.used[0] + wide > len(tree.visits):
            return done
        scratch.states[0] = root[0]
        state = scratch.states[0]
        node, depth = 0, 0
        path[0] = 0
        while tree.proven[node] == UNKNOWN:
            if tree.children[node] == 0:
                if tree.mover[node] == OVER or (tree.visits[node] == 0 and node != 0):
                    break
                if tree.used[0] + wide > len(tree.visits):
                    break
                expand(game, state, tree, node, scratch, policy)
            depth += 1
            node = descend(game, state, tree, node, path, depth, select, rewards, rng)
        proven = tree.proven[node] != UNKNOWN
        if proven:
            # The game isn't over but decided: its value for each of the two seats.
            seat = tree.mover[path[depth - 1]] if depth else 0
            rewards[seat] = tree.proven[node]
            rewards[1 - seat] = -tree.proven[node]
        else:
            over = tree.mover[node] == OVER
            play_out(game, state, over, limits, policy, scratch.actions, scratch.probs, rewards, rng)
            if over and limits.prove and depth and tree.mover[path[depth - 1]] != CHANCE:
                tree.proven[node] = rewards[tree.mover[path[depth - 1]]]
                proven = True
            if tree.mover[node] >= 0:
                tree.own[node] += rewards[tree.mover[node]]
        backward(tree, path, depth, rewards, select, proven and limits.prove)
    return count


@helper
def descend(game, state, tree, node, path, depth, select, rewards, rng):
    """Play on to a child of a node, chosen by chance or by the selection; write it into the path at this depth."""
    if tree.mover[node] == CHANCE:
        child = child_of(tree, node, game.sample_action(state, rng))
    else:
        child = select.select(tree, node, rng)
    game.play(state, tree.action[child])
    if depth == len(path):
        raise TooLong
    path[depth] = child
    if tree.visits[child] == 0:
        tree.mover[child] = mover_of(game, state, rewards)
    return child


@helper
def mover_of(game, state, rewards):
    """The seat to move, CHANCE or OVER."""
    turn = game.turn(state)
    if turn >= len(rewards):
        raise NoSeat
    return turn


@helper
def play_out(game, state, over, limits, policy, actions, probs, rewards, rng):
    """Evaluate a leaf, by default by a playout: write the rewards, scaled to -1..1."""
    known = over
    if over:
        for seat in range(len(rewards)):
            rewards[seat] = game.reward(state, seat)
    else:
        known = policy.evaluate(game, state, limits.plies, actions, probs, rng, rewards)
    for seat in range(len(rewards)):
        rewards[seat] = (rewards[seat] - limits.middle) * limits.scale if known else 0.0


@helper
def expand(game, state, tree, node, scratch, policy):
    """Add all children of a node."""
    n = game.actions(state, scratch.actions)
    if tree.mover[node] == CHANCE:
        game.chance_probs(state, scratch.actions, n, scratch.probs)
    else:
        policy.weigh(game, state, scratch.actions, n, scratch.probs)
    first = tree.used[0]
    for i in range(n):
        add_node(tree, first + i, scratch.actions[i], OVER, scratch.probs[i])
    tree.first[node] = first
    tree.children[node] = n
    tree.used[0] = first + n


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
            tree.mean[node] = tree.total[node] / tree.visits[node]
            tree.spread[node] = select.spread(tree.visits[node])
            if proven:
                proven = prove(tree, above, tree.mover[path[level - 2]] if level > 1 else 1 - mover)
        else:
            proven = False


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
