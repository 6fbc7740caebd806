"""Looking ahead: what follows each action when all play on as a policy says, on many guesses of what is hidden.

Nobody in it knows the guess, but who holds the cards: a policy sees what its seat does. So the mean over guesses is
what the action is worth if the others play so, and nothing is gained by knowing what can't be known, as in a tree for
each guess. Every action is tried on the same guesses by the same chance. `plies` later the policy judges the position,
or plays to the end. A guess that is small enough is solved instead, if asked for.
"""

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..games import Game, legal_actions
from ..games.protocol import OVER
from ..jit import generators, kernel
from .advice import Advice, fixed_advice
from .asides import Asides
from .exhaust import Exhaust
from .guesses import Guesser, draw_guesses
from .policies import NO_LIMIT, weighed

AT_ONCE = 32  # guesses between two looks at the clock


class LookAhead:
    """`advise(view, seat, guesses)`: the action of the highest value."""

    def __init__(
        self,
        game: Game,
        policy: Any,
        seed: int = 1,
        plies: int = 4,
        exact: int = 0,
        asides: Asides | None = None,
        guesser: Guesser = draw_guesses,
    ) -> None:
        self.game, self.policy, self.plies, self.asides, self.guesser = game, policy, plies, asides, guesser
        self.played = game.quiet() if asides else game
        self.exhaust = Exhaust(self.played, exact)
        wide = max(game.facts.most_actions, game.facts.most_outcomes)
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
        if self.asides and self.game.aside(view):
            return self.asides.advise(view, seat, self.rng)
        total, squares, done = np.zeros(n), np.zeros(n), 0
        while (not simulations or done < simulations) and (not done or time.perf_counter() - began < seconds):
            count = min(AT_ONCE, simulations - done) if simulations else AT_ONCE
            values = self._values(self.guesser(self.game, view, seat, count, self.rng), seat, actions)
            total, squares, done = total + values.sum(axis=0), squares + (values**2).sum(axis=0), done + count
            progress(done)
        mean = total / done
        error = np.sqrt(np.maximum(squares / done - mean**2, 0) / done)
        policy = np.eye(n)[mean.argmax()]
        seen = np.full(n, done)
        prior = weighed(self.played, self.policy, view, n)
        return Advice(actions, policy, mean, seen, prior, done * n, time.perf_counter() - began, error=error)

    def _values(self, guesses: np.ndarray, seat: int, actions: np.ndarray) -> np.ndarray:
        """[guesses, actions] f8: rewards of the seat."""
        values = np.zeros((len(guesses), len(actions)))
        for i, guess in enumerate(guesses):
            solved = self.exhaust.solve(guess)
            if solved is None:
                break  # the others are as large
            values[i] = solved.values[:, seat]
        else:
            return values
        look_ahead(self.played, guesses, seat, actions, self.policy, self.plies, *self.scratch, self.rng, values)
        return values


@kernel
def look_ahead(game, guesses, seat, actions, policy, plies, states, legal, odds, rewards, rng, values):
    for guess in range(len(guesses)):
        one, two = rng[0], rng[1]
        for i in range(len(actions)):
            rng[0], rng[1] = one, two
            states[0] = guesses[guess]
            state = states[0]
            game.play(state, actions[i])
            for _ in range(plies):
                if game.turn(state) == OVER:
                    break
                game.play(state, policy.step(game, state, legal, odds, rng))
            if game.turn(state) == OVER:
                values[guess, i] = game.reward(state, seat)
            else:
                policy.judge(game, state, NO_LIMIT, legal, odds, rng, rewards)
                values[guess, i] = rewards[seat]
