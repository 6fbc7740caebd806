"""What a seat knows, in numbers for a network: everything from its own side of the table, itself first.

First what was dealt, played and said; then what a player sees in it at a glance, which a small network would have to
work out: what nobody has shown yet, which cards take the trick, whose it is. `encode_open` adds what the seat doesn't
know: for networks that judge a guess.
"""

from ...jit import helper, long_helper, lowest, popcount
from .announcements import LEVELS
from .cards import BITS, CLASS, CLASSES, KINDS, POINTS, TRUMP, TYPES, apart, kinds_in
from .deals import lacks, unseen_cards
from .heuristic import HIGHER, parties
from .state import CARDS, DEAL, HEALTHY, RESERVATION, hand_size, is_re, known_parties
from .tricks import holds_pigs, strength

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
WON = TRICKS + 4
COUNT = WON + 4
PIGS = COUNT + 1
UNSEEN = PIGS + 4  # as a hand
TAKES = UNSEEN + 2 * KINDS  # cards that would take the trick as it lies
TOPS = TAKES + KINDS  # cards that none unseen would beat, were they led and followed
FRIENDS = TOPS + KINDS  # as the seat knows: friend, foe
TAKER = FRIENDS + 4 * 2  # whose the trick is so far, and whether a friend's, a foe's
PLACE = TAKER + 6  # of the next card in the trick
LAIN = PLACE + 4  # points in the trick
OURS = LAIN + 1  # points of known friends, of known foes
TRUMPS = OURS + 2  # in hand, unseen
SIZE = TRUMPS + 2
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
        out[WON + side] = int(state.points[other]) / 240.0
    out[TYPE + int(state.type)] = 1
    out[MODE + int(state.mode)] = 1
    out[PHASE + int(state.phase)] = 1
    if state.phase != DEAL:
        out[PARTY + int(not is_re(state, seat))] = 1
    out[LATE] = state.late[0]
    out[LATE + 1] = state.late[1]
    out[COUNT] = count / (4.0 * hand_size(game))
    if state.phase != DEAL:
        glance(game, state, seat, out)


@long_helper
def glance(game, state, seat, out):
    """What follows from it all."""
    count, type, hand = int(state.count), int(state.type), int(state.hands[seat])
    unseen, trumps = unseen_cards(game, state, seat), int(BITS[type, TRUMP])
    encode_hand(unseen, out[UNSEEN:])
    friends, foes, _ = parties(state, seat)
    ours, theirs = 0, 0
    for side in range(4):
        other = seat + side & 3
        out[FRIENDS + 2 * side] = friends >> other & 1
        out[FRIENDS + 2 * side + 1] = foes >> other & 1
        ours += (friends >> other & 1) * int(state.points[other])
        theirs += (foes >> other & 1) * int(state.points[other])
    out[OURS] = ours / 120.0
    out[OURS + 1] = theirs / 120.0
    out[TRUMPS] = popcount(apart(hand) & trumps) / 12.0
    out[TRUMPS + 1] = popcount(unseen & trumps) / 24.0
    if state.phase != CARDS:
        return
    pigs, led, power, taker, lain = state.pigs >= 0 or holds_pigs(game, state, seat), 0, 0, 0, 0
    for i in range(count & ~3, count):
        kind = int(state.played[i])
        led = int(CLASS[type, kind]) if i & 3 == 0 else led
        lain += POINTS[kind]
        if strength(type, led, kind, pigs) > power:
            power, taker = strength(type, led, kind, pigs), int(state.leaders[count >> 2]) + i & 3
    out[PLACE + (count & 3)] = 1
    out[LAIN] = lain / 30.0
    if count & 3:
        out[TAKER + (taker - seat & 3)] = 1
        out[TAKER + 4] = friends >> taker & 1
        out[TAKER + 5] = foes >> taker & 1
    follows = count & 3 and hand & int(BITS[type, led])
    left = kinds_in(hand)
    while left:
        kind = lowest(left) >> 1
        which = int(CLASS[type, kind])
        can = not follows or which == led
        out[TAKES + kind] = count & 3 > 0 and can and strength(type, led, kind, pigs) > power
        out[TOPS + kind] = unseen & int(HIGHER[type, which, kind]) & int(BITS[type, which]) == 0
        left &= left - 1


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
