"""The 24 kinds of cards, two copies each: points, trumps, order and names.

A kind is 6 * suit + rank. A set of cards is one integer with two bits per kind: in a hand they are the number of
copies, in a set of physical cards (`to_physical`) each bit is one card.
"""

import numpy as np

from ...jit import below, helper, popcount

SUITS, RANKS = "♣♠♥♦", ("9", "J", "Q", "K", "10", "A")  # ranks of a plain suit, ascending
KINDS = 24
NAMES = [suit + rank for suit in SUITS for rank in RANKS]
GERMAN = [suit + rank for suit in SUITS for rank in ("9", "B", "D", "K", "10", "A")]
POINTS = np.tile([0, 2, 3, 4, 10, 11], 4)
ALL_POINTS = 240
CLUB_QUEEN, CLUB_JACK, HEART_TEN, FOX = (NAMES.index(name) for name in ("♣Q", "♣J", "♥10", "♦A"))

# Types of games, by their trumps.
NORMAL, DIAMONDS, QUEENS, JACKS, FLEISCHLOS = 0, 4, 5, 6, 7
TYPES = ("normal game", "♣ solo", "♠ solo", "♥ solo", "♦ solo", "queens solo", "jacks solo", "fleischlos")
CLASSES, TRUMP = 5, 4  # classes of cards for following suit: the four plain suits, and trump


def trumps(type: int) -> list[str]:
    """The trumps of a type of game, high to low."""
    queens, jacks = ([suit + rank for suit in SUITS] for rank in "QJ")
    if type >= QUEENS:
        return [queens, jacks, []][type - QUEENS]
    suit = "♦" if type == NORMAL else SUITS[type - 1]
    plain = [suit + rank for rank in ("A", "10", "K", "9") if suit + rank != "♥10"]
    return ["♥10", *queens, *jacks, *plain]


def sorted_kinds(type: int) -> list[int]:
    """All kinds as people sort a hand: trumps, then suit by suit, each high to low."""
    high = [NAMES.index(name) for name in trumps(type)]
    return high + [6 * suit + rank for suit in range(4) for rank in range(5, -1, -1) if 6 * suit + rank not in high]


ORDER = np.array([sorted_kinds(type) for type in range(len(TYPES))])  # [type, place]
CLASS = np.array(
    [[TRUMP if name in trumps(type) else kind // 6 for kind, name in enumerate(NAMES)] for type in range(len(TYPES))]
)  # [type, kind]
BITS = np.array(
    [
        [sum(3 << 2 * kind for kind in range(KINDS) if row[kind] == which) for which in range(CLASSES)]
        for row in CLASS.tolist()
    ]
)  # [type, class]: its physical cards
# [type, class led, kind]: the card with the highest power wins the trick. 0: neither follows suit nor is trump.
POWER = np.zeros((len(TYPES), CLASSES, KINDS), np.int64)
for _type, _order in enumerate(ORDER.tolist()):
    for _led in range(CLASSES):
        for _place, _kind in enumerate(_order):
            if CLASS[_type, _kind] in (_led, TRUMP):
                POWER[_type, _led, _kind] = KINDS - _place

EVEN = sum(1 << 2 * kind for kind in range(KINDS))
NINES = sum(3 << 12 * suit for suit in range(4))
DECKS = np.array([2 * EVEN & ~NINES, 2 * EVEN])  # without and with nines


@helper
def to_physical(counts):
    """One bit per physical card, from the counts of a hand."""
    return counts | counts >> 1 & EVEN


@helper
def to_counts(cards):
    """The counts per kind, from a set of physical cards."""
    return (cards & EVEN) + (cards >> 1 & EVEN)


@helper
def kinds_in(counts):
    """The even bits of the kinds in a hand."""
    return (counts | counts >> 1) & EVEN


@helper
def nth_bit(bits, i):
    """The position of the i-th lowest set bit, of 48."""
    place = 0
    for width in (32, 16, 8, 4, 2, 1):
        low = popcount(bits & (1 << width) - 1)
        above = i >= low
        i -= low if above else 0
        bits >>= width if above else 0
        place += width if above else 0
    return place


@helper
def draw_cards(cards, count, rng):
    """Draw `count` of these physical cards uniformly at random."""
    left = popcount(cards)
    rest = cards
    swapped = 2 * count > left  # draw the cards that stay: these are fewer
    for _ in range(left - count if swapped else count):
        rest ^= 1 << nth_bit(rest, below(rng, left))
        left -= 1
    return rest if swapped else cards ^ rest


# ---------------------------------------------------------------- names

_SUITS = (
    "♣ c club clubs kr kreuz",
    "♠ s spade spades p pik",
    "♥ h heart hearts herz",
    "♦ d diamond diamonds ka karo",
)
_RANKS = "9 nine neun", "j jack b bube", "q queen d dame", "k king könig koenig", "10 t ten zehn", "a ace as ass"
WORDS = {
    word: 6 * suit + rank
    for suit, suits in enumerate(_SUITS)
    for rank, ranks in enumerate(_RANKS)
    for one in suits.split()
    for other in ranks.split()
    for word in (one + other, f"{other}of{one}")
}


def normalized(text: str) -> str:
    """Text in lower case without blanks and dashes, so that spellings compare equal."""
    return "".join(text.lower().replace("-", " ").split())


def hand_to_string(counts: int, type: int = NORMAL, names: list[str] = NAMES) -> str:
    """The cards of a hand, in the order in which people sort it; `-` if it is empty."""
    return " ".join(names[kind] for kind in ORDER[type] for _ in range(int(counts) >> 2 * int(kind) & 3)) or "-"
