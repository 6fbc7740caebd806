"""The record of a game, and what everybody at the table can see of it."""

from ...jit import helper, long_helper, record
from .cards import CLUB_QUEEN, DIAMONDS, NORMAL

DEAL, SAY, NAME, CARDS, ASK, DONE = 0, 1, 2, 3, 4, 5  # phases
PLAIN, MARRIAGE, SOLO = 0, 1, 2  # modes
HEALTHY, RESERVATION = 1, 2
RE, KONTRA, NOBODY = 0, 1, -1
NAMED_MARRIAGE = 8  # where a solo would be named by its type
# Actions behind the 24 cards. A solo is TYPE + its type; then calls.
SAYS_HEALTHY, RESERVES, TYPE, MARRIES = 24, 25, 26, 34
MAX_CALLS = 10  # five of each party

STATE = record(
    ("hands", "i8", (4,)),  # two bits a kind: its count
    ("history", "u8"),  # a key of all that was said and played
    ("points", "i2", (4,)),  # by seat, in tricks taken
    ("scores", "i2", (4,)),  # at the end
    ("log", "i2", (MAX_CALLS,)),  # calls: 64 * cards played + 8 * seat + level
    ("played", "i1", (48,)),
    ("leaders", "i1", (13,)),  # of each trick; behind the last, who took it
    ("tricks", "i1", (4,)),
    ("said", "i1", (4,)),  # 0, HEALTHY or RESERVATION
    ("named", "i1", (4,)),  # -1, type of a solo or NAMED_MARRIAGE
    ("call", "i1", (4,)),  # highest level that the seat itself called, -1: none
    ("call_side", "i1", (4,)),  # RE or KONTRA, as it called
    ("late", "i1", (2,)),  # whether a party's Re or Kontra was a late reply
    ("logged", "i1"),
    ("count", "i1"),  # cards played
    ("dealt", "i1"),
    ("phase", "i1"),
    ("type", "i1"),
    ("mode", "i1"),
    ("soloist", "i1"),
    ("bride", "i1"),
    ("partner", "i1"),
    ("settled", "i1"),  # trick in which a marriage was settled, 0: none was
    ("queens", "i1"),  # bit s: seat s played a ♣Q; bits 4 and 5: how many were played
    ("pigs", "i1"),  # who has shown them, by playing the first
    ("waiting", "i1"),  # how many more are to be asked for calls
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
    """Of a seat, counted by what was played: a view doesn't hold the hand. (While dealing: as many as it has.)"""
    full, count = hand_size(game), int(state.count)
    if state.phase == DEAL:
        return min(max(int(state.dealt) - full * seat, 0), full)
    if count == 4 * full or state.phase < CARDS:
        return full - (count >> 2)
    place = seat - int(state.leaders[count >> 2]) & 3
    return full - (count >> 2) - int(place < count & 3)


@helper
def next_player(state):
    """Who plays the next card."""
    count = int(state.count)
    return int(state.leaders[count >> 2]) + count & 3


@long_helper
def known_parties(state):
    """Bits of the seats that everybody knows to be Re, and of those known to be Kontra."""
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
    if re & re - 1 or int(state.queens) >> 4 == 2:  # both, or one who held both
        kontra = 15 ^ re
    elif kontra in (7, 11, 13, 14):
        re = 15 ^ kontra
    return re, kontra


@helper
def is_re(state, seat):
    """The truth, for whom the hand of the seat is there."""
    if state.mode == PLAIN:
        held = int(state.hands[seat]) >> 2 * CLUB_QUEEN & 3
        return held > 0 or int(state.queens) >> seat & 1 == 1
    return known_parties(state)[0] >> seat & 1 == 1
