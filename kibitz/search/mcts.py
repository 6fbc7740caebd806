"""Monte Carlo tree search for games in which nothing is hidden, as three verbs: simulate, expand, backward.

How a child is chosen is the selection's business, `uct` and `puct` are two. Any number of seats: a node's value is that
of the seat that moved into it. Rewards are scaled to -1..1 by the game's range of them.

In zero-sum games of two seats what is decided is proven: the value of a finished game is exact, a node with a winning
child is lost for who moved into it, and so on up. A proven root ends the search.
"""

import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..core.names import BadInput
from ..games import Game, full_name, positions
from ..games.game import CHANCE, OVER
from ..jit import generators, hash_record, helper, kernel, rules
from .advice import Advice
from .budget import chunks, max_memory
from .policies import NO_LIMIT, Uniform

UNKNOWN = np.float32(2.0)  # not proven
RULES = {
    "select": "self, tree, node, rng",  # -> the child to go to
    "spread": "self, visits",  # -> what a child's exploration is multiplied by
}


class Tree(NamedTuple):
    """One entry a node; the children of a node lie side by side. Node 0 is the root. 41 bytes a node."""

    visits: np.ndarray  # [nodes] u4
    total: np.ndarray  # [nodes] f8: sum of rewards, of the seat that moved here
    mean: np.ndarray  # [nodes] f4
    spread: np.ndarray  # [nodes] f4: by the selection, of the visits; kept, as most children don't change
    prior: np.ndarray  # [nodes] f4
    proven: np.ndarray  # [nodes] f4: exact value, of the seat that moved here; UNKNOWN
    action: np.ndarray  # [nodes] i4: that led here
    first: np.ndarray  # [nodes] u4: child; 0 where there is none yet
    children: np.ndarray  # [nodes] u2: how many
    tried: np.ndarray  # [nodes] u2: children that were visited, where the selection puts them first
    mover: np.ndarray  # [nodes] i1: whose turn it is; CHANCE, OVER
    used: np.ndarray  # [1] i8: nodes


class Scratch(NamedTuple):
    states: np.ndarray  # [1]
    actions: np.ndarray  # [most] i8
    probs: np.ndarray  # [most] f8
    path: np.ndarray  # [turns + 1] i8: nodes from the root
    rewards: np.ndarray  # [seats] f8


class Limits(NamedTuple):
    plies: int  # of a playout; then it counts as a draw
    prove: bool
    scale: float  # reward -> -1..1
    middle: float


def selection(cls: Any) -> Any:
    """Class decorator: kernels may ask it which child to go to."""
    return rules(RULES)(cls)


def new_tree(nodes: int) -> Tree:
    kinds = ("u4", "f8", "f4", "f4", "f4", "f4", "i4", "u4", "u2", "u2", "i1")
    return Tree(*(np.zeros(nodes, kind) for kind in kinds), np.zeros(1, np.int64))  # type: ignore[call-arg]


class Mcts:
    """`advise(view, seat, simulations)` goes on with what it knows of the view from the last time."""

    def __init__(
        self,
        game: Game,
        select: Any,
        seed: int = 1,
        policy: Any = None,
        plies: int = 0,
        prove: bool = True,
        reuse: bool = True,
        memory: float | None = None,
        determinized: bool = False,
    ) -> None:
        """`guessed`: positions are guesses, so that it is no matter that a tree of them sees all."""
        facts = game.facts
        if facts.hidden and not determinized:
            raise BadInput(f"{full_name(game)} hides something: a tree of positions would peek; ismcts and oos don't")
        self.game, self.select, self.reuse = game, select, reuse
        self.policy = Uniform() if policy is None else policy
        low, high = facts.rewards
        provable = prove and facts.seats == 2 and facts.zero_sum
        self.limits = Limits(plies or NO_LIMIT, provable, 2.0 / (high - low), (high + low) / 2.0)
        self.most = int((memory if memory is not None else max_memory()) // BYTES)
        wide = max(facts.num_actions, facts.max_chance_outcomes)
        self.scratch = Scratch(
            states=np.zeros(1, game.state),
            actions=np.zeros(wide, np.int64),
            probs=np.zeros(wide),
            path=np.zeros(facts.max_game_length + 2, np.int64),
            rewards=np.zeros(facts.seats),
        )
        self.root = positions(game)
        self.tree = new_tree(min(1 << 12, max(self.most, 1 + wide)))
        self.begin(seed)

    def begin(self, seed: int) -> None:
        """A new game: forget everything."""
        self.rng = generators(seed, 1)[0]
        self.tree.used[0] = 0

    def advise(
        self,
        view: Any,
        seat: int,
        simulations: int = 0,
        seconds: float = math.inf,
        progress: Callable[[int], None] = lambda done: None,
    ) -> Advice:
        """Search until the simulations (0: no limit) or the seconds are used up, or all is proven."""
        began, done = time.perf_counter(), 0
        self.target(view)
        for chunk in chunks(simulations, seconds, progress):
            done += self.run(chunk)
            if self.proven is not None:
                break
        return self.advice(done, time.perf_counter() - began)

    def target(self, view: Any) -> None:
        """Make the view the root: the old one's descendant where it is one, else a new tree."""
        node = self._known(view) if self.reuse and self.tree.used[0] else -1
        self.root[0] = view
        if node > 0:
            kept = new_tree(len(self.tree.visits))
            keep_below(self.tree, kept, node)
            self.tree = kept
        elif node < 0:
            plant(self.game, self.root, self.tree)

    def _known(self, view: Any) -> int:
        """The node of a view at most a few moves below the root; -1 where there is none."""
        wanted = hash_record(view)
        if hash_record(self.root[0]) == wanted:
            return 0
        states, children = np.zeros(LOOK_AHEAD + 1, self.game.state), np.zeros(LOOK_AHEAD, np.int64)
        states[0] = self.root[0]
        for depth in range(1, LOOK_AHEAD + 1):
            node = int(find_below(self.game, self.tree, states, children, wanted, depth))
            if node >= 0:
                return node
        return -1

    def run(self, simulations: int) -> int:
        """More simulations from the root: how many were done before all was proven."""
        done = 0
        while done < simulations:
            room = len(self.tree.visits) - int(self.tree.used[0])
            wide = len(self.scratch.probs)
            if room < wide and len(self.tree.visits) < self.most:
                self.tree = larger(self.tree, min(2 * len(self.tree.visits), self.most))
            more = simulate(
                self.game, self.root, self.tree, self.scratch, self.limits, self.select, self.policy,
                simulations - done, len(self.tree.visits) < self.most, self.rng,
            )  # fmt: skip
            done += more
            if self.proven is not None:
                break
        return done

    @property
    def proven(self) -> float | None:
        """The root's exact value for the seat to move, scaled; None while it isn't known."""
        tree = self.tree
        if tree.proven[0] == UNKNOWN:
            return None
        # The root's own is that of who moved here, and a seat may move twice: the children know better.
        known = tree.proven[int(tree.first[0]) :][: int(tree.children[0])]
        return float(known[known != UNKNOWN].max())

    def children(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Of the root, in the order of their actions: nodes, actions, visits, values as rewards (NaN: unknown)."""
        tree = self.tree
        first = int(tree.first[0])
        nodes = first + np.argsort(tree.action[first : first + int(tree.children[0])], kind="stable")
        visits, proven = tree.visits[nodes].astype(np.int64), tree.proven[nodes]
        with np.errstate(invalid="ignore"):
            value = np.where(proven != UNKNOWN, proven, np.where(visits > 0, tree.total[nodes] / visits, np.nan))
        value = value / self.limits.scale + self.limits.middle
        return nodes, tree.action[nodes].astype(np.int64), visits, value

    def advice(self, simulations: int, seconds: float) -> Advice:
        nodes, actions, visits, value = self.children()
        policy = np.zeros(len(nodes))
        if len(nodes):
            policy[nodes == self.best(np.sort(nodes))] = 1.0
        prior = self.tree.prior[nodes].astype(float)
        return Advice(actions, policy, value, visits, prior, simulations, seconds, line=self.principal_variation())

    def best(self, children: np.ndarray) -> int:
        """The node to go to: a won one, else the most visited that isn't lost; of several the one of the best mean."""
        proven = np.where(self.tree.proven[children] == UNKNOWN, 0.0, self.tree.proven[children])
        return int(children[np.lexsort((self.tree.mean[children], self.tree.visits[children], proven))[-1]])

    def principal_variation(self) -> tuple[int, ...]:
        """The moves that the search expects, by visits."""
        found: list[int] = []
        node = 0
        while self.tree.children[node]:
            first = int(self.tree.first[node])
            children = np.arange(first, first + int(self.tree.children[node]))
            node = self.best(children)
            if not self.tree.visits[node]:
                break
            found.append(int(self.tree.action[node]))
        return tuple(found)

    @property
    def bytes(self) -> int:
        return sum(array.nbytes for array in self.tree)


LOOK_AHEAD = 3  # moves: a reply, or a capture that goes on
BYTES = sum(array.itemsize for array in new_tree(1)[:-1])


def larger(tree: Tree, nodes: int) -> Tree:
    grown = new_tree(nodes)
    used = int(tree.used[0])
    for old, new in zip(tree[:-1], grown[:-1], strict=True):
        new[:used] = old[:used]
    grown.used[0] = used
    return grown


def plant(game: Game, root: Any, tree: Tree) -> None:
    """A tree of nothing but its root."""
    tree.used[0] = 0
    _plant(game, root, tree)


@kernel
def _plant(game, root, tree):
    add_node(tree, 0, -1, game.turn(root[0]), 0.0)
    tree.used[0] = 1


@kernel
def find_below(game, tree, states, children, wanted, depth):
    """The visited node so many moves below the root whose position has this hash; -1 where there is none."""
    level = 0
    children[0] = tree.first[0]
    while True:
        above = children[level - 1] if level else 0
        child = children[level]
        if child == np.int64(tree.first[above]) + np.int64(tree.children[above]):
            if level == 0:
                return -1
            level -= 1
        elif tree.visits[child]:
            states[level + 1] = states[level]
            game.play(states[level + 1], tree.action[child])
            if level + 1 < depth:
                level += 1
                children[level] = tree.first[child]
                continue
            if hash_record(states[depth]) == wanted:
                return child
        children[level] += 1


@kernel
def keep_below(tree, kept, node):
    """Copy a node and all below it, breadth first, so that it is the root."""
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
    tree.spread[node] = 0.0
    tree.prior[node] = prior
    tree.proven[node] = UNKNOWN
    tree.action[node] = action
    tree.first[node] = 0
    tree.children[node] = 0
    tree.tried[node] = 0
    tree.mover[node] = mover


@kernel
def simulate(game, root, tree, scratch, limits, select, policy, count, may_grow, rng):
    """Do up to `count` simulations: how many, until all is proven or (where it may grow) the tree is full."""
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
            if tree.mover[node] == CHANCE:
                node = child_of(tree, node, game.sample_action(state, rng))
            else:
                node = select.select(tree, node, rng)
            game.play(state, tree.action[node])
            depth += 1
            path[depth] = node
            if tree.visits[node] == 0:
                tree.mover[node] = game.turn(state)
        proven = tree.proven[node] != UNKNOWN
        if proven:
            # Of a game that isn't over but decided: what it is worth to each of its two seats.
            seat = tree.mover[path[depth - 1]] if depth else 0
            rewards[seat] = tree.proven[node]
            rewards[1 - seat] = -tree.proven[node]
        else:
            over = tree.mover[node] == OVER
            play_out(game, state, over, limits, policy, scratch.actions, scratch.probs, rewards, rng)
            if over and limits.prove and depth and tree.mover[path[depth - 1]] != CHANCE:
                tree.proven[node] = rewards[tree.mover[path[depth - 1]]]
                proven = True
        backward(tree, path, depth, rewards, select, proven and limits.prove)
    return count


@helper
def play_out(game, state, over, limits, policy, actions, probs, rewards, rng):
    """What a leaf is worth, mostly by a playout: the rewards, scaled."""
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
    while tree.action[child] != action:
        child += 1
    return child


@helper
def backward(tree, path, depth, rewards, select, proven):
    """Add the rewards to all nodes on the way; prove what follows."""
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
    """Whether a node's children decide it, for the seat `before` that moved into it."""
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
