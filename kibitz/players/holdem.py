"""Opponents that every poker person knows: who always calls, and four styles, loose or tight, passive or aggressive.

Żarejko's thesis sorts players so: how many hands they play, and whether they bet or call.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np

from ..core.names import BadInput
from ..games import Game, full_name
from ..games.holdem import Holdem
from ..games.holdem.hand_strength import openings, strength
from ..games.holdem.state import CALL, FOLD, RAISE
from ..games.leduc import Leduc
from ..search.policies import policy
from .player import PolicyPlayer, player

MOVES = {"fold": FOLD, "call": CALL, "raise": RAISE}  # the same numbers in Leduc


@policy
class One(NamedTuple):
    """One move wherever it is legal. Else a call: nobody folds to a check, nobody raises beyond the cap."""

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
    """Always folds, calls or raises, in poker; where it may not, it checks or calls."""

    class Options(NamedTuple):
        move: Annotated[str, "what it does", tuple(MOVES)]

    def __init__(self, options: Any) -> None:
        self.move_number = MOVES[options.move]

    def policy_for(self, game: Game) -> Any:
        if not isinstance(game, Holdem | Leduc):
            raise BadInput(f"always folds, calls or raises in holdem and leduc, not in {full_name(game)}")
        return One(self.move_number)


class Manner(NamedTuple):
    """A style in numbers: strengths are shares of other hands that a hand beats."""

    enters: float  # strength from which a bet is called
    raises: float  # strength from which it raises
    often: float  # of these, the share that it does raise
    bluffs: float  # of hands that are too weak to call, the share that it raises


STYLES = {
    "loose-passive": Manner(0.25, 0.95, 0.3, 0.0),  # the calling station
    "loose-aggressive": Manner(0.25, 0.5, 0.85, 0.15),  # the maniac
    "tight-passive": Manner(0.6, 0.95, 0.3, 0.0),  # the rock
    "tight-aggressive": Manner(0.5, 0.7, 0.85, 0.1),
}


@policy
class Style(NamedTuple):
    opening: np.ndarray  # [52, 52] f8: strength before the flop
    enters: float
    raises: float
    often: float
    bluffs: float

    def weigh(self, game, state, actions, n, probs):
        strong = strength(game, state, game.turn(state), self.opening)
        stays, faced, may_raise = strong >= self.enters, actions[0] == FOLD, actions[n - 1] == RAISE
        raising = 0.0
        if may_raise:
            raising = self.often if strong >= self.raises else 0.0 if stays else self.bluffs
            probs[n - 1] = raising
        folding = 0.0
        if faced:
            folding = 0.0 if stays else 1.0 - raising
            probs[0] = folding
        probs[int(faced)] = 1.0 - raising - folding


@player("style")
class Styled(PolicyPlayer):
    """Plays hold'em by rules of thumb, in one of four styles: how many hands it plays, and whether it bets or calls."""

    class Options(NamedTuple):
        style: Annotated[str, "loose or tight, passive or aggressive", tuple(STYLES)]

    def __init__(self, options: Any) -> None:
        self.style = STYLES[options.style]

    def policy_for(self, game: Game) -> Any:
        if not isinstance(game, Holdem):
            raise BadInput(f"styles are of holdem, not of {full_name(game)}")
        return Style(openings(game), *self.style)
