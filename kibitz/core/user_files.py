"""Files of users as modules under a name made of their path.

The folder /home/me/games is the package `kibitz.core.user_files./home/me/games`, its files are the modules in it. So
two files of one name are two modules, each of them imports those beside it (`import cards` is `cards.py` in its own
folder), and a process that unpickles an object finds its class. Nothing is added to `sys.path`.
"""

import builtins
import functools
import importlib
import os
import sys
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    ModuleSpec,
    SourceFileLoader,
)
from importlib.util import find_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

__path__: list[str] = []  # this module is the package of all folders
_PREFIX = f"{__name__}."


def load(file: Path) -> ModuleType:
    """The module of a file, which is run the first time."""
    return importlib.import_module(f"{_folder(file.parent)}.{_escaped(file.stem)}")


def is_shipped(thing: Any) -> bool:
    """Whether a function or a class is one of Kibitz's own."""
    module = str(thing.__module__)
    return module.startswith("kibitz.") and not module.startswith(_PREFIX)


def as_written(text: str, file: Path) -> str:
    """A message in which modules beside a file have the names that they have there."""
    return text.replace(f"{_folder(file.parent)}.", "")


def _folder(path: Path) -> str:
    return _PREFIX + _escaped(str(path.resolve()))


def _escaped(text: str) -> str:
    """Part of a path as part of the name of a module, in which a dot would separate two parts."""
    return text.replace("%", "%25").replace(".", "%2E")


def _unescaped(text: str) -> str:
    return text.replace("%2E", ".").replace("%25", "%")


class _Finder:
    """Finds folders of users, and the modules in them."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if not name.startswith(_PREFIX):
            return None
        folder, _, inside = name.removeprefix(_PREFIX).partition(".")
        if not inside:
            spec = ModuleSpec(name, None, is_package=True)
            spec.submodule_search_locations = [_unescaped(folder)]
            return spec
        last = _unescaped(inside.rpartition(".")[2])
        for place in filter(os.path.isdir, path or ()):
            if f"{last}.py" in os.listdir(place):
                file = os.path.join(place, f"{last}.py")
                return spec_from_file_location(name, file, loader=_Loader(name, file))
            loaders = (ExtensionFileLoader, EXTENSION_SUFFIXES), (_Loader, SOURCE_SUFFIXES)
            found = FileFinder(place, *loaders).find_spec(name)
            if found is not None:
                return found
        return None


class _Loader(SourceFileLoader):
    """Runs a file with an `import` of its own, inside its functions too."""

    def exec_module(self, module: ModuleType) -> None:
        folder = _PREFIX + module.__name__.removeprefix(_PREFIX).partition(".")[0]
        module.__dict__["__builtins__"] = vars(builtins) | {"__import__": functools.partial(_import, folder)}
        super().exec_module(module)


def _import(
    folder: str, name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
) -> ModuleType:
    """The statement `import`: modules of this folder come before those that are installed."""
    first = name.partition(".")[0]
    if level or not _is_beside(folder, first):
        return builtins.__import__(name, globals, locals, fromlist, level)
    if fromlist:
        return builtins.__import__(f"{folder}.{name}", globals, locals, fromlist)
    importlib.import_module(f"{folder}.{name}")
    return sys.modules[f"{folder}.{first}"]


def _is_beside(folder: str, name: str) -> bool:
    """Whether a folder has a module of this name. A folder without code is none where something is installed."""
    if name in sys.stdlib_module_names or name == "kibitz":
        return False
    place = os.path.join(_unescaped(folder.removeprefix(_PREFIX)), name)
    if not any(os.path.exists(f"{place}{ending}") for ending in ("", *SOURCE_SUFFIXES, *EXTENSION_SUFFIXES)):
        return False
    spec = find_spec(f"{folder}.{name}")
    return spec is not None and (spec.origin is not None or find_spec(name) is None)


sys.meta_path.insert(0, _Finder)
