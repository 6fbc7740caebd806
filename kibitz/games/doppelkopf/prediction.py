"""The next card, as one seat may foresee it: which cards can be, and how often a random guess is right.

A seat knows its own hand and the cards that were played. A card can be next if there is a deal that fits all that, in
which who has the turn holds the card and may play it. (What was said isn't part of it: lines of games don't tell it.)
The random guess draws one of the deals that fit, evenly, and in it one of the kinds that may be played, evenly.
"""

from typing import Any, NamedTuple

import numpy as np

from ...jit import generators, helper, kernel, popcount
from ..game import positions
from .cards import CLASS, CLUB_QUEEN, FOX, KINDS
from .deals import (
    LEAST,
    NOTES,
    WAYS,
    count_deals,
    draw_deal,
    lacks,
    may_hold,
    may_hold_foxes,
    may_hold_queens,
    unseen_cards,
)
from .rules import playable
from .state import CARDS, HEALTHY


class Foreseen(NamedTuple):
    can_be: np.ndarray  # [games, 4 seats, 48 cards] u4: bit k, whether kind k can be next
    random: np.ndarray  # [games, 4 seats, 48 cards] f4: how often a random guess is right


def foresee(game: Any, actions: np.ndarray, lengths: np.ndarray, deals: int, seed: int, said: bool = False) -> Foreseen:
    """Of whole games, actions [games, most]; the random guess by so many deals a card. `said`: who married is known."""
    shape = (len(actions), 4, 48)
    found = Foreseen(np.zeros(shape, np.uint32), np.zeros(shape, np.float32))
    states, notes = positions(game, 3), np.zeros(NOTES)
    _foresee(game, actions, lengths, deals, said, states, notes, generators(seed, 1)[0], *found)
    return found


@kernel
def _foresee(game, actions, lengths, deals, said, states, notes, rng, can_be, random):
    state, view = states[0], states[1]
    for i in range(len(actions)):
        game.start(state)
        for ply in range(lengths[i]):
            action = np.int64(actions[i, ply])
            if state.phase == CARDS:
                for seat in range(4):
                    game.look(state, seat, view)
                    if not said:
                        for other in range(4):
                            view.said[other] = HEALTHY
                            view.named[other] = -1
                    mover, count = int(state.to_move), int(state.count)
                    if mover == seat:
                        kinds = playable(view, seat)
                        can_be[i, seat, count] = packed(kinds)
                        random[i, seat, count] = 1.0 / popcount(kinds)
                    else:
                        can_be[i, seat, count] = possible(game, view, seat, mover, states, notes)
                        random[i, seat, count] = hits(game, view, seat, mover, action, deals, notes, rng)
            game.play(state, action)


@helper
def packed(kinds):
    """One bit a kind, of two."""
    found = 0
    for kind in range(KINDS):
        found |= (kinds >> 2 * kind & 1) << kind
    return found


@helper
def possible(game, view, seat, mover, states, notes):
    """A card can be played if who has the turn may hold it, and some deal fits what would be known behind it."""
    unseen, missing, found = unseen_cards(game, view, seat), lacks(view), 0
    queens = may_hold_queens(game, view, seat, missing, notes[LEAST : LEAST + 3])
    foxes = may_hold_foxes(game, view, seat, missing)
    for kind in range(KINDS):
        able = may_hold(missing, CLASS[int(view.type), kind], seat)
        able = queens if kind == CLUB_QUEEN else foxes if kind == FOX else able
        if unseen >> 2 * kind & 3 and able >> (mover - seat - 1 & 3) & 1:
            states[2] = view
            after = states[2]
            after.played[int(after.count)] = kind
            after.count = int(after.count) + 1
            if kind == CLUB_QUEEN:
                after.queens = (int(after.queens) | 1 << mover) + 16
            count_deals(game, after, seat, notes)
            found |= int(notes[WAYS] > 0) << kind
    return found


@helper
def hits(game, view, seat, mover, action, deals, notes, rng):
    total = 0.0
    count_deals(game, view, seat, notes)
    for _ in range(deals):
        draw_deal(view, seat, notes, rng, view.hands)
        kinds = playable(view, mover)
        if kinds >> 2 * action & 1:
            total += 1.0 / popcount(kinds)
    return total / max(deals, 1)
