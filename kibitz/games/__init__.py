"""Rules of games, one file each. A new file with a `@game` class is found by itself."""

import functools
import importlib
import importlib.util
import pkgutil
import sys
from pathlib import Path
from typing import Any

from ..core import names
from ..core.names import BadInput
from .game import CHANCE, IST, OVER, PST, Facts, Game, chance_outcomes, game, legal_actions, positions, view_of

__all__ = [
    "CHANCE",
    "IST",
    "OVER",
    "PST",
    "Facts",
    "Game",
    "chance_outcomes",
    "full_name",
    "game",
    "known",
    "legal_actions",
    "load",
    "positions",
    "view_of",
]


@functools.cache
def known() -> dict[str, Any]:
    """Name -> class of every game in this folder."""
    found = {}
    for module in pkgutil.iter_modules(__path__):
        for value in vars(importlib.import_module(f"{__name__}.{module.name}")).values():
            if isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "facts"):
                found[value.name] = value  # type: ignore[attr-defined]
    return dict(sorted(found.items()))


def load(text: str) -> Game:
    """A game by its name, `leduc`, `goofspiel:13`, `liars_dice:dice=2`, `path/to/my_game.py:MyGame:size=3`."""
    name, parameters = names.split(text)
    cls = _from_file(name) if ".py" in name else known()[names.choose("game", name, known())]
    values = names.parameters(cls.name, cls, parameters)
    for key in cls._fields:
        if key not in values and key not in cls._field_defaults:
            raise BadInput(f"{cls.name}: {key} is missing; {names.describe(names.hints(cls))}")
    made = cls(**values)
    made.facts  # noqa: B018  (parameters that don't go together are refused here)
    return made


def full_name(game: Game) -> str:
    """The name that `load` makes the same game of; parameters at their default are left out."""
    defaults = type(game)._field_defaults  # type: ignore[attr-defined]
    changed = [f"{key}={value}" for key, value in game._asdict().items() if defaults.get(key) != value]
    where = getattr(game, "file", None)
    start = f"{where}:{type(game).__qualname__}" if where else game.name
    return ":".join([start, ",".join(changed)] if changed else [start])


@functools.cache
def _from_file(text: str) -> Any:
    path, _, name = text.rpartition(":") if not text.endswith(".py") else (text, "", "")
    file = Path(path).expanduser()
    if not file.is_file():
        raise BadInput(f"no file {path!r} (a game in a file is named path/to/file.py:Class)")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None  # noqa: PT018
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(file.resolve().parent))  # so that it finds the helpers beside it
    try:
        sys.modules.setdefault(file.stem, module)
        spec.loader.exec_module(module)
    except Exception as error:
        if sys.modules[file.stem] is module:
            del sys.modules[file.stem]
        raise BadInput(f"{path} can't be imported: {type(error).__name__}: {' '.join(str(error).split())}") from error
    finally:
        sys.path.pop(0)
    found: dict[str, Any] = {
        key: value
        for key, value in vars(module).items()
        if isinstance(value, type) and hasattr(value, "facts") and hasattr(value, "_fields")
    }
    if name not in found:
        raise BadInput(f"{path} has no game {name!r}: its games are {', '.join(found) or 'none'}")
    found[name].file = str(file)
    return found[name]
