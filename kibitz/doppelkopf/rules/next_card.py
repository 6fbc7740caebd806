"""Which cards can be played next from one seat's point of view, and how often a random prediction of it is right.

A seat knows its own hand and the cards that were played. A card is possible if there is a consistent deal in which the
seat to move holds it and may legally play it. (Reservations and announcements are no evidence here: the thesis' lines
don't contain them.) A random prediction draws a consistent deal uniformly, and from it a legal kind uniformly.
"""

from typing import Any, NamedTuple

import numpy as np

from ...games.game import positions
from ...jit import generators, helper, kernel, popcount
from .cards import CLASS, CLUB_QUEEN, FOX, KINDS
from .deals import (
    LEAST,
    NOTES,
    WAYS,
    count_deals,
    draw_deal,
    may_hold,
    may_hold_foxes,
    may_hold_queens,
    unseen_cards,
    voids,
)
from .rules import playable
from .state import CARDS, HEALTHY


class NextCards(NamedTuple):
    possible: np.ndarray  # [games, 4 seats, 48 cards] u4: bit k, whether kind k can be next
    random_accuracy: np.ndarray  # [games, 4 seats, 48 cards] f4: probability that a random prediction is right


def possible_next_cards(
    game: Any, actions: np.ndarray, lengths: np.ndarray, deals: int, seed: int, marriages_known: bool = False
) -> NextCards:
    """The possible next cards at every card of finished games, from all four seats.

    Args:
        game: The rules.
        actions: [games, n] actions of each game.
        lengths: [games] number of actions of each game.
        deals: Sampled deals per card, to estimate the accuracy of random predictions.
        seed: Seed of these samples.
        marriages_known: Whether announced marriages are evidence.
    """
    shape = (len(actions), 4, 48)
    found = NextCards(np.zeros(shape, np.uint32), np.zeros(shape, np.float32))
    states, notes = positions(game, 3), np.zeros(NOTES)
    _possible_next_cards(game, actions, lengths, deals, marriages_known, states, notes, generators(seed, 1)[0], *found)
    return found


@kernel
def _possible_next_cards(game, actions, lengths, deals, marriages_known, states, notes, rng, possible, random_accuracy):
    state, view = states[0], states[1]
    for i in range(len(actions)):
        game.start(state)
        for ply in range(lengths[i]):
            action = np.int64(actions[i, ply])
            if state.phase == CARDS:
                for seat in range(4):
                    game.look(state, seat, view)
                    if not marriages_known:
                        for other in range(4):
                            view.said[other] = HEALTHY
                            view.named[other] = -1
                    mover, count = int(state.to_move), int(state.count)
                    if mover == seat:
                        kinds = playable(view, seat)
                        possible[i, seat, count] = one_bit_per_kind(kinds)
                        random_accuracy[i, seat, count] = 1.0 / popcount(kinds)
                    else:
                        possible[i, seat, count] = possible_kinds(game, view, seat, mover, states, notes)
                        random_accuracy[i, seat, count] = hit_rate(game, view, seat, mover, action, deals, notes, rng)
            game.play(state, action)


@helper
def one_bit_per_kind(kinds):
    """The even bits of a set of kinds, packed."""
    found = 0
    for kind in range(KINDS):
        found |= (kinds >> 2 * kind & 1) << kind
    return found


@helper
def possible_kinds(game, view, seat, mover, states, notes):
    """The kinds that the mover may hold and for which a consistent deal remains after they are played, one bit each."""
    unseen, missing, found = unseen_cards(game, view, seat), voids(view), 0
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
def hit_rate(game, view, seat, mover, action, deals, notes, rng):
    """The estimated probability that a random prediction is `action`."""
    total = 0.0
    count_deals(game, view, seat, notes)
    for _ in range(deals):
        draw_deal(view, seat, notes, rng, view.hands)
        kinds = playable(view, mover)
        if kinds >> 2 * action & 1:
            total += 1.0 / popcount(kinds)
    return total / max(deals, 1)
