"""Rows for networks that play Doppelkopf: positions of recorded games, drawn at random, as each seat saw them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...games.doppelkopf.cards import KINDS
from ...games.doppelkopf.deals import unseen_cards
from ...games.doppelkopf.encoding import OPEN_SIZE, SIZE, encode_open
from ...games.doppelkopf.rules import playable
from ...games.doppelkopf.state import CARDS
from ...games.game import positions
from ...jit import kernel

OWN = 0.5  # share of rows that are seen by who has the turn; the rest by one of the others


@dataclass(frozen=True)
class Rows:
    views: np.ndarray  # [rows] of the game's records: what the observer sees
    seats: np.ndarray  # [rows] i8: the observer
    movers: np.ndarray  # [rows] i8: who has the turn
    seen: np.ndarray  # [rows, SIZE] f4: the same, encoded
    open: np.ndarray  # [rows, OPEN_SIZE] f4: by who has the turn, all hands open
    cards: np.ndarray  # [rows] i8: what was played, by which ply of the game
    plies: np.ndarray  # [rows] i8: which card of the game it was
    legal: np.ndarray  # [rows] i8: bit k, whether the mover could play kind k
    can_be: np.ndarray  # [rows] i8: the same as far as the observer knows by counting cards
    worth: np.ndarray  # [rows, 2] f4: rewards at the end of the observer and of the mover
    hands: np.ndarray  # [rows, KINDS, 3] f4: what the others hold, from the observer's left


def draw_rows(game: Any, actions: np.ndarray, lengths: np.ndarray, each: int, generator: np.random.Generator) -> Rows:
    """`each` positions of each of these games, in the order of the games."""
    games = len(actions)
    picks = np.sort(np.argsort(generator.random((games, 48)), axis=1)[:, :each], axis=1)
    sides = np.where(generator.random((games, each)) < OWN, 0, generator.integers(1, 4, (games, each)))
    n = games * each
    rows = Rows(
        views=np.zeros(n, game.state),
        seats=np.zeros(n, np.int64),
        movers=np.zeros(n, np.int64),
        seen=np.zeros((n, SIZE), np.float32),
        open=np.zeros((n, OPEN_SIZE), np.float32),
        cards=np.zeros(n, np.int64),
        plies=picks.ravel(),
        legal=np.zeros(n, np.int64),
        can_be=np.zeros(n, np.int64),
        worth=np.zeros((n, 2), np.float32),
        hands=np.zeros((n, KINDS, 3), np.float32),
    )
    _fill(
        game, actions, lengths, picks, sides, positions(game), rows.views, rows.seats, rows.movers, rows.seen,
        rows.open, rows.cards, rows.legal, rows.can_be, rows.worth, rows.hands,
    )  # fmt: skip
    return rows


@kernel
def _fill(
    game, actions, lengths, picks, sides, states, views, seats, movers, seen, opened, cards, legal, can_be, worth, hands
):
    state, each = states[0], picks.shape[1]
    for i in range(len(actions)):
        game.start(state)
        drawn = 0
        for ply in range(lengths[i]):
            action = np.int64(actions[i, ply])
            if state.phase == CARDS and drawn < each and picks[i, drawn] == state.count:
                at, mover = i * each + drawn, game.turn(state)
                seat = mover + sides[i, drawn] & 3
                drawn += 1
                seats[at] = seat
                movers[at] = mover
                game.look(state, seat, views[at])
                game.observe(views[at], seat, seen[at])
                encode_open(game, state, mover, opened[at])
                cards[at] = action
                legal[at] = kinds_of(playable(state, mover))
                can_be[at] = legal[at]
                if seat != mover:
                    can_be[at] = kinds_of(unseen_cards(game, views[at], seat))
                for j in range(3):
                    hand = np.int64(state.hands[seat + 1 + j & 3])
                    for kind in range(KINDS):
                        hands[at, kind, j] = hand >> 2 * kind & 3
            game.play(state, action)
        for at in range(i * each, i * each + each):
            worth[at, 1] = game.reward(state, movers[at])
            worth[at, 0] = game.reward(state, seats[at])


@kernel
def kinds_of(cards):
    """Bit k for kind k, of bits of cards."""
    found = 0
    for kind in range(KINDS):
        found |= int(cards >> 2 * kind & 3 > 0) << kind
    return found


def all_views(game: Any, actions: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of whole games, before each card, from each seat: encodings [games, 4, 48, SIZE] f4, and the views themselves."""
    shape = (len(actions), 4, 48)
    seen, views = np.zeros((*shape, SIZE), np.float32), np.zeros(shape, game.state)
    _look(game, actions, lengths, positions(game), seen, views)
    return seen, views


@kernel
def _look(game, actions, lengths, states, seen, views):
    state = states[0]
    for i in range(len(actions)):
        game.start(state)
        for ply in range(lengths[i]):
            if state.phase == CARDS:
                for seat in range(4):
                    view = views[i, seat, state.count]
                    game.look(state, seat, view)
                    game.observe(view, seat, seen[i, seat, state.count])
            game.play(state, np.int64(actions[i, ply]))
