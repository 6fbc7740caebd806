"""Games as explicit trees in arrays: any small game tabulated, or one that was read from a file.

A position is the number of a node. All such games share one class, whose kernels are compiled once.
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..core.names import BadInput, TooLarge
from ..core.progress import SILENT, Reporter
from ..jit import below, generators, mix, record, uniform
from .game import game
from .protocol import CHANCE, OVER, SCRATCH, Game, TooLong, chance_outcomes, legal_actions, positions, view_of

MAX_NODES = 500_000
MAX_DEPTH = 1_000


@dataclass
class Node:
    """A node of a game tree. A tree is the list of its nodes in prefix order: a node, then its subtrees."""

    turn: int  # the seat to move, CHANCE or OVER
    infoset: int = 0  # number of the infoset among those of the seat to move
    label: str = ""  # of the infoset, for people
    actions: list[int] = field(default_factory=list)  # their numbers
    names: list[str] = field(default_factory=list)
    probs: list[float] = field(default_factory=list)  # of chance
    payoffs: list[float] = field(default_factory=list)  # at the end


def nodes_of(game: Game, max_nodes: int = MAX_NODES, report: Reporter = SILENT) -> list[Node]:
    """All nodes of a game, walked in plain Python.

    Raises:
        TooLarge: There are too many.
    """
    if isinstance(game, Tree):
        return game.nodes
    too_large = f"the game is too large to list its nodes: it has more than {max_nodes:,}"
    # By Markov's inequality an estimate is 1,000 times too high less than once in 1,000.
    if estimated_leaves(game) > 1000 * max_nodes:
        raise TooLarge(too_large)
    found: list[Node] = []
    infosets: list[dict[int, tuple[int, str]]] = [{} for _ in range(game.facts.seats)]  # key -> number, label
    stack = [positions(game)[0]]
    while stack:
        if len(found) == max_nodes:
            raise TooLarge(too_large)
        if len(found) % 1000 == 0:
            report.progress(len(found), note="nodes")
        state = stack.pop()
        turn = int(game.turn(state))
        if turn == OVER:
            found.append(Node(OVER, payoffs=[float(game.payoff(state, seat)) for seat in range(game.facts.seats)]))
            continue
        actions = legal_actions(game, state)
        node = Node(turn, actions=actions, names=[game.action_to_string(state, action) for action in actions])
        if turn == CHANCE:
            node.probs = [probability for _, probability in chance_outcomes(game, state)]
        else:
            key, known = int(game.infoset(state, turn)), infosets[turn]
            if key not in known:
                known[key] = len(known), " / ".join(game.show(view_of(game, state, turn), turn).splitlines())
            node.infoset, node.label = known[key]
        found.append(node)
        for action in reversed(actions):
            after = state.copy()
            game.play(after, action)
            stack.append(after)
    return found


def estimated_leaves(game: Game, samples: int = 20) -> float:
    """The number of leaves, estimated by the branching of random games (Knuth 1975); infinite above 10^300.

    Raises:
        BadInput: A game takes more turns than the game's `max_game_length`.
    """
    rng, total = generators(1, 1)[0], 0.0
    for _ in range(samples):
        state, leaves, turns = positions(game)[0], 1.0, 0
        while game.turn(state) != OVER and leaves < math.inf:
            if turns == game.facts.max_game_length:
                raise TooLong
            actions = legal_actions(game, state)
            leaves = leaves * len(actions) if leaves < 1e300 else math.inf
            game.play(state, actions[below(rng, len(actions))])  # uniform at chance too: else it would be biased
            turns += 1
        total += leaves / samples
    return total


# ---------------------------------------------------------------- the game


class Arrays(NamedTuple):
    """The nodes in arrays. What a seat knows at a node is the *first* node, in prefix order, that looks the same."""

    turns: np.ndarray  # [nodes] i8
    edges: np.ndarray  # [nodes + 1] i8: the actions of node i are edges[i] .. edges[i + 1] - 1
    numbers: np.ndarray  # [edges] i8: number of the action
    weights: np.ndarray  # [edges] f8: probability of the outcome; 0 where a seat moves
    below: np.ndarray  # [edges] i8: node after the action
    results: np.ndarray  # [nodes, seats] f8: payoffs; 0 before the end
    known: np.ndarray  # [seats, nodes] i8: the first node that looks the same to the seat
    keys: np.ndarray  # [seats, nodes] u8
    alike: np.ndarray  # [seats, nodes] i8: the nodes, sorted by what the seat knows
    spans: np.ndarray  # [seats, nodes + 1] i8: those that look like node i to the seat, if it is the first of them
    reach: np.ndarray  # [seats, nodes] f8: running sum, from 0 in each span, of chance's probability of these nodes


@game(
    "tree",
    state=record(("node", "i4")),
    num_actions=lambda game: game.limits[0],
    max_chance_outcomes=lambda game: game.limits[1],
    max_game_length=lambda game: game.limits[2],
    payoffs=lambda game: game.bounds,
    seats=lambda game: len(game.known),
    zero_sum=lambda game: bool(np.allclose(game.results.sum(axis=1), 0, atol=1e-9)),
    hidden=lambda game: game.hidden,
    listed=False,
)
class Tree(Arrays):
    """A game given by its tree."""

    # Set by `tree`; kernels see the arrays only.
    name: str
    source: str  # the name from which `load` makes the game
    title: str
    players: list[str]
    nodes: list[Node]
    parents: list[int]  # of each node; -1 of the first
    limits: tuple[int, int, int]  # num_actions, max_chance_outcomes, max_game_length
    bounds: tuple[float, float]  # of payoffs
    hidden: bool
    digest: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tree) and self.digest == other.digest

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.digest)

    def start(self, state):
        state.node = 0

    def turn(self, state):
        return self.turns[state.node]

    def actions(self, state, out):
        first = self.edges[state.node]
        n = self.edges[state.node + 1] - first
        for i in range(n):
            out[i] = self.numbers[first + i]
        return n

    def chance_probs(self, state, actions, n, out):
        first = self.edges[state.node]
        for i in range(n):
            out[i] = self.weights[first + i]

    def sample_action(self, state, rng):
        first, end = self.edges[state.node], self.edges[state.node + 1]
        left = uniform(rng)
        for edge in range(first, end - 1):
            left -= self.weights[edge] if self.turns[state.node] == CHANCE else 1.0 / (end - first)
            if left < 0:
                return self.numbers[edge]
        return self.numbers[end - 1]

    def play(self, state, action):
        for edge in range(self.edges[state.node], self.edges[state.node + 1]):
            if self.numbers[edge] == action:
                state.node = self.below[edge]
                break

    def payoff(self, state, seat):
        return self.results[state.node, seat]

    def infoset(self, state, seat):
        return self.keys[seat, state.node]

    def look(self, state, seat, out):
        out.node = self.known[seat, state.node]

    def determinize(self, view, seat, notes, rng, out):
        first = self.known[seat, view.node]
        start, end = self.spans[seat, first], self.spans[seat, first + 1]
        wanted = uniform(rng) * self.reach[seat, end - 1]
        while start < end - 1 and self.reach[seat, start] <= wanted:
            start += 1
        out.node = self.alike[seat, start]
        return True

    def show(self, state, seat):
        node = int(state.node)
        turn = int(self.turns[node])
        next_one = {CHANCE: "chance is next", OVER: "the game is over"}.get(turn, f"seat {turn + 1} is to move")
        if seat < 0 or not self.hidden:
            return f"moves: {' '.join(_path(self, node)) or '-'}\n{next_one}"
        own = node
        while own >= 0 and self.turns[own] != seat:  # the seat's last decision
            own = self.parents[own]
        if own < 0:
            return next_one
        label = self.nodes[own].label
        return f"infoset {self.nodes[own].infoset + 1} of seat {seat + 1}{label and ': '}{label}\n{next_one}"

    def action_to_string(self, state, action):
        node = self.nodes[int(state.node)]
        return _words(node)[node.actions.index(int(action))]


def _words(node: Node) -> list[str]:
    """The actions of a node as different words without spaces: their names, or numbers from 1 where names don't do."""
    words = ["_".join(name.replace(",", " ").split()) for name in node.names]
    different = len({word.lower() for word in words}) == len(words)
    return words if different and all(words) else [str(i + 1) for i in range(len(words))]


def _edges_to(tree: Tree, node: int) -> list[int]:
    found: list[int] = []
    while tree.parents[node] >= 0:
        above = tree.parents[node]
        first, end = tree.edges[above : above + 2]
        found.append(int(first) + tree.below[first:end].tolist().index(node))
        node = above
    return found[::-1]


def actions_to(tree: Tree, node: int) -> list[int]:
    """The actions that lead to a node."""
    return tree.numbers[_edges_to(tree, node)].tolist()


def _path(tree: Tree, node: int) -> list[str]:
    """The actions that lead to a node, as words."""
    found, above = [], 0
    for edge in _edges_to(tree, node):
        found.append(_words(tree.nodes[above])[edge - int(tree.edges[above])])
        above = int(tree.below[edge])
    return found


def tree(nodes: Sequence[Node], source: str, name: str, title: str = "", players: Sequence[str] = ()) -> Tree:
    """Make a game of the nodes of its tree.

    Args:
        nodes: In prefix order, as `nodes_of` lists them.
        source: The name from which `load` makes the same game.
        name: A short name, for run folders.
        title: What the game is called.
        players: Names of the seats.

    Raises:
        BadInput: It has more actions at a node than kernels have room for, or is too deep.
    """
    seats = len(next(node for node in nodes if node.turn == OVER).payoffs)
    counts = [len(node.actions) for node in nodes]
    edges = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    parents, depths, reach = [-1] * len(nodes), [0] * len(nodes), np.ones(len(nodes))
    below, last = np.zeros(edges[-1], np.int64), [[(-1, -1)] * seats for _ in nodes]
    open_nodes: list[list[int]] = []  # [node, number of its children so far]
    for i in range(len(nodes)):
        if open_nodes:
            above, place = open_nodes[-1]
            below[edges[above] + place] = i
            parents[i], depths[i] = above, depths[above] + 1
            reach[i] = reach[above] * (nodes[above].probs[place] if nodes[above].turn == CHANCE else 1.0)
            last[i] = last[above].copy()
            if nodes[above].turn >= 0:
                last[i][nodes[above].turn] = (nodes[above].infoset, place)
            open_nodes[-1][1] += 1
        if counts[i]:
            open_nodes.append([i, 0])
        while open_nodes and open_nodes[-1][1] == counts[open_nodes[-1][0]]:
            open_nodes.pop()
    limits = (
        1 + max((max(node.actions) for node in nodes if node.turn >= 0), default=0),
        max((1 + max(node.actions) for node in nodes if node.turn == CHANCE), default=0),
        max(depths),
    )
    if max(limits[:2], default=0) > SCRATCH:
        raise BadInput(f"{source}: a turn has more than {SCRATCH} actions")
    if limits[2] > MAX_DEPTH:
        raise BadInput(f"{source}: the tree is deeper than {MAX_DEPTH:,} moves")
    decisions = [(node.turn, node.infoset) for node in nodes if node.turn >= 0]
    hidden = len(set(decisions)) < len(decisions)
    known, keys = _knowledge(nodes, last, seats, hidden)
    alike = np.argsort(known, axis=1, kind="stable")
    spans = np.array([np.searchsorted(row[order], np.arange(len(nodes) + 1)) for row, order in zip(known, alike)])  # noqa: B905
    total = np.cumsum(reach[alike], axis=1)
    before = np.take_along_axis(np.insert(total, 0, 0, axis=1), np.take_along_axis(spans, np.sort(known), 1), 1)
    payoffs = [node.payoffs if node.turn == OVER else [0.0] * seats for node in nodes]
    results = np.array(payoffs, float)
    made = Tree(
        turns=np.array([node.turn for node in nodes], np.int64),
        edges=edges,
        numbers=np.array([action for node in nodes for action in node.actions], np.int64),
        weights=np.array([p for node in nodes for p in node.probs or [0.0] * len(node.actions)], float),
        below=below,
        results=results,
        known=known,
        keys=keys,
        alike=alike,
        spans=spans,
        reach=total - before,
    )
    over = results[made.turns == OVER]
    low, high = float(over.min()), float(over.max())
    made.source, made.name, made.title, made.players = source, name, title or name, list(players)
    made.nodes, made.parents, made.limits, made.hidden = list(nodes), parents, limits, hidden
    made.bounds = (low, high if high > low else low + 1.0)
    digest = hashlib.sha256(repr([(node.names, node.label) for node in nodes]).encode())
    for array in made:
        digest.update(array.tobytes())
    made.digest = digest.hexdigest()
    return made


def _knowledge(
    nodes: Sequence[Node], last: list[list[tuple[int, int]]], seats: int, hidden: bool
) -> tuple[np.ndarray, np.ndarray]:
    """For each seat and node the first node that looks the same to the seat, and the key of its infoset.

    A seat knows its infoset at its own decisions; elsewhere its last infoset, what it did there, and whose turn it is.
    Without hidden information it knows the node.
    """
    known, keys = np.zeros((seats, len(nodes)), np.int64), np.zeros((seats, len(nodes)), np.uint64)
    for seat in range(seats):
        first: dict[tuple[int, ...], tuple[int, int]] = {}  # what the seat knows -> first node, number
        numbers = np.zeros(len(nodes), np.int64)
        for i, node in enumerate(nodes):
            knowledge: tuple[int, ...] = (node.turn, *last[i][seat]) if hidden else (i,)
            if node.turn == seat:
                knowledge = (node.infoset,)
            known[seat, i], numbers[i] = first.setdefault(knowledge, (i, len(first)))
        own = np.array([node.turn == seat for node in nodes])
        numbers[own] = [node.infoset for node in nodes if node.turn == seat]
        keys[seat] = mix(mix(np.where(own, 1, 2), np.full(len(nodes), seat)), numbers)
    return known, keys
