"""The public tree of a game: all that both seats see, with a vector over private states at each node.

A game declares by its rules `private_state` and `public_state` that chance gives each seat something private at the
beginning, and that everything after that is public. Liar's Dice with two dice has 352 million infosets, but they are
16.8 million public states times 21 rolls. The tree is found by walking it depth first by the rules, on a position in
which all private states are hidden; of a node only the mover and the number of actions are stored. Nodes, entries of
tables (one per action of a node) and leaves are numbered in the order of the walk, and it is cut into subtrees for
threads.
"""

from typing import Any, NamedTuple

import numpy as np

from ...core import memory
from ...core.names import BadInput
from ...games import Game, full_name
from ...games.game import is_split
from ...games.protocol import CHANCE, OVER, TooLong, chance_outcomes, positions, view_of
from ...games.tree import estimated_leaves
from ...games.zero_sum import two_seats_zero_sum
from ...jit import helper, kernel
from .matrices import MatrixHands
from .walk import Nodes, Parts, Walker

MAX_NODES = 1 << 26  # of a public tree
MAX_DEALS = 10**6  # orders of chance at the beginning
MANY_LEAVES = 10**6  # of the whole game, by an estimate
SUBTREE = 4096  # nodes of a subtree at most; those of one batch too

NODES, ENTRIES, LEAVES, CLASSES, DEPTH, DECISIONS, ROOTS = range(7)  # places in `counts`
DONE, FULL, TOO_LARGE = range(3)  # how a survey ends


class Path(NamedTuple):
    """The path from a root to the current node, one row per level."""

    states: np.ndarray  # [depth + 1] positions
    actions: np.ndarray  # [depth, most]
    n: np.ndarray  # [depth]: number of actions
    tried: np.ndarray  # [depth + 1]: number of actions tried; -1: not entered yet
    start: np.ndarray  # [depth, 3]: nodes, entries and leaves before the node
    roots: np.ndarray  # [depth]: number of subtrees before the node


class Subtrees(NamedTuple):
    """Subtrees for threads, in the order of the walk. Nodes above them are the trunk."""

    start: np.ndarray  # [subtrees, 3]: number of its first node, entry and leaf
    size: np.ndarray  # [subtrees, 3]: its nodes, entries and leaves
    actions: np.ndarray  # [subtrees, depth] i2: the actions that lead to it
    length: np.ndarray  # [subtrees]: their number


class Stored(NamedTuple):
    """The tree as it is stored, in the order of the walk."""

    seat: np.ndarray  # [nodes and leaves] i1: the seat to move, CHANCE or OVER
    choices: np.ndarray  # [nodes and leaves] u2: number of actions
    classes: np.ndarray  # [leaves] i4: the class of payoffs of each


class Index(NamedTuple):
    """All decisions in the order of the walk."""

    keys: np.ndarray  # [decisions] u8: by `public_state`
    first: np.ndarray  # [decisions + 1] u4: the number of the first entry of each


class LeafPaths(NamedTuple):
    """A way to a leaf of each class."""

    actions: np.ndarray  # [classes, depth] i2
    length: np.ndarray  # [classes]


def is_large(game: Game) -> bool:
    """Whether a game is better walked on its public tree than enumerated: it declares one, and has many leaves."""
    return is_split(game) and estimated_leaves(game) > MANY_LEAVES


class PublicTree:
    """The public tree of a two-seat zero-sum game.

    Attributes:
        game: The game.
        private: Number of private states of a seat.
        deals: [private, private] f8: the probability of each pair of private states.
        root: [1] the position after the deal, with both private states hidden.
        views: [2, private] each seat's view after the deal.
        nodes, decisions, entries, leaves: Numbers of nodes (decisions and chance), of decisions, of their actions, and
            of leaves.
        depth: Moves of the longest path.
        subtrees: Parts for threads.
        payoffs: [classes, private, private] f8: seat 0's payoff times the probability of chance.
        stored: The tree itself.

    Raises:
        BadInput: The game doesn't declare a public tree, or it is too large.
    """

    def __init__(self, game: Game, subtree: int = SUBTREE) -> None:
        two_seats_zero_sum(game, "the public tree")
        if not is_split(game):
            raise BadInput(f"{full_name(game)} declares no public tree: it has no rule private_state")
        self.game, self.depth = game, game.facts.max_game_length
        self.most = max(game.facts.num_actions, game.facts.max_chance_outcomes)
        state = positions(game)[0]
        while game.turn(state) == CHANCE:
            game.play(state, chance_outcomes(game, state)[0][0])
        self.root = np.zeros(1, game.state)
        self.root[0] = view_of(game, view_of(game, state, 0), 1)
        counts = self._survey()
        self.nodes, self.entries, self.leaves, classes, self.depth, self.decisions = counts[:ROOTS].tolist()
        self.classes = classes or self.leaves
        size = 4 * self.nodes + 8 * self.leaves + 2 * self.classes * self.depth
        memory.check(size, f"the public tree of {full_name(game)}", "choose a smaller game")
        both = self.nodes + self.leaves
        self.stored = empty_tree(both, self.leaves)
        paths = empty_paths(self.classes, self.depth)
        room = 1024
        while True:
            subtrees = empty_subtrees(room, self.depth)
            counts = self._survey(subtree, subtrees, paths, self.stored)
            if counts[ROOTS] < room:
                break
            room *= 4
        self.subtrees = Subtrees(*(array[: counts[ROOTS]] for array in subtrees))
        self._deal()
        self._pay(paths)

    @property
    def infosets(self) -> int:
        """Number of infosets: decisions times private states."""
        return self.decisions * self.private

    def path(self) -> Path:
        """Scratch for a walk."""
        depth = self.depth
        return Path(
            np.zeros(depth + 1, self.game.state),
            np.zeros((depth + 1, self.most), np.int64),
            np.zeros(depth + 1, np.int64),
            np.zeros(depth + 1, np.int64),
            np.zeros((depth + 1, 3), np.int64),
            np.zeros(depth + 1, np.int64),
        )

    def walker(self, kind: Any, threads: int) -> tuple[Walker, MatrixHands]:
        """What walks the tree with numbers of a type, and what hands are worth in that type."""
        payoffs, parts = self.payoffs, self.subtrees
        hands = MatrixHands(
            np.ascontiguousarray(payoffs.transpose(0, 2, 1), kind), np.ascontiguousarray(-payoffs, kind),
            self.stored.classes,
        )  # fmt: skip
        nodes = Nodes(self.stored.seat, self.stored.choices, np.zeros(len(self.stored.seat), np.int8))
        start, size = (each + np.array([1, 0, 0]) * each[:, 2:] for each in (parts.start, parts.size))
        return Walker(nodes, Parts(start, size), self.private, self.depth + 1, self.most, kind, threads), hands

    def batches(self, nodes: int = SUBTREE) -> list[range]:
        """Subtrees one after the other in groups of at most this many nodes, or single ones."""
        found, start, total = [], 0, 0
        for i, size in enumerate(self.subtrees.size[:, 0].tolist()):
            if total + size > nodes and i > start:
                found.append(range(start, i))
                start, total = i, 0
            total += size
        return [*found, range(start, len(self.subtrees.length))] if len(self.subtrees.length) else found

    def _survey(
        self, subtree: int = 0, subtrees: Subtrees | None = None, paths: LeafPaths | None = None,
        stored: Stored | None = None, index: Index | None = None,
    ) -> np.ndarray:  # fmt: skip
        """Count, and write what there are arrays for."""
        subtrees, paths = subtrees or empty_subtrees(0, 0), paths or empty_paths(0, 0)
        stored, index = stored or empty_tree(0, 0), index or empty_index(0)
        counts, path = np.zeros(7, np.int64), self.path()
        path.states[0] = self.root[0]
        ended = _survey(self.game, path, subtree, subtrees, paths, stored, index, counts, MAX_NODES)
        if ended == TOO_LARGE:
            raise BadInput(f"{full_name(self.game)} is too large: it has more than {MAX_NODES:,} public states")
        return counts

    def _deal(self) -> None:
        """Enumerate chance at the beginning."""
        game: Any = self.game
        found: dict[tuple[int, int], tuple[Any, float]] = {}
        stack, seen = [(positions(game)[0], 1.0)], 0
        while stack:
            state, reach = stack.pop()
            if game.turn(state) == CHANCE:
                for outcome, probability in chance_outcomes(game, state):
                    after = state.copy()
                    game.play(after, outcome)
                    stack.append((after, reach * probability))
                continue
            seen += 1
            if seen > MAX_DEALS:
                raise BadInput(f"{full_name(game)} is too large: chance has more than {MAX_DEALS:,} ways to begin it")
            pair = int(game.private_state(state, 0)), int(game.private_state(state, 1))
            known = found.get(pair)
            found[pair] = (known[0], known[1] + reach) if known else (state, reach)
        self.private = n = 1 + max(max(pair) for pair in found)
        self.deals = np.zeros((n, n))
        self.dealt, self.views = np.zeros((n, n), game.state), np.zeros((2, n), game.state)
        for (one, two), (state, reach) in found.items():
            self.deals[one, two], self.dealt[one, two] = reach, state
            self.views[0, one], self.views[1, two] = view_of(game, state, 0), view_of(game, state, 1)
        if not (self.deals.any(axis=1).all() and self.deals.any(axis=0).all()):
            raise BadInput(f"{full_name(game)}: private_state should number the private states of both seats from 0")

    def _pay(self, paths: LeafPaths) -> None:
        n = self.private
        memory.check(
            3 * 8 * self.classes * n * n, f"the public tree of {full_name(self.game)}", "choose a smaller game"
        )
        self.payoffs = np.zeros((self.classes, n, n))
        outcomes, probs = np.zeros(self.most, np.int64), np.zeros(self.most)
        _pay(self.game, paths, self.dealt, self.deals, np.zeros(1, self.game.state), outcomes, probs, self.payoffs)

    def index(self) -> tuple[np.ndarray, np.ndarray]:
        """All decisions in the order of the walk: their keys by `public_state`, and the number of their first entry."""
        index = empty_index(self.decisions)
        self._survey(index=index)
        index.first[-1] = self.entries
        return index.keys, index.first


def empty_tree(both: int, leaves: int) -> Stored:
    return Stored(np.zeros(both, np.int8), np.zeros(both, np.uint16), np.zeros(leaves, np.int32))


def empty_index(decisions: int) -> Index:
    return Index(np.zeros(decisions, np.uint64), np.zeros(decisions + 1, np.uint32))


def empty_paths(classes: int, depth: int) -> LeafPaths:
    return LeafPaths(np.zeros((classes, depth), np.int16), np.zeros(classes, np.int64))


def empty_subtrees(count: int, depth: int) -> Subtrees:
    ends = np.zeros((2, count, 3), np.int64)
    return Subtrees(ends[0], ends[1], np.zeros((count, depth), np.int16), np.zeros(count, np.int64))


@kernel
def _survey(game, path, subtree, subtrees, paths, stored, index, counts, max_nodes):
    """Count nodes, entries and leaves; where there is room, note them, subtrees and a path to each class of leaf."""
    depth = 0
    path.tried[0] = -1
    while depth >= 0:
        tried = path.tried[depth]
        if tried < 0:
            if game.turn(path.states[depth]) == OVER:
                _at_leaf(game, path, paths, stored, counts, depth)
                depth -= 1
                continue
            if counts[NODES] == max_nodes:
                return TOO_LARGE
            path.n[depth] = game.actions(path.states[depth], path.actions[depth])
            if len(stored.seat):
                stored.seat[counts[NODES] + counts[LEAVES]] = game.turn(path.states[depth])
                stored.choices[counts[NODES] + counts[LEAVES]] = path.n[depth]
            path.start[depth, 0], path.start[depth, 1] = counts[NODES], counts[ENTRIES]
            path.start[depth, 2], path.roots[depth] = counts[LEAVES], counts[ROOTS]
            counts[NODES] += 1
            if game.turn(path.states[depth]) >= 0:
                if len(index.keys):
                    index.keys[counts[DECISIONS]] = game.public_state(path.states[depth])
                    index.first[counts[DECISIONS]] = counts[ENTRIES]
                counts[ENTRIES] += path.n[depth]
                counts[DECISIONS] += 1
            tried = 0
            path.tried[depth] = 0
        if tried == path.n[depth]:
            if len(subtrees.length) and counts[NODES] - path.start[depth, 0] <= subtree:
                number = path.roots[depth]  # subtrees inside of this one are dropped
                for k in range(3):
                    subtrees.start[number, k] = path.start[depth, k]
                    subtrees.size[number, k] = counts[k] - path.start[depth, k]
                for k in range(depth):
                    subtrees.actions[number, k] = path.actions[k, path.tried[k] - 1]
                subtrees.length[number] = depth
                counts[ROOTS] = number + 1
                if number + 1 == len(subtrees.length):
                    return FULL
            depth -= 1
            continue
        path.tried[depth] = tried + 1
        if depth + 2 > len(path.tried):
            raise TooLong
        path.states[depth + 1] = path.states[depth]
        game.play(path.states[depth + 1], path.actions[depth, tried])
        path.tried[depth + 1] = -1
        depth += 1
        counts[DEPTH] = max(counts[DEPTH], depth)
    return DONE


@helper
def _at_leaf(game, path, paths, stored, counts, depth):
    """Count a leaf, and note the way to it if it is the first of its class."""
    number = np.int64(game.payoff_class(path.states[depth]))
    if number >= 0:
        counts[CLASSES] = max(counts[CLASSES], number + 1)
    else:
        number = counts[LEAVES]
    if len(stored.seat):
        stored.seat[counts[NODES] + counts[LEAVES]] = OVER
        stored.classes[counts[LEAVES]] = number
    counts[LEAVES] += 1
    if len(paths.length) and paths.length[number] == 0:
        paths.length[number] = depth
        for k in range(depth):
            paths.actions[number, k] = path.actions[k, path.tried[k] - 1]


@kernel
def _pay(game, paths, dealt, deals, states, outcomes, probs, payoffs):
    """Play the way to each class of leaf with every pair of private states."""
    for number in range(len(paths.length)):
        for one in range(len(deals)):
            for two in range(len(deals)):
                reach = deals[one, two]
                if paths.length[number] == 0:
                    reach = 0.0
                states[0] = dealt[one, two]
                for k in range(paths.length[number]):
                    if reach > 0:
                        action = np.int64(paths.actions[number, k])
                        if game.turn(states[0]) == CHANCE:
                            n = game.actions(states[0], outcomes)
                            game.chance_probs(states[0], outcomes, n, probs)
                            chance = 0.0
                            for i in range(n):
                                if outcomes[i] == action:
                                    chance = probs[i]
                            reach *= chance
                        if reach > 0:
                            game.play(states[0], action)
                if reach > 0:
                    payoffs[number, one, two] = reach * game.payoff(states[0], 0)
