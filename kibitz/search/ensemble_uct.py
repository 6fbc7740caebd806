"""Ensemble UCT (Sievers 2012): sample worlds, search a tree of each with all cards open, and average the values.

A tree knows its world, so it plays as if all seats did: it never hides or seeks information (strategy fusion). It is
strong where hidden information has little influence on which action is best, as in many trick-taking games. A world
that is small enough is solved exactly instead of searched.
"""

import math
from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

import numpy as np

from ..core.names import EXPLORATION, Interval
from ..core.progress import Reporter
from ..games import Game, legal_actions
from .advice import Advice, greedy_advice
from .announcements import Announcements, HowAnnounced, Worlds, announcements_for
from .budget import chunks
from .determinization import Determinizer, sample_worlds
from .ismcts import THESIS_C
from .maxn import MaxN
from .mcts import Mcts, Uct
from .search import Search, search

EXACT = 10_000  # positions: a world of fewer is solved, in about the time of 1,000 simulations
Exact = Annotated[int, "largest number of positions of a world that is solved instead; 0: never", Interval(0, 1e9)]


class Root(NamedTuple):
    """The root of one world's tree after the search; arrays have one entry per action, in ascending order."""

    actions: np.ndarray
    visits: np.ndarray
    values: np.ndarray  # rewards; NaN: never tried
    prior: np.ndarray


class Ensemble(Search):
    """Searches `determinizations` worlds per move, and advises the action of the highest mean value.

    A subclass implements `roots`: the search of all worlds.
    """

    budget = "worlds"

    def __init__(
        self,
        game: Game,
        seed: int = 1,
        determinizations: int = 10,
        exact: int = EXACT,
        announcements: str | Announcements = "distribution",
        worlds: int = 400,
        determinizer: Determinizer = sample_worlds,
    ) -> None:
        super().__init__(game, seed, announcements_for(game, announcements, worlds))
        self.determinizations, self.determinizer = determinizations, determinizer
        self.maxn = MaxN(self.played, exact)

    def _advise(self, view: Any, seat: int, simulations: int, seconds: float, report: Reporter) -> Advice:
        """Average over the worlds; one in which an action was never tried doesn't count for that action."""
        actions = np.array(legal_actions(self.game, view))
        worlds = self.determinizer(self.game, view, seat, self.determinizations, self.rng)
        values, visits = np.full((len(worlds), len(actions)), np.nan), np.zeros(len(actions), np.int64)
        solved = 0
        for world in worlds:
            found = self.maxn.solve(world)
            if solved == 0:
                self.clock.restart()  # the first call may have compiled
            if found is None:  # where one world is too large to be solved the others aren't tried
                break
            values[solved], solved = found.values[:, seat], solved + 1
        share = shares(simulations, len(worlds))
        share[:solved] = 0
        prior, done = np.zeros(len(actions)), 0
        for number, root in enumerate(self.roots(view, seat, worlds, solved, share, seconds, report), solved):
            place = np.searchsorted(actions, root.actions)  # both ascending
            values[number, place], visits[place] = root.values, visits[place] + root.visits
            prior[place] += root.prior / (len(worlds) - solved)
            done += int(root.visits.sum())
            report.progress(done, simulations or None)
            if report.stopped:
                break
        known = ~np.isnan(values)
        total = np.where(known, values, 0.0).sum(axis=0)
        mean = np.divide(total, known.sum(axis=0), out=np.full(len(actions), np.nan), where=known.any(axis=0))
        return greedy_advice(actions, mean, mean, visits, done, prior if solved < len(worlds) else None)

    def roots(
        self, view: Any, seat: int, worlds: np.ndarray, solved: int, share: np.ndarray, seconds: float, report: Reporter
    ) -> Iterator[Root]:
        """Search the worlds from number `solved` on, each with its share of simulations (all 0: no limit)."""
        raise NotImplementedError


def shares(simulations: int, parts: int) -> np.ndarray:
    """Share simulations out evenly, at least one each; all 0 where there is no limit."""
    return np.diff(np.arange(parts + 1) * (max(simulations, parts) if simulations else 0) // parts)


@search("ensemble-uct")
class EnsembleUct(Ensemble):
    """Ensemble UCT (Sievers 2012): a UCT tree of each of several sampled worlds, and the mean of their values."""

    policy_from = "playouts"
    presets = {"thesis": {"budget": "10x1000", "c": THESIS_C, "exact": 0, "announcements": "tree"}}

    def __init__(
        self,
        game: Game,
        seed: int = 1,
        determinizations: int = 10,
        c: Annotated[float, "exploration constant, for rewards from -1 to 1", EXPLORATION] = math.sqrt(2),
        exact: Exact = EXACT,
        announcements: HowAnnounced = "distribution",
        worlds: Worlds = 400,
        policy: Any = None,
        prove: bool = True,
        determinizer: Determinizer = sample_worlds,
        tree: type[Mcts] = Uct,
    ) -> None:
        """
        Args:
            determinizations: Number of worlds per move.
            policy: Prior and playouts of the trees; uniform if None.
            prove: Whether the trees prove wins and losses.
            determinizer: Samples the worlds.
            tree: The search of a world: Uct or Puct.
        """
        super().__init__(game, seed, determinizations, exact, announcements, worlds, determinizer)
        new_tree: Any = tree
        self.tree: Mcts = new_tree(self.played, 0, c, prove=prove, reuse=False, policy=policy, determinized=True)

    def roots(
        self, view: Any, seat: int, worlds: np.ndarray, solved: int, share: np.ndarray, seconds: float, report: Reporter
    ) -> Iterator[Root]:
        for number in range(solved, len(worlds)):
            self.tree.begin(int(self.rng[0] >> np.uint64(1)))
            self.tree.target(worlds[number])
            clock = self.clock if number == solved else None  # the first simulation of all may compile
            for chunk in chunks(int(share[number]), seconds / len(worlds), clock=clock, small=report.may_stop):
                self.tree.run(chunk)
                if self.tree.finished or report.stopped:
                    break
            nodes, actions, visits, values = self.tree.children()
            yield Root(actions, visits, values, self.tree.tree.prior[nodes].astype(float))

    @classmethod
    def precompile(cls, game: Game, view: Any, seat: int) -> None:
        cls(game, determinizations=1, exact=1).advise(view, seat, 1)  # tries to solve it, then grows a tree
