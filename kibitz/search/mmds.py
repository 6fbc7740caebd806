"""Magnetic mirror descent search (MMDS; Sokota et al. 2024, "The update-equivalence framework for decision-time
planning"): one update of magnetic mirror descent at the view, from a given policy.

Worlds are sampled from the seat's belief if the others follow the policy. In each world every legal action is followed
by a rollout of the policy for all seats, with the same random numbers; nobody in a rollout knows the world. The mean
over worlds, weighted, is the action's value q if everybody follows the policy from then on. The advice is

    policy' ~ (policy * exp(eta * q))^(1 / (1 + eta * alpha))

which maximizes eta * (expected q + alpha * entropy) - KL(policy' || policy): the magnet is the uniform policy. q is on a
scale where payoffs lie between -1 and 1. With eta = 0 the advice is the policy itself; with a large eta and alpha = 0
it is the action of the highest value, which wins more from weak players and is easier to exploit.
"""

import math
from typing import Annotated, Any

import numpy as np

from ..core.names import Interval
from ..core.progress import Reporter
from ..games import Game, legal_actions
from ..jit import draw, kernel
from .advice import Advice
from .belief_sampling import Belief, fitting_worlds, joined, sample_belief, weighted_means
from .policies import NO_LIMIT, Uniform, weighed
from .search import Search, search

ETA, ALPHA, MISTAKES = 10.0, 0.05, 0.05
FIRST, MOST = 64, 2048  # worlds of the first round where a clock runs, and of the longest one
LEAST_PROB = 1e-12


def mirror_step(policy: np.ndarray, values: np.ndarray, eta: float, alpha: float) -> np.ndarray:
    """The policy after one step of size `eta` along the values, with a pull `alpha` towards the uniform policy."""
    logs = (np.log(np.maximum(policy, LEAST_PROB)) + eta * values) / (1 + eta * alpha)
    probs = np.exp(logs - logs.max())
    return probs / probs.sum()


@search("mmds")
class Mmds(Search):
    """Magnetic mirror descent search (Sokota et al. 2024): one update of a network's policy, values by its rollouts.

    A simulation is one world, in which every action is tried.
    """

    policy_from = "network"

    def __init__(
        self,
        game: Game,
        seed: int = 1,
        eta: Annotated[float, "step size, for payoffs from -1 to 1; 0: the network's policy", Interval(0, 1e6)] = ETA,
        alpha: Annotated[float, "pull towards the uniform policy", Interval(0, 1e6)] = ALPHA,
        mistakes: Annotated[
            float, "share of uniform play that is assumed in the others' earlier moves", Interval(0, 1)
        ] = MISTAKES,
        policy: Any = None,
    ) -> None:
        """
        Args:
            policy: Moves for all seats; uniform if None.
        """
        super().__init__(game, seed)
        self.eta, self.alpha, self.mistakes = float(eta), float(alpha), float(mistakes)
        self.policy = Uniform() if policy is None else policy
        low, high = game.facts.rewards
        self.scale = (high - low) / 2
        wide = max(game.facts.num_actions, game.facts.max_chance_outcomes)
        self.scratch = np.zeros(1, game.state), np.zeros(wide, np.int64), np.zeros(wide), np.zeros(2, np.uint64)

    def _advise(self, view: Any, seat: int, simulations: int, seconds: float, report: Reporter) -> Advice:
        actions = np.array(legal_actions(self.game, view))
        prior = weighed(self.game, self.policy, view, len(actions))
        self._values(self._sample(view, seat, 0), seat, actions)  # compiles
        self.clock.restart()
        beliefs, values, done = [], [], 0
        count = FIRST if seconds < math.inf else MOST
        while (not simulations or done < simulations) and (not done or self.clock.seconds < seconds):
            count = min(count, simulations - done) if simulations else count
            beliefs.append(self._sample(view, seat, count))
            values.append(self._values(beliefs[-1], seat, actions))
            done += count
            report.progress(done, simulations or None)
            if seconds < math.inf:  # no more than there is time for
                spent = self.clock.seconds
                count = max(1, min(2 * count, MOST, int(done * (seconds - spent) / spent)))
        belief = joined(beliefs)
        if not len(belief.worlds):  # the policy never leads to this view
            belief = fitting_worlds(self.game, view, seat, done, self.rng)
            values = [self._values(belief, seat, actions)]
        means, covariance = weighted_means(np.concatenate(values), belief)
        variances = np.diag(covariance)
        paired = variances[:, None] + variances - 2 * covariance
        return Advice(
            actions=actions,
            policy=mirror_step(prior, means / self.scale, self.eta, self.alpha),
            value=means,
            visits=np.full(len(actions), len(belief.worlds)),
            prior=prior,
            simulations=done,
            error=np.sqrt(variances),
            paired_error=np.sqrt(np.maximum(paired, 0)),
        )

    def _sample(self, view: Any, seat: int, count: int) -> Belief:
        return sample_belief(self.game, view, seat, count, self.policy, self.rng, self.mistakes)

    def _values(self, belief: Belief, seat: int, actions: np.ndarray) -> np.ndarray:
        """[worlds, actions] f8: the seat's reward after each action and a rollout, in each world."""
        values = np.zeros((len(belief.worlds), len(actions)))
        roll_out(self.game, belief.worlds, seat, actions, self.policy, *self.scratch, self.rng, values)
        return values


@kernel
def roll_out(game, worlds, seat, actions, policy, states, legal, probs, stream, rng, values):
    """Write [worlds, actions] f8: the seat's reward after each action, with the same random numbers for all of them."""
    for world in range(len(worlds)):
        one, two = draw(rng), draw(rng)
        for i in range(len(actions)):
            stream[0], stream[1] = one, two
            states[0] = worlds[world]
            game.play(states[0], actions[i])
            policy.playout(game, states[0], NO_LIMIT, legal, probs, stream)
            values[world, i] = game.reward(states[0], seat)
