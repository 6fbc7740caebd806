"""A name such as `oos:10000` -> something that moves.

A player only ever gets views, so it can't peek. `begin` starts a game, `move` answers a view
of the seat to move; `advice` is what stood behind the last move.
"""

from typing import Any

from ..core import names
from ..core.names import BadInput
from ..games import Game, full_name
from .baselines import DokoRules, HeuristicPlayer, Human, Random
from .doppelkopf import DokoPlayer, FromCards, FromNextCard, GuidedPlayer
from .holdem import Always, Styled
from .networks import FromFeatures, FromFile, FromNetwork
from .player import Player
from .search import AlphaBetaPlayer, EnsemblePlayer, IsMctsPlayer, OosPlayer, PuctPlayer, SinglePlayer, UctPlayer

__all__ = ["PLAYERS", "Human", "Player", "Random", "make", "make_adviser", "make_for"]

PLAYERS: dict[str, Any] = {
    "random": Random,
    "oos": OosPlayer,
    "ismcts": IsMctsPlayer,
    "uct": UctPlayer,
    "puct": PuctPlayer,
    "ensemble-uct": EnsemblePlayer,
    "uct-lstm": GuidedPlayer,
    "single-uct": SinglePlayer,
    "usual": HeuristicPlayer,
    "doko-rules": DokoRules,
    "alphabeta": AlphaBetaPlayer,
    "strategy": FromFile,
    "net": FromNetwork,
    "lstm": FromNextCard,
    "cards": FromCards,
    "doko": DokoPlayer,
    "features": FromFeatures,
    "always": Always,
    "style": Styled,
    "human": Human,
}


def make(text: str) -> Player:
    """A player by its name: `random`, `oos:10000,target=ist,delta=0.9`, `net:RUN`."""
    name, parameters = names.split(text)
    kind = PLAYERS[names.choose("player", name, PLAYERS)]
    values = names.parameters(name, kind.Options, parameters)
    for key in kind.Options._fields:
        if key not in values and key not in kind.Options._field_defaults:
            raise BadInput(f"{name}: {key} is missing; {names.describe(names.hints(kind.Options))}")
    return kind(kind.Options(**values))


def make_adviser(text: str, game: Game) -> Player:
    """A player that gives advice on what it moves."""
    if text == "human":
        raise BadInput("a human gives no advice, only moves: name a player such as oos:1000")
    return make_for(text, game)


def make_for(text: str, game: Game) -> Player:
    """The same, refused at once where it can't play this game."""
    player = make(text)
    try:
        player.begin(game, 0, 0)
    except BadInput as error:
        raise BadInput(f"{text} can't play {full_name(game)}: {error}") from None
    return player
