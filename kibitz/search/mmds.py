"""Magnetic mirror descent search (MMDS; Sokota et al. 2024, "The update-equivalence framework for decision-time
planning"): one update of magnetic mirror descent at the view, from a given policy.

Worlds are sampled from the seat's belief if the others follow the policy. In each world every legal action is followed
by a rollout of the policy for all seats, with the same random numbers; nobody in a rollout knows the world. The mean
over worlds, weighted, is the action's value q if everybody follows the policy from then on. The advice is

    policy' ~ (policy * exp(eta * q))^(1 / (1 + eta * alpha))

which maximizes eta * (expected q + alpha * entropy) - KL(policy' || policy): the magnet is the uniform policy. q is on
a scale where payoffs lie between -1 and 1. With eta = 0 the advice is the policy itself; with a large eta and alpha = 0
it is the action of the highest value, which wins more from weak players and is easier to exploit.

After each round of worlds, actions that would hardly be played whatever further worlds show are tried no more.
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
from .budget import PER_CALL
from .policies import NO_LIMIT, Uniform, weighed
from .search import Search, search

ETA, ALPHA, MISTAKES = 1.0, 0.0, 0.05
FIRST, MOST = 64, 2048  # worlds of the first round, and of the longest one; each round is twice as long as the last
LEAST_SHARE, DOUBT = 0.005, 2.0  # an action is dropped below this probability, with a value higher by so many errors
LEAST_PROB = 1e-12


def mirror_step(policy: np.ndarray, values: np.ndarray, eta: float, alpha: float) -> np.ndarray:
    """The policy after one step of size `eta` along the values, with a pull `alpha` towards the uniform policy."""
    logs = (np.log(np.maximum(policy, LEAST_PROB)) + eta * values) / (1 + eta * alpha)
    probs = np.exp(logs - logs.max())
    return probs / probs.sum()


@search("mmds")
class Mmds(Search):
    """Magnetic mirror descent search (Sokota et al. 2024): one update of a network's policy, values by its rollouts.

    A simulation is one world, in which all actions are tried that may get a probability worth mentioning.
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
        threshold: Annotated[
            float, "actions below this share of the highest probability are never played", Interval(0, 1)
        ] = 0.0,
        policy: Any = None,
    ) -> None:
        """
        Args:
            policy: Moves for all seats; uniform if None.
        """
        super().__init__(game, seed)
        self.eta, self.alpha, self.mistakes = float(eta), float(alpha), float(mistakes)
        self.threshold = float(threshold)
        self.policy = Uniform() if policy is None else policy
        low, high = game.facts.rewards
        self.scale = (high - low) / 2
        wide = max(game.facts.num_actions, game.facts.max_chance_outcomes)
        self.scratch = np.zeros(1, game.state), np.zeros(wide, np.int64), np.zeros(wide), np.zeros(2, np.uint64)

    def _advise(self, view: Any, seat: int, simulations: int, seconds: float, report: Reporter) -> Advice:
        actions = np.array(legal_actions(self.game, view))
        n, sample = len(actions), self._by_policy
        self._values(sample(view, seat, 0).worlds, seat, actions)  # compiles
        prior = weighed(self.game, self.policy, view, n)
        self.clock.restart()
        means, covariance, visits = np.zeros(n), np.full((n, n), np.nan), np.zeros(n, np.int64)
        left, found, beliefs, done, count = np.arange(n), np.zeros((0, n)), [], 0, FIRST
        spent = 0.0
        while True:
            count = min(count, simulations - done) if simulations else count
            belief = sample(view, seat, count)
            if not done and not len(belief.worlds):  # the policy never leads to this view
                sample = self._fitting
                belief = sample(view, seat, count)
            beliefs.append(belief)
            found = np.concatenate([found, self._values(belief.worlds, seat, actions[left])])
            done += count
            visits[left] = len(found)
            covariance[left] = covariance[:, left] = 0.0  # with those tried in fewer worlds: errors are upper bounds
            means[left], covariance[np.ix_(left, left)] = weighted_means(found, joined(beliefs))
            policy = mirror_step(prior, means / self.scale, self.eta, self.alpha)
            variances = np.diag(covariance)
            paired = np.sqrt(np.maximum(variances[:, None] + variances - 2 * covariance, 0))
            report.progress(done, simulations or None)
            before, spent = spent, self.clock.seconds
            # An action is dropped where it would hardly be played even if its value were much higher.
            higher = self.eta * DOUBT * paired[policy.argmax()] / self.scale / (1 + self.eta * self.alpha)
            stays = ~(policy * np.exp(np.minimum(higher, 100)) < LEAST_SHARE)[left]
            if done == simulations or spent >= seconds or stays.sum() < 2 or report.stopped:
                break
            short = not report.may_stop or spent - before < PER_CALL
            left, found, count = left[stays], found[:, stays], min(2 * count, MOST) if short else count
            if seconds < math.inf:  # no more than there is time for
                count = max(1, min(count, int(done * (seconds - spent) / spent)))
        errors = np.sqrt(variances)
        policy[policy < self.threshold * policy.max()] = 0
        policy /= policy.sum()
        return Advice(actions, policy, means, visits, prior, done, error=errors, paired_error=paired)

    def _by_policy(self, view: Any, seat: int, count: int) -> Belief:
        return sample_belief(self.game, view, seat, count, self.policy, self.rng, self.mistakes)

    def _fitting(self, view: Any, seat: int, count: int) -> Belief:
        return fitting_worlds(self.game, view, seat, count, self.rng)

    def _values(self, worlds: np.ndarray, seat: int, actions: np.ndarray) -> np.ndarray:
        """[worlds, actions] f8: the seat's reward after each action and a rollout, in each world."""
        values = np.zeros((len(worlds), len(actions)))
        roll_out(self.game, worlds, seat, actions, self.policy, *self.scratch, self.rng, values)
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
