"""Players by name, such as `oos:10000`, from files and as objects. All of them see views only."""

from .baselines import Human, Random
from .defaults import default_player, patterns_player
from .make import absolute_label, make, make_adviser, make_for
from .player import (
    PLAYERS,
    AdvisedPlayer,
    Forfeit,
    Player,
    PolicyPlayer,
    explained,
    in_any_process,
    label,
    player,
)

__all__ = [
    "PLAYERS",
    "AdvisedPlayer",
    "Forfeit",
    "Human",
    "Player",
    "PolicyPlayer",
    "Random",
    "absolute_label",
    "default_player",
    "explained",
    "in_any_process",
    "label",
    "make",
    "make_adviser",
    "make_for",
    "patterns_player",
    "player",
]
