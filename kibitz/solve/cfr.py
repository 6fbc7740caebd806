"""Counterfactual regret minimization on the sequence form: one loop, whose variants are data.

An iteration updates seat 0, then seat 1 against seat 0's new strategy (alternating updates). Each update computes the
value of each sequence against the other's plan bottom up, then regrets, then regret matching top down. How each variant
discounts regrets and weights its average says `regrets`.
"""

from typing import NamedTuple

import numpy as np

from ..games import Game
from ..jit import helper, kernel
from ..search.strategy import Strategy
from .regrets import VARIANTS, discounted, rates
from .sequence_form import SequenceForm, Side, against, of_sequences, unfold


class Memory(NamedTuple):
    """The data of one seat, one entry per sequence."""

    regret: np.ndarray
    probs: np.ndarray  # current strategy
    plan: np.ndarray  # its realization plan: the product along the seat's own moves
    average: np.ndarray  # weighted sum of plans
    values: np.ndarray  # scratch


class Cfr:
    """`run(n)` does n iterations; `strategy()` is the average strategy."""

    def __init__(self, game: Game, variant: str = "cfr", form: SequenceForm | None = None) -> None:
        self.game = game
        self.variant = VARIANTS[variant]
        self.form = form or unfold(game)
        self.iterations = 0
        self.memories = [_remember(side) for side in self.form.sides]

    def run(self, iterations: int) -> None:
        (one, two), (first, second) = self.form.sides, self.memories
        _iterate(one, two, first, second, self.iterations, iterations, self.variant)
        self.iterations += iterations

    def strategy(self) -> Strategy:
        return of_sequences(self.form, [memory.average for memory in self.memories])

    @property
    def bytes(self) -> int:
        return sum(array.nbytes for part in (*self.form.sides, *self.memories) for array in part)


def _remember(side: Side) -> Memory:
    memory = Memory(*(np.zeros(side.sequences) for _ in Memory._fields))
    _match(side, memory, False)
    return memory


@kernel
def _iterate(side0, side1, memory0, memory1, done, count, variant):
    for t in range(done + 1, done + count + 1):
        _update(side0, memory0, memory1.plan, t, variant)
        _update(side1, memory1, memory0.plan, t, variant)


@helper
def _update(side, memory, other, t, variant):
    """Update one seat against the plan of the other."""
    weight, gain, loss = rates(variant, t)
    regret, probs, values = memory.regret, memory.probs, memory.values
    for s in range(len(values)):
        memory.average[s] += weight * memory.plan[s]
        values[s] = against(side, s, other)
    for infoset in range(len(side.parent) - 1, -1, -1):
        start, end = side.first[infoset], side.first[infoset + 1]
        value = 0.0
        for s in range(start, end):
            value += probs[s] * values[s]
        values[side.parent[infoset]] += value
        for s in range(start, end):
            values[s] -= value  # now the regret of this iteration
            regret[s] = discounted(regret[s] + values[s], gain, loss)
    _match(side, memory, variant.predictive)


@kernel
def _match(side, memory, predictive):
    """Regret matching at every infoset, and its realization plan."""
    regret, probs, plan, values = memory.regret, memory.probs, memory.plan, memory.values
    probs[0] = plan[0] = 1.0
    for infoset in range(len(side.parent)):
        start, end = side.first[infoset], side.first[infoset + 1]
        total = 0.0
        for s in range(start, end):
            probs[s] = max(regret[s] + (values[s] if predictive else 0.0), 0.0)
            total += probs[s]
        reach = plan[side.parent[infoset]]
        for s in range(start, end):
            probs[s] = probs[s] / total if total > 0 else 1.0 / (end - start)
            plan[s] = reach * probs[s]
