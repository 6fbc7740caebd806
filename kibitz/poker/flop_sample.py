"""Exploitability from a sample of flops: an unbiased lower bound.

A best response chooses its answers before the flop by what all flops are worth. Chosen on a sample, they fit its
accidents, and their value there is too high. So the flops are drawn in two independent halves: answers chosen on one
are valued on the other, and the other way round. Any fixed answers win no more than the best, and their value on flops
drawn independently is unbiased, so the expectation is a lower bound of what a best response wins. After the flop the
response is exact.

Answers chosen on a few flops are poor, and what they win depends on which flops are dealt. So half of the sample may
choose the strategy's own play before the flop instead. Where that is nearly an equilibrium, little is lost, and the
luck of the flop cancels: what one seat gains by it, the other loses.

In each half flops are drawn without replacement, each time with probabilities in proportion to the number of flops that
a class stands for. Des Raj's estimator (1956) is unbiased for that, and so is its estimate of the variance.
"""

import math
from dataclasses import dataclass

import numpy as np

from ..play.statistics import Estimate, interval, t_quantile
from .solve.first_street import FirstStreet

HALVES = 2
FOLDS = 10  # parts that are left out in turn to value answers


def draw_orders(weights: np.ndarray, seed: int) -> np.ndarray:
    """[halves, classes]: an order of the classes for each half, as they are drawn in proportion to their weights."""
    waits = np.random.default_rng([seed, len(weights)]).exponential(size=(HALVES, len(weights)))
    return np.argsort(waits / weights, axis=1)


def visits(orders: np.ndarray, draws: int) -> np.ndarray:
    """The classes among the first draws, taken from both halves in turn, each class once."""
    drawn = orders.T.reshape(-1)[:draws]
    return drawn[np.sort(np.unique(drawn, return_index=True)[1])]


def drawn_by(orders: np.ndarray, visited: np.ndarray) -> int:
    """How many flops of each half have been visited, up to the first that hasn't."""
    missing = ~np.isin(orders, visited)
    return int(np.where(missing.any(axis=1), missing.argmax(axis=1), orders.shape[1]).min())


def des_raj(values: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """[draws, ...]: uncorrelated unbiased estimates of a total, one for each draw without replacement.

    Args:
        values: [draws, ...]: values of what was drawn, in this order.
        shares: [draws]: their probabilities at a first draw.
    """
    shares = shares.reshape(-1, *[1] * (values.ndim - 1))
    before, left = np.cumsum(values, axis=0) - values, 1 - (np.cumsum(shares, axis=0) - shares)
    return before + values * left / shares


def _low(values: np.ndarray) -> float:
    """The lower end of the 95% interval of a mean."""
    return interval(values, np.ones(len(values))).low


@dataclass(frozen=True)
class FlopValues:
    """What the ends of the first street are worth: exactly where no flop follows, and on the flops visited so far."""

    street: FirstStreet
    known: np.ndarray  # [seats, all ends, hands] f8: folds, showdowns and all-ins; 0 at those in `ends`
    ends: np.ndarray  # [ends]: the ends that a flop follows, as places in `street.ends`
    flops: np.ndarray  # [visited, seats, ends, hands] f4: summed over the flops of a class
    classes: np.ndarray  # [visited]: their numbers
    weights: np.ndarray  # [classes]: number of flops in each class
    chance: float  # number of flops for two hands

    def best(self) -> np.ndarray:
        """[seats]: what a best response wins, after all flops."""
        values = self._filled(self.flops.sum(axis=0, dtype=np.float64))
        return self.street.value(self.street.answers(values), values)

    def _filled(self, sums: np.ndarray) -> np.ndarray:
        values = self.known.copy()
        values[:, self.ends] = sums / self.chance
        return values

    def chosen_on(self, rows: np.ndarray) -> np.ndarray:
        """[seats, all ends, hands]: answers before the flop, chosen on some of the flops: the best there, or its own.

        That is those whose value on flops that did not choose them has the higher lower end of an interval.
        """
        own, folds = self.street.own_answers(), np.array_split(rows, min(len(rows), FOLDS))
        if len(folds) < 2:
            return own
        best = [self._each(self.best_on(np.setdiff1d(rows, fold)), fold) for fold in folds]
        return self.best_on(rows) if _low(np.concatenate(best)) > _low(self._each(own, rows)) else own

    def _each(self, answers: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """[rows]: estimates of what answers win in both seats, each of a single flop."""
        return np.array([self.estimates(answers, row[None]).sum() for row in rows])

    def best_on(self, rows: np.ndarray) -> np.ndarray:
        """[seats, all ends, hands]: the answers before the flop that are best on some of the flops."""
        scale = self.weights.sum() / self.weights[self.classes[rows]].sum()
        return self.street.answers(self._filled(scale * self.flops[rows].sum(axis=0, dtype=np.float64)))

    def estimates(self, answers: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """[draws, seats]: unbiased estimates of what answers win, of flops in the order in which they were drawn."""
        wanted = answers[:, self.ends] / (self.chance * self.street.pairs)
        values = np.stack([np.einsum("seh,seh->s", wanted, self.flops[row]) for row in rows])
        shares = self.weights[self.classes[rows]] / self.weights.sum()
        return self.street.value(answers, self.known) + des_raj(values, shares)

    def split(self, orders: np.ndarray) -> "Split":
        """The lower bound of the flops that were visited."""
        count = drawn_by(orders, self.classes)
        if count == 0:
            return Split(0, np.full(2, math.nan), Estimate(math.nan, math.nan, math.nan))
        row = np.zeros(len(self.weights), np.int64)
        row[self.classes] = np.arange(len(self.classes))
        halves = [row[order[:count]] for order in orders]
        found = np.stack([self.estimates(self.chosen_on(halves[1 - i]), halves[i]) for i in range(HALVES)])
        by_seat, totals = found.mean(axis=(0, 1)), found.sum(axis=2)  # totals: [halves, draws]
        mean, reach = float(totals.mean()), math.nan
        if count > 1:
            reach = t_quantile(count - 1) * math.sqrt(totals.var(axis=1, ddof=1).sum() / count) / HALVES
        return Split(count, by_seat, Estimate(mean, mean - reach, mean + reach))


@dataclass(frozen=True)
class Split:
    """A lower bound by two halves."""

    drawn: int  # flops in each half
    best: np.ndarray  # [seats]
    nash_conv: Estimate
