"""The betting tree of a poker game: all sequences of bets, without cards.

The tree is found by playing the game's own rules with two fixed deals, in which the two seats' cards are exchanged:
where both end with the same payoff somebody has folded, else it is a showdown.
"""

from typing import Any, NamedTuple

import numpy as np

from ...games import CHANCE, OVER, positions
from ...games.protocol import SCRATCH
from ...jit import kernel
from .cards import Cards

FOLD, SHOWDOWN = -1, -2  # values of `BettingTree.seat` at ends


class BettingTree(NamedTuple):
    """Nodes in preorder: a node's subtree follows it. Where a street ends, its child is the next one's first."""

    seat: np.ndarray  # [nodes] i8: the seat to move, FOLD or SHOWDOWN
    street: np.ndarray  # [nodes] i8
    choices: np.ndarray  # [nodes] i8: number of actions; 0 at an end
    actions: np.ndarray  # [nodes, most] i8: the actions by their numbers in the game
    child: np.ndarray  # [nodes, most] i4
    payoff: np.ndarray  # [nodes] f4: FOLD: of seat 0; SHOWDOWN: what the winner wins
    line: np.ndarray  # [nodes] u8: the bets so far, as in the record of a position
    depth: np.ndarray  # [nodes] i8: number of moves so far

    @property
    def most(self) -> int:
        """The largest number of actions."""
        return self.child.shape[1]


def betting_tree(game: Any, cards: Cards) -> BettingTree:
    """Build the betting tree of a poker game by playing through its rules."""
    most, depth = game.facts.num_actions, game.facts.max_game_length + 1
    deals = np.array(cards.two_deals(), np.int64)
    states, nodes = np.zeros((depth, 2), game.state), 1024
    states[0] = positions(game)[0]
    while True:
        tree = BettingTree(
            np.zeros(nodes, np.int8),
            np.zeros(nodes, np.int8),
            np.zeros(nodes, np.int8),
            np.zeros((nodes, most), np.int8),
            np.zeros((nodes, most), np.int32),
            np.zeros(nodes, np.float32),
            np.zeros(nodes, np.uint64),
            np.zeros(nodes, np.int8),
        )
        paths = np.zeros((3, depth), np.int64)
        count = walk_bets(game, deals, states, np.zeros((depth, SCRATCH), np.int64), paths, tree)
        if count <= nodes:
            break
        nodes = count
    streets = np.zeros(int(tree.street[:count].max()) + 1, np.int8)
    for street, shown in enumerate(cards.dealt):
        streets[2 * cards.hole + shown] = street
    return BettingTree(*(each[:count] for each in tree._replace(street=streets[tree.street])))


def parents(tree: BettingTree) -> np.ndarray:
    """The node before each node; -1 at the root."""
    found = np.full(len(tree.seat), -1)
    for node, (count, children) in enumerate(zip(tree.choices, tree.child, strict=True)):
        found[children[:count]] = node
    return found


def street_roots(tree: BettingTree, street: int) -> np.ndarray:
    """The nodes with which a street begins, or a later one where all are in before it."""
    before = np.append(0, tree.street[parents(tree)[1:]])
    return np.flatnonzero((tree.street >= street) & (before < street))


def after_subtree(tree: BettingTree, root: int) -> int:
    """The first node after a node's subtree."""
    after = np.flatnonzero(tree.depth[root + 1 :] <= tree.depth[root])
    return root + 1 + int(after[0]) if len(after) else len(tree.depth)


@kernel
def walk_bets(game, deals, states, actions, paths, tree):
    """Fill the tree, in `street` the number of cards dealt; return its number of nodes, which may not all fit."""
    node, tried, count = paths[0], paths[1], paths[2]
    depth, nodes, arrived = 0, 0, True
    while depth >= 0:
        if arrived:
            node[depth], tried[depth], count[depth] = nodes, 0, 0
            nodes += 1
            for i in range(2):
                while game.turn(states[depth, i]) == CHANCE:
                    game.play(states[depth, i], deals[i, states[depth, i].dealt])
            turn = game.turn(states[depth, 0])
            if turn != OVER:
                count[depth] = game.actions(states[depth, 0], actions[depth])
            if nodes <= len(tree.seat):
                here = node[depth]
                tree.street[here], tree.line[here] = states[depth, 0].dealt, states[depth, 0].line
                tree.depth[here], tree.seat[here], tree.choices[here] = depth, turn, count[depth]
                if depth > 0:
                    tree.child[node[depth - 1], tried[depth - 1] - 1] = here
                for i in range(count[depth]):
                    tree.actions[here, i] = actions[depth, i]
                if turn == OVER:
                    one, other = game.payoff(states[depth, 0], 0), game.payoff(states[depth, 1], 0)
                    tree.seat[here] = FOLD if one == other else SHOWDOWN
                    tree.payoff[here] = one if one == other else abs(one)
        if tried[depth] == count[depth]:
            depth -= 1
            arrived = False
            continue
        for i in range(2):
            states[depth + 1, i] = states[depth, i]
            game.play(states[depth + 1, i], actions[depth, tried[depth]])
        tried[depth] += 1
        depth += 1
        arrived = True
    return nodes
