"""What a sensible beginner does, who knows their own hand and what was played and said.

A card is as good as the points that it wins: those at stake, times the chance that the own party takes the trick, less
what the card would be good for later. So aces are led while the others still have their suit, a partner's trick gets
the tens, a foe's is beaten if it is worth it, and foxes go where they are safe. Solos and calls come from counts of
high cards. The numbers were fitted to games among such players.
"""

import numpy as np

from ...jit import helper, long_helper, lowest, popcount
from .announcements import CALL, SILENT, level_of, open_calls, side_of
from .cards import (
    BITS,
    CLASS,
    CLUB_JACK,
    CLUB_QUEEN,
    FLEISCHLOS,
    FOX,
    KINDS,
    NAMES,
    ORDER,
    POINTS,
    POWER,
    QUEENS,
    TRUMP,
    TYPES,
)
from .deals import lacks, unseen_cards
from .state import MARRIES, PLAIN, RE, RESERVES, SAY, SAYS_HEALTHY, SOLO, TYPE, hand_size, is_re, known_parties
from .tricks import holds_pigs, strength

NONE = np.array([(2 / 3) ** n for n in range(49)])  # the chance that a hand has none of n cards that nobody has seen
HIGHER = np.array(
    [
        [[sum(3 << 2 * k for k in range(KINDS) if power[k] > power[kind]) for kind in range(KINDS)] for power in led]
        for led in POWER
    ]
)  # [type, class led, kind]: the cards that beat it

WILLING = 0.8  # to beat a trick with a trump, of those who could
REST = 1.2  # what each card still to come adds to the stake
OWN = 0.65  # the weight of a card's own points: it may find a better trick, or a worse
FOX_WORTH = 9.0  # above its points
CHARLIE_WORTH = 5.0
SINGLE = 2.7  # for the last card of a plain suit: from then on its tricks can be taken by trumps


def saved(type: int, kind: int) -> float:
    """The highest trumps are good for other tricks too."""
    place = ORDER[type].tolist().index(kind)
    return 0.0 if CLASS[type, kind] != TRUMP else max(13.0 - 2.6 * place, 2.0)


SAVED = np.array([[saved(type, kind) for kind in range(KINDS)] for type in range(len(TYPES))])


# ---------------------------------------------------------------- who is whose partner


@helper
def parties(state, seat):
    """Bits of those whom a seat knows as friends (itself too) and as foes, and the chance that another is a friend."""
    re, kontra = known_parties(state)
    ours = is_re(state, seat)
    if state.mode == PLAIN:
        re |= int(ours) << seat
        kontra |= int(not ours) << seat
        held = int(state.hands[seat]) >> 2 * CLUB_QUEEN & 3
        by_others = int(state.queens) & 15 & ~(1 << seat)
        both = ours and by_others == 0 and held + (int(state.queens) >> 4) == 2
        if both or popcount(re) == 2:
            kontra = 15 ^ re
        elif popcount(kontra) == 3:
            re = 15 ^ kontra
    friends, foes = (re, kontra) if ours else (kontra | 1 << seat, re)
    unknown = 4 - popcount(friends | foes)
    return friends, foes, max(2 - popcount(friends), 0) / unknown if unknown else 0.0


@helper
def friendly(known, seat):
    """The chance that a seat is a friend."""
    friends, foes, chance = known
    return 1.0 if friends >> seat & 1 else 0.0 if foes >> seat & 1 else chance


# ---------------------------------------------------------------- cards


@helper
def holds(type, led, kind, unseen, missing, seat, behind):
    """The chance that nobody behind the seat beats a card."""
    higher, suit = unseen & int(HIGHER[type, led, kind]), int(BITS[type, led])
    trump = 1.0 - WILLING * (1.0 - NONE[popcount(higher & int(BITS[type, TRUMP]))])
    follow, void = NONE[popcount(higher & suit)], NONE[popcount(unseen & suit)]
    chance = 1.0
    for j in range(behind):
        other = seat + 1 + j & 3
        by_trump = 1.0 if missing >> 4 * TRUMP + other & 1 else trump
        ruffs = 1.0 if led == TRUMP or missing >> 4 * led + other & 1 else void
        chance *= (1.0 - ruffs) * follow + ruffs * by_trump
    return chance


@helper
def later(game, state, seat, kind):
    """What a card would be good for in a later trick."""
    type, trick = int(state.type), int(state.count) >> 2
    to_come = hand_size(game) - 1 - trick
    if to_come == 0:
        return 0.0
    good = SAVED[type, kind] * (1.0 + 0.1 * trick)
    if kind == CLUB_JACK and to_come == 1 and state.mode != SOLO:
        good += CHARLIE_WORTH
    which = CLASS[type, kind]
    single = which != TRUMP and popcount(int(state.hands[seat]) & int(BITS[type, which])) == 1
    return good - SINGLE if single else good


@long_helper
def heuristic_card(game, state, kinds):
    """The best of these kinds (their even bits)."""
    seat, count, type = int(state.to_move), int(state.count), int(state.type)
    unseen, missing, known = unseen_cards(game, state, seat), lacks(state), parties(state, seat)
    pigs = state.pigs >= 0 or holds_pigs(game, state, seat)
    fox = FOX_WORTH if state.mode != SOLO and not pigs else 0.0
    behind, lain, led, power, best, owner = 3 - (count & 3), 0.0, 0, 0, 0, 0.0
    for i in range(count & ~3, count):
        kind, friend = int(state.played[i]), friendly(known, int(state.leaders[count >> 2]) + i & 3)
        led = int(CLASS[type, kind]) if i & 3 == 0 else led
        lain += POINTS[kind] + (fox * (1.0 - friend) if kind == FOX else 0.0)
        if strength(type, led, kind, pigs) > power:
            power, best, owner = strength(type, led, kind, pigs), kind, friend
    friends_behind = 0.0
    for j in range(behind):
        friends_behind += friendly(known, seat + 1 + j & 3) / behind
    stays = holds(type, led, best, unseen, missing, seat, behind)
    left_alone = stays * owner + (1.0 - stays) * friends_behind  # the chance of a trick that the seat doesn't beat
    found, most = -1, -1e9
    while kinds:
        kind = lowest(kinds) >> 1
        kinds &= kinds - 1
        led = int(CLASS[type, kind]) if behind == 3 else led
        ours = left_alone
        if strength(type, led, kind, pigs) > power:
            stays = 1.0 if pigs and kind == FOX else holds(type, led, kind, unseen, missing, seat, behind)
            ours = stays + (1.0 - stays) * friends_behind
        stake = lain + REST * behind + OWN * POINTS[kind] + (fox if kind == FOX else 0.0)
        value = (2.0 * ours - 1.0) * stake - later(game, state, seat, kind)
        if value > most:
            most, found = value, kind
    return found


# ---------------------------------------------------------------- what is said


def in_solo(type: int, kind: int) -> int:
    """What a card does for a soloist. (In a normal game: for nobody.)"""
    rank, place = NAMES[kind][1:], ORDER[type].tolist().index(kind)
    if type == FLEISCHLOS:
        return {"A": 5, "10": 2}.get(rank, 0)
    if CLASS[type, kind] != TRUMP:
        return 3 if rank == "A" else 0
    high = (5, 4, 3, 3) if type >= QUEENS else (8, 6, 5, 4, 4)
    return high[place] if place < len(high) else 4


IN_SOLO = np.array([[in_solo(type, kind) for kind in range(KINDS)] for type in range(len(TYPES))])
SOLO_NEEDS = np.array([1000, 53, 53, 53, 53, 32, 32, 30])  # by type
SOLO_POINT = 4  # what one more of that does for the soloist, in points of the game's 240

# What a card of the hand that was dealt does for its party, in points of the game's 240; a void suit does VOID.
IN_PARTY = np.where(CLASS[0] == TRUMP, 3, -3)
for _name, _worth in {"♥10": 20, "♠Q": 6, "♥Q": 5, "♦Q": 4, "♣A": 2, "♠A": 2, "♥A": 1}.items():
    IN_PARTY[NAMES.index(_name)] = _worth
VOID = 11
HANDICAP = np.array([13, 36])  # of Re, of Kontra
CALLED = 15  # who calls is strong
CALL_NEEDS = np.array([20, 65, 95, 125, 1000])  # by level


@helper
def count_up(hand, worth):
    total = 0
    while hand:
        kind = lowest(hand) >> 1
        total += (hand >> 2 * kind & 3) * worth[kind]
        hand &= ~(3 << 2 * kind)
    return total


@helper
def best_solo(hand):
    """The type of the solo that this hand is best for, and by how much it has what that needs."""
    best, most = 1, -1000
    for type in range(1, len(TYPES)):
        above = count_up(hand, IN_SOLO[type]) - SOLO_NEEDS[type]
        if above > most:
            best, most = type, above
    return best, most


@helper
def dealt_hand(state, seat):
    hand = int(state.hands[seat])
    for i in range(int(state.count)):
        if int(state.leaders[i >> 2]) + i & 3 == seat:
            hand += 1 << 2 * int(state.played[i])
    return hand


@long_helper
def prospect(state, seat):
    """The points above 120 that a seat may expect for its party."""
    hand, side, type = dealt_hand(state, seat), side_of(state, seat), int(state.type)
    if state.mode == SOLO:
        return SOLO_POINT * (count_up(hand, IN_SOLO[type]) - SOLO_NEEDS[type]) + 20 if side == RE else 0
    expected = count_up(hand, IN_PARTY) - HANDICAP[side]
    for suit in range(3):
        expected += VOID if hand & int(BITS[0, suit]) == 0 else 0
    friends, foes, _ = parties(state, seat)
    for other in range(4):
        expected += ((friends >> other & 1) - (foes >> other & 1)) * int(state.points[other]) // 2
    if level_of(state, side) >= 0 and state.call[seat] < 0:
        expected += CALLED
    return expected - (CALLED if level_of(state, 1 - side) >= 0 else 0)


@long_helper
def heuristic_call(game, state, seat):
    first, count = open_calls(game, state, seat, side_of(state, seat))
    said = SILENT
    if count:
        expected = prospect(state, seat)
        for level in range(first, first + count):
            said = CALL + level if expected >= CALL_NEEDS[level] else said
    return said


@long_helper
def heuristic_reservation(game, state, seat):
    """Whether there is one, and then what it is for."""
    hand = int(state.hands[seat])
    both = hand >> 2 * CLUB_QUEEN & 3 == 2
    type, above = best_solo(hand)
    alone = game.solos and above >= 0
    if state.phase == SAY:
        return RESERVES if alone or both else SAYS_HEALTHY
    return TYPE + type if alone or not both or game.forced >= 0 else MARRIES
