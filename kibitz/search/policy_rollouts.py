"""Policy rollouts: play each action out by a policy, in many sampled worlds.

A policy sees only what its seat sees, so nobody in a rollout knows the world. The mean over worlds is therefore the
action's value if all seats follow the policy, without the strategy fusion of a tree per world. Every action is tried
in the same worlds with the same random numbers. After `plies` moves the policy evaluates the position, or plays to the
end. A world that is small enough may be solved instead.

Worlds are spent on actions that may be the best: after each round those that are significantly behind are dropped, by
`doubt` standard errors of the difference in the same worlds; when one is left the search ends. The policy's own
probabilities count too (`prior`), as it has been trained on more positions like this one than there are worlds.
"""

import math
from typing import Any

import numpy as np

from ..core.progress import Reporter
from ..games import Game, legal_actions
from ..games.game import OVER
from ..jit import kernel
from .advice import Advice
from .announcements import Announcements, announcements_for
from .determinization import Determinizer, sample_worlds
from .maxn import MaxN
from .policies import NO_LIMIT, play_chance, weighed
from .search import Search

FIRST, LONGER = 16, 1.5  # worlds of the first round, and the factor by which the next round is longer
LEAST_VARIANCE = 0.05  # of a difference: a few worlds that agree don't prove that all do
LEAST_PROB = 1e-3


class PolicyRollouts(Search):
    """Advises the action of the highest value; a simulation is one world, tried with all actions that are left."""

    def __init__(
        self,
        game: Game,
        policy: Any,
        seed: int = 1,
        plies: int = 4,
        exact: int = 0,
        announcements: str | Announcements = "distribution",
        worlds: int = 400,
        determinizer: Determinizer = sample_worlds,
        prior: float = 0.0,
        doubt: float = 1.75,
    ) -> None:
        """
        Args:
            policy: Moves for all seats, and evaluates positions.
            plies: Moves per rollout, after which the policy evaluates the position.
            exact: Largest number of positions of a world that is solved instead; 0: never.
            announcements: "distribution" or "tree", with `worlds` as in `announcements.py`; or an object
                that chooses them.
            determinizer: Samples the worlds.
            prior: Reward per nat of the policy's log-probability that is added to an action's value.
            doubt: Standard errors by which an action may be behind the best one and still be tried.
        """
        super().__init__(game, seed, announcements_for(game, announcements, worlds))
        self.policy, self.plies, self.determinizer = policy, plies, determinizer
        self.prior, self.doubt = prior, doubt
        self.maxn = MaxN(self.played, exact)
        self.scratch = rollout_scratch(game)

    def _advise(self, view: Any, seat: int, simulations: int, seconds: float, report: Reporter) -> Advice:
        actions = np.array(legal_actions(self.game, view))
        n = len(actions)
        prior = weighed(self.played, self.policy, view, n)
        no_worlds = self.determinizer(self.game, view, seat, 0, self.rng)
        self._play_out(no_worlds, seat, actions, np.zeros((0, n)))  # compiles
        self.clock.restart()
        bonus = self.prior * np.log(np.maximum(prior, LEAST_PROB))
        mean, error, visits = np.zeros(n), np.zeros(n), np.zeros(n, np.int64)
        left, found, count = np.arange(n), np.zeros((0, n)), float(FIRST)
        while True:
            number = min(int(count), simulations - len(found)) if simulations else int(count)
            values = self._values(self.determinizer(self.game, view, seat, number, self.rng), seat, actions, left)
            found = np.concatenate([found, values])
            done = len(found)
            mean[left], error[left], visits[left] = found.mean(axis=0), found.std(axis=0) / done**0.5, done
            score = (mean + bonus)[left]
            best = score.argmax()
            report.progress(done, simulations or None)
            spread = np.sqrt((found[:, [best]] - found).var(axis=0) + LEAST_VARIANCE) / done**0.5
            stays = score[best] - score <= self.doubt * spread
            if stays.sum() == 1 or done == simulations or self.clock.seconds >= seconds or report.stopped:
                break
            left, found, count = left[stays], found[:, stays], LONGER * count
            if seconds < math.inf:  # no more than there is time for
                spent = self.clock.seconds
                count = max(1.0, min(count, done * (seconds - spent) / spent))
        return Advice(actions, np.eye(n)[left[best]], mean, visits, prior, int(visits.sum()), error=error)

    def _values(self, worlds: np.ndarray, seat: int, actions: np.ndarray, left: np.ndarray) -> np.ndarray:
        """[worlds, left] f8: the seat's reward after each action that is left, in each world."""
        values = np.zeros((len(worlds), len(left)))
        for i, world in enumerate(worlds):
            solved = self.maxn.solve(world)
            if solved is None:
                break  # the others are as large
            values[i] = solved.values[left, seat]
        else:
            return values
        self._play_out(worlds, seat, actions[left], values)
        return values

    def _play_out(self, worlds: np.ndarray, seat: int, actions: np.ndarray, values: np.ndarray) -> None:
        policy_rollouts(self.played, worlds, seat, actions, self.policy, self.plies, *self.scratch, self.rng, values)


def rollout_scratch(game: Game) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Arrays of `policy_rollouts`: state, legal actions, their probabilities, rewards."""
    wide = max(game.facts.num_actions, game.facts.max_chance_outcomes)
    return np.zeros(1, game.state), np.zeros(wide, np.int64), np.zeros(wide), np.zeros(game.facts.seats)


@kernel
def policy_rollouts(game, worlds, seat, actions, policy, plies, states, legal, probs, rewards, rng, values):
    """Write [worlds, actions] f8: the seat's reward after each action, `plies` moves of the policy, and its value."""
    for world in range(len(worlds)):
        one, two = rng[0], rng[1]
        for i in range(len(actions)):
            rng[0], rng[1] = one, two
            states[0] = worlds[world]
            state = states[0]
            game.play(state, actions[i])
            play_chance(game, state, rng)
            for _ in range(plies):
                if game.turn(state) == OVER:
                    break
                game.play(state, policy.step(game, state, legal, probs, rng))
                play_chance(game, state, rng)
            if game.turn(state) == OVER:
                values[world, i] = game.reward(state, seat)
            else:
                policy.evaluate(game, state, NO_LIMIT, legal, probs, rng, rewards)
                values[world, i] = rewards[seat]
