"""Exact best responses: how far from equilibrium a pair of strategies is.

NashConv is what both seats together could gain by answering at their best; it is 0 at an
equilibrium. Exploitability is half of it.
"""

from typing import Any, NamedTuple

import numpy as np

from ..jit import kernel
from .sequence_form import SequenceForm
from .strategy import Strategy


class Verdict(NamedTuple):
    nash_conv: float
    value: float  # of seat 0, strategy against strategy
    best: tuple[float, float]  # what each seat gets by its best response


def judge(form: SequenceForm, one: Strategy, two: Strategy | None = None) -> Verdict:
    """Seat 0 plays `one`, seat 1 plays `two` (the same if not given)."""
    odds = [strategy.behaviour(side) for strategy, side in zip((one, two or one), form.sides, strict=True)]
    return judge_odds(form, odds[0], odds[1])


def judge_odds(form: SequenceForm, one: np.ndarray, two: np.ndarray) -> Verdict:
    """The same for odds of sequences."""
    sides = form.sides
    plans = [_plan(side.first, side.parent, odds) for side, odds in zip(sides, (one, two), strict=True)]
    best = [_best(sides[seat], plans[1 - seat]) for seat in range(2)]
    value = _value(sides[0], plans[0], plans[1])
    return Verdict(best[0] + best[1], value, (best[0], best[1]))


def judge_policy(form: SequenceForm, policy: Any) -> Verdict:
    """The same for a compiled policy, which is asked at every infoset."""
    odds = [np.ones(side.sequences) for side in form.sides]
    actions = np.zeros(form.game.facts.most_actions, np.int64)
    for side, views, found in zip(form.sides, form.views, odds, strict=True):
        _ask(form.game, policy, views, side.first, actions, found)
    return judge_odds(form, odds[0], odds[1])


@kernel
def _ask(game, policy, views, first, actions, odds):
    for infoset in range(len(views)):
        n = game.actions(views[infoset], actions)
        policy.weigh(game, views[infoset], actions, n, odds[first[infoset] : first[infoset + 1]])


@kernel
def _plan(first, parent, odds):
    """The probability that a seat's own moves are those of each sequence."""
    plan = np.ones(len(odds))
    for infoset in range(len(parent)):
        for s in range(first[infoset], first[infoset + 1]):
            plan[s] = plan[parent[infoset]] * odds[s]
    return plan


@kernel
def _best(side, plan):
    """The most that a seat can get against the other's plan."""
    values = np.zeros(len(side.rows) - 1)
    for s in range(len(values)):
        for entry in range(side.rows[s], side.rows[s + 1]):
            values[s] += side.payoffs[entry] * plan[side.others[entry]]
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
