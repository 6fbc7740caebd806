"""Announcements by a policy that has learned them: its own choice, unless rollouts show a better one.

The policy has seen many more games than there is time for rollouts, so its probabilities decide what is tried: actions
that it hardly ever plays aren't, and where only one is left there are no rollouts. The others are played out by the
policy for all seats, later announcements included, in the same worlds with the same random numbers.
"""

import time
from typing import Any

import numpy as np

from ..games import Game, legal_actions
from ..search.advice import Advice
from ..search.announcements import CONFIDENCE, Announcements
from ..search.determinization import Determinizer, sample_worlds
from ..search.policies import weighed
from ..search.policy_rollouts import policy_rollouts, rollout_scratch

LEAST_PRIOR = 0.1  # probability from which an action is tried


class PolicyAnnouncements(Announcements):
    """`advise(view, seat, rng)` where `game.is_announcement(view)`."""

    def __init__(
        self,
        game: Game,
        policy: Any,
        worlds: int = 400,
        determinizer: Determinizer = sample_worlds,
    ) -> None:
        """
        Args:
            policy: Knows announcements, and moves for all seats.
            worlds: Sampled per announcement, where more than one action is tried.
            determinizer: Samples the worlds.
        """
        super().__init__(game, worlds)
        self.policy, self.determinizer, self.scratch = policy, determinizer, rollout_scratch(game)

    def advise(self, view: Any, seat: int, rng: np.ndarray) -> Advice:
        """Advise the policy's likeliest action, unless another has a significantly higher mean."""
        actions = np.array(legal_actions(self.game, view))
        n = len(actions)
        prior = weighed(self.game, self.policy, view, n)
        tried = np.argsort(-prior, kind="stable")[: np.count_nonzero(prior >= LEAST_PRIOR)]
        chosen, values, count = int(prior.argmax()), np.full((self.worlds, n), np.nan), 0
        self._play_out(self.determinizer(self.game, view, seat, 0, rng), seat, actions[:1], np.zeros((0, 1)), rng)
        began = time.perf_counter()  # kernels are compiled
        if len(tried) > 1:
            tried, count = np.union1d(tried, 0), self.worlds  # silence too: advice compares the others with it
            found = np.zeros((count, len(tried)))
            worlds = self.determinizer(self.game, view, seat, count, rng)
            self._play_out(worlds, seat, actions[tried], found, rng)
            values[:, tried] = found
            for i in tried[np.argsort(-prior[tried], kind="stable")]:
                ahead = values[:, i] - values[:, chosen]
                if ahead.mean() - CONFIDENCE * ahead.std() / np.sqrt(count) > 0:
                    chosen = int(i)
        visits = np.zeros(n, np.int64)
        visits[tried] = count
        return Advice(
            actions, np.eye(n)[chosen], values.mean(axis=0), visits, prior, int(visits.sum()),
            time.perf_counter() - began, error=values.std(axis=0) / np.sqrt(self.worlds),
        )  # fmt: skip

    def _play_out(self, worlds: np.ndarray, seat: int, actions: np.ndarray, values: np.ndarray, rng: Any) -> None:
        policy_rollouts(
            self.game, worlds, seat, actions, self.policy, self.game.facts.max_game_length, *self.scratch, rng, values
        )
