"""Whether a single action is legal, without listing all of them where a game allows that: NamedTuples with one rule.

`is_legal(game, state, action, actions)`: whether the seat to move may play the action; `actions` is scratch.
"""

from typing import Any, NamedTuple

import numpy as np

from ..games.breakthrough import Breakthrough, movers
from ..games.connect_four import ConnectFour, full
from ..games.gomoku import Gomoku
from ..games.hex import Hex
from ..games.tic_tac_toe import TicTacToe
from ..games.yavalath import Yavalath
from ..jit import rules

ON_EMPTY_CELLS = (Hex, Gomoku, TicTacToe, Yavalath)


def legality(cls: Any) -> Any:
    """Class decorator: kernels may call the rule."""
    return rules({"is_legal": "self, game, state, action, actions"})(cls)


@legality
class Listed(NamedTuple):
    """In any game: the action is one of those that the rules list."""

    def is_legal(self, game, state, action, actions):
        left = game.actions(state, actions)
        while left > 0 and actions[left - 1] != action:
            left -= 1
        return left > 0


@legality
class OnEmptyCells(NamedTuple):
    """A piece may be placed on every empty cell, and the action is the cell; other actions (a swap) aren't legal."""

    bit: np.ndarray  # [cells] i8: the cell's among the bits of the rule `pieces`

    def is_legal(self, game, state, action, actions):
        if action >= len(self.bit):
            return False
        word, shift = self.bit[action] >> 6, np.uint64(self.bit[action] & 63)
        return ((game.pieces(state, 0, word) | game.pieces(state, 1, word)) >> shift) & np.uint64(1) == 0


@legality
class OpenColumns(NamedTuple):
    """Connect Four: the column isn't full."""

    def is_legal(self, game, state, action, actions):
        return not full(game, state.stones[0] | state.stones[1], action)


@legality
class PawnSteps(NamedTuple):
    """Breakthrough: one of the seat's pieces can make this step."""

    def is_legal(self, game, state, action, actions):
        cells = game.rows * game.columns
        step = action - 3 * cells * int(state.to_move)
        if step < 0 or step >= 3 * cells:
            return False
        left, straight, right = movers(game, state)
        pieces = left if step < cells else straight if step < 2 * cells else right
        return pieces >> np.uint64(step % cells) & np.uint64(1) != 0


def legality_of(game: Any) -> Any:
    """The fastest test that there is for a game."""
    if type(game) in ON_EMPTY_CELLS:
        return OnEmptyCells(np.array(game.places(), np.int64))
    if isinstance(game, ConnectFour):
        return OpenColumns()
    return PawnSteps() if isinstance(game, Breakthrough) else Listed()
