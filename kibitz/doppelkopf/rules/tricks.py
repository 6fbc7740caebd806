"""Winners of tricks, extra points, and the scores at the end of a game."""

from ...jit import helper, long_helper
from . import scoring
from .announcements import level_of
from .cards import CLASS, CLUB_JACK, FOX, HEART_TEN, KINDS, POINTS, POWER, QUEENS
from .state import KONTRA, RE, hand_size, has_pigs, known_parties


@helper
def holds_pigs(game, state, seat):
    """Whether a seat still holds both ♦A, and they are pigs."""
    return has_pigs(game, state) and int(state.hands[seat]) >> 2 * FOX & 3 == 2


@helper
def card_power(type, led, kind, pigs):
    """The power of a card in a trick: the highest wins. Pigs beat everything."""
    return KINDS + 1 if pigs and kind == FOX else int(POWER[type, led, kind])


@helper
def winning_place(game, state, trick):
    """The place (0 to 3) in a trick of the card that wins it; the first of equal cards."""
    type, first = int(state.type), 4 * trick
    led = CLASS[type, int(state.played[first])]
    best = 0
    for place in range(4):
        best = max(best, 4 * card_power(type, led, int(state.played[first + place]), state.pigs >= 0) + 3 - place)
    place = 3 - (best & 3)
    rule = game.second_ten == 1 or (game.second_ten == 2 and trick < hand_size(game) - 1)
    if rule and type < QUEENS and state.played[first + place] == HEART_TEN:
        for later in range(place + 1, 4):
            if state.played[first + later] == HEART_TEN:
                place = later
    return place


@helper
def extra_points(game, state, re):
    """Extra points earned in tricks, packed for `scoring.extra_count`."""
    found, last = 0, hand_size(game) - 1
    for trick in range(last + 1):
        winner = int(state.leaders[trick + 1])
        side = 1 - (re >> winner & 1)
        points = 0
        for place in range(4):
            kind = int(state.played[4 * trick + place])
            seat = int(state.leaders[trick]) + place & 3
            points += POINTS[kind]
            caught = 1 - (re >> seat & 1) != side
            if kind == FOX and caught:
                found += 1 << 4 * (2 * scoring.FOX_CAUGHT + side)
            if trick == last and kind == CLUB_JACK:
                if place == winning_place(game, state, trick):
                    found += 1 << 4 * (2 * scoring.CHARLIE + side)
                elif caught and game.charlie_caught:
                    found += 1 << 4 * (2 * scoring.CHARLIE_CAUGHT + side)
        if points >= 40:
            found += 1 << 4 * (2 * scoring.FORTY + side)
    return found


@helper
def result(game, state):
    """The arguments of `scoring.value` for a finished game."""
    re = known_parties(state)[0]
    points, tricks = 0, 0
    for seat in range(4):
        if re >> seat & 1:
            points += int(state.points[seat])
            tricks += int(state.tricks[seat])
    re_level, kontra_level = level_of(state, RE), level_of(state, KONTRA)
    alone, extras = re & re - 1 == 0, extra_points(game, state, re)
    return points, tricks, hand_size(game) - tricks, re_level, kontra_level, alone, game.against, extras


@long_helper
def score(game, state):
    """Write the scores of a finished game to its record."""
    points, ours, theirs, re, kontra, alone, against, extras = result(game, state)
    value = scoring.value(points, ours, theirs, re, kontra, alone, against, extras)
    seats = known_parties(state)[0]
    for seat in range(4):
        state.scores[seat] = (3 * value if alone else value) if seats >> seat & 1 else -value
