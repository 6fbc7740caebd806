"""The hands of the others, drawn exactly: each deal of physical cards that fits what was seen is equally likely.

Cards that the same players may hold are alike, so only counts matter. What is known: who couldn't follow a suit, who
called as Re or Kontra, who named a marriage, who showed pigs. `count_deals` groups the cards by who may hold them and
counts the ways to deal the groups from one on; `draw_deal` then splits group by group in proportion to the ways that
are left.
Beside it the same with weights: each kind of card may be likelier in one hand than in another.
"""

import math

import numpy as np

from ...jit import helper, kernel, long_helper, lowest, popcount, uniform
from .cards import BITS, CLASS, CLASSES, CLUB_QUEEN, DECKS, FOX, KINDS, apart, take, together
from .state import DEAL, KONTRA, NAMED_MARRIAGE, PLAIN, RE, RESERVATION, cards_left, has_pigs

GROUPS = 8  # one for each set of the three others, and the ♣Q of which somebody must hold one
SIDE = 13
# Where `count_deals` writes: how many ways, how many groups; of each group who may hold it and its physical cards;
# how many ♣Q each must hold; the sizes of the hands; and ways by (group, cards of the first, of the second).
WAYS, USED, WHO, WHICH, LEAST, SIZES, TABLE = 0, 1, 2, 10, 18, 21, 24
NOTES = TABLE + GROUPS * SIDE * SIDE
CHOOSE = np.array([[float(math.comb(n, k)) for k in range(37)] for n in range(37)])
QUEENS, FOXES = 3 << 2 * CLUB_QUEEN, 3 << 2 * FOX
SETS = np.array([1, 2, 4, 3, 5, 6, 7])  # of who may hold a group, those first that leave the least choice


@helper
def unseen_cards(game, view, seat):
    """The physical cards that aren't in the seat's hand and weren't played."""
    left = int(DECKS[int(game.nines)]) - int(view.hands[seat])
    for i in range(int(view.count)):
        left -= 1 << 2 * int(view.played[i])
    return apart(left)


@helper
def lacks(view):
    """Bit 4 * class + seat: that seat couldn't follow this class."""
    found, type = 0, int(view.type)
    for i in range(int(view.count)):
        lead = CLASS[type, int(view.played[i & ~3])]
        if CLASS[type, int(view.played[i])] != lead:
            found |= 1 << 4 * lead + (int(view.leaders[i >> 2]) + i & 3)
    return found


@helper
def may_hold(found, which, seat):
    """Which of the three others, as bits from the seat's left, may hold cards of a class."""
    able = ~(found >> 4 * which) & 15
    return (able | able << 4) >> seat + 1 & 7


@helper
def may_hold_queens(game, view, seat, found, least):
    """The same for ♣Q, as calls and marriages tell; writes how many each must hold at least."""
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
    """The same for ♦A: who showed pigs has the other, who played one that was none has not."""
    holders = may_hold(found, CLASS[int(view.type), FOX], seat)
    if has_pigs(game, view):
        for i in range(int(view.count)):
            if view.played[i] == FOX:
                who = int(view.leaders[i >> 2]) + i & 3
                which = 1 << (who - seat - 1 & 3)
                holders &= which if view.pigs == who else ~which
    return holders


@helper
def group(notes, who, which):
    """One more group, unless it is empty."""
    if which:
        used = int(notes[USED])
        notes[WHO + used] = who
        notes[WHICH + used] = which
        notes[USED] = used + 1


@helper
def splits(notes, g, a, b, c):
    """Ways to deal the cards of a group so; 0 where one gets what it can't have."""
    who = int(notes[WHO + g])
    if (a > 0 and not who & 1) or (b > 0 and not who & 2) or (c > 0 and not who & 4):
        return 0.0
    if who & 8 and (a < notes[LEAST] or b < notes[LEAST + 1] or c < notes[LEAST + 2]):
        return 0.0
    return CHOOSE[a + b + c, a] * CHOOSE[b + c, b]


@helper
def ways(notes, g, a, b, c):
    """Ways to deal the groups from g on, when the hands have so much room."""
    if g == int(notes[USED]) - 1:
        return splits(notes, g, a, b, c)
    return notes[TABLE + (g * SIDE + a) * SIDE + b]


@helper
def ways_from(notes, g, a, b, c):
    """The same, from the ways of the next group."""
    n = popcount(int(notes[WHICH + g]))
    total = 0.0
    for x in range(min(n, a) + 1):
        for y in range(min(n - x, b) + 1):
            z = n - x - y
            if z <= c:
                factor = splits(notes, g, x, y, z)
                if factor > 0.0:
                    total += factor * ways(notes, g + 1, a - x, b - y, c - z)
    return total


@long_helper
def count_deals(game, view, seat, notes):
    unseen, found = unseen_cards(game, view, seat), lacks(view)
    notes[USED] = 0
    for j in range(3):
        notes[SIZES + j] = cards_left(game, view, seat + 1 + j & 3)
    if view.phase == DEAL:  # nothing is known yet, and some cards are still in the deck
        notes[WAYS] = 1
        group(notes, 7, unseen)
        return
    queens = may_hold_queens(game, view, seat, found, notes[LEAST : LEAST + 3])
    foxes = may_hold_foxes(game, view, seat, found)
    bound = notes[LEAST] + notes[LEAST + 1] + notes[LEAST + 2] > 0
    impossible = bound and not unseen & QUEENS
    if bound:
        group(notes, queens | 8, unseen & QUEENS)
    for i in range(len(SETS)):
        who = int(SETS[i])
        which = unseen & QUEENS if queens == who and not bound else 0
        which |= unseen & FOXES if foxes == who else 0
        for c in range(CLASSES):
            if may_hold(found, c, seat) == who:
                which |= unseen & int(BITS[int(view.type), c]) & ~(QUEENS | FOXES)
        group(notes, who, which)
    one, two, three = int(notes[SIZES]), int(notes[SIZES + 1]), int(notes[SIZES + 2])
    used, left = int(notes[USED]), 0
    for i in range(used):
        left += popcount(int(notes[WHICH + i]))
    notes[WAYS] = 0
    if impossible or left != one + two + three or left != popcount(unseen):  # (else nobody may hold some card)
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
        notes[WAYS] = splits(notes, 0, one, two, three)
    else:
        notes[WAYS] = ways_from(notes, 0, one, two, three)


@helper
def split(notes, g, a, b, c, total, rng):
    """Draw how many cards of a group the first and the second of the others get."""
    n = popcount(int(notes[WHICH + g]))
    left = uniform(rng) * total
    last_x, last_y = 0, 0
    for x in range(min(n, a) + 1):
        for y in range(min(n - x, b) + 1):
            z = n - x - y
            if z <= c:
                factor = splits(notes, g, x, y, z)
                if factor > 0.0:
                    factor *= ways(notes, g + 1, a - x, b - y, c - z)
                if factor > 0.0:
                    last_x, last_y = x, y
                    left -= factor
                    if left < 0.0:
                        return x, y
    return last_x, last_y  # (rounding has left a hair)


@long_helper
def draw_deal(view, seat, notes, rng, hands):
    """Write the hands of the others; False if no deal fits."""
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
            x, y = split(notes, g, a, b, c, total, rng)
            z = popcount(which) - x - y
            total = ways(notes, g + 1, a - x, b - y, c - z)
        part = take(which, x, rng)
        hands[one] = int(hands[one]) + together(part)
        which ^= part
        part = take(which, y, rng)
        hands[two] = int(hands[two]) + together(part)
        which ^= part
        hands[three] = int(hands[three]) + together(take(which, z, rng))
        a -= x
        b -= y
        c -= z
    return True


# ---------------------------------------------------------------- with weights

WEIGHTED = (KINDS + 1) * SIDE * SIDE


@helper
def weigh(weights, kind, n, x, y, z):
    """Of a split of n copies: a pair that is parted may be parted in two ways."""
    parted = 2.0 if n == 2 and x < 2 and y < 2 and z < 2 else 1.0
    return parted * weights[kind, 0] ** x * weights[kind, 1] ** y * weights[kind, 2] ** z


@kernel
def count_weighted(game, view, seat, weights, notes):
    """Fill `notes` [WEIGHTED + 4] for `draw_weighted`. Returns the weight of all deals that fit; 0: none does.

    weights[kind, j] is how much likelier that kind is to lie with the j-th of the others, from the seat's left. Those
    of cards that a hand can't hold are set to 0.
    """
    unseen, found = unseen_cards(game, view, seat), lacks(view)
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
                            total += weigh(weights, kind, n, x, y, z) * after
                notes[(kind * SIDE + a) * SIDE + b] = total
    return notes[one * SIDE + two] if left == one + two + three else 0.0


@kernel
def draw_weighted(game, view, seat, weights, notes, rng, hands):
    """Write the hands of the others, each deal with a probability in proportion to the product of its weights."""
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
                    share = weigh(weights, kind, n, x, y, z) * after
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
