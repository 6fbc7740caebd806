"""Training data of the card networks: positions sampled from recorded games, as one seat saw them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...games.game import positions
from ...jit import kernel
from ..rules.cards import KINDS
from ..rules.deals import unseen_cards
from ..rules.encoding import OPEN_SIZE, SIZE, encode_open
from ..rules.rules import playable
from ..rules.state import CARDS

OWN = 0.5  # share of rows whose observer is the seat to move; in the rest it is one of the others


@dataclass(frozen=True)
class Rows:
    views: np.ndarray  # [rows] of the game's records: the observer's view
    seats: np.ndarray  # [rows] i8: the observer
    movers: np.ndarray  # [rows] i8: the seat to move
    encodings: np.ndarray  # [rows, SIZE] f4: the observer's view, encoded
    open_encodings: np.ndarray  # [rows, OPEN_SIZE] f4: the whole position, encoded for the mover
    cards: np.ndarray  # [rows] i8: the kind that was played
    plies: np.ndarray  # [rows] i8: number of cards played before
    legal: np.ndarray  # [rows] i8: bit k, whether kind k was legal for the mover
    possible: np.ndarray  # [rows] i8: bit k, whether it was for all that the observer knows by counting cards
    rewards: np.ndarray  # [rows, 2] f4: of the observer and of the mover at the end of the game
    hands: np.ndarray  # [rows, KINDS, 3] f4: cards of the other seats, from the observer's left


def sample_rows(game: Any, actions: np.ndarray, lengths: np.ndarray, each: int, generator: np.random.Generator) -> Rows:
    """`each` random positions per game, in the order of the games."""
    games = len(actions)
    picks = np.sort(np.argsort(generator.random((games, 48)), axis=1)[:, :each], axis=1)
    sides = np.where(generator.random((games, each)) < OWN, 0, generator.integers(1, 4, (games, each)))
    n = games * each
    rows = Rows(
        views=np.zeros(n, game.state),
        seats=np.zeros(n, np.int64),
        movers=np.zeros(n, np.int64),
        encodings=np.zeros((n, SIZE), np.float32),
        open_encodings=np.zeros((n, OPEN_SIZE), np.float32),
        cards=np.zeros(n, np.int64),
        plies=picks.ravel(),
        legal=np.zeros(n, np.int64),
        possible=np.zeros(n, np.int64),
        rewards=np.zeros((n, 2), np.float32),
        hands=np.zeros((n, KINDS, 3), np.float32),
    )
    _fill(
        game, actions, lengths, picks, sides, positions(game), rows.views, rows.seats, rows.movers, rows.encodings,
        rows.open_encodings, rows.cards, rows.legal, rows.possible, rows.rewards, rows.hands,
    )  # fmt: skip
    return rows


@kernel
def _fill(
    game, actions, lengths, picks, sides, states, views, seats, movers, encodings, open_encodings, cards, legal,
    possible, rewards, hands,
):  # fmt: skip
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
                game.observe(views[at], seat, encodings[at])
                encode_open(game, state, mover, open_encodings[at])
                cards[at] = action
                legal[at] = kinds_of(playable(state, mover))
                possible[at] = legal[at]
                if seat != mover:
                    possible[at] = kinds_of(unseen_cards(game, views[at], seat))
                for j in range(3):
                    hand = np.int64(state.hands[seat + 1 + j & 3])
                    for kind in range(KINDS):
                        hands[at, kind, j] = hand >> 2 * kind & 3
            game.play(state, action)
        for at in range(i * each, i * each + each):
            rewards[at, 1] = game.reward(state, movers[at])
            rewards[at, 0] = game.reward(state, seats[at])


@kernel
def kinds_of(cards):
    """Bit k for kind k, from a set of cards with two bits per kind."""
    found = 0
    for kind in range(KINDS):
        found |= int(cards >> 2 * kind & 3 > 0) << kind
    return found


def all_views(game: Any, actions: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Views of whole games before each card: encodings [games, 4 seats, 48, SIZE] f4, and records [games, 4, 48]."""
    shape = (len(actions), 4, 48)
    encodings, views = np.zeros((*shape, SIZE), np.float32), np.zeros(shape, game.state)
    _look(game, actions, lengths, positions(game), encodings, views)
    return encodings, views


@kernel
def _look(game, actions, lengths, states, encodings, views):
    state = states[0]
    for i in range(len(actions)):
        game.start(state)
        for ply in range(lengths[i]):
            if state.phase == CARDS:
                for seat in range(4):
                    view = views[i, seat, state.count]
                    game.look(state, seat, view)
                    game.observe(view, seat, encodings[i, seat, state.count])
            game.play(state, np.int64(actions[i, ply]))
