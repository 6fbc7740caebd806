"""The heuristic player: a sensible beginner that uses only its own hand and public information.

A card is valued by the points at stake in the trick, times the probability that the own party wins it, minus the value
of the card in later tricks. So aces are led while the others still hold their suit, a partner's trick gets the tens, a
foe's is beaten if it pays, and foxes are played where they are safe. Solos and announcements are decided by counts of
high cards. The constants were fitted to games among such players.
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
from .deals import unseen_cards, voids
from .state import MARRIES, PLAIN, RE, RESERVES, RESERVING, SAYS_HEALTHY, SOLO, TYPE, hand_size, is_re, known_parties
from .tricks import card_power, holds_pigs

NONE_HELD = np.array([(2 / 3) ** n for n in range(49)])  # probability that a hand has none of n unseen cards
HIGHER = np.array(
    [
        [[sum(3 << 2 * k for k in range(KINDS) if power[k] > power[kind]) for kind in range(KINDS)] for power in led]
        for led in POWER
    ]
)  # [type, class led, kind]: the physical cards that beat it

WILLING = 0.8  # probability that a seat that could beat a trick with a trump does so
REST = 1.2  # points that each card still to come adds to the stake
OWN = 0.65  # weight of a card's own points: a later trick may be better for them, or worse
FOX_BONUS = 9.0  # beyond its card points
CHARLIE_BONUS = 5.0
SINGLE = 2.7  # for playing the last card of a plain suit: its tricks can be trumped from then on


def saved_value(type: int, kind: int) -> float:
    """The value of keeping a card: the highest trumps win other tricks, too."""
    place = ORDER[type].tolist().index(kind)
    return 0.0 if CLASS[type, kind] != TRUMP else max(13.0 - 2.6 * place, 2.0)


SAVED = np.array([[saved_value(type, kind) for kind in range(KINDS)] for type in range(len(TYPES))])


# ---------------------------------------------------------------- partners


@helper
def parties(state, seat):
    """Bits of known friends (the seat included) and known foes, and the probability that another seat is a friend."""
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
def friend_prob(known, seat):
    """The probability that a seat is a friend; `known` is from `parties`."""
    friends, foes, chance = known
    return 1.0 if friends >> seat & 1 else 0.0 if foes >> seat & 1 else chance


# ---------------------------------------------------------------- cards


@helper
def stays_winning(type, led, kind, unseen, missing, seat, behind):
    """The probability that none of the `behind` seats after this one beats a card."""
    higher, suit = unseen & int(HIGHER[type, led, kind]), int(BITS[type, led])
    trump = 1.0 - WILLING * (1.0 - NONE_HELD[popcount(higher & int(BITS[type, TRUMP]))])
    follow, void = NONE_HELD[popcount(higher & suit)], NONE_HELD[popcount(unseen & suit)]
    chance = 1.0
    for j in range(behind):
        other = seat + 1 + j & 3
        by_trump = 1.0 if missing >> 4 * TRUMP + other & 1 else trump
        ruffs = 1.0 if led == TRUMP or missing >> 4 * led + other & 1 else void
        chance *= (1.0 - ruffs) * follow + ruffs * by_trump
    return chance


@helper
def future_value(game, state, seat, kind):
    """The value of a card in later tricks."""
    type, trick = int(state.type), int(state.count) >> 2
    to_come = hand_size(game) - 1 - trick
    if to_come == 0:
        return 0.0
    good = SAVED[type, kind] * (1.0 + 0.1 * trick)
    if kind == CLUB_JACK and to_come == 1 and state.mode != SOLO:
        good += CHARLIE_BONUS
    which = CLASS[type, kind]
    single = which != TRUMP and popcount(int(state.hands[seat]) & int(BITS[type, which])) == 1
    return good - SINGLE if single else good


@long_helper
def heuristic_card(game, state, kinds):
    """The card with the highest value among these kinds (even bits)."""
    seat, count, type = int(state.to_move), int(state.count), int(state.type)
    unseen, missing, known = unseen_cards(game, state, seat), voids(state), parties(state, seat)
    pigs = state.pigs >= 0 or holds_pigs(game, state, seat)
    fox = FOX_BONUS if state.mode != SOLO and not pigs else 0.0
    behind, stake_so_far, led, power, best, owner = 3 - (count & 3), 0.0, 0, 0, 0, 0.0
    for i in range(count & ~3, count):
        kind, friend = int(state.played[i]), friend_prob(known, int(state.leaders[count >> 2]) + i & 3)
        led = int(CLASS[type, kind]) if i & 3 == 0 else led
        stake_so_far += POINTS[kind] + (fox * (1.0 - friend) if kind == FOX else 0.0)
        if card_power(type, led, kind, pigs) > power:
            power, best, owner = card_power(type, led, kind, pigs), kind, friend
    friends_behind = 0.0
    for j in range(behind):
        friends_behind += friend_prob(known, seat + 1 + j & 3) / behind
    stays = stays_winning(type, led, best, unseen, missing, seat, behind)
    left_alone = stays * owner + (1.0 - stays) * friends_behind  # probability to win the trick without beating it
    found, most = -1, -1e9
    while kinds:
        kind = lowest(kinds) >> 1
        kinds &= kinds - 1
        led = int(CLASS[type, kind]) if behind == 3 else led
        ours = left_alone
        if card_power(type, led, kind, pigs) > power:
            stays = 1.0 if pigs and kind == FOX else stays_winning(type, led, kind, unseen, missing, seat, behind)
            ours = stays + (1.0 - stays) * friends_behind
        stake = stake_so_far + REST * behind + OWN * POINTS[kind] + (fox if kind == FOX else 0.0)
        value = (2.0 * ours - 1.0) * stake - future_value(game, state, seat, kind)
        if value > most:
            most, found = value, kind
    return found


# ---------------------------------------------------------------- solos and announcements


def solo_points(type: int, kind: int) -> int:
    """The points of a card for a soloist."""
    rank, place = NAMES[kind][1:], ORDER[type].tolist().index(kind)
    if type == FLEISCHLOS:
        return {"A": 5, "10": 2}.get(rank, 0)
    if CLASS[type, kind] != TRUMP:
        return 3 if rank == "A" else 0
    high = (5, 4, 3, 3) if type >= QUEENS else (8, 6, 5, 4, 4)
    return high[place] if place < len(high) else 4


SOLO_POINTS = np.array([[solo_points(type, kind) for kind in range(KINDS)] for type in range(len(TYPES))])
SOLO_NEEDS = np.array([1000, 53, 53, 53, 53, 32, 32, 30])  # by type: points of a hand from which a solo is played
PER_SOLO_POINT = 4  # card points (of 240) per point of a soloist's hand

# Card points (of 240) that a card of the dealt hand is expected to add for its party; a void suit adds VOID.
MARGIN_PER_CARD = np.where(CLASS[0] == TRUMP, 3, -3)
for _name, _points in {"♥10": 20, "♠Q": 6, "♥Q": 5, "♦Q": 4, "♣A": 2, "♠A": 2, "♥A": 1}.items():
    MARGIN_PER_CARD[NAMES.index(_name)] = _points
VOID = 11
HANDICAP = np.array([13, 36])  # subtracted for Re, for Kontra
CALLED = 15  # expected extra points of a party of which another player has announced something
CALL_NEEDS = np.array([20, 65, 95, 125, 1000])  # by level: expected margin from which it is announced


@helper
def hand_points(hand, points):
    """The sum of `points` [kind] over the cards of a hand."""
    total = 0
    while hand:
        kind = lowest(hand) >> 1
        total += (hand >> 2 * kind & 3) * points[kind]
        hand &= ~(3 << 2 * kind)
    return total


@helper
def best_solo(hand):
    """The best solo for this hand, and by how many points it exceeds what that solo needs."""
    best, most = 1, -1000
    for type in range(1, len(TYPES)):
        above = hand_points(hand, SOLO_POINTS[type]) - SOLO_NEEDS[type]
        if above > most:
            best, most = type, above
    return best, most


@helper
def dealt_hand(state, seat):
    """A seat's hand with the cards that it has played."""
    hand = int(state.hands[seat])
    for i in range(int(state.count)):
        if int(state.leaders[i >> 2]) + i & 3 == seat:
            hand += 1 << 2 * int(state.played[i])
    return hand


@long_helper
def expected_margin(state, seat):
    """The card points above 120 that a seat expects for its party."""
    hand, side, type = dealt_hand(state, seat), side_of(state, seat), int(state.type)
    if state.mode == SOLO:
        return PER_SOLO_POINT * (hand_points(hand, SOLO_POINTS[type]) - SOLO_NEEDS[type]) + 20 if side == RE else 0
    expected = hand_points(hand, MARGIN_PER_CARD) - HANDICAP[side]
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
    """The highest announcement that the expected margin justifies, or silence."""
    first, count = open_calls(game, state, seat, side_of(state, seat))
    chosen = SILENT
    if count:
        expected = expected_margin(state, seat)
        for level in range(first, first + count):
            chosen = CALL + level if expected >= CALL_NEEDS[level] else chosen
    return chosen


@long_helper
def heuristic_reservation(game, state, seat):
    """Whether a seat has a reservation, and then which one."""
    hand = int(state.hands[seat])
    both = hand >> 2 * CLUB_QUEEN & 3 == 2
    type, above = best_solo(hand)
    alone = game.solos and above >= 0
    if state.phase == RESERVING:
        return RESERVES if alone or both else SAYS_HEALTHY
    return TYPE + type if alone or not both or game.forced >= 0 else MARRIES
