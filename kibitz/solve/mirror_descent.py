"""Magnetic mirror descent with exact gradients (Sokota et al. 2023), on the sequence form. The last iterate converges,
not the average.

Both seats move at the same time to the plan x that maximizes

    step * (expected payoff against the other's plan - pull * KL(x || magnet)) - KL(x || present plan)

with the dilated KL: that of each infoset's policy, weighted by the seat's own probability of reaching it. The solution
is local: from the last infosets to the first,

    policy ~ (present * magnet^(step * pull) * exp(gain))^(1 / (1 + step * pull))

where an action's gain is step times its payoff, plus the optimum of each infoset that follows. The magnet is uniform.

With a constant pull and step <= pull / L^2, where L is the Lipschitz constant of the payoffs, at least 1 in units of
their largest entry, the iterates converge to the equilibrium of the game with that KL as a cost (Sokota et al., theorem
3.4). Here both fall to 0 with a step of six times the pull, which no theorem covers: that the last iterate comes near a
Nash equilibrium of the game itself is measured, in Kuhn and Leduc poker.
"""

import math
from typing import NamedTuple

import numpy as np

from ..games import Game
from ..jit import helper, kernel
from ..search.strategy import Strategy
from .sequence_form import SequenceForm, against, of_sequences, unfold

STEP, PULL = 3.0, 0.5  # at t = 1, both divided by sqrt(t): where the largest entry of the payoff matrix is 1; measured


class Memory(NamedTuple):
    """The data of one seat, one entry per sequence."""

    logs: np.ndarray  # logarithms of the policy
    plan: np.ndarray  # the product of the policy along the seat's own moves
    gains: np.ndarray  # scratch


class MirrorDescent:
    """`run(n)` does n iterations; `strategy()` is the last iterate."""

    def __init__(self, game: Game, form: SequenceForm | None = None, step: float = STEP, pull: float = PULL) -> None:
        self.game, self.form = game, form or unfold(game)
        largest = np.abs(self.form.sides[0].payoffs).max()
        self.step, self.pull = step / largest, pull * largest
        self.iterations = 0
        self.memories = [Memory(*(np.zeros(side.sequences) for _ in Memory._fields)) for side in self.form.sides]
        for side, memory in zip(self.form.sides, self.memories, strict=True):
            _start(side, memory)

    def run(self, iterations: int) -> None:
        (one, two), (first, second) = self.form.sides, self.memories
        _iterate(one, two, first, second, self.iterations, iterations, self.step, self.pull)
        self.iterations += iterations

    def strategy(self) -> Strategy:
        return of_sequences(self.form, [np.exp(memory.logs) for memory in self.memories])

    @property
    def bytes(self) -> int:
        return sum(array.nbytes for part in (*self.form.sides, *self.memories) for array in part)


@kernel
def _start(side, memory):
    for infoset in range(len(side.parent)):
        for s in range(side.first[infoset], side.first[infoset + 1]):
            memory.logs[s] = -math.log(side.first[infoset + 1] - side.first[infoset])
    _replan(side, memory)


@kernel
def _iterate(side0, side1, memory0, memory1, done, count, step, pull):
    for t in range(done + 1, done + count + 1):
        now, cost = step / math.sqrt(t), pull / math.sqrt(t)
        _gains(side0, memory0, memory1.plan, now)
        _gains(side1, memory1, memory0.plan, now)
        _move(side0, memory0, now * cost)
        _move(side1, memory1, now * cost)


@helper
def _gains(side, memory, other, step):
    """Step times the payoff of each sequence against the other's plan."""
    for s in range(len(memory.gains)):
        memory.gains[s] = step * against(side, s, other)


@helper
def _move(side, memory, pull):
    """Solve for the next policy, from the last infosets to the first."""
    logs, gains = memory.logs, memory.gains
    for infoset in range(len(side.parent) - 1, -1, -1):
        start, end = side.first[infoset], side.first[infoset + 1]
        magnet, highest = -pull * math.log(end - start), -math.inf
        for s in range(start, end):
            logs[s] = (logs[s] + magnet + gains[s]) / (1 + pull)
            highest = max(highest, logs[s])
        total = 0.0
        for s in range(start, end):
            total += math.exp(logs[s] - highest)
        optimum = highest + math.log(total)
        for s in range(start, end):
            logs[s] -= optimum
        gains[side.parent[infoset]] += (1 + pull) * optimum
    _replan(side, memory)


@helper
def _replan(side, memory):
    memory.plan[0] = 1.0
    for infoset in range(len(side.parent)):
        for s in range(side.first[infoset], side.first[infoset + 1]):
            memory.plan[s] = memory.plan[side.parent[infoset]] * math.exp(memory.logs[s])
