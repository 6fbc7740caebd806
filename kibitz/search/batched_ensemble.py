"""Ensemble UCT whose trees grow side by side, so that a network evaluates all positions that wait in one batch.

Each tree is of another world. Where one needs the network's policy at a position it waits; `advance` continues all
trees until each waits or has used its simulations, then the network is evaluated once. Each tree has its own random
numbers, so it doesn't depend on the trees beside it.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..core.progress import Reporter
from ..games import Game
from ..games.protocol import OVER
from ..jit import generators, kernel, record
from .determinization import Determinizer, sample_worlds
from .ensemble_uct import EXACT, Ensemble, Root
from .mcts_simulation import Limits, play_out, walk
from .policies import NO_LIMIT, Uniform
from .selection import OBENAUS_C, ObenausUcb
from .tree import backward, children_of, new_tree, plant

MACHINE = record(
    ("left", "i8"),  # simulations of the budget that haven't begun
    ("depth", "i4"),
    ("waits", "i1"),
)


class Scratch(NamedTuple):
    states: np.ndarray  # [trees]
    path: np.ndarray  # [trees, turns + 1] i8
    actions: np.ndarray  # [most] i8
    probs: np.ndarray  # [most] f8
    rewards: np.ndarray  # [seats] f8


class Adviser(Protocol):
    """A network that searches consult in batches."""

    oracle: Any  # the compiled part: a policy with the rule `ask`

    def prepare(self, view: Any, seat: int, simulations: int, trees: int) -> None:
        """Start a search for the seat. Each simulation asks for one position at most, all trees at once."""

    def answer(self) -> int:
        """Answer everything asked since the last call; return the number of questions."""


class BatchedEnsemble(Ensemble):
    """Ensemble UCT with a network's policy as the prior, by equation 12 of Obenaus (2017)."""

    def __init__(
        self,
        game: Game,
        adviser: Adviser,
        seed: int = 1,
        determinizations: int = 10,
        c: float = OBENAUS_C,
        exact: int = EXACT,
        announcements: str = "distribution",
        worlds: int = 400,
        policy: Any = None,
        determinizer: Determinizer = sample_worlds,
    ) -> None:
        """
        Args:
            adviser: The network that gives the prior.
            determinizations: Number of worlds per move.
            policy: Policy of the playouts; uniform if None.
        """
        super().__init__(game, seed, determinizations, exact, announcements, worlds, determinizer)
        facts = game.facts
        self.adviser = adviser
        self.select, self.policy = ObenausUcb(float(c)), Uniform() if policy is None else policy
        low, high = facts.rewards
        self.limits = Limits(NO_LIMIT, False, 2.0 / (high - low), (high + low) / 2.0)
        self.machines = np.zeros(determinizations, MACHINE)
        wide = max(facts.num_actions, facts.max_chance_outcomes)
        self.scratch = Scratch(
            states=np.zeros(determinizations, game.state),
            path=np.zeros((determinizations, facts.max_game_length + 2), np.int64),
            actions=np.zeros(wide, np.int64),
            probs=np.zeros(wide),
            rewards=np.zeros(facts.seats),
        )
        self.tree = new_tree(determinizations)
        self.asked = self.batches = 0

    def roots(
        self, view: Any, seat: int, worlds: np.ndarray, solved: int, share: np.ndarray, seconds: float, report: Reporter
    ) -> Iterator[Root]:
        """Grow all trees by their shares, whatever time it takes; at least one simulation each."""
        share[solved:] = np.maximum(share[solved:], 1)
        self.grow(view, seat, worlds, share)
        return map(self.root, range(solved, len(worlds)))

    def grow(self, view: Any, seat: int, worlds: np.ndarray, share: np.ndarray) -> None:
        """Grow a tree of each world by its share of simulations."""
        total = int(share.sum())
        if not total:
            return
        room = len(worlds) + (total + 1) * len(self.scratch.probs)
        if len(self.tree.visits) < room:
            self.tree = new_tree(room)
        self.adviser.prepare(view, seat, total, len(worlds))
        rngs = generators(int(self.rng[0] >> np.uint64(1)), len(worlds))
        self.machines["left"], self.machines["waits"] = share, 0
        plant(self.played, worlds, self.tree)
        while advance(
            self.played, worlds, self.tree, self.scratch, self.machines, self.limits, self.select, self.policy,
            self.adviser.oracle, rngs,
        ):  # fmt: skip
            if self.batches == 0:
                self.clock.restart()  # the first call may have compiled
            self.asked += self.adviser.answer()
            self.batches += 1

    def root(self, number: int) -> Root:
        """The root of a world's tree."""
        nodes, actions, visits, value = children_of(self.tree, number)
        value = value / self.limits.scale + self.limits.middle
        return Root(actions, visits, value, self.tree.prior[nodes].astype(float))


@kernel
def advance(game, roots, tree, scratch, machines, limits, select, policy, oracle, rngs):
    """Continue all trees until each waits for the network or has used its simulations; return how many wait."""
    waiting = 0
    for number in range(len(machines)):
        machine, path, rng = machines[number], scratch.path[number], rngs[number]
        while machine.waits or machine.left:
            state = scratch.states[number]
            if not machine.waits:
                machine.left -= 1
                scratch.states[number] = roots[number]
                machine.depth = 0
                path[0] = number
            depth, machine.waits = walk(game, state, tree, path, np.int64(machine.depth), scratch, select, oracle, rng)
            machine.depth = depth
            if machine.waits:
                waiting += 1
                break
            over = tree.mover[path[depth]] == OVER
            play_out(game, state, over, limits, policy, scratch.actions, scratch.probs, scratch.rewards, rng)
            backward(tree, path, depth, scratch.rewards, select, False)
    return waiting
