"""The record of a game, and what is public about it."""

from ...jit import helper, long_helper, record
from .cards import CLUB_QUEEN, DIAMONDS, NORMAL

DEAL, RESERVING, NAMING, CARDS, ANNOUNCING, DONE = 0, 1, 2, 3, 4, 5  # phases
PLAIN, MARRIAGE, SOLO = 0, 1, 2  # modes
HEALTHY, RESERVATION = 1, 2
RE, KONTRA, NOBODY = 0, 1, -1
NAMED_MARRIAGE = 8  # value of `named`, behind the types of solos
# Actions after the 24 cards: a solo is TYPE + its type; announcements follow (see `announcements`).
SAYS_HEALTHY, RESERVES, TYPE, MARRIES = 24, 25, 26, 34
MAX_CALLS = 10  # announcements per game, five by each party

STATE = record(
    ("hands", "i8", (4,)),  # two bits per kind: the number of copies
    ("history", "u8"),  # key of the public history
    ("points", "i2", (4,)),  # card points in the tricks that each seat won
    ("scores", "i2", (4,)),  # by seat, when the game is over
    ("log", "i2", (MAX_CALLS,)),  # announcements: 64 * cards played + 8 * seat + level
    ("played", "i1", (48,)),
    ("leaders", "i1", (13,)),  # of each trick; after the last one, its winner
    ("tricks", "i1", (4,)),  # won by each seat
    ("said", "i1", (4,)),  # 0, HEALTHY or RESERVATION
    ("named", "i1", (4,)),  # -1, the type of a solo, or NAMED_MARRIAGE
    ("call", "i1", (4,)),  # highest level that the seat itself announced, -1: none
    ("call_side", "i1", (4,)),  # RE or KONTRA as it announced, else NOBODY
    ("late", "i1", (2,)),  # by party: whether its Re or Kontra was a late reply
    ("logged", "i1"),  # number of announcements
    ("count", "i1"),  # cards played
    ("dealt", "i1"),  # cards dealt
    ("phase", "i1"),
    ("type", "i1"),
    ("mode", "i1"),
    ("soloist", "i1"),
    ("bride", "i1"),
    ("partner", "i1"),
    ("settled", "i1"),  # number of the trick that settled a marriage, 0: none
    ("queens", "i1"),  # bit s: seat s played a ♣Q; bits 4 and 5: how many were played
    ("pigs", "i1"),  # seat that has shown pigs by playing the first, else NOBODY
    ("waiting", "i1"),  # number of seats still to be asked for an announcement
    ("to_move", "i1"),
)


@helper
def hand_size(game):
    return 12 if game.nines else 10


@helper
def has_pigs(game, state):
    """Whether both ♦A in one hand would be pigs."""
    return game.pigs and (state.type == NORMAL or state.type == DIAMONDS)


@helper
def cards_left(game, state, seat):
    """The number of cards in a seat's hand, from public information: a view doesn't contain the hand itself."""
    full, count = hand_size(game), int(state.count)
    if state.phase == DEAL:
        return min(max(int(state.dealt) - full * seat, 0), full)
    if count == 4 * full or state.phase < CARDS:
        return full - (count >> 2)
    place = seat - int(state.leaders[count >> 2]) & 3
    return full - (count >> 2) - int(place < count & 3)


@helper
def next_player(state):
    """The seat that plays the next card."""
    count = int(state.count)
    return int(state.leaders[count >> 2]) + count & 3


@long_helper
def known_parties(state):
    """Bits of the seats that are publicly known to be Re, and of those known to be Kontra."""
    if state.mode == SOLO:
        re = 1 << int(state.soloist)
        return re, 15 ^ re
    if state.mode == MARRIAGE:
        re = 1 << int(state.bride)
        if state.partner < 0:
            return re, 0
        re |= 1 << int(state.partner)
        return re, 15 ^ re
    re, kontra = int(state.queens) & 15, 0
    for seat in range(4):
        re |= int(state.call_side[seat] == RE) << seat
        kontra |= int(state.call_side[seat] == KONTRA) << seat
    if re & re - 1 or int(state.queens) >> 4 == 2:  # both players of Re, or one who held both ♣Q
        kontra = 15 ^ re
    elif kontra in (7, 11, 13, 14):
        re = 15 ^ kontra
    return re, kontra


@helper
def is_re(state, seat):
    """Whether a seat is Re. In a normal game this needs its hand: a view answers only for its own seat."""
    if state.mode == PLAIN:
        held = int(state.hands[seat]) >> 2 * CLUB_QUEEN & 3
        return held > 0 or int(state.queens) >> seat & 1 == 1
    return known_parties(state)[0] >> seat & 1 == 1
