"""Looking ahead: what follows each action when all play on as a policy says, on many guesses of what is hidden.

Nobody in it knows the guess, but who holds the cards: a policy sees what its seat does. So the mean over guesses is
what the action is worth if the others play so, and nothing is gained by knowing what can't be known, as in a tree for
each guess. Every action is tried on the same guesses by the same chance. `plies` later the policy judges the position,
or plays to the end. A guess that is small enough is solved instead, if asked for.

Guesses are spent on what may be the best: after each round an action that lies clearly behind is left out, and when
only one is left it is over. Clearly: by so many standard errors (`doubt`) of the difference on the same guesses. What
the policy itself thinks of an action counts too (`prior`): it has seen more positions like this one than there are
guesses.
"""

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..games import Game, legal_actions
from ..games.game import OVER
from ..jit import generators, kernel
from .advice import Advice, fixed_advice
from .announcements import Announcements
from .determinization import Determinizer, sample_worlds
from .maxn import MaxN
from .policies import NO_LIMIT, weighed

FIRST, LONGER = 16, 1.5  # guesses of the first round, and how much longer the next one is
LEAST_VARIANCE = 0.05  # of a difference: a few guesses that agree don't prove that all do
LEAST_PROB = 1e-3


class PolicyRollouts:
    """`advise(view, seat, guesses)`: the action of the highest value."""

    def __init__(
        self,
        game: Game,
        policy: Any,
        seed: int = 1,
        plies: int = 4,
        exact: int = 0,
        announcements: Announcements | None = None,
        determinizer: Determinizer = sample_worlds,
        prior: float = 0.0,  # rewards that a nat of the policy's odds counts
        doubt: float = 1.75,  # standard errors by which an action may lie behind and still be tried
    ) -> None:
        self.game, self.policy, self.plies, self.announcements, self.determinizer = (
            game,
            policy,
            plies,
            announcements,
            determinizer,
        )
        self.prior, self.doubt = prior, doubt
        self.played = game.without_announcements() if announcements else game
        self.exhaust = MaxN(self.played, exact)
        wide = max(game.facts.num_actions, game.facts.max_chance_outcomes)
        self.scratch = np.zeros(1, game.state), np.zeros(wide, np.int64), np.zeros(wide), np.zeros(game.facts.seats)
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
        began = time.perf_counter()
        actions = np.array(legal_actions(self.game, view))
        n = len(actions)
        if n == 1:
            return fixed_advice(self.game, view, np.ones(1))
        if self.announcements and self.game.is_announcement(view):
            return self.announcements.advise(view, seat, self.rng)
        prior = weighed(self.played, self.policy, view, n)
        opinion = self.prior * np.log(np.maximum(prior, LEAST_PROB))
        mean, error, seen = np.zeros(n), np.zeros(n), np.zeros(n, np.int64)
        left, found, count = np.arange(n), np.zeros((0, n)), float(FIRST)
        while True:
            number = min(int(count), simulations - len(found)) if simulations else int(count)
            values = self._values(self.determinizer(self.game, view, seat, number, self.rng), seat, actions, left)
            found = np.concatenate([found, values])
            done = len(found)
            mean[left], error[left], seen[left] = found.mean(axis=0), found.std(axis=0) / done**0.5, done
            score = (mean + opinion)[left]
            best = score.argmax()
            progress(done)
            spread = np.sqrt((found[:, [best]] - found).var(axis=0) + LEAST_VARIANCE) / done**0.5
            stays = score[best] - score <= self.doubt * spread
            if stays.sum() == 1 or done == simulations or time.perf_counter() - began >= seconds:
                break
            left, found, count = left[stays], found[:, stays], LONGER * count
            if seconds < math.inf:  # no more than there is time for
                spent = time.perf_counter() - began
                count = max(1.0, min(count, done * (seconds - spent) / spent))
        policy = np.eye(n)[left[best]]
        spent = time.perf_counter() - began
        return Advice(actions, policy, mean, seen, prior, int(seen.sum()), spent, error=error)

    def _values(self, worlds: np.ndarray, seat: int, actions: np.ndarray, left: np.ndarray) -> np.ndarray:
        """[guesses, left] f8: rewards of the seat, by those actions that are left."""
        values = np.zeros((len(worlds), len(left)))
        for i, world in enumerate(worlds):
            solved = self.exhaust.solve(world)
            if solved is None:
                break  # the others are as large
            values[i] = solved.values[left, seat]
        else:
            return values
        policy_rollouts(
            self.played, worlds, seat, actions[left], self.policy, self.plies, *self.scratch, self.rng, values
        )
        return values


@kernel
def policy_rollouts(game, worlds, seat, actions, policy, plies, states, legal, probs, rewards, rng, values):
    for world in range(len(worlds)):
        one, two = rng[0], rng[1]
        for i in range(len(actions)):
            rng[0], rng[1] = one, two
            states[0] = worlds[world]
            state = states[0]
            game.play(state, actions[i])
            for _ in range(plies):
                if game.turn(state) == OVER:
                    break
                game.play(state, policy.step(game, state, legal, probs, rng))
            if game.turn(state) == OVER:
                values[world, i] = game.reward(state, seat)
            else:
                policy.evaluate(game, state, NO_LIMIT, legal, probs, rng, rewards)
                values[world, i] = rewards[seat]
