"""Classes by name: those of a package, those of plugins, and those in files `path/to/file.py:Class`."""

import ast
import importlib
import pkgutil
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from . import plugins, user_files
from .names import FORMER, BadInput, as_path, choose, present
from .trust import trust

C = TypeVar("C", bound=Callable[..., Any])


class Registry(Mapping[str, Any]):
    """Classes of one kind by name. `@registry("name")` adds one; modules of a package and of plugins are imported.

    Adding a game, search, player, learner or study therefore touches one file. A class outside the package is named
    `path/to/file.py:Class`.
    """

    def __init__(self, kind: str, package: str = "", folders_only: bool = False) -> None:
        """
        Args:
            kind: What is registered, for error messages and the tables of plugins: "player".
            package: The package whose modules are imported to find all of them; empty: plugins alone have more.
            folders_only: Whether only its subpackages are imported, not its modules.
        """
        self.kind, self.package, self.folders_only = kind, package, folders_only
        self._classes: dict[str, Any] = {}
        self._complete = False

    def __call__(self, name: str, formerly: str = "") -> Callable[[C], C]:
        """Class decorator that registers a class under a name; a later class of the same name replaces it.

        Args:
            name: Its name.
            formerly: The name that it had: whoever typed or stored it gets the class too.
        """

        def register(cls: C) -> C:
            self._classes[name] = cls
            if formerly:
                FORMER.setdefault(self.kind, {})[formerly] = name
            return cls

        return register

    def __getitem__(self, name: str) -> Any:
        """The class of a name, or of `path/to/file.py:Class`.

        Raises:
            BadInput: There is none. The message lists the known names.
        """
        if ".py" in name:
            return class_from_file(self.kind, name)
        return self._all()[choose(self.kind, name, self._all())]

    def get(self, name: str, default: Any = None) -> Any:
        """The class of a name, or the default."""
        if name not in self:
            return default
        return self[name]

    def __contains__(self, name: object) -> bool:
        return name in self._all() or present(self.kind, str(name)) in self._all()

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._all()))

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> dict[str, Any]:
        if not self._complete:
            for module in pkgutil.iter_modules(importlib.import_module(self.package).__path__ if self.package else []):
                if module.ispkg or not self.folders_only:
                    importlib.import_module(f"{self.package}.{module.name}")
            plugins.load(self.kind)
            self._complete = True
        return self._classes


def class_from_file(kind: str, text: str) -> Any:
    """The class that `path/to/file.py:Class` names. The file is imported once, and only if it may be (`only_named`)."""
    path, _, name = text.rpartition(".py:") if ".py:" in text else (text.removesuffix(".py"), "", "")
    path += ".py"
    file = as_path(path)
    if not file.is_file():
        raise BadInput(f"no file {path!r} (a {kind} in a file is named path/to/file.py:Class)")
    if not name:
        there = ", ".join(_classes_in(file)) or "none"
        raise BadInput(f"{text} names no class: a {kind} in a file is named path/to/file.py:Class; there are {there}")
    if not trust().allows(file):
        raise BadInput(
            f"the {kind} {text} was read from a file and would run the code in {file.resolve()}: "
            "if you trust that code, give --trust (in Python trust=True)"
        )
    module = _module_from_file(file.resolve(), str(file))
    classes = {key: value for key, value in vars(module).items() if isinstance(value, type)}
    own = [key for key, value in classes.items() if value.__module__ == module.__name__]
    if name not in classes:
        raise BadInput(f"{path} has no {kind} {name!r}: its classes are {', '.join(own) or 'none'}")
    return classes[name]


def _line(file: Path, error: Exception) -> str:
    """The line of a file that raised an error, as `:12`; empty where another file is to blame."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename).resolve() == file.resolve()]
    if isinstance(error, SyntaxError) and Path(error.filename or "").resolve() == file.resolve():
        lines.append(error.lineno)
    return f":{lines[-1]}" if lines and lines[-1] else ""


def _classes_in(file: Path) -> list[str]:
    """The classes that a file defines; it is read, not run."""
    try:
        return [each.name for each in ast.parse(file.read_bytes()).body if isinstance(each, ast.ClassDef)]
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        return []


def _module_from_file(file: Path, named: str) -> Any:
    try:
        return user_files.load(file)
    except Exception as error:
        reason = f"{type(error).__name__}: {' '.join(user_files.as_written(str(error), file).split())}"
        raise BadInput(f"{named}{_line(file, error)} can't be imported: {reason}") from error
