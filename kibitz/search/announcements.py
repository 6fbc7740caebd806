"""Announcements, chosen by the distribution of final scores that follow.

Sample many worlds; after each possible announcement play each world to the end by the game's heuristic, with no further
announcements. All announcements are tried on the same worlds with the same random numbers, so that their differences
have a much smaller error than their values.
"""

import time
from typing import Annotated, Any

import numpy as np

from ..core.names import Interval
from ..games import Game, legal_actions, positions
from ..games.game import OVER
from ..jit import kernel
from .advice import Advice
from .determinization import sample_worlds

CONFIDENCE = 2.0  # standard errors
CHOICES = ("distribution", "tree")
# Options of searches, for the constructors that take them; `announcements_for` takes their values.
HowAnnounced = Annotated[
    str, "how to choose announcements: by the distribution of final scores, or as moves of the tree", CHOICES
]
Worlds = Annotated[int, "worlds sampled per announcement", Interval(2, 1e6)]


class Announcements:
    """`advise(view, seat, rng)` where `game.is_announcement(view)`."""

    def __init__(self, game: Game, worlds: int = 400) -> None:
        self.game, self.played = game, game.without_announcements()
        self.worlds = worlds
        self.states = positions(game)

    def advise(self, view: Any, seat: int, rng: np.ndarray) -> Advice:
        """Advise the first action, silence, unless another has a significantly higher mean."""
        actions = np.array(legal_actions(self.game, view))
        no_worlds = sample_worlds(self.game, view, seat, 0, rng)
        _play(
            self.game, self.played, no_worlds, seat, actions, self.states, np.zeros((len(actions), 0)), rng
        )  # compiles
        began = time.perf_counter()
        scores = self.scores(view, seat, actions, rng)
        n, count = scores.shape
        chosen = 0
        for i in range(1, n):  # each has to beat the best before it: higher announcements can mostly be made later
            ahead = scores[i] - scores[chosen]
            if ahead.mean() - CONFIDENCE * ahead.std() / np.sqrt(count) > 0:
                chosen = i
        return Advice(
            actions, np.eye(n)[chosen], scores.mean(axis=1), np.full(n, count), np.full(n, 1 / n), scores.size,
            time.perf_counter() - began, error=scores.std(axis=1) / np.sqrt(count), won=(scores > 0).mean(axis=1),
        )  # fmt: skip

    def scores(self, view: Any, seat: int, actions: np.ndarray, rng: np.ndarray) -> np.ndarray:
        """[actions, worlds] f8: the seat's payoff after each action in each world."""
        worlds = sample_worlds(self.game, view, seat, self.worlds, rng)
        scores = np.zeros((len(actions), self.worlds))
        _play(self.game, self.played, worlds, seat, actions, self.states, scores, rng)
        return scores


def announcements_for(
    game: Game, announcements: str | Announcements = "distribution", worlds: int = 400
) -> Announcements | None:
    """The object that chooses announcements for a search; None where they are moves of its tree."""
    if isinstance(announcements, Announcements):
        return announcements
    return Announcements(game, worlds) if announcements == "distribution" else None


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
