"""Ensemble UCT (Sievers 2012): guess what is hidden some times, search each guess as if all were open, take the mean.

A tree knows its guess, so that it plays as if everybody did, and never to hide or to find out. It is strong where what
is hidden matters little to what is good, as in many card games with tricks. A guess that is small enough is solved
exactly instead. What is said aside isn't searched but weighed up (`asides`), unless asked for.
"""

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..games import Game, legal_actions
from ..jit import generators
from .advice import Advice, fixed_advice
from .announcements import Announcements
from .budget import chunks
from .determinization import Determinizer, sample_worlds
from .maxn import MaxN
from .puct import Puct
from .uct import Uct

EXACT = 10_000  # positions: a guess of fewer is solved, in about the time of 1,000 simulations


class EnsembleUct:
    """`advise(view, seat, simulations)` shares the simulations out among `deals` guesses, a tree for each."""

    def __init__(
        self,
        game: Game,
        seed: int = 1,
        deals: int = 10,
        exploration: float = math.sqrt(2),
        exact: int = EXACT,
        announcements: Announcements | None = None,
        determinizer: Determinizer = sample_worlds,
        tree: type[Uct] | type[Puct] = Uct,
        **settings: Any,
    ) -> None:
        """With `asides` trees are of the quiet game; without, what is said aside is a move as any other."""
        self.game, self.deals, self.announcements, self.determinizer = game, deals, announcements, determinizer
        played = game.without_announcements() if announcements else game
        self.tree = tree(played, 0, exploration, determinized=True, reuse=False, **settings)
        self.exhaust = MaxN(played, exact)
        self.begin(seed)

    def begin(self, seed: int) -> None:
        self.rng = generators(seed, 1)[0]

    def advise(
        self,
        view: Any,
        seat: int,
        simulations: int = 0,
        seconds: float = math.inf,
        progress: Callable[[int], None] = lambda done: None,
    ) -> Advice:
        """The action of the highest value, mean over guesses; a guess in which it was never tried has no say."""
        began, done = time.perf_counter(), 0
        actions = np.array(legal_actions(self.game, view))
        if len(actions) == 1:
            return fixed_advice(self.game, view, np.ones(1))
        if self.announcements and self.game.is_announcement(view):
            return self.announcements.advise(view, seat, self.rng)
        values, visits = np.full((self.deals, len(actions)), np.nan), np.zeros(len(actions), np.int64)
        small = True  # as far as is known: where one guess is too large to be solved the others aren't tried
        for deal, world in enumerate(self.determinizer(self.game, view, seat, self.deals, self.rng)):
            solved = self.exhaust.solve(world) if small else None
            small = solved is not None
            if solved:
                values[deal] = solved.values[:, seat]
                continue
            share = (deal + 1) * simulations // self.deals - deal * simulations // self.deals
            self.tree.begin(int(self.rng[0] >> np.uint64(1)))
            self.tree.target(world)
            for chunk in chunks(max(share, 1) if simulations else 0, seconds / self.deals, lambda done: None):
                done += self.tree.run(chunk)
                if self.tree.proven is not None:
                    break
            _, found, tried, value = self.tree.children()
            place = np.searchsorted(actions, found)  # both ascending
            values[deal, place], visits[place] = value, visits[place] + tried
            progress(done)
        return mean_advice(actions, values, visits, done, time.perf_counter() - began)


def mean_advice(actions: np.ndarray, values: np.ndarray, visits: np.ndarray, done: int, seconds: float) -> Advice:
    """The action of the highest mean of values [guesses, actions]; NaN: it was never tried in that guess."""
    known = ~np.isnan(values)
    total = np.where(known, values, 0.0).sum(axis=0)
    value = np.divide(total, known.sum(axis=0), out=np.full(len(actions), np.nan), where=known.any(axis=0))
    policy = np.zeros(len(actions))
    policy[np.nanargmax(value) if known.any() else 0] = 1.0
    prior = np.full(len(actions), 1 / len(actions))
    return Advice(actions, policy, value, visits, prior, done, seconds)
