"""Announcements: who may make which, by the number of cards that a seat still holds.

Whether a seat is asked must not reveal its party: every seat that could announce something in either party is asked,
and its only legal answer may be silence.
"""

from ...jit import helper, long_helper
from .state import (
    ANNOUNCING,
    CARDS,
    KONTRA,
    MARRIAGE,
    MAX_CALLS,
    RE,
    cards_left,
    hand_size,
    is_re,
    known_parties,
    next_player,
)

SILENT, CALL = 35, 36  # actions; an announcement is CALL + its level
LEVELS = 5


@helper
def level_of(state, side):
    """The highest level that a party (RE or KONTRA) has announced; -1: none."""
    level = -1
    for seat in range(4):
        if state.call_side[seat] == side:
            level = max(level, int(state.call[seat]))
    return level


@helper
def needed(game, state, level):
    """The number of cards that a seat must still hold to announce a level; fewer after a late-settled marriage."""
    return hand_size(game) - 1 - level - max(int(state.settled) - 1, 0)


@long_helper
def open_calls(game, state, seat, side):
    """The first level that a seat may announce if it is of this party, and the number of levels from there."""
    own, others = level_of(state, side), level_of(state, 1 - side)
    if own == LEVELS - 1 or state.late[side]:
        return 0, 0
    held = cards_left(game, state, seat)
    if held >= needed(game, state, own + 1):  # then skipped levels are in time, too
        return own + 1, LEVELS - 1 - own
    if own < 0 and others >= 0 and held >= needed(game, state, others) - 1:  # a reply
        return 0, 1
    return 0, 0


@helper
def might_call(game, state, seat):
    """Whether a seat could announce something, as far as its party is publicly known."""
    re, kontra = known_parties(state)
    if not kontra >> seat & 1 and open_calls(game, state, seat, RE)[1] > 0:
        return True
    return not re >> seat & 1 and open_calls(game, state, seat, KONTRA)[1] > 0


@helper
def side_of(state, seat):
    return RE if is_re(state, seat) else KONTRA


@long_helper
def announce(game, state, seat, level):
    """Record an announcement."""
    side = side_of(state, seat)
    if level_of(state, side) < 0 and cards_left(game, state, seat) < needed(game, state, 0):
        state.late[side] = 1
    state.call[seat] = level
    state.call_side[seat] = side
    logged = int(state.logged)
    if logged < MAX_CALLS:  # (always true: a party announces at most five times)
        state.log[logged] = 64 * int(state.count) + 8 * seat + level
    state.logged = logged + 1


@long_helper
def ask_for_announcement(game, state, first, waiting):
    """Ask up to `waiting` seats from `first` on; if none can announce anything, the next card is played."""
    if state.mode != MARRIAGE or state.settled > 0:
        for step in range(waiting):
            seat = first + step & 3
            if might_call(game, state, seat):
                state.phase = ANNOUNCING
                state.to_move = seat
                state.waiting = waiting - step - 1
                return
    state.phase = CARDS
    state.waiting = 0
    state.to_move = next_player(state)
