"""Hands of cards on a board, for the walk over the public tree: they meet if they share no card; the higher rank wins.

Hands in a bucket share the numbers of a table, where those of a bucket are side by side, action after action. Its
regrets are sums over hands, weighted by the iteration: linear CFR.
"""

from typing import NamedTuple

import numpy as np

from ...jit import long_helper
from ...solve.public_tree.walk import hands
from ...solve.regrets import scale_and_rest
from .betting_tree import FOLD, BettingTree


@hands
class CardHands(NamedTuple):
    """The hands that are possible with a board, in ascending order of their rank at the showdown."""

    cards: np.ndarray  # [hands, cards] i8
    buckets: np.ndarray  # [streets, hands] i4
    order: np.ndarray  # [streets, hands] i4: the hands by their buckets: tables are read from front to back
    group: np.ndarray  # [hands] i4: where the hands of the same rank begin
    end: np.ndarray  # [hands] i4: and where they end
    counts: np.ndarray  # [streets] i8: number of buckets
    stakes: np.ndarray  # [ends of the tree] f4: of a fold what seat 0 wins, of a showdown what the winner wins

    def room(self, street, n):
        return n * self.counts[street]

    def match_regrets(self, tables, scratch, depth, street, n, rates):
        first, regrets, strategy = scratch.entry[depth], tables.regrets, scratch.strategy
        even = rates.one / np.float32(n)
        for i in range(scratch.values.shape[2]):
            h = self.order[street, i]
            at = first + np.int64(self.buckets[street, h]) * n
            total = rates.zero
            for a in range(n):
                total += max(regrets[at + a], rates.zero)
            scale, rest = scale_and_rest(total, even, rates.zero, rates.one, rates.tiny)
            for a in range(n):
                strategy[depth, a, h] = max(regrets[at + a], rates.zero) * scale + rest

    def update_tables(self, tables, scratch, depth, street, n, seat, rates):
        first, own = scratch.entry[depth], scratch.row[seat, depth]
        regrets, sums, strategy, acted = tables.regrets, tables.sums, scratch.strategy, scratch.acted
        for i in range(scratch.values.shape[2]):
            h = self.order[street, i]
            at = first + np.int64(self.buckets[street, h]) * n
            value = rates.zero
            for a in range(n):
                value += strategy[depth, a, h] * acted[depth, a, h]
            scratch.values[depth, seat, h] = value
            share = rates.weight * scratch.reach[seat, own, h]
            for a in range(n):
                regrets[at + a] += rates.weight * (acted[depth, a, h] - value)
                sums[at + a] += share * strategy[depth, a, h]

    def pay_end(self, kind, number, scratch, depth, seat, rates):
        stake = np.float64(self.stakes[number])
        for own in range(2):
            if seat == 1 - own:
                continue
            weights = scratch.reach[1 - own, scratch.row[1 - own, depth]]
            if kind == FOLD:
                folded(
                    self.cards, weights, scratch.by_card[own], stake if own == 0 else -stake, scratch.values[depth, own]
                )
            else:
                shown(
                    self.cards, self.group, self.end, weights, scratch.by_card[own], stake, scratch.values[depth, own]
                )


def card_hands(
    tree: BettingTree, cards: np.ndarray, buckets: np.ndarray, ranks: np.ndarray, counts: tuple[int, ...]
) -> CardHands:
    """Hands [hands, cards] with their buckets [streets, hands] and their ascending ranks [hands]."""
    order = np.argsort(buckets, axis=1, kind="stable").astype(np.int32)
    group, end = (np.searchsorted(ranks, ranks, side).astype(np.int32) for side in ("left", "right"))
    stakes = tree.payoff[tree.choices == 0]
    return CardHands(cards, buckets.astype(np.int32), order, group, end, np.array(counts, np.int64), stakes)


# ---------------------------------------------------------------- ends: sums over hands that share no card with the own


@long_helper
def folded(cards, weights, by_card, won, out):
    """The values at a fold."""
    count, hole = cards.shape
    by_card[:] = 0.0
    total = 0.0
    for h in range(count):
        total += weights[h]
        for i in range(hole):
            by_card[cards[h, i]] += weights[h]
    for h in range(count):
        shared = 0.0
        for i in range(hole):
            shared += by_card[cards[h, i]]
        out[h] = won * (total - shared + (hole - 1) * weights[h])


@long_helper
def shown(cards, group, end, weights, by_card, stake, out):
    """The values at a showdown."""
    count, hole = cards.shape
    by_card[:] = 0.0
    total, start = 0.0, 0
    while start < count:  # upwards: weaker hands are beaten
        stop = np.int64(end[start])
        for h in range(start, stop):
            shared = 0.0
            for i in range(hole):
                shared += by_card[cards[h, i]]
            out[h] = total - shared
        for h in range(start, stop):
            total += weights[h]
            for i in range(hole):
                by_card[cards[h, i]] += weights[h]
        start = stop
    by_card[:] = 0.0
    total, stop = 0.0, count
    while stop > 0:  # downwards: stronger ones win
        start = np.int64(group[stop - 1])
        for h in range(start, stop):
            shared = 0.0
            for i in range(hole):
                shared += by_card[cards[h, i]]
            out[h] = stake * (out[h] - (total - shared))
        for h in range(start, stop):
            total += weights[h]
            for i in range(hole):
                by_card[cards[h, i]] += weights[h]
        stop = start
