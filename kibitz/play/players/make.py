"""Players from names, from files and from objects."""

import inspect
from typing import Any

from ...core import names
from ...core.names import BadInput
from ...games import Game, full_name
from ...search.search import Search
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
    kind, options = _kind_of(name)
    values = names.parameters(name, options, text)
    for key, each in inspect.signature(options).parameters.items():
        if (
            each.default is each.empty
            and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
            and key not in values
        ):
            raise BadInput(f"{name}: {key} is missing; {names.describe(names.hints(options))}")
    return complete(kind(**values) if options is kind else kind(options(**values)))


def _kind_of(name: str) -> tuple[Any, Any]:
    """The class of a kind of player, and what has its options."""
    kind = PLAYERS[name]
    if issubclass(kind, Search):  # from a user's file
        kind = player_class(kind)
    return kind, getattr(kind, "Options", kind)


def absolute_label(player: Any) -> str:
    """The label of a player, a name with the absolute paths of all files and folders in it: a run keeps it so.

    A path that can't be written in a name, as it has a comma, is left as it is.
    """
    if not isinstance(player, str):
        return label(player)
    name, text = names.split(player)
    try:
        options = _kind_of(name)[1]
    except BadInput:  # said where it is made
        return names.absolute(player)
    paths, first = names.paths(options), next(iter(names.hints(options)), "")
    parts = text.split(",") if text else []
    for number, part in enumerate(parts):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if number == 0 and not equals and key not in getattr(options, "presets", {}):
            key, value = first, key
        if key in paths and "," not in (path := names.absolute_path(value)):
            parts[number] = path if not equals and "=" not in path else f"{key}={path}"
    return ":".join([names.absolute(f"{name}:").removesuffix(":"), *filter(None, [",".join(parts)])])


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
