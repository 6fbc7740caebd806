"""The view of a seat as network inputs, with seats numbered from the viewer on.

First the facts: cards dealt and played, announcements, points. Then features that follow from them, which a small
network would have to learn: unseen cards, cards that beat the trick, known partners. `encode_open` adds the hands of
the others, for networks that evaluate determinizations.
"""

from ...jit import helper, long_helper, lowest, popcount
from .announcements import LEVELS
from .cards import BITS, CLASS, CLASSES, KINDS, POINTS, TRUMP, TYPES, kinds_in, to_physical
from .deals import unseen_cards, voids
from .heuristic import HIGHER, parties
from .state import CARDS, DEAL, HEALTHY, RESERVATION, hand_size, is_re, known_parties
from .tricks import card_power, holds_pigs

# Offsets of the parts.
HAND = 0  # per kind: at least one copy, both copies
PLAYED = HAND + 2 * KINDS  # as HAND, by seat; all parts with a factor 4 are by seat
TRICK = PLAYED + 4 * 2 * KINDS  # cards of the current trick
VOIDS = TRICK + 4 * KINDS  # classes that a seat failed to follow
TYPE = VOIDS + 4 * CLASSES
MODE = TYPE + len(TYPES)
PHASE = MODE + 3
PARTY = PHASE + 6  # the viewer's own: Re, Kontra
PARTIES = PARTY + 2  # as publicly known: Re, Kontra
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
UNSEEN = PIGS + 4  # as HAND
BEATS_TRICK = UNSEEN + 2 * KINDS  # own cards that would win the current trick so far
UNBEATABLE = BEATS_TRICK + KINDS  # own cards that no unseen card of their class beats
FRIENDS = UNBEATABLE + KINDS  # as the viewer knows: friend, foe
TRICK_WINNER = FRIENDS + 4 * 2  # seat that wins the trick so far; whether it is a friend, a foe
PLACE = TRICK_WINNER + 6  # of the next card in the trick
TRICK_POINTS = PLACE + 4  # points in the current trick
PARTY_POINTS = TRICK_POINTS + 1  # points of known friends, of known foes
TRUMPS = PARTY_POINTS + 2  # in hand, unseen
SIZE = TRUMPS + 2
HANDS = SIZE  # of the three others, as HAND
RE = HANDS + 3 * 2 * KINDS  # true party of each seat
OPEN_SIZE = RE + 4


@long_helper
def encode(game, state, seat, out):
    """Write the view of a seat to `out` [SIZE]."""
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
    missing = voids(state)
    re, kontra = known_parties(state)
    for side in range(4):
        other = seat + side & 3
        for which in range(CLASSES):
            out[VOIDS + side * CLASSES + which] = missing >> 4 * which + other & 1
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
        encode_derived(game, state, seat, out)


@long_helper
def encode_derived(game, state, seat, out):
    """Write the features from UNSEEN on, which follow from the others."""
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
    out[PARTY_POINTS] = ours / 120.0
    out[PARTY_POINTS + 1] = theirs / 120.0
    out[TRUMPS] = popcount(to_physical(hand) & trumps) / 12.0
    out[TRUMPS + 1] = popcount(unseen & trumps) / 24.0
    if state.phase != CARDS:
        return
    pigs, led, power, winner, points = state.pigs >= 0 or holds_pigs(game, state, seat), 0, 0, 0, 0
    for i in range(count & ~3, count):
        kind = int(state.played[i])
        led = int(CLASS[type, kind]) if i & 3 == 0 else led
        points += POINTS[kind]
        if card_power(type, led, kind, pigs) > power:
            power, winner = card_power(type, led, kind, pigs), int(state.leaders[count >> 2]) + i & 3
    out[PLACE + (count & 3)] = 1
    out[TRICK_POINTS] = points / 30.0
    if count & 3:
        out[TRICK_WINNER + (winner - seat & 3)] = 1
        out[TRICK_WINNER + 4] = friends >> winner & 1
        out[TRICK_WINNER + 5] = foes >> winner & 1
    follows = count & 3 and hand & int(BITS[type, led])
    left = kinds_in(hand)
    while left:
        kind = lowest(left) >> 1
        which = int(CLASS[type, kind])
        can = not follows or which == led
        out[BEATS_TRICK + kind] = count & 3 > 0 and can and card_power(type, led, kind, pigs) > power
        out[UNBEATABLE + kind] = unseen & int(HIGHER[type, which, kind]) & int(BITS[type, which]) == 0
        left &= left - 1


@long_helper
def encode_open(game, state, seat, out):
    """Write the view of a seat and the hands and parties of all to `out` [OPEN_SIZE]."""
    encode(game, state, seat, out[:SIZE])
    out[SIZE:OPEN_SIZE] = 0
    for side in range(1, 4):
        encode_hand(int(state.hands[seat + side & 3]), out[HANDS + 2 * KINDS * (side - 1) :])
    if state.phase != DEAL:
        for side in range(4):
            out[RE + side] = is_re(state, seat + side & 3)


@helper
def encode_hand(hand, out):
    """Two features per kind: at least one copy, both copies."""
    left = kinds_in(hand)
    while left:
        kind = lowest(left) >> 1
        out[2 * kind] = 1
        out[2 * kind + 1] = hand >> 2 * kind & 2 > 0
        left &= left - 1
