"""Exact sampling of the hidden hands: each deal of physical cards that is consistent with a view is equally likely.

The evidence is public: seats that couldn't follow suit, announcements of Re and Kontra, named marriages, shown pigs.
Cards that the same seats may hold are interchangeable, so only their number matters. `count_deals` groups the unseen
cards by the set of seats that may hold them, and counts by dynamic programming the ways to deal all groups from each
one on; `draw_deal` then splits group by group, in proportion to the number of ways that remain.

`count_weighted` and `draw_weighted` do this with a weight for each kind of card in each hand, not uniformly.
"""

import math

import numpy as np

from ...jit import helper, kernel, long_helper, lowest, popcount, uniform
from .cards import BITS, CLASS, CLASSES, CLUB_QUEEN, DECKS, FOX, KINDS, draw_cards, to_counts, to_physical
from .state import DEAL, KONTRA, NAMED_MARRIAGE, PLAIN, RE, RESERVATION, cards_left, has_pigs

GROUPS = 8  # one for each set of the three others, and one for ♣Q that certain seats must hold
SIDE = 13  # sizes of a hand, 0 to 12
# Layout of the notes of `count_deals`: the number of deals and of groups; for each group the seats that may hold it
# and its physical cards; how many ♣Q each seat must hold; the sizes of the hands; and the number of ways by (group,
# free places in the first hand, in the second).
WAYS, USED, WHO, WHICH, LEAST, SIZES, TABLE = 0, 1, 2, 10, 18, 21, 24
NOTES = TABLE + GROUPS * SIDE * SIDE
CHOOSE = np.array([[float(math.comb(n, k)) for k in range(37)] for n in range(37)])
QUEENS, FOXES = 3 << 2 * CLUB_QUEEN, 3 << 2 * FOX
SETS = np.array([1, 2, 4, 3, 5, 6, 7])  # sets of seats that may hold a group, the most restrictive first


@helper
def unseen_cards(game, view, seat):
    """The physical cards that are neither in the seat's hand nor played."""
    left = int(DECKS[int(game.nines)]) - int(view.hands[seat])
    for i in range(int(view.count)):
        left -= 1 << 2 * int(view.played[i])
    return to_physical(left)


@helper
def voids(view):
    """Bit 4 * class + seat is set if that seat has failed to follow this class."""
    found, type = 0, int(view.type)
    for i in range(int(view.count)):
        lead = CLASS[type, int(view.played[i & ~3])]
        if CLASS[type, int(view.played[i])] != lead:
            found |= 1 << 4 * lead + (int(view.leaders[i >> 2]) + i & 3)
    return found


@helper
def may_hold(found, which, seat):
    """The others that may hold cards of a class, as three bits from the seat's left; `found` is from `voids`."""
    able = ~(found >> 4 * which) & 15
    return (able | able << 4) >> seat + 1 & 7


@helper
def may_hold_queens(game, view, seat, found, least):
    """The others that may hold a ♣Q by voids, announcements and marriages; `least` gets how many each must hold."""
    holders = may_hold(found, CLASS[int(view.type), CLUB_QUEEN], seat)
    for j in range(3):
        other = seat + 1 + j & 3
        least[j] = 0
        if view.named[other] == NAMED_MARRIAGE or (not game.solos and view.said[other] == RESERVATION):
            holders &= 1 << j
        elif view.mode == PLAIN and view.call_side[other] == KONTRA:
            holders &= ~(1 << j)
        elif view.mode == PLAIN and view.call_side[other] == RE:
            least[j] = 1 - (int(view.queens) >> other & 1)
    return holders


@helper
def may_hold_foxes(game, view, seat, found):
    """The others that may hold a ♦A: a seat that showed pigs has the second, a seat that played a mere fox has not."""
    holders = may_hold(found, CLASS[int(view.type), FOX], seat)
    if has_pigs(game, view):
        for i in range(int(view.count)):
            if view.played[i] == FOX:
                who = int(view.leaders[i >> 2]) + i & 3
                which = 1 << (who - seat - 1 & 3)
                holders &= which if view.pigs == who else ~which
    return holders


@helper
def add_group(notes, who, which):
    """Append a group of cards, unless it is empty."""
    if which:
        used = int(notes[USED])
        notes[WHO + used] = who
        notes[WHICH + used] = which
        notes[USED] = used + 1


@helper
def split_ways(notes, g, a, b, c):
    """The number of ways to deal a, b and c cards of group g to the others; 0 if one of them can't hold its share."""
    who = int(notes[WHO + g])
    if (a > 0 and not who & 1) or (b > 0 and not who & 2) or (c > 0 and not who & 4):
        return 0.0
    if who & 8 and (a < notes[LEAST] or b < notes[LEAST + 1] or c < notes[LEAST + 2]):
        return 0.0
    return CHOOSE[a + b + c, a] * CHOOSE[b + c, b]


@helper
def ways(notes, g, a, b, c):
    """The number of ways to deal the groups from g on into hands with a, b and c free places."""
    if g == int(notes[USED]) - 1:
        return split_ways(notes, g, a, b, c)
    return notes[TABLE + (g * SIDE + a) * SIDE + b]


@helper
def ways_from(notes, g, a, b, c):
    """Compute `ways` of group g from those of the next group."""
    n = popcount(int(notes[WHICH + g]))
    total = 0.0
    for x in range(min(n, a) + 1):
        for y in range(min(n - x, b) + 1):
            z = n - x - y
            if z <= c:
                factor = split_ways(notes, g, x, y, z)
                if factor > 0.0:
                    total += factor * ways(notes, g + 1, a - x, b - y, c - z)
    return total


@long_helper
def count_deals(game, view, seat, notes):
    """Fill `notes` [NOTES] for `draw_deal`; notes[WAYS] is the number of deals that are consistent with the view."""
    unseen, found = unseen_cards(game, view, seat), voids(view)
    notes[USED] = 0
    for j in range(3):
        notes[SIZES + j] = cards_left(game, view, seat + 1 + j & 3)
    if view.phase == DEAL:  # there is no evidence yet, and some cards are still in the deck
        notes[WAYS] = 1
        add_group(notes, 7, unseen)
        return
    queens = may_hold_queens(game, view, seat, found, notes[LEAST : LEAST + 3])
    foxes = may_hold_foxes(game, view, seat, found)
    bound = notes[LEAST] + notes[LEAST + 1] + notes[LEAST + 2] > 0
    impossible = bound and not unseen & QUEENS
    if bound:
        add_group(notes, queens | 8, unseen & QUEENS)
    for i in range(len(SETS)):
        who = int(SETS[i])
        which = unseen & QUEENS if queens == who and not bound else 0
        which |= unseen & FOXES if foxes == who else 0
        for c in range(CLASSES):
            if may_hold(found, c, seat) == who:
                which |= unseen & int(BITS[int(view.type), c]) & ~(QUEENS | FOXES)
        add_group(notes, who, which)
    one, two, three = int(notes[SIZES]), int(notes[SIZES + 1]), int(notes[SIZES + 2])
    used, left = int(notes[USED]), 0
    for i in range(used):
        left += popcount(int(notes[WHICH + i]))
    notes[WAYS] = 0
    if impossible or left != one + two + three or left != popcount(unseen):  # (the last: nobody may hold some card)
        return
    if used == 0:
        notes[WAYS] = 1
        return
    left = popcount(int(notes[WHICH + used - 1]))
    for g in range(used - 2, 0, -1):
        left += popcount(int(notes[WHICH + g]))
        for a in range(min(one, left) + 1):
            for b in range(min(two, left - a) + 1):
                if left - a - b <= three:
                    notes[TABLE + (g * SIDE + a) * SIDE + b] = ways_from(notes, g, a, b, left - a - b)
    if used == 1:
        notes[WAYS] = split_ways(notes, 0, one, two, three)
    else:
        notes[WAYS] = ways_from(notes, 0, one, two, three)


@helper
def draw_split(notes, g, a, b, c, total, rng):
    """Draw how many cards of group g the first and the second of the others get."""
    n = popcount(int(notes[WHICH + g]))
    left = uniform(rng) * total
    last_x, last_y = 0, 0
    for x in range(min(n, a) + 1):
        for y in range(min(n - x, b) + 1):
            z = n - x - y
            if z <= c:
                factor = split_ways(notes, g, x, y, z)
                if factor > 0.0:
                    factor *= ways(notes, g + 1, a - x, b - y, c - z)
                if factor > 0.0:
                    last_x, last_y = x, y
                    left -= factor
                    if left < 0.0:
                        return x, y
    return last_x, last_y  # (only after rounding errors)


@long_helper
def draw_deal(view, seat, notes, rng, hands):
    """Draw the hands of the others uniformly; returns False if no deal is consistent with the view."""
    if notes[WAYS] == 0:
        return False
    a, b, c = int(notes[SIZES]), int(notes[SIZES + 1]), int(notes[SIZES + 2])
    one, two, three = seat + 1 & 3, seat + 2 & 3, seat + 3 & 3
    hands[one] = 0
    hands[two] = 0
    hands[three] = 0
    total = notes[WAYS]
    used = int(notes[USED])
    for g in range(used):
        which = int(notes[WHICH + g])
        x, y, z = a, b, c
        if g < used - 1:
            x, y = draw_split(notes, g, a, b, c, total, rng)
            z = popcount(which) - x - y
            total = ways(notes, g + 1, a - x, b - y, c - z)
        part = draw_cards(which, x, rng)
        hands[one] = int(hands[one]) + to_counts(part)
        which ^= part
        part = draw_cards(which, y, rng)
        hands[two] = int(hands[two]) + to_counts(part)
        which ^= part
        hands[three] = int(hands[three]) + to_counts(draw_cards(which, z, rng))
        a -= x
        b -= y
        c -= z
    return True


# ---------------------------------------------------------------- weighted deals

WEIGHTED = (KINDS + 1) * SIDE * SIDE  # numbers in the table of `count_weighted`


@helper
def split_weight(weights, kind, n, x, y, z):
    """The weight of dealing x, y and z of the n unseen copies of a kind; a pair can be parted in two ways."""
    parted = 2.0 if n == 2 and x < 2 and y < 2 and z < 2 else 1.0
    return parted * weights[kind, 0] ** x * weights[kind, 1] ** y * weights[kind, 2] ** z


@kernel
def count_weighted(game, view, seat, weights, notes):
    """Fill `notes` [WEIGHTED + 4] for `draw_weighted`; returns the total weight of all consistent deals (0: none).

    The weight of a deal is the product of weights[kind, j] over its physical cards, with j the holder, counted from the
    seat's left. Weights of cards that a hand can't hold are set to 0.
    """
    unseen, found = unseen_cards(game, view, seat), voids(view)
    least = notes[WEIGHTED : WEIGHTED + 3]
    queens = may_hold_queens(game, view, seat, found, least)
    foxes = may_hold_foxes(game, view, seat, found)
    one, two, three = (
        cards_left(game, view, seat + 1 & 3),
        cards_left(game, view, seat + 2 & 3),
        cards_left(game, view, seat + 3 & 3),
    )
    for kind in range(KINDS):
        able = may_hold(found, CLASS[int(view.type), kind], seat)
        able = queens if kind == CLUB_QUEEN else foxes if kind == FOX else able
        for j in range(3):
            if not able >> j & 1:
                weights[kind, j] = 0.0
    notes[:WEIGHTED] = 0.0
    notes[KINDS * SIDE * SIDE] = 1.0
    left = 0
    for kind in range(KINDS - 1, -1, -1):
        n = popcount(unseen >> 2 * kind & 3)
        left += n
        for a in range(min(one, left) + 1):
            for b in range(min(two, left - a) + 1):
                c = left - a - b
                if c > three:
                    continue
                total = 0.0
                for x in range(min(n, a) + 1):
                    for y in range(min(n - x, b) + 1):
                        z = n - x - y
                        if z <= c and (kind != CLUB_QUEEN or (x >= least[0] and y >= least[1] and z >= least[2])):
                            after = notes[((kind + 1) * SIDE + a - x) * SIDE + b - y]
                            total += split_weight(weights, kind, n, x, y, z) * after
                notes[(kind * SIDE + a) * SIDE + b] = total
    return notes[one * SIDE + two] if left == one + two + three else 0.0


@kernel
def draw_weighted(game, view, seat, weights, notes, rng, hands):
    """Draw the hands of the others, each deal with a probability proportional to the product of its weights."""
    unseen, least = unseen_cards(game, view, seat), notes[WEIGHTED : WEIGHTED + 3]
    one, two, three = seat + 1 & 3, seat + 2 & 3, seat + 3 & 3
    a, b, c = cards_left(game, view, one), cards_left(game, view, two), cards_left(game, view, three)
    hands[one] = 0
    hands[two] = 0
    hands[three] = 0
    while unseen:
        kind = lowest(unseen) >> 1
        n = popcount(unseen >> 2 * kind & 3)
        unseen &= ~(3 << 2 * kind)
        left = uniform(rng) * notes[(kind * SIDE + a) * SIDE + b]
        last_x, last_y = 0, 0
        for x in range(min(n, a) + 1):
            for y in range(min(n - x, b) + 1):
                z = n - x - y
                if left >= 0.0 and z <= c:
                    if kind == CLUB_QUEEN and (x < least[0] or y < least[1] or z < least[2]):
                        continue
                    after = notes[((kind + 1) * SIDE + a - x) * SIDE + b - y]
                    share = split_weight(weights, kind, n, x, y, z) * after
                    if share > 0.0:
                        last_x, last_y = x, y
                        left -= share
        z = n - last_x - last_y
        hands[one] = int(hands[one]) + (last_x << 2 * kind)
        hands[two] = int(hands[two]) + (last_y << 2 * kind)
        hands[three] = int(hands[three]) + (z << 2 * kind)
        a -= last_x
        b -= last_y
        c -= z
