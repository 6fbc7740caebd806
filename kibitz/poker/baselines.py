"""Baseline poker players: one fixed move, and four styles, loose or tight, passive or aggressive.

Żarejko's thesis classifies players by these styles: how many hands they play, and whether they bet or call.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ..core.names import BadInput
from ..games import Game, full_name
from ..games.leduc import Leduc
from ..play.players.player import PolicyPlayer, player
from ..search.policies import policy
from .rules import Holdem
from .rules.hand_strength import hand_strength, preflop_strength
from .rules.state import CALL, FOLD, RAISE

MOVES = {"fold": FOLD, "call": CALL, "raise": RAISE}  # the same numbers in Leduc


@policy
class FixedMove(NamedTuple):
    """One move where it is legal, else a check or a call."""

    move: int

    def weigh(self, game, state, actions, n, probs):
        place = 0
        for j in range(n):
            probs[j] = 0.0
            if actions[j] == self.move or (actions[j] == CALL and actions[place] != self.move):
                place = j
        probs[place] = 1.0


@player("always")
class Always(PolicyPlayer):
    """Always folds, calls or raises in poker; where that is illegal, it checks or calls."""

    plays = "holdem and leduc"
    example = "raise"

    class Options(NamedTuple):
        move: Annotated[str, "the move", tuple(MOVES)]

    def __init__(self, options: Any) -> None:
        self.move_number = MOVES[options.move]

    def policy_for(self, game: Game) -> Any:
        if not isinstance(game, Holdem | Leduc):
            raise BadInput(f"always plays holdem and leduc, not {full_name(game)}")
        return FixedMove(self.move_number)


class StyleParameters(NamedTuple):
    """A style in numbers; a strength is the share of other hands that a hand beats."""

    enters: float  # least strength with which it calls a bet
    raises: float  # least strength with which it raises
    often: float  # probability that it raises with such a hand
    bluffs: float  # probability that it raises with a hand too weak to call


STYLES = {
    "loose-passive": StyleParameters(0.25, 0.95, 0.3, 0.0),  # the calling station
    "loose-aggressive": StyleParameters(0.25, 0.5, 0.85, 0.15),  # the maniac
    "tight-passive": StyleParameters(0.6, 0.95, 0.3, 0.0),  # the rock
    "tight-aggressive": StyleParameters(0.5, 0.7, 0.85, 0.1),
}


@policy
class Style(NamedTuple):
    """The policy of a style."""

    preflop: np.ndarray  # [52, 52] f8: strength before the flop
    enters: float
    raises: float
    often: float
    bluffs: float

    def weigh(self, game, state, actions, n, probs):
        strength = hand_strength(game, state, game.turn(state), self.preflop)
        stays, faced, may_raise = strength >= self.enters, actions[0] == FOLD, actions[n - 1] == RAISE
        raising = 0.0
        if may_raise:
            raising = self.often if strength >= self.raises else 0.0 if stays else self.bluffs
            probs[n - 1] = raising
        folding = 0.0
        if faced:
            folding = 0.0 if stays else 1.0 - raising
            probs[0] = folding
        probs[int(faced)] = 1.0 - raising - folding


@player("style")
class Styled(PolicyPlayer):
    """Plays hold'em by hand strength, in one of four styles: how many hands it plays, and whether it bets or calls."""

    plays = "holdem"
    example = "tight-aggressive"

    class Options(NamedTuple):
        style: Annotated[str, "loose or tight, passive or aggressive", tuple(STYLES)]

    def __init__(self, options: Any) -> None:
        self.style = STYLES[options.style]

    def policy_for(self, game: Game) -> Any:
        if not isinstance(game, Holdem):
            raise BadInput(f"style plays holdem, not {full_name(game)}")
        return Style(preflop_strength(game), *self.style)
