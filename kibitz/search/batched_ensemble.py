"""Ensemble UCT whose trees grow side by side, so that a network can answer for all that wait in one batch.

Each tree is of another guess. Where one needs to know what the network thinks of a position it waits; `advance` moves
all trees on until each waits or is done, then the network is asked once, and so on. A tree has its own luck: what it
finds is the same whoever grows beside it.
"""

import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..games import Game, legal_actions
from ..games.game import CHANCE, OVER
from ..jit import generators, kernel, record, rules
from .advice import Advice, fixed_advice
from .announcements import Announcements
from .blended import EXPLORATION, ObenausUcb
from .determinization import sample_worlds
from .ensemble_uct import EXACT, mean_advice
from .maxn import MaxN
from .mcts import Limits, add_node, backward, child_of, expand, new_tree, play_out
from .policies import NO_LIMIT, Uniform

RULES = {
    "ask": "self, game, state",  # -> whether it has to be asked again when all questions were answered
    "weigh": "self, game, state, actions, n, probs",  # as of a policy
}
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
    """A network as searches see it."""

    oracle: Any  # the compiled part, with the rules above

    def prepare(self, view: Any, seat: int, simulations: int, trees: int) -> None:
        """A search for the seat begins. Each simulation asks for one position at most, so many trees at once."""

    def answer(self) -> int:
        """Answer all that was asked since the last time: how many questions those were."""


def oracle(cls: Any) -> Any:
    """Class decorator: kernels may ask it, and wait for the answer."""
    return rules(RULES)(cls)


class BatchedEnsemble:
    """`advise(view, seat, simulations)` shares the simulations out among `deals` guesses, a tree for each."""

    def __init__(
        self,
        game: Game,
        adviser: Adviser,
        seed: int = 1,
        deals: int = 10,
        exploration: float = EXPLORATION,
        exact: int = EXACT,
        announcements: Announcements | None = None,
        policy: Any = None,
    ) -> None:
        """`asides` as of `Ensemble`; the policy is that of playouts."""
        facts = game.facts
        self.game, self.deals, self.announcements, self.adviser = game, deals, announcements, adviser
        self.played = game.without_announcements() if announcements else game
        self.select, self.policy = ObenausUcb(float(exploration)), Uniform() if policy is None else policy
        self.exhaust = MaxN(self.played, exact)
        low, high = facts.rewards
        self.limits = Limits(NO_LIMIT, False, 2.0 / (high - low), (high + low) / 2.0)
        self.machines = np.zeros(deals, MACHINE)
        wide = max(facts.num_actions, facts.max_chance_outcomes)
        self.scratch = Scratch(
            states=np.zeros(deals, game.state),
            path=np.zeros((deals, facts.max_game_length + 2), np.int64),
            actions=np.zeros(wide, np.int64),
            probs=np.zeros(wide),
            rewards=np.zeros(facts.seats),
        )
        self.tree = new_tree(deals)
        self.asked = self.batches = 0
        self.begin(seed)

    def begin(self, seed: int) -> None:
        self.rng = generators(seed, 1)[0]

    def advise(
        self,
        view: Any,
        seat: int,
        simulations: int,
        seconds: float = math.inf,
        progress: Callable[[int], None] = lambda done: None,
    ) -> Advice:
        """The action of the highest value, mean over guesses; a guess in which it was never tried has no say."""
        began = time.perf_counter()
        actions = np.array(legal_actions(self.game, view))
        if len(actions) == 1:
            return fixed_advice(self.game, view, np.ones(1))
        if self.announcements and self.game.is_announcement(view):
            return self.announcements.advise(view, seat, self.rng)
        worlds = sample_worlds(self.game, view, seat, self.deals, self.rng)
        values, visits = np.full((self.deals, len(actions)), np.nan), np.zeros(len(actions), np.int64)
        share = np.diff(np.arange(self.deals + 1) * max(simulations, self.deals) // self.deals)
        for deal, world in enumerate(worlds):
            solved = self.exhaust.solve(world)
            if solved is None:  # where one guess is too large to be solved the others aren't tried
                break
            values[deal], share[deal] = solved.values[:, seat], 0
        self.grow(view, seat, worlds, share)
        prior, grown = np.zeros(len(actions)), np.flatnonzero(share).tolist()
        for deal in grown:
            found, tried, value, thought = self.children(deal)
            place = np.searchsorted(actions, found)  # both ascending
            values[deal, place], visits[place] = value, visits[place] + tried
            prior[place] += thought / len(grown)
        done = int(share.sum())
        progress(done)
        advice = mean_advice(actions, values, visits, done, time.perf_counter() - began)
        return replace(advice, prior=prior) if grown else advice

    def grow(self, view: Any, seat: int, worlds: np.ndarray, share: np.ndarray) -> None:
        """A tree of each guess, by so many simulations."""
        total = int(share.sum())
        if not total:
            return
        room = len(worlds) + (total + 1) * len(self.scratch.probs)
        if len(self.tree.visits) < room:
            self.tree = new_tree(room)
        self.adviser.prepare(view, seat, total, len(worlds))
        rngs = generators(int(self.rng[0] >> np.uint64(1)), len(worlds))
        self.machines["left"], self.machines["waits"] = share, 0
        plant_all(self.played, worlds, self.tree)
        while advance(
            self.played, worlds, self.tree, self.scratch, self.machines, self.limits, self.select, self.policy,
            self.adviser.oracle, rngs,
        ):  # fmt: skip
            self.asked += self.adviser.answer()
            self.batches += 1

    def children(self, root: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Of a tree's root, in the order of their actions: actions, visits, values as rewards (NaN: none), priors."""
        tree, first = self.tree, int(self.tree.first[root])
        nodes = first + np.argsort(tree.action[first : first + int(tree.children[root])], kind="stable")
        visits = tree.visits[nodes].astype(np.int64)
        with np.errstate(invalid="ignore"):
            value = np.where(visits > 0, tree.total[nodes] / visits, np.nan)
        value = value / self.limits.scale + self.limits.middle
        return tree.action[nodes].astype(np.int64), visits, value, tree.prior[nodes].astype(float)


@kernel
def plant_all(game, roots, tree):
    """As many trees as roots, in one: tree i begins at node i."""
    for i in range(len(roots)):
        add_node(tree, i, -1, game.turn(roots[i]), 0.0)
    tree.used[0] = len(roots)


@kernel
def advance(game, roots, tree, scratch, machines, limits, select, policy, oracle, rngs):
    """All trees go on until they wait or are done: how many wait."""
    wide, waiting = len(scratch.probs), 0
    for number in range(len(machines)):
        machine, path, rng = machines[number], scratch.path[number], rngs[number]
        while machine.waits or machine.left:
            state = scratch.states[number]
            if not machine.waits:
                machine.left -= 1
                scratch.states[number] = roots[number]
                machine.depth = 0
                path[0] = number
            machine.waits = 0
            depth = np.int64(machine.depth)
            node = path[depth]
            while True:
                if tree.children[node] == 0:
                    if tree.mover[node] == OVER or (tree.visits[node] == 0 and depth):
                        break
                    if tree.used[0] + wide > len(tree.visits):
                        break
                    if tree.mover[node] != CHANCE and oracle.ask(game, state):
                        machine.waits = 1
                        break
                    expand(game, state, tree, node, scratch, oracle)
                if tree.mover[node] == CHANCE:
                    node = child_of(tree, node, game.sample_action(state, rng))
                else:
                    node = select.select(tree, node, rng)
                game.play(state, tree.action[node])
                depth += 1
                path[depth] = node
                if tree.visits[node] == 0:
                    tree.mover[node] = game.turn(state)
            machine.depth = depth
            if machine.waits:
                waiting += 1
                break
            over = tree.mover[node] == OVER
            play_out(game, state, over, limits, policy, scratch.actions, scratch.probs, scratch.rewards, rng)
            backward(tree, path, depth, scratch.rewards, select, False)
    return waiting
