"""Packages that add to Kibitz: guests, which are folders of it with a file `plugin.py`, and installed packages.

An installed package names such a module as an entry point of the group `kibitz.plugins`. In the module a table
`MODULES` has for each kind of thing ("game", "player", "record format", "command", ...) the modules that register it.
They are imported when something of that kind is looked up, so `plugin.py` itself should import nothing.
"""

import functools
import importlib
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from .names import BadInput

GROUP = "kibitz.plugins"
PACKAGE = Path(__file__).parents[1]


def load(kind: str) -> None:
    """Import what the plugins have of a kind.

    Raises:
        BadInput: A module of a plugin can't be imported.
    """
    for plugin in plugins():
        for module in getattr(plugin, "MODULES", {}).get(kind, ()):
            _import(module, plugin.__name__)


@functools.cache
def plugins() -> tuple[ModuleType, ...]:
    """The modules of the guests, then those of installed packages."""
    guests = [f"{PACKAGE.name}.{file.parent.name}.{file.stem}" for file in sorted(PACKAGE.glob("*/plugin.py"))]
    return tuple(_import(module, module) for module in [*guests, *_installed()])


def have(kind: str) -> bool:
    """Whether an installed package has something of a kind, which no index of what ships has."""
    ours = f"{PACKAGE.name}."
    return any(kind in getattr(each, "MODULES", {}) for each in plugins() if not each.__name__.startswith(ours))


def named(place: str) -> Any:
    """What `package.module:name` names, as in an entry point; its module is imported when it is asked for."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)


def is_installed(thing: Any) -> bool:
    """Whether a class or a function is from an installed plugin, so that worker processes find it by its name."""
    package = str(thing.__module__).partition(".")[0]
    return package in {plugin.__name__.partition(".")[0] for plugin in plugins()} - {PACKAGE.name}


def _import(module: str, plugin: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except BadInput:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise BadInput(f"the plugin {plugin} can't be imported: {reason}; mend or uninstall it") from error


def _installed() -> list[str]:
    """The modules that entry points name. Without one, `importlib.metadata` isn't imported, which takes 50 ms."""
    if not any(_mentions(Path(folder)) for folder in sys.path):
        return []
    from importlib.metadata import entry_points

    return sorted({point.value for point in entry_points(group=GROUP)})


def _mentions(folder: Path) -> bool:
    """Whether the entry points of a package in a folder may be of the group."""
    try:
        names = [name for name in os.listdir(folder) if name.endswith((".dist-info", ".egg-info"))]
    except OSError:  # a zip file, or no longer there
        return False
    for name in names:
        try:
            if GROUP.encode() in (folder / name / "entry_points.txt").read_bytes():
                return True
        except OSError:
            continue
    return False
