"""A simulation of Monte Carlo tree search: walk to a leaf, expand, play out."""

from typing import NamedTuple

import numpy as np

from ..games.protocol import CHANCE, OVER
from ..jit import helper, kernel
from .selection import UNKNOWN
from .tree import add_node, backward, child_of, play_on, proven_rewards


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
        path[0] = 0
        depth, _ = walk(game, state, tree, path, 0, scratch, select, policy, rng)
        node = path[depth]
        proven = tree.proven[node] != UNKNOWN
        if proven:  # the game isn't over but decided
            proven_rewards(tree, path, depth, rewards)
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
def walk(game, state, tree, path, depth, scratch, select, prior, rng):
    """Walk on from the node of the path at this depth to a leaf, expanding by the prior; write the path.

    Returns:
        The depth of the last node, and whether the prior has to be waited for there.
    """
    wide, node, waits = len(scratch.probs), path[depth], False
    while tree.proven[node] == UNKNOWN:
        if tree.children[node] == 0:
            if tree.mover[node] == OVER or (tree.visits[node] == 0 and depth):
                break
            if tree.used[0] + wide > len(tree.visits):
                break
            if tree.mover[node] != CHANCE and prior.ask(game, state):
                waits = True
                break
            expand(game, state, tree, node, scratch, prior)
        if tree.mover[node] == CHANCE:
            node = child_of(tree, node, game.sample_action(state, rng))
        else:
            node = select.select(tree, node, rng)
        depth += 1
        play_on(game, state, tree, node, path, depth, len(scratch.rewards))
    return depth, waits


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
def expand(game, state, tree, node, scratch, prior):
    """Add all children of a node."""
    n = game.actions(state, scratch.actions)
    if tree.mover[node] == CHANCE:
        game.chance_probs(state, scratch.actions, n, scratch.probs)
    else:
        prior.weigh(game, state, scratch.actions, n, scratch.probs)
    first = tree.used[0]
    for i in range(n):
        add_node(tree, first + i, scratch.actions[i], OVER, scratch.probs[i])
        tree.mean[first + i] = 0.0
    tree.tried[node] = 0
    tree.first[node] = first
    tree.children[node] = n
    tree.used[0] = first + n
