"""Beliefs about unseen cards: the exact likelihood of a deal under card weights, and its gradient.

Weights define a distribution over all consistent deals, proportional to the product of the weights of their cards
(`deals.count_weighted`). A network that predicts the weights maximizes the log-likelihood of the true deal. The
gradient by the logarithm of a weight is the number of copies of the kind that this hand holds in the true deal, minus
its expectation under the distribution. Both are computed exactly.
"""

import math

from ...jit import kernel, popcount
from .cards import CLUB_QUEEN, KINDS
from .deals import SIDE, WEIGHTED, count_weighted, split_weight, unseen_cards
from .state import cards_left

FORWARD = WEIGHTED + 4  # after the notes of `count_weighted`
ROOM = FORWARD + SIDE * SIDE + SIDE * SIDE  # size of the scratch array


@kernel
def expected_counts(game, views, seats, weights, notes, counts, shares):
    """Expected card counts and log partition function of the weighted deals of each view.

    counts[i, kind, j] is the expected number of copies that the j-th of the others holds, shares[i] the logarithm of
    the total weight of all deals (-inf: no deal is consistent). `notes` [ROOM] is scratch.
    """
    for i in range(len(views)):
        total = count_weighted(game, views[i], seats[i], weights[i], notes)
        counts[i] = 0.0
        shares[i] = -math.inf
        if total > 0.0:
            shares[i] = math.log(total)
            add_counts(game, views[i], seats[i], weights[i], notes, total, counts[i])


@kernel
def add_counts(game, view, seat, weights, notes, total, counts):
    """Add the expected counts in a forward pass over the kinds; `count_weighted` was the backward pass."""
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
                        way = reached * split_weight(weights, kind, n, x, y, z)
                        after[(a - x) * SIDE + b - y] += way
                        share = way * notes[((kind + 1) * SIDE + a - x) * SIDE + b - y] / total
                        counts[kind, 0] += share * x
                        counts[kind, 1] += share * y
                        counts[kind, 2] += share * z
        here[:] = after
        left -= n
