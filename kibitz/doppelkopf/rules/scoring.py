"""The score of a game for Re, item by item. The score sheet and the compiled rules sum the same items.

Levels of announcements: -1 none, 0 Re or Kontra, 1 to 4 no 90, no 60, no 30, black; each includes all below it.
"""

import numpy as np

from ...jit import helper
from .cards import ALL_POINTS

LEVELS = ("Re/Kontra", "no 90", "no 60", "no 30", "black")
BELOW = np.array([121, 90, 60, 30, 0])  # by level: the other party must stay below this (black: without a trick)
REACHED = np.array([241, 120, 90, 60, 30])  # by level: reaching this against the announcement scores a point

ITEMS = (
    "won", "under 90", "under 60", "under 30", "without a trick", "Re", "Kontra", "refused",
    "120 against no 90", "90 against no 60", "60 against no 30", "30 against black", "against the queens of clubs",
)  # fmt: skip
WON, BLACK, RE_SAID, KONTRA_SAID, REFUSED, AGAINST, QUEENS = 0, 4, 5, 6, 7, 8, 12
EXTRAS = ("trick of 40", "fox caught", "♣J took the last trick", "♣J caught in the last trick")
FORTY, FOX_CAUGHT, CHARLIE, CHARLIE_CAUGHT = 0, 1, 2, 3


@helper
def wins(points, tricks, others_tricks, own, others, enough):
    """Whether a party has won: it fulfils its own announcement, or breaks that of the others, or has enough points."""
    if own == 4:
        return others_tricks == 0
    if own > 0:
        return ALL_POINTS - points < BELOW[own]
    if others == 4:
        return tricks > 0
    return points >= (BELOW[others] if others > 0 else enough)


@helper
def winner(points, re_tricks, kontra_tricks, re, kontra):
    """The winning party: 1 Re, -1 Kontra, 0 nobody."""
    enough = 120 if kontra == 0 and re < 0 else 121
    if wins(points, re_tricks, kontra_tricks, re, kontra, enough):
        return 1
    return -1 if wins(ALL_POINTS - points, kontra_tricks, re_tricks, kontra, re, 241 - enough) else 0


@helper
def item_value(which, points, re_tricks, kontra_tricks, re, kontra, alone, against):
    """The points that one of ITEMS scores for Re."""
    won = winner(points, re_tricks, kontra_tricks, re, kontra)
    if which == WON:
        return won
    if which <= BLACK:  # scored by the winner, or by both parties if nobody wins
        ours = kontra_tricks == 0 if which == BLACK else ALL_POINTS - points < BELOW[which]
        theirs = re_tricks == 0 if which == BLACK else points < BELOW[which]
        return int(ours and won >= 0) - int(theirs and won <= 0)
    if which == RE_SAID:
        return 2 * won if re >= 0 else 0
    if which == KONTRA_SAID:
        return 2 * won if kontra >= 0 else 0
    if which == REFUSED:
        return won * (max(re, 0) + max(kontra, 0))
    if which < QUEENS:
        level = which - AGAINST + 1
        ours = kontra >= level and points >= REACHED[level]
        theirs = re >= level and ALL_POINTS - points >= REACHED[level]
        return int(ours) - int(theirs) if against else 0
    return -1 if won < 0 and not alone else 0


@helper
def extra_count(extras, which, side):
    """How often a party (0 Re, 1 Kontra) earned one of EXTRAS, from four bits each."""
    return extras >> 4 * (2 * which + side) & 15


@helper
def value(points, re_tricks, kontra_tricks, re, kontra, alone, against, extras):
    """The score of each of two Re partners. A player who is alone gets three times this."""
    total = 0
    for which in range(len(ITEMS)):
        total += item_value(which, points, re_tricks, kontra_tricks, re, kontra, alone, against)
    if not alone:
        for which in range(len(EXTRAS)):
            total += extra_count(extras, which, 0) - extra_count(extras, which, 1)
    return total


def sheet(points, re_tricks, kontra_tricks, re, kontra, alone, against, extras):
    """The items that are not zero, as (name, points for Re)."""
    found = [
        (name, int(item_value(which, points, re_tricks, kontra_tricks, re, kontra, alone, against)))
        for which, name in enumerate(ITEMS)
    ]
    for which, name in enumerate(EXTRAS):
        found += [(name, (1 - 2 * side) * int(extra_count(extras, which, side)) * (not alone)) for side in range(2)]
    return [(name, points) for name, points in found if points]
