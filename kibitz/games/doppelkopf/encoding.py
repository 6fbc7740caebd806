"""What a seat knows, in numbers for a network: everything from its own side of the table, itself first.

`encode_open` adds what it doesn't know: for networks that judge a guess.
"""

from ...jit import helper, long_helper, lowest
from .calls import LEVELS
from .cards import CLASSES, KINDS, TYPES, kinds_in
from .deals import lacks
from .table import DEAL, HEALTHY, RESERVATION, hand_size, is_re, known_parties

HAND = 0  # at least one of a kind, both
PLAYED = HAND + 2 * KINDS  # the same by seat, as is all below that has a 4
TRICK = PLAYED + 4 * 2 * KINDS  # cards on the table
LACKS = TRICK + 4 * KINDS  # classes that a seat couldn't follow
TYPE = LACKS + 4 * CLASSES
MODE = TYPE + len(TYPES)
PHASE = MODE + 3
PARTY = PHASE + 6  # the seat's own: Re, Kontra
PARTIES = PARTY + 2  # as everybody knows
SAID = PARTIES + 4 * 2
BRIDE = SAID + 4 * 2
CALLS = BRIDE + 4
LATE = CALLS + 4 * LEVELS
LEADER = LATE + 2
TO_MOVE = LEADER + 4
TRICKS = TO_MOVE + 4
POINTS = TRICKS + 4
COUNT = POINTS + 4
PIGS = COUNT + 1
SIZE = PIGS + 4
HANDS = SIZE  # of the three others, as one's own
RE = HANDS + 3 * 2 * KINDS  # who is, in truth
OPEN_SIZE = RE + 4


@long_helper
def encode(game, state, seat, out):
    out[:] = 0
    count = int(state.count)
    encode_hand(int(state.hands[seat]), out[HAND:])
    for i in range(count):
        side = int(state.leaders[i >> 2]) + i - seat & 3
        kind = int(state.played[i])
        at = PLAYED + 2 * (side * KINDS + kind)
        out[at + int(out[at] > 0)] = 1
        if i >> 2 == count >> 2:
            out[TRICK + side * KINDS + kind] = 1
    missing = lacks(state)
    re, kontra = known_parties(state)
    for side in range(4):
        other = seat + side & 3
        for which in range(CLASSES):
            out[LACKS + side * CLASSES + which] = missing >> 4 * which + other & 1
        out[PARTIES + 2 * side] = re >> other & 1
        out[PARTIES + 2 * side + 1] = kontra >> other & 1
        out[SAID + 2 * side] = state.said[other] == HEALTHY
        out[SAID + 2 * side + 1] = state.said[other] == RESERVATION
        out[BRIDE + side] = state.bride == other
        out[PIGS + side] = state.pigs == other
        for level in range(LEVELS):
            out[CALLS + side * LEVELS + level] = state.call[other] >= level
        out[LEADER + side] = state.leaders[count >> 2] == other
        out[TO_MOVE + side] = state.to_move == other
        out[TRICKS + side] = int(state.tricks[other]) / 12.0
        out[POINTS + side] = int(state.points[other]) / 240.0
    out[TYPE + int(state.type)] = 1
    out[MODE + int(state.mode)] = 1
    out[PHASE + int(state.phase)] = 1
    if state.phase != DEAL:
        out[PARTY + int(not is_re(state, seat))] = 1
    out[LATE] = state.late[0]
    out[LATE + 1] = state.late[1]
    out[COUNT] = count / (4.0 * hand_size(game))


@long_helper
def encode_open(game, state, seat, out):
    """[OPEN_SIZE]: all four hands."""
    encode(game, state, seat, out[:SIZE])
    out[SIZE:OPEN_SIZE] = 0
    for side in range(1, 4):
        encode_hand(int(state.hands[seat + side & 3]), out[HANDS + 2 * KINDS * (side - 1) :])
    if state.phase != DEAL:
        for side in range(4):
            out[RE + side] = is_re(state, seat + side & 3)


@helper
def encode_hand(hand, out):
    left = kinds_in(hand)
    while left:
        kind = lowest(left) >> 1
        out[2 * kind] = 1
        out[2 * kind + 1] = hand >> 2 * kind & 2 > 0
        left &= left - 1
