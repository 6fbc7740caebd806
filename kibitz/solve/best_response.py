"""Exact best responses: how far a pair of strategies is from equilibrium.

NashConv is the sum of both seats' gains by a best response; it is 0 at an equilibrium. Exploitability is half of it.
"""

from typing import Any, NamedTuple

import numpy as np

from ..games import Game
from ..jit import kernel
from ..search.strategy import Strategy
from .sequence_form import SequenceForm, against, unfold


class Exploitability(NamedTuple):
    """How much best responses gain against a strategy."""

    nash_conv: float  # the sum over seats of what a best response gains
    value: float  # expected payoff of seat 0, strategy against strategy
    best: tuple[float, float]  # expected payoff of each seat's best response


def nash_conv(game: Game | SequenceForm, strategy: Strategy) -> float:
    """The NashConv of a strategy in a two-seat zero-sum game; 0 at an equilibrium.

    Raises:
        BadInput: The game is too large to enumerate, or not a two-seat zero-sum game.
    """
    return evaluate(game if isinstance(game, SequenceForm) else unfold(game), strategy).nash_conv


def evaluate(form: SequenceForm, one: Strategy, two: Strategy | None = None) -> Exploitability:
    """Evaluate `one` as seat 0 against `two` as seat 1 (the same strategy if None)."""
    probs = [strategy.behaviour(side) for strategy, side in zip((one, two or one), form.sides, strict=True)]
    return evaluate_probs(form, probs[0], probs[1])


def evaluate_probs(form: SequenceForm, one: np.ndarray, two: np.ndarray) -> Exploitability:
    """Evaluate strategies given as probabilities of the last action of each sequence, [sequences] f8 per seat."""
    sides = form.sides
    plans = [_plan(side.first, side.parent, probs) for side, probs in zip(sides, (one, two), strict=True)]
    best = [_best(sides[seat], plans[1 - seat]) for seat in range(2)]
    value = _value(sides[0], plans[0], plans[1])
    return Exploitability(best[0] + best[1], value, (best[0], best[1]))


def evaluate_policy(form: SequenceForm, policy: Any) -> Exploitability:
    """Evaluate a compiled policy for both seats; it is called at every infoset."""
    probs = [np.ones(side.sequences) for side in form.sides]
    actions = np.zeros(form.game.facts.num_actions, np.int64)
    for side, views, found in zip(form.sides, form.views, probs, strict=True):
        _ask(form.game, policy, views, side.first, actions, found)
    return evaluate_probs(form, probs[0], probs[1])


@kernel
def _ask(game, policy, views, first, actions, probs):
    for infoset in range(len(views)):
        n = game.actions(views[infoset], actions)
        policy.weigh(game, views[infoset], actions, n, probs[first[infoset] : first[infoset + 1]])


@kernel
def _plan(first, parent, probs):
    """The realization plan: the product of the seat's own probabilities along each sequence."""
    plan = np.ones(len(probs))
    for infoset in range(len(parent)):
        for s in range(first[infoset], first[infoset + 1]):
            plan[s] = plan[parent[infoset]] * probs[s]
    return plan


@kernel
def _best(side, plan):
    """Value of a seat's best response to the other's plan."""
    values = np.zeros(len(side.rows) - 1)
    for s in range(len(values)):
        values[s] = against(side, s, plan)
    for infoset in range(len(side.parent) - 1, -1, -1):
        best = values[side.first[infoset]]
        for s in range(side.first[infoset] + 1, side.first[infoset + 1]):
            best = max(best, values[s])
        values[side.parent[infoset]] += best
    return values[0]


@kernel
def _value(side, mine, other):
    total = 0.0
    for s in range(len(mine)):
        for entry in range(side.rows[s], side.rows[s + 1]):
            total += mine[s] * side.payoffs[entry] * other[side.others[entry]]
    return total
