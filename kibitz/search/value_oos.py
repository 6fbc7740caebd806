"""OOS with a learned value: it ends simulations, and takes most of the noise out of the regrets.

The value is that of a *history*, with the cards of all seats open, so that it is one number whoever looks: the payoff
that seat 0 can expect if all seats go on by some policy. It is used twice:

leaves      below the first new infoset nothing is played out: the sample's payoff is the value there
baselines   at each turn of the updating seat the actions that were not sampled count by their values, and the sampled
            one by its value plus the weighted difference to what was sampled (Schmid et al. 2019); in expectation the
            values cancel out, so that a wrong one costs accuracy at the leaves only

In outcome sampling only the sampled action's payoff is known, divided by the probability of sampling it: with 13
actions regrets are sums of a few numbers of 30 and many of 0. With baselines they are sums of differences of values.
"""

from typing import Any

import numpy as np

from ..games import Game
from ..games.protocol import CHANCE, OVER
from ..jit import helper, kernel, rules
from .infoset_table import grow
from .oos import Oos
from .oos_simulation import descend, gather, match_with_mistakes, room_for_one

RULES = {"history_value": "self, game, state"}  # the payoff that seat 0 can expect; the game is not over


def critic(cls: Any) -> Any:
    """Class decorator: a NamedTuple with the rule `history_value`, which kernels may call."""
    return rules(RULES)(cls)


class ValueOos(Oos):
    """`Oos`, with a critic in place of playouts."""

    def __init__(self, game: Game, critic: Any, seed: int = 1, policy: Any = None, **settings: Any) -> None:
        """
        Args:
            critic: Has the rule `history_value`.
            policy: The prior of new infosets, where `prior_weight` is set.
        """
        self.critic = critic
        super().__init__(game, seed, policy=policy, **settings)
        turns = self.scratch.at.shape[1]
        self.scratch = self.scratch._replace(trail=np.zeros((1, turns), game.state))
        self.values = np.zeros(len(self.scratch.probs))
        self.after = np.zeros(1, game.state)

    def run(self, simulations: int) -> int:
        settings = self.settings if self.targeted else self.settings._replace(targeting=0.0)
        left = simulations
        while left > 0:
            left -= simulate(
                self.game, self.root, self.view, self.table, self.scratch, self.focus, settings, self.policy,
                self.critic, self.values, self.after, left, self.rng,
            )  # fmt: skip
            if left > 0:
                self.table = grow(self.table, 1, 2 * len(self.scratch.probs))
        self.simulations += simulations
        return simulations


@kernel
def simulate(game, root, view, table, scratch, focus, settings, policy, critic, values, after, count, rng):
    """Do up to `count` simulations, updating the seats by turns; return how many there was room for."""
    for done in range(count):
        if not room_for_one(table, scratch):
            return done
        scratch.states[0] = root[0]
        state, seat = scratch.states[0], scratch.updating[0]
        scratch.updating[0] = 1 - seat
        depth, tail = descend(game, state, view[0], table, scratch, focus, settings, policy, seat, 0, rng)
        payoff = value_of(game, critic, state, seat, rng)
        for level in range(depth - 1, -1, -1):
            at, n, i = scratch.at[0, level], scratch.n[0, level], scratch.chosen[0, level]
            weight = scratch.weights[0, level]
            game.actions(scratch.trail[0, level], scratch.actions)
            for j in range(n):
                after[0] = scratch.trail[0, level]
                game.play(after[0], scratch.actions[j])
                values[j] = value_of(game, critic, after[0], seat, rng)
            values[i] += tail / weight * (payoff - values[i])
            if at == focus.at[0]:
                for j in range(n):
                    focus.visits[j] += j == i
                    gather(focus, j, weight, values[j])
            match_with_mistakes(table.cells, at, n, settings.mistake, scratch.probs)
            payoff = 0.0
            for j in range(n):
                payoff += scratch.probs[j] * values[j]
            for j in range(n):
                table.cells[at + j] += weight * (values[j] - payoff)
            tail = weight
    return count


@helper
def value_of(game, critic, state, seat, rng):
    """The payoff that a seat can expect; plays chance's turns first."""
    while game.turn(state) == CHANCE:
        game.play(state, game.sample_action(state, rng))
    if game.turn(state) == OVER:
        return game.payoff(state, seat)
    value = critic.history_value(game, state)
    return value if seat == 0 else -value
