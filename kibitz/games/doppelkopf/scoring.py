"""What a game is worth to Re, item by item. The score sheet and the compiled rules add up the same items.

Levels: -1 nothing said, 0 Re or Kontra, 1 to 4 no 90, no 60, no 30, black. What is refused is said with all below it.
"""

import numpy as np

from ...jit import helper
from .cards import ALL_POINTS

LEVELS = ("Re/Kontra", "no 90", "no 60", "no 30", "black")
BELOW = np.array([121, 90, 60, 30, 0])  # by level: what the other party must stay under (black: without a trick)
REACHED = np.array([241, 120, 90, 60, 30])  # by level: what is worth a point against it

ITEMS = (
    "won", "under 90", "under 60", "under 30", "without a trick", "Re", "Kontra", "refused",
    "120 against no 90", "90 against no 60", "60 against no 30", "30 against black", "against the queens of clubs",
)  # fmt: skip
WON, BLACK, RE_SAID, KONTRA_SAID, REFUSED, AGAINST, QUEENS = 0, 4, 5, 6, 7, 8, 12
EXTRAS = ("trick of 40", "fox caught", "♣J took the last trick", "♣J caught in the last trick")
FORTY, FOX_CAUGHT, CHARLIE, CHARLIE_CAUGHT = 0, 1, 2, 3


@helper
def wins(points, tricks, others_tricks, own, others, enough):
    """Whether a party has won: it keeps what it refused, or breaks what the others did, or has enough."""
    if own == 4:
        return others_tricks == 0
    if own > 0:
        return ALL_POINTS - points < BELOW[own]
    if others == 4:
        return tricks > 0
    return points >= (BELOW[others] if others > 0 else enough)


@helper
def winner(points, re_tricks, kontra_tricks, re, kontra):
    """1 Re, -1 Kontra, 0 nobody."""
    enough = 120 if kontra == 0 and re < 0 else 121
    if wins(points, re_tricks, kontra_tricks, re, kontra, enough):
        return 1
    return -1 if wins(ALL_POINTS - points, kontra_tricks, re_tricks, kontra, re, 241 - enough) else 0


@helper
def item(which, points, re_tricks, kontra_tricks, re, kontra, alone, against):
    """One of ITEMS: what it is worth to Re."""
    won = winner(points, re_tricks, kontra_tricks, re, kontra)
    if which == WON:
        return won
    if which <= BLACK:  # counts for the winner; if there is none, for each
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
def extra(extras, which, side):
    """How often a party (0 Re, 1 Kontra) earned one of EXTRAS: four bits each."""
    return extras >> 4 * (2 * which + side) & 15


@helper
def value(points, re_tricks, kontra_tricks, re, kontra, alone, against, extras):
    """What the game is worth to each player of Re with a partner; who is alone gets three times as much."""
    total = 0
    for which in range(len(ITEMS)):
        total += item(which, points, re_tricks, kontra_tricks, re, kontra, alone, against)
    if not alone:
        for which in range(len(EXTRAS)):
            total += extra(extras, which, 0) - extra(extras, which, 1)
    return total


def sheet(points, re_tricks, kontra_tricks, re, kontra, alone, against, extras):
    """The items that count as (name, worth to Re)."""
    found = [
        (name, int(item(which, points, re_tricks, kontra_tricks, re, kontra, alone, against)))
        for which, name in enumerate(ITEMS)
    ]
    for which, name in enumerate(EXTRAS):
        found += [(name, (1 - 2 * side) * int(extra(extras, which, side)) * (not alone)) for side in range(2)]
    return [(name, worth) for name, worth in found if worth]
