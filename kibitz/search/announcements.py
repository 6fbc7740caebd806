"""What to say aside, such as an announcement: by the distribution of scores that follow.

Guess what is hidden many times; after each thing that could be said play each guess out as is usual, and say nothing
more. All actions are tried on the same guesses by the same chance, so that their differences are sure much sooner than
what they are worth.
"""

import time
from typing import Any

import numpy as np

from ..games import Game, legal_actions, positions
from ..games.game import OVER
from ..jit import kernel
from .advice import Advice
from .determinization import sample_worlds

SURE = 2.0  # standard errors


class Announcements:
    """`advise(view, seat, rng)` where `game.is_announcement(view)`."""

    def __init__(self, game: Game, worlds: int = 400, margin: float = 0.0) -> None:
        self.game, self.quiet = game, game.without_announcements()
        self.worlds, self.margin = worlds, margin
        self.states = positions(game)

    def advise(self, view: Any, seat: int, rng: np.ndarray) -> Advice:
        """The action listed first, silence, unless another is better on the mean by the margin, and surely so."""
        began = time.perf_counter()
        actions = np.array(legal_actions(self.game, view))
        scores = self.scores(view, seat, actions, rng)
        n, count = scores.shape
        chosen = 0
        for i in range(1, n):  # each has to beat the best of those before it: what is more can mostly be said later
            ahead = scores[i] - scores[chosen]
            if ahead.mean() - SURE * ahead.std() / np.sqrt(count) > self.margin:
                chosen = i
        return Advice(
            actions, np.eye(n)[chosen], scores.mean(axis=1), np.full(n, count), np.full(n, 1 / n), scores.size,
            time.perf_counter() - began, error=scores.std(axis=1) / np.sqrt(count), won=(scores > 0).mean(axis=1),
        )  # fmt: skip

    def scores(self, view: Any, seat: int, actions: np.ndarray, rng: np.ndarray) -> np.ndarray:
        """[actions, guesses] f8: payoffs of the seat."""
        worlds = sample_worlds(self.game, view, seat, self.worlds, rng)
        scores = np.zeros((len(actions), self.worlds))
        _play(self.game, self.quiet, worlds, seat, actions, self.states, scores, rng)
        return scores


@kernel
def _play(game, quiet, worlds, seat, actions, states, scores, rng):
    for world in range(len(worlds)):
        one, two = rng[0], rng[1]
        for i in range(len(actions)):
            rng[0], rng[1] = one, two
            states[0] = worlds[world]
            state = states[0]
            game.play(state, actions[i])
            while game.turn(state) != OVER:
                now = game if game.is_announcement(state) else quiet  # questions that are still open are answered
                now.play(state, now.heuristic(state, rng))
            scores[i, world] = game.payoff(state, seat)
