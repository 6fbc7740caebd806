"""What alpha-beta search knows of a game beyond its rules: NamedTuples with compiled rules.

`tactics_win(game, state)`: whether the seat to move plainly wins. `tactics_urgent(game, state)`: cells of the other
seat's pieces that would win at once, so that one of them has to be captured; no bits: none. `tactics_threatened(game,
state)`: whether the other seat would plainly win if it were to move. `tactics_skip(game, state)`: pass the turn, where
`may_skip`. Rules share their names with all compiled classes, games too: these are names that no game has.
"""

from typing import Any, NamedTuple

import numpy as np

from ..games.breakthrough import LEFTMOST, RIGHTMOST, Breakthrough
from ..jit import helper, rules


def tactics(cls: Any) -> Any:
    """Class decorator: kernels may call the rules."""
    names = ("tactics_win", "tactics_urgent", "tactics_threatened", "tactics_skip")
    return rules(dict.fromkeys(names, "self, game, state"))(cls)


@tactics
class NoTactics(NamedTuple):
    """Nothing is known."""

    may_skip: bool = False

    def tactics_win(self, game, state):
        return False

    def tactics_urgent(self, game, state):
        return np.uint64(0)

    def tactics_threatened(self, game, state):
        return False

    def tactics_skip(self, game, state):
        pass


@tactics
class BreakthroughTactics(NamedTuple):
    """Pieces one step before the far row, and two steps before it where nothing captures them after the next."""

    may_skip: bool = True

    def tactics_win(self, game, state):
        return breaks_through(game, state, int(state.to_move))

    def tactics_urgent(self, game, state):
        """The other's pieces one step before the far row; there is always an open diagonal before them."""
        seat = int(state.to_move)
        return state.pieces[1 - seat] & row(game, 1 if seat == 0 else game.rows - 2)

    def tactics_threatened(self, game, state):
        return breaks_through(game, state, 1 - int(state.to_move))

    def tactics_skip(self, game, state):
        state.to_move = 1 - int(state.to_move)


def tactics_of(game: Any) -> Any:
    return BreakthroughTactics() if isinstance(game, Breakthrough) else NoTactics()


@helper
def row(game, number):
    """The cells of a row as bits."""
    columns = np.uint64(game.columns)
    return ((np.uint64(1) << columns) - np.uint64(1)) << np.uint64(number * game.columns)


@helper
def ahead(game, pieces, seat):
    """The cells ahead of pieces: diagonally, and straight."""
    columns, one = np.uint64(game.columns), np.uint64(1)
    left, right = pieces & ~LEFTMOST[game.columns], pieces & ~RIGHTMOST[game.columns]
    if seat == 0:
        return (left << (columns - one)) | (right << (columns + one)), pieces << columns
    return (left >> (columns + one)) | (right >> (columns - one)), pieces >> columns


@helper
def breaks_through(game, state, seat):
    """Whether a seat, to move, reaches the far row with this move or, whatever the other does, with its next."""
    mine, theirs, far = state.pieces[seat], state.pieces[1 - seat], game.rows - 1
    if mine & row(game, far - 1 if seat == 0 else 1):
        return True
    if theirs & row(game, 1 if seat == 0 else far - 1):
        return False
    diagonal, straight = ahead(game, mine & row(game, far - 2 if seat == 0 else 2), seat)
    landing = (diagonal & ~mine) | (straight & ~mine & ~theirs)
    guarded, _ = ahead(game, theirs & row(game, far if seat == 0 else 0), 1 - seat)
    return landing & ~guarded != 0
