"""Monte Carlo tree search for games of perfect information, as three verbs: simulate, expand, backward.

`Uct` and `Puct` differ in how they select a child (`selection.py`). Any number of seats may play: a node's value is
that of the seat that moved into it. Rewards are scaled to -1..1 by the game's range of them. Chance nodes are
sampled by the rules.

In zero-sum games of two seats the tree is an MCTS-Solver (Winands, Björnsson and Saito 2008): the value of a finished
game is exact, a node with a winning child is lost for the seat that moved into it, and so on up. A proven root ends
the search.
"""

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from ..core.memory import limit as memory_limit
from ..core.names import EXPLORATION, BadInput, Interval
from ..games import Game, full_name, positions
from ..games.protocol import CHANCE, NO_SEAT, OVER, TOO_LONG
from ..jit import hash_record, helper, kernel
from .advice import Advice
from .policies import NO_LIMIT, Uniform
from .replies import UNANSWERED, LastGoodReplies, with_replies
from .search import Search, search
from .selection import UNKNOWN, PuctSelection, Ucb1

SQRT_2 = math.sqrt(2)
# Options that UCT and PUCT share.
C = Annotated[float, "exploration constant, for rewards from -1 to 1", EXPLORATION]
Fpu = Annotated[
    str, "first-play urgency of unvisited moves: infinite, or the value of the parent", ("infinite", "parent")
]
Prove = Annotated[bool, "whether to prove wins and losses (MCTS-Solver)"]
Reuse = Annotated[bool, "whether to keep the tree from move to move"]
Plies = Annotated[int, "length of a playout, after which it counts as a draw; 0: no limit", Interval(0, 1e9)]
Replies = Annotated[
    str,
    "last good replies in playouts of board games: none, kept until replaced (lgr), or forgotten when they lose (lgrf)",
    ("none", "lgr", "lgrf"),
]
Megabytes = Annotated[float, "memory for the tree; 0: what --memory allows", Interval(0, 1e9)]


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


def new_tree(nodes: int) -> Tree:
    kinds = ("u4", "f8", "f4", "f4", "f4", "f4", "f4", "i4", "u4", "u2", "u2", "i1")
    return Tree(*(np.zeros(nodes, kind) for kind in kinds), np.zeros(1, np.int64))  # type: ignore[call-arg]


class Mcts(Search):
    """Tree search of positions. The tree below the moves that are played is kept for the next one."""

    keeps_tree = True
    plays = "games without hidden information"

    def __init__(
        self,
        game: Game,
        seed: int,
        select: Any,
        prove: bool = True,
        reuse: bool = True,
        plies: int = 0,
        megabytes: float = 0,
        policy: Any = None,
        determinized: bool = False,
        replies: str = "none",
    ) -> None:
        """
        Args:
            select: The selection of a child.
            policy: Prior of the children, and policy of the playouts; uniform if None.
            determinized: Whether positions are sampled worlds, so that a tree of a game with hidden information may
                see everything.
            replies: Last good replies in playouts: `none`, `lgr` or `lgrf`.
        """
        facts = game.facts
        if facts.hidden and not determinized:
            raise BadInput(
                f"{full_name(game)} has hidden information, which a tree of positions would see; use ismcts or oos"
            )
        super().__init__(game, seed)
        self.select = select
        self.reuse = reuse and not getattr(game, "in_python", False)  # finding the new root would take longer
        self.policy = Uniform() if policy is None else policy
        if replies != "none":
            self.select, self.policy = with_replies(game, select, self.policy, forget=replies == "lgrf")
        low, high = facts.rewards
        provable = prove and facts.seats == 2 and facts.zero_sum
        self.limits = Limits(plies or NO_LIMIT, provable, 2.0 / (high - low), (high + low) / 2.0)
        self.max_nodes = int((megabytes * 1e6 or memory_limit()) // BYTES)
        wide = max(facts.num_actions, facts.max_chance_outcomes)
        self.scratch = Scratch(
            states=np.zeros(1, game.state),
            actions=np.zeros(wide, np.int64),
            probs=np.zeros(wide),
            path=np.zeros(facts.max_game_length + 2, np.int64),
            rewards=np.zeros(facts.seats),
        )
        self.root = positions(game)
        self.tree = new_tree(min(1 << 12, max(self.max_nodes, 1 + wide)))

    def begin(self, seed: int) -> None:
        super().begin(seed)
        self.tree.used[0] = 0

    def target(self, view: Any, seat: int = 0) -> None:
        """Make the view the root: a descendant of the old root where it is one, else that of a new tree."""
        node = self._known(view) if self.reuse and self.tree.used[0] else -1
        self.root[0] = view
        if node > 0:
            kept = new_tree(len(self.tree.visits))
            keep_below(self.tree, kept, node)
            self.tree = kept
        elif node < 0:
            plant(self.game, self.root, self.tree)
            if isinstance(self.policy, LastGoodReplies):
                self.policy.reply[:] = UNANSWERED

    def _known(self, view: Any) -> int:
        """The node of a view below the root, any number of moves; -1 where there is none."""
        wanted = hash_record(view)
        if hash_record(self.root[0]) == wanted:
            return 0
        deepest = len(self.scratch.path)
        states, children = np.zeros(deepest + 1, self.game.state), np.zeros(deepest, np.int64)
        states[0] = self.root[0]
        for depth in (COMMON, deepest):
            node = int(find_below(self.game, self.tree, states, children, wanted, min(depth, deepest)))
            if node >= 0:
                return node
        return -1

    def run(self, simulations: int) -> int:
        """Do simulations from the root; return how many were done before the root was proven."""
        done = 0
        while done < simulations:
            room = len(self.tree.visits) - int(self.tree.used[0])
            wide = len(self.scratch.probs)
            if room < wide and len(self.tree.visits) < self.max_nodes:
                self.tree = larger(self.tree, min(2 * len(self.tree.visits), self.max_nodes))
            more = simulate(
                self.game, self.root, self.tree, self.scratch, self.limits, self.select, self.policy,
                simulations - done, len(self.tree.visits) < self.max_nodes, self.rng,
            )  # fmt: skip
            done += more
            if self.finished:
                break
        return done

    @property
    def finished(self) -> bool:
        return self.proven is not None

    @property
    def proven(self) -> float | None:
        """The root's exact value for the seat to move, scaled to -1..1; None while it isn't known."""
        tree = self.tree
        if tree.proven[0] == UNKNOWN:
            return None
        # The root's own value is that of the seat that moved here, and a seat may move twice: the children know better.
        known = tree.proven[int(tree.first[0]) :][: int(tree.children[0])]
        return float(known[known != UNKNOWN].max())

    @property
    def note(self) -> str:
        """Whether the tree was full: the search then went on in it, and valued leaves by playouts alone."""
        nodes, wide = len(self.tree.visits), len(self.scratch.probs)
        if nodes < self.max_nodes or int(self.tree.used[0]) + wide <= nodes:
            return ""
        size = f"{nodes:,} nodes, {self.bytes / 1e9:.2g} GB"
        return (
            f"the tree is full ({size}): the search went on without growing it; megabytes or --memory raise its limit"
        )

    def children(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The root's children by ascending action: nodes, actions, visits, values as rewards (NaN: unknown)."""
        tree = self.tree
        first = int(tree.first[0])
        nodes = first + np.argsort(tree.action[first : first + int(tree.children[0])], kind="stable")
        visits, proven = tree.visits[nodes].astype(np.int64), tree.proven[nodes]
        with np.errstate(invalid="ignore"):
            value = np.where(proven != UNKNOWN, proven, np.where(visits > 0, tree.total[nodes] / visits, np.nan))
        value = value / self.limits.scale + self.limits.middle
        return nodes, tree.action[nodes].astype(np.int64), visits, value

    def advice(self, view: Any, simulations: int, seconds: float = 0.0) -> Advice:
        nodes, actions, visits, value = self.children()
        policy = np.zeros(len(nodes))
        if len(nodes):
            policy[nodes == self.best(np.sort(nodes))] = 1.0
        prior = self.tree.prior[nodes].astype(float)
        return Advice(
            actions, policy, value, visits, prior, simulations, seconds, line=self.principal_variation(),
            averaged=True, exact=self.finished,
        )  # fmt: skip

    def best(self, children: np.ndarray) -> int:
        """The child to play: a won one, else the most visited that isn't lost; of several the one of the best mean."""
        proven = np.where(self.tree.proven[children] == UNKNOWN, 0.0, self.tree.proven[children])
        return int(children[np.lexsort((self.tree.mean[children], self.tree.visits[children], proven))[-1]])

    def principal_variation(self) -> tuple[int, ...]:
        """The actions from the root along the best children, as far as they were visited."""
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

    @classmethod
    def precompile(cls, game: Game, view: Any, seat: int) -> None:
        found: Any = cls(game)  # type: ignore[call-arg]
        advice = found.advise(view, seat, 1)
        after = np.array([view], game.state)[0]
        game.play(after, advice.line[0])
        found.target(after)  # the tree below is kept


@search("uct")
class Uct(Mcts):
    """UCT (Kocsis and Szepesvári 2006): tree search by UCB1, for games of perfect information."""

    def __init__(
        self,
        game: Game,
        seed: int = 1,
        c: C = SQRT_2,
        fpu: Fpu = "infinite",
        prove: Prove = True,
        reuse: Reuse = True,
        plies: Plies = 0,
        megabytes: Megabytes = 0,
        policy: Any = None,
        determinized: bool = False,
        replies: Replies = "none",
    ) -> None:
        select = Ucb1(float(c), fpu == "parent")
        super().__init__(game, seed, select, prove, reuse, plies, megabytes, policy, determinized, replies)


@search("puct")
class Puct(Mcts):
    """PUCT: tree search guided by a prior, uniform or learned, for games of perfect information."""

    policy_from = "patterns"

    def __init__(
        self,
        game: Game,
        seed: int = 1,
        c: C = 2.5,
        fpu: Fpu = "parent",
        prove: Prove = True,
        reuse: Reuse = True,
        plies: Plies = 0,
        megabytes: Megabytes = 0,
        policy: Any = None,
        determinized: bool = False,
        replies: Replies = "none",
    ) -> None:
        select = PuctSelection(float(c), fpu == "parent")
        super().__init__(game, seed, select, prove, reuse, plies, megabytes, policy, determinized, replies)


COMMON = 2  # moves between two searches in most games: one's own, and a reply. Looking there first saves time.
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
            if tree.mover[node] == CHANCE:
                node = child_of(tree, node, game.sample_action(state, rng))
            else:
                node = select.select(tree, node, rng)
            game.play(state, tree.action[node])
            depth += 1
            if depth == len(path):
                raise BadInput(TOO_LONG)
            path[depth] = node
            if tree.visits[node] == 0:
                tree.mover[node] = mover_of(game, state, rewards)
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
def mover_of(game, state, rewards):
    """The seat to move, CHANCE or OVER."""
    turn = game.turn(state)
    if turn >= len(rewards):
        raise BadInput(NO_SEAT)
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
