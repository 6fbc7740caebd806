"""Private hands whose payoffs at ends are matrices, for the walk over the public tree of any game that declares one."""

from typing import NamedTuple

import numpy as np

from ...jit import helper
from ..regrets import discounted, scale_and_rest
from .walk import hands


class Tables(NamedTuple):
    """Numbers by entry and private hand, [entries, private]. A node with n actions has n entries."""

    regrets: np.ndarray  # the strategy is in proportion to the positive ones; uniform where there are none
    sums: np.ndarray  # weighted sums of strategies


@hands
class MatrixHands(NamedTuple):
    """Payoffs times the probability of chance, laid out for each seat: [classes of ends, other's hand, own hand]."""

    first: np.ndarray
    second: np.ndarray
    classes: np.ndarray  # [ends] i4: the class of each end

    def room(self, street, n):
        return n

    def match_regrets(self, tables, scratch, depth, street, n, rates):
        totals, rest = scratch.totals[0], scratch.totals[1]
        private, first = len(totals), scratch.entry[depth]
        for h in range(private):
            totals[h] = rates.zero
        for a in range(n):
            regrets = tables.regrets[first + a]
            for h in range(private):
                totals[h] += max(regrets[h], rates.zero)
        even = rates.one / n
        for h in range(private):
            totals[h], rest[h] = scale_and_rest(totals[h], even, rates.zero, rates.one, rates.tiny)
        for a in range(n):
            regrets = tables.regrets[first + a]
            strategy = scratch.strategy[depth, a]
            for h in range(private):
                strategy[h] = max(regrets[h], rates.zero) * totals[h] + rest[h]

    def update_tables(self, tables, scratch, depth, street, n, seat, rates):
        values, weighted = scratch.values[depth, seat], scratch.totals[0]
        reach = scratch.reach[seat, scratch.row[seat, depth]]
        private, first = len(values), scratch.entry[depth]
        for h in range(private):
            weighted[h] = rates.weight * reach[h]
        for a in range(n):
            strategy, acted = scratch.strategy[depth, a], scratch.acted[depth, a]
            for h in range(private):
                values[h] += strategy[h] * acted[h]
        for a in range(n):
            strategy, acted = scratch.strategy[depth, a], scratch.acted[depth, a]
            regrets = tables.regrets[first + a]
            sums = tables.sums[first + a]
            for h in range(private):
                regrets[h] = discounted(regrets[h] + (acted[h] - values[h]), rates.gain, rates.loss)
                sums[h] += weighted[h] * strategy[h]

    def pay_end(self, kind, number, scratch, depth, seat, rates):
        which = np.int64(self.classes[number])
        if seat != 1:
            add_up(scratch.values[depth, 0], scratch.reach[1, scratch.row[1, depth]], self.first[which], rates)
        if seat != 0:
            add_up(scratch.values[depth, 1], scratch.reach[0, scratch.row[0, depth]], self.second[which], rates)


@helper
def add_up(values, reach, payoffs, rates):
    """The values at an end: sums over the other seat's hands."""
    for h in range(len(values)):
        values[h] = rates.zero
    for other in range(len(values)):
        share = reach[other]
        if share > rates.zero:
            row = payoffs[other]
            for h in range(len(values)):
                values[h] += share * row[h]
