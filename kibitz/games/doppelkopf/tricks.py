"""Who took what: tricks, the extra points in them, and the scores at the end."""

from ...jit import helper, long_helper
from . import scoring
from .announcements import level_of
from .cards import CLASS, CLUB_JACK, FOX, HEART_TEN, KINDS, POINTS, POWER, QUEENS
from .state import KONTRA, RE, hand_size, has_pigs, known_parties


@helper
def holds_pigs(game, state, seat):
    return has_pigs(game, state) and int(state.hands[seat]) >> 2 * FOX & 3 == 2


@helper
def strength(type, led, kind, pigs):
    """Of two cards the one with more takes the trick."""
    return KINDS + 1 if pigs and kind == FOX else int(POWER[type, led, kind])


@helper
def taker(game, state, trick):
    """The place in a trick of the card that takes it: of equal ones the first."""
    type, first = int(state.type), 4 * trick
    led = CLASS[type, int(state.played[first])]
    best = 0
    for place in range(4):
        best = max(best, 4 * strength(type, led, int(state.played[first + place]), state.pigs >= 0) + 3 - place)
    place = 3 - (best & 3)
    rule = game.second_ten == 1 or (game.second_ten == 2 and trick < hand_size(game) - 1)
    if rule and type < QUEENS and state.played[first + place] == HEART_TEN:
        for later in range(place + 1, 4):
            if state.played[first + later] == HEART_TEN:
                place = later
    return place


@helper
def find_extras(game, state, re):
    """Extra points of the tricks, packed as `scoring.extra` reads them."""
    found, last = 0, hand_size(game) - 1
    for trick in range(last + 1):
        winner = int(state.leaders[trick + 1])
        side = 1 - (re >> winner & 1)
        worth = 0
        for place in range(4):
            kind = int(state.played[4 * trick + place])
            seat = int(state.leaders[trick]) + place & 3
            worth += POINTS[kind]
            caught = 1 - (re >> seat & 1) != side
            if kind == FOX and caught:
                found += 1 << 4 * (2 * scoring.FOX_CAUGHT + side)
            if trick == last and kind == CLUB_JACK:
                if place == taker(game, state, trick):
                    found += 1 << 4 * (2 * scoring.CHARLIE + side)
                elif caught and game.charlie_caught:
                    found += 1 << 4 * (2 * scoring.CHARLIE_CAUGHT + side)
        if worth >= 40:
            found += 1 << 4 * (2 * scoring.FORTY + side)
    return found


@helper
def result(game, state):
    """What `scoring.value` needs to know of a game that is over."""
    re = known_parties(state)[0]
    points, tricks = 0, 0
    for seat in range(4):
        if re >> seat & 1:
            points += int(state.points[seat])
            tricks += int(state.tricks[seat])
    said, answered = level_of(state, RE), level_of(state, KONTRA)
    alone, extras = re & re - 1 == 0, find_extras(game, state, re)
    return points, tricks, hand_size(game) - tricks, said, answered, alone, game.against, extras


@long_helper
def score(game, state):
    """Write the scores."""
    points, ours, theirs, re, kontra, alone, against, extras = result(game, state)
    worth = scoring.value(points, ours, theirs, re, kontra, alone, against, extras)
    seats = known_parties(state)[0]
    for seat in range(4):
        state.scores[seat] = (3 * worth if alone else worth) if seats >> seat & 1 else -worth
