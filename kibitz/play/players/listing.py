"""What each player takes and plays, in words: for `kibitz players`."""

import inspect
from typing import Any, NamedTuple

from ...core import names
from ...search.search import Search
from .player import PLAYERS
from .search import player_class

ANY = "any game"


class Option(NamedTuple):
    name: str
    default: str | None  # as it is written in a player's name; None: the option is required
    allowed: str  # in words
    choices: tuple[str, ...]  # where there are few
    meaning: str

    def __str__(self) -> str:
        """`target=auto|pst|ist`, the default first; `file` where it is required."""
        others = [choice for choice in self.choices if choice != self.default]
        return f"{self.name}={'|'.join(filter(None, [self.default, *others]))}" if self.default or others else self.name


class PlayerInfo(NamedTuple):
    """What is known about a player by name."""

    name: str
    about: str  # one sentence
    plays: str  # the games that it plays
    example: str
    options: list[Option]
    presets: dict[str, dict[str, Any]]


def player_info(name: str) -> PlayerInfo:
    """Describe a registered player by its class: its docstring, `plays` and `example`, and its options' annotations.

    Raises:
        BadInput: There is no such player.
    """
    kind = PLAYERS[name]
    if issubclass(kind, Search):  # from a user's file
        kind = player_class(kind)
    options = options_of(getattr(kind, "Options", kind))
    about = " ".join((inspect.getdoc(kind) or "").partition("\n\n")[0].split())
    example = ":".join(filter(None, [name, getattr(kind, "example", "")]))
    return PlayerInfo(name, about, getattr(kind, "plays", ANY), example, options, dict(getattr(kind, "presets", {})))


def options_of(source: Any) -> list[Option]:
    """The options that a class takes."""
    parameters = inspect.signature(source).parameters
    options = []
    for key, field in names.hints(source).items():
        allowed = field[2]
        choices: tuple[str, ...] = ("yes", "no") if field[0] is bool else ()
        if type(allowed) is tuple:
            choices = tuple(map(str, allowed))
        options.append(Option(key, _text(parameters[key].default), names.span(*field), choices, field[1]))
    return options


def _text(value: Any) -> str | None:
    """A default as it is written in a player's name."""
    if value is inspect.Parameter.empty:
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
