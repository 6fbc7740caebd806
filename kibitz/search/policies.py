"""Policies that kernels call: NamedTuples with compiled rules.

`weigh` writes the probabilities of the n legal actions; a policy that has it needs no other rule. `step` samples an
action for the seat to move (`actions` and `probs` are scratch). `playout` plays at most `plies` moves and returns
whether the game is over. `evaluate` writes the value of a position for each seat as rewards, by default those of one
playout, and returns whether there is one. `ask` says whether a tree search has to wait for `weigh`, by default never.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ..games.protocol import CHANCE, ENDLESS, OVER
from ..jit import call_once, helper, kernel, rules, uniform

NO_LIMIT = ENDLESS  # plies: a playout to the end
RULES = {
    "ask": "self, game, state",
    "step": "self, game, state, actions, probs, rng",
    "weigh": "self, game, state, actions, n, probs",
    "playout": "self, game, state, plies, actions, probs, rng",
    "evaluate": "self, game, state, plies, actions, probs, rng, rewards",
}


@helper
def choose(probs, n, rng):
    """Sample an index by its probability; probabilities sum to 1."""
    left = uniform(rng)
    for i in range(n - 1):
        left -= probs[i]
        if left < 0:
            return i
    return n - 1


@helper
def play_chance(game, state, rng):
    """Draw outcomes until a seat is to move or the game is over: a policy is asked only where a seat moves."""
    while game.turn(state) == CHANCE:
        game.play(state, game.sample_action(state, rng))


@helper
def softmax(logits, actions, n, probs):
    """Write the softmax over the n actions' logits."""
    highest = np.float64(logits[actions[0]])  # float() of an f4 stays one where compiled
    for j in range(1, n):
        highest = max(highest, np.float64(logits[actions[j]]))
    total = 0.0
    for j in range(n):
        probs[j] = math.exp(np.float64(logits[actions[j]]) - highest)
        total += probs[j]
    for j in range(n):
        probs[j] /= total


def ask(self, game, state):
    return False


def step(self, game, state, actions, probs, rng):
    n = game.actions(state, actions)
    self.weigh(game, state, actions, n, probs)
    return actions[choose(probs, n, rng)]


def playout(self, game, state, plies, actions, probs, rng):
    turn = game.turn(state)
    while turn != OVER and plies > 0:
        if turn == CHANCE:
            game.play(state, game.sample_action(state, rng))
        else:
            game.play(state, self.step(game, state, actions, probs, rng))
        turn = game.turn(state)
        plies -= 1
    return turn == OVER


def evaluate(self, game, state, plies, actions, probs, rng, rewards):
    ended = self.playout(game, state, plies, actions, probs, rng)
    if ended:
        for seat in range(len(rewards)):
            rewards[seat] = game.reward(state, seat)
    return ended


def policy(cls: Any) -> Any:
    """Class decorator: kernels may call the policy."""
    for default in (ask, step, playout, evaluate):
        if not hasattr(cls, default.__name__):
            setattr(cls, default.__name__, default)
    return rules(RULES)(cls)


@policy
class Uniform(NamedTuple):
    """All legal actions with the same probability."""

    def step(self, game, state, actions, probs, rng):
        return game.sample_action(state, rng)

    def weigh(self, game, state, actions, n, probs):
        for j in range(n):
            probs[j] = 1.0 / n

    def playout(self, game, state, plies, actions, probs, rng):
        if plies >= NO_LIMIT:
            game.random_playout(state, rng)
            return True
        while game.turn(state) != OVER and plies > 0:
            game.play(state, game.sample_action(state, rng))
            plies -= 1
        return game.turn(state) == OVER


@policy
class Heuristic(NamedTuple):
    """The game's own heuristic; as a prior it is uniform."""

    def step(self, game, state, actions, probs, rng):
        return game.heuristic(state, rng)

    def weigh(self, game, state, actions, n, probs):
        for j in range(n):
            probs[j] = 1.0 / n


def heuristic_action(game: Any, view: Any, rng: np.ndarray) -> int:
    """The action of the game's own heuristic at a view."""
    views = np.zeros(1, game.state)
    views[0] = view
    return int(_heuristic(game, views, rng))


@kernel
def _heuristic(game, views, rng):
    return game.heuristic(views[0], rng)


def weighed(game: Any, policy: Any, view: Any, n: int) -> np.ndarray:
    """[n] f8: a policy's probabilities of the n legal actions at a view."""
    if isinstance(policy, Uniform):
        return np.full(n, 1 / n)
    views, actions, probs = np.zeros(1, game.state), np.zeros(game.facts.num_actions, np.int64), np.zeros(n)
    views[0] = view
    call_once(_weigh, game, policy, views, actions, probs)
    return probs


@kernel
def _weigh(game, policy, views, actions, probs):
    n = game.actions(views[0], actions)
    policy.weigh(game, views[0], actions, n, probs)


def action_probs(game: Any, policy: Any, views: np.ndarray) -> np.ndarray:
    """A policy's probabilities at many views: [views, num_actions] f8, the legal actions in order, then zeros."""
    probs, actions = np.zeros((len(views), game.facts.num_actions)), np.zeros(game.facts.num_actions, np.int64)
    _weigh_all(game, policy, views, actions, probs)
    return probs


@kernel
def _weigh_all(game, policy, views, actions, probs):
    for i in range(len(views)):
        n = game.actions(views[i], actions)
        policy.weigh(game, views[i], actions, n, probs[i])
