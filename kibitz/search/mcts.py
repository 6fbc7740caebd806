"""Monte Carlo tree search for games of perfect information.

Its tree is in `tree.py`, a simulation in `mcts_simulation.py`. `Uct` and `Puct` differ in how they select a child
(`selection.py`). Any number of seats may play: a node's value is that of the seat that moved into it. Rewards are
scaled to -1..1 by the game's range of them. Chance nodes are sampled by the rules.

In zero-sum games of two seats the tree is an MCTS-Solver (Winands, Björnsson and Saito 2008): the value of a finished
game is exact, a node with a winning child is lost for the seat that moved into it, and so on up. A proven root ends
the search.
"""

import math
from typing import Annotated, Any

import numpy as np

from ..core.memory import limit as memory_limit
from ..core.names import EXPLORATION, BadInput, Interval
from ..games import Game, full_name, positions
from ..jit import hash_record
from .advice import Advice
from .mcts_simulation import Limits, Scratch, simulate
from .policies import NO_LIMIT, Uniform
from .search import Search, search
from .selection import UNKNOWN, PuctSelection, Ucb1
from .tree import BYTES, children_of, find_below, keep_below, larger, line, new_tree, plant

SQRT_2 = math.sqrt(2)
COMMON = 2  # moves between two searches in most games: one's own, and a reply. Looking there first saves time.
# Options that UCT and PUCT share.
C = Annotated[float, "exploration constant, for rewards from -1 to 1", EXPLORATION]
Fpu = Annotated[
    str, "first-play urgency of unvisited moves: infinite, or the value of the parent", ("infinite", "parent")
]
Prove = Annotated[bool, "whether to prove wins and losses (MCTS-Solver)"]
Reuse = Annotated[bool, "whether to keep the tree from move to move"]
Plies = Annotated[int, "length of a playout, after which it counts as a draw; 0: no limit", Interval(0, 1e9)]
Megabytes = Annotated[float, "memory for the tree; 0: what --memory allows", Interval(0, 1e9)]


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
    ) -> None:
        """
        Args:
            select: The selection of a child.
            policy: Prior of the children, and policy of the playouts; uniform if None.
            determinized: Whether positions are sampled worlds, so that a tree of a game with hidden information may
                see everything.
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
        nodes, actions, visits, value = children_of(self.tree)
        return nodes, actions, visits, value / self.limits.scale + self.limits.middle

    def advice(self, view: Any, simulations: int, seconds: float = 0.0) -> Advice:
        nodes, actions, visits, value = self.children()
        policy = np.zeros(len(nodes))
        if len(nodes):
            policy[nodes == self.best(np.sort(nodes))] = 1.0
        prior = self.tree.prior[nodes].astype(float)
        return Advice(
            actions, policy, value, visits, prior, simulations, seconds, line=line(self.tree, 0, self.best),
            averaged=True, exact=self.finished,
        )  # fmt: skip

    def best(self, children: np.ndarray) -> int:
        """The child to play: a won one, else the most visited that isn't lost; of several the one of the best mean."""
        proven = np.where(self.tree.proven[children] == UNKNOWN, 0.0, self.tree.proven[children])
        return int(children[np.lexsort((self.tree.mean[children], self.tree.visits[children], proven))[-1]])

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
    ) -> None:
        select = Ucb1(float(c), fpu == "parent")
        super().__init__(game, seed, select, prove, reuse, plies, megabytes, policy, determinized)


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
    ) -> None:
        select = PuctSelection(float(c), fpu == "parent")
        super().__init__(game, seed, select, prove, reuse, plies, megabytes, policy, determinized)
