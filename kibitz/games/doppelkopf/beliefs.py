"""Where the unseen cards lie: how likely the true deal is among those that fit, and what would make it likelier.

Weights say how much likelier a kind is to lie with one of the others than with another (`deals.count_weighted`). Of the
deals that fit, each has a share in proportion to the product of its weights; the logarithm of the true deal's share is
what a network that sets the weights should raise. Its gradient by the logarithm of a weight is what the true deal has
of that kind there, less what the weighted deals have on the mean: both are exact.
"""

import math

from ...jit import kernel, popcount
from .cards import CLUB_QUEEN, KINDS
from .deals import SIDE, WEIGHTED, count_weighted, unseen_cards, weigh
from .state import cards_left

FORWARD = WEIGHTED + 4  # behind the notes of `count_weighted`
ROOM = FORWARD + SIDE * SIDE + SIDE * SIDE


@kernel
def expected_counts(game, views, seats, weights, notes, counts, shares):
    """For each view: counts[i, kind, j], how many of a kind the j-th of the others has on the mean of weighted deals,
    and shares[i], the logarithm of all deals' weight (-inf: no deal fits). `notes` [ROOM] is scratch."""
    for i in range(len(views)):
        total = count_weighted(game, views[i], seats[i], weights[i], notes)
        counts[i] = 0.0
        shares[i] = -math.inf
        if total > 0.0:
            shares[i] = math.log(total)
            add_counts(game, views[i], seats[i], weights[i], notes, total, counts[i])


@kernel
def add_counts(game, view, seat, weights, notes, total, counts):
    """Forward over the kinds, as `count_weighted` went backward; each split counts by its share of all weight."""
    unseen, least = unseen_cards(game, view, seat), notes[WEIGHTED : WEIGHTED + 3]
    one, two, three = (
        cards_left(game, view, seat + 1 & 3),
        cards_left(game, view, seat + 2 & 3),
        cards_left(game, view, seat + 3 & 3),
    )
    here, after = notes[FORWARD : FORWARD + SIDE * SIDE], notes[FORWARD + SIDE * SIDE : ROOM]
    here[:] = 0.0
    here[one * SIDE + two] = 1.0
    left = one + two + three
    for kind in range(KINDS):
        n = popcount(unseen >> 2 * kind & 3)
        if n == 0:
            continue
        after[:] = 0.0
        for a in range(min(one, left) + 1):
            for b in range(min(two, left - a) + 1):
                reached, c = here[a * SIDE + b], left - a - b
                if reached == 0.0 or c > three:
                    continue
                for x in range(min(n, a) + 1):
                    for y in range(min(n - x, b) + 1):
                        z = n - x - y
                        if z > c or (kind == CLUB_QUEEN and (x < least[0] or y < least[1] or z < least[2])):
                            continue
                        way = reached * weigh(weights, kind, n, x, y, z)
                        after[(a - x) * SIDE + b - y] += way
                        share = way * notes[((kind + 1) * SIDE + a - x) * SIDE + b - y] / total
                        counts[kind, 0] += share * x
                        counts[kind, 1] += share * y
                        counts[kind, 2] += share * z
        here[:] = after
        left -= n
