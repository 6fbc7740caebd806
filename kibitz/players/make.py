"""Players from names, from files and from objects."""

import inspect
from typing import Any

from ..core import legacy, names
from ..core.names import BadInput
from ..games import Game, full_name
from ..search.search import Search
from .player import PLAYERS, Player, complete, label
from .search import player_class


def make(player: Any) -> Player:
    """Make a player from its name, or complete an object that is one.

    Args:
        player: `random`, `oos:10000,target=ist,delta=0.9`, `net:RUN`, `path/to/file.py:Class:options`, or any object
            with `move(view)` or `action_probs(views)`. An object with `begin`, `move` and `advice` is returned as it
            is.
    """
    if not isinstance(player, str):
        return complete(player)
    name, text = names.split(player)
    if name in legacy.PLAYERS and name not in PLAYERS:
        raise BadInput(f"no player is called {name!r}: it is called {legacy.PLAYERS[name]!r} now")
    kind = PLAYERS[name]
    if issubclass(kind, Search):  # from a user's file
        kind = player_class(kind)
    options = getattr(kind, "Options", kind)
    values = names.parameters(name, options, text)
    for key, each in inspect.signature(options).parameters.items():
        if (
            each.default is each.empty
            and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
            and key not in values
        ):
            raise BadInput(f"{name}: {key} is missing; {names.describe(names.hints(options))}")
    return complete(kind(**values) if options is kind else kind(options(**values)))


def make_for(player: Any, game: Game) -> Player:
    """Make a player as `make` does; refuse at once one that can't play this game."""
    made = make(player)
    try:
        made.begin(game, 0, 0)
    except BadInput as error:
        raise BadInput(f"{label(player)} can't play {full_name(game)}: {error}") from None
    return made


def make_adviser(player: Any, game: Game) -> Player:
    """Make a player that gives advice on its moves."""
    if player == "human":
        raise BadInput("a human gives no advice, only moves: name a player such as oos:1000")
    return make_for(player, game)
