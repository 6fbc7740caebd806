"""Ensemble UCT (Sievers 2012): guess what is hidden some times, search each guess as if all were open, take the mean.

A tree knows its guess, so that it plays as if everybody did, and never to hide or to find out. It is strong where what
is hidden matters little to what is good, as in many card games with tricks.
"""

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..games import Game, full_name, legal_actions, positions
from ..jit import generators
from ..names import BadInput
from .advice import Advice
from .uct import Uct


class Ensemble:
    """`advise(view, seat, simulations)` shares the simulations out among `deals` guesses, a tree for each."""

    def __init__(
        self, game: Game, seed: int = 1, deals: int = 10, exploration: float = math.sqrt(2), **settings: Any
    ) -> None:
        self.game, self.deals = game, deals
        self.tree = Uct(game, 0, exploration, guessed=True, reuse=False, **settings)
        self.notes, self.guess = np.zeros(game.facts.notes), positions(game)
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
        values, visits = np.full((self.deals, len(actions)), np.nan), np.zeros(len(actions), np.int64)
        self.game.prepare(view, seat, self.notes)
        for deal in range(self.deals):
            if not self.game.guess(view, seat, self.notes, self.rng, self.guess[0]):
                raise BadInput(f"nothing fits what seat {seat + 1} of {full_name(self.game)} has seen")
            self.tree.begin(int(self.rng[0] >> np.uint64(1)))
            share = (deal + 1) * simulations // self.deals - deal * simulations // self.deals
            found = self.tree.advise(self.guess[0], seat, max(share, 1) if simulations else 0, seconds / self.deals)
            place = np.searchsorted(actions, found.actions)  # both ascending
            values[deal, place], visits[place] = found.value, visits[place] + found.visits
            done += found.simulations
            progress(done)
        known = ~np.isnan(values)
        total = np.where(known, values, 0.0).sum(axis=0)
        value = np.divide(total, known.sum(axis=0), out=np.full(len(actions), np.nan), where=known.any(axis=0))
        policy = np.zeros(len(actions))
        policy[np.nanargmax(value) if known.any() else 0] = 1.0
        prior = np.full(len(actions), 1 / len(actions))
        return Advice(actions, policy, value, visits, prior, done, time.perf_counter() - began)
