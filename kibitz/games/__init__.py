"""Games, one file each: a new file with a `@game` class here is found by itself. Imports `core` and `jit`."""

import importlib

from ..core import names
from ..core.names import BadInput
from ..core.trust import only_named
from .check import check, check_once
from .game import (
    CHANCE,
    GAMES,
    IST,
    OVER,
    PST,
    Facts,
    Game,
    chance_outcomes,
    game,
    is_shipped,
    legal_actions,
    positions,
    view_of,
)
from .state import State

__all__ = [
    "CHANCE",
    "GAMES",
    "IST",
    "OVER",
    "PST",
    "Facts",
    "Game",
    "State",
    "chance_outcomes",
    "check",
    "full_name",
    "game",
    "legal_actions",
    "load",
    "load_stored",
    "offering",
    "positions",
    "view_of",
]

READERS = ("efg", "openspiel")  # prefixes of games that modules of these names read


def load(text: str | Game) -> Game:
    """Make a game from its name and parameters.

    Args:
        text: Such as `leduc`, `goofspiel:13`, `liars_dice:dice=2` or `path/to/my_game.py:MyGame:size=3`; a game of
            Gambit or OpenSpiel, as `efg:path/to/file.efg` or `openspiel:leduc_poker(players=3)`. A game object is
            returned unchanged, so that functions can take either.

    A game that isn't one of Kibitz's own is checked when it is first used (see `check`).

    Raises:
        BadInput: No game has this name, it doesn't take these parameters, or its rules or facts are wrong.
    """
    if not isinstance(text, str):
        if not hasattr(text, "facts"):
            raise BadInput(f"{text!r} is no game: give the name of one, such as leduc, or a game object")
        if not is_shipped(type(text)):
            check_once(text)
        return text
    name, parameters = names.split(text)
    if name in READERS:
        read: Game = importlib.import_module(f".{name}", __name__).load(parameters)
        return read
    cls = GAMES[name]
    if not hasattr(cls, "facts"):
        raise BadInput(f"{name} is no game: a game is a NamedTuple with the decorator @game")
    if ".py" in name and not is_shipped(cls):
        cls.file = names.absolute_path(name.rpartition(":")[0])
    values = names.parameters(cls.name, cls, parameters)
    for key in cls._fields:
        if key not in values and key not in cls._field_defaults:
            raise BadInput(f"{cls.name}: {key} is missing; {names.describe(names.hints(cls))}")
    made: Game = cls(**values)
    if is_shipped(cls):
        made.facts  # noqa: B018  (refuses parameters that don't go together)
    else:
        check_once(made)
    return made


def load_stored(text: str) -> Game:
    """Make the game that a file names (a record, a network, the configuration of a run).

    Raises:
        BadInput: As `load`; or the game is a `.py` file that the person has neither named nor trusted.
    """
    with only_named():
        return load(text)


def offering(hook: str) -> str:
    """The names of the games that offer a hook (see `protocol.HOOKS`), in words."""
    return " and ".join(name for name, cls in GAMES.items() if hasattr(cls, hook))


def name_if(game: Game | None) -> str | None:
    """The full name of a game, if there is one."""
    return None if game is None else full_name(game)


def full_name(game: Game) -> str:
    """The name from which `load` makes the same game; parameters at their default are left out."""
    if hasattr(game, "source"):  # where it was read from
        return str(game.source)
    defaults = type(game)._field_defaults  # type: ignore[attr-defined]
    changed = [f"{key}={value}" for key, value in game._asdict().items() if defaults.get(key) != value]
    where = getattr(game, "file", None)
    start = f"{where}:{type(game).__qualname__}" if where else game.name
    return ":".join([start, ",".join(changed)] if changed else [start])
