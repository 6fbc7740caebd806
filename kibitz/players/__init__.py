"""A name such as `oos:10000` -> something that moves.

A player only ever gets views, so it can't peek. `begin` starts a game, `move` answers a view
of the seat to move; `advice` is what stood behind the last move.
"""

import inspect
from typing import Any

from ..core import names
from ..core.names import BadInput
from ..games import Game, full_name
from ..search.search import Search
from .baselines import DokoRules, HeuristicPlayer, Human, Random
from .doppelkopf import DokoPlayer, FromCards, FromNextCard, GuidedPlayer
from .holdem import Always, Styled
from .networks import FromFeatures, FromFile, FromNetwork
from .player import Player
from .search import SEARCH_PLAYERS, SearchPlayer, player_class

__all__ = ["PLAYERS", "Human", "Player", "Random", "SearchPlayer", "make", "make_adviser", "make_for"]

PLAYERS: dict[str, Any] = {
    "random": Random,
    "uct-lstm": GuidedPlayer,
    "usual": HeuristicPlayer,
    "doko-rules": DokoRules,
    "strategy": FromFile,
    "net": FromNetwork,
    "lstm": FromNextCard,
    "cards": FromCards,
    "doko": DokoPlayer,
    "features": FromFeatures,
    "always": Always,
    "style": Styled,
    "human": Human,
    "heuristic": HeuristicPlayer,
    **SEARCH_PLAYERS,
}


def make(text: str) -> Player:
    """A player by its name: `random`, `oos:10000,target=ist,delta=0.9`, `net:RUN`."""
    name, parameters = names.split(text)
    if ".py" in name:
        kind = names.class_from_file("player", name)
        kind = player_class(kind) if issubclass(kind, Search) else kind
    else:
        kind = PLAYERS[names.choose("player", name, PLAYERS)]
    options = getattr(kind, "Options", kind)
    values = names.parameters(name, options, parameters)
    for key, each in inspect.signature(options).parameters.items():
        if each.default is each.empty and key not in values:
            raise BadInput(f"{name}: {key} is missing; {names.describe(names.hints(options))}")
    return kind(**values) if options is kind else kind(options(**values))


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
