"""What alpha-beta search knows of a game beyond its rules: NamedTuples with compiled rules.

`wins(game, state)`: whether the seat to move plainly wins. `urgent(game, state)`: cells of the other seat's pieces that
would win at once, so that one of them has to be captured; no bits: none. `threatened(game, state)`: whether the other
seat would plainly win if it were to move. `skip(game, state)`: pass the turn, where `may_skip`.
"""

from typing import Any, NamedTuple

import numpy as np

from ..games.breakthrough import LEFTMOST, RIGHTMOST, Breakthrough
from ..jit import helper, rules


def tactics(cls: Any) -> Any:
    """Class decorator: kernels may call the rules."""
    plain = ("plain_win", "urgent", "threatened", "skip")
    return rules(dict.fromkeys(plain, "self, game, state"))(cls)


@tactics
class NoTactics(NamedTuple):
    """Nothing is known."""

    may_skip: bool = False

    def plain_win(self, game, state):
        return False

    def urgent(self, game, state):
        return np.uint64(0)

    def threatened(self, game, state):
        return False

    def skip(self, game, state):
        pass


@tactics
class BreakthroughTactics(NamedTuple):
    """Pieces one step before the far row, and two steps before it where nothing captures them after the next."""

    may_skip: bool = True

    def plain_win(self, game, state):
        return breaks_through(game, state, int(state.to_move))

    def urgent(self, game, state):
        """The other's pieces one step before the far row; there is always an open diagonal before them."""
        seat = int(state.to_move)
        return state.pieces[1 - seat] & row(game, 1 if seat == 0 else game.rows - 2)

    def threatened(self, game, state):
        return breaks_through(game, state, 1 - int(state.to_move))

    def skip(self, game, state):
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
