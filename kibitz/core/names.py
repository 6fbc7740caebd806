"""Names such as `leduc`, `goofspiel:13`, `liars_dice:dice=2,faces=6`: one parser, one error message, one registry."""

import ast
import dataclasses
import difflib
import functools
import importlib
import importlib.util
import inspect
import math
import pkgutil
import re
import sys
import traceback
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from numbers import Integral, Real
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

C = TypeVar("C", bound=type)


class BadInput(ValueError):
    """The user's input is wrong. The message is one line that names the bad value and what would be right."""

    def __init__(self, message: str = "") -> None:
        super().__init__(" ".join(str(message).splitlines()))  # a value in it may have line breaks


def choose(kind: str, name: str, known: Iterable[str]) -> str:
    """Return `name` if it is known; else raise an error that lists the known names and suggests the nearest."""
    known = sorted(known)
    if name in known:
        return name
    near = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise BadInput(f"no {kind} is called {name!r}: {hint}known are {', '.join(known)}")


LARGEST = 2**63 - 1  # integer that kernels and arrays hold
MAX_GAMES = 10**7  # of a match, whose records are held in memory
MAX_PROCESSES = 512


def at_least(what: str, value: float, low: float, high: float = LARGEST) -> None:
    """Raise an error if a value is below its minimum or above its maximum, or is not a number."""
    if not value >= low:
        raise BadInput(f"{what} should be at least {low}, not {value}")
    if value > high:
        raise BadInput(f"{what} should be at most {high}, not {value}")


def check_text(*texts: str) -> None:
    """Refuse command-line arguments with control characters, or with bytes that aren't UTF-8."""
    for text in texts:
        if any(unicodedata.category(letter) in ("Cc", "Cs") and letter not in "\t\n" for letter in text):
            raise BadInput(f"the argument {_short(text)} has a control character, or one that isn't UTF-8")


def _short(text: str) -> str:
    """A text in quotes, its unprintable characters escaped, and its end cut off where it is long."""
    shown = ascii(text) if any(unicodedata.category(letter) == "Cs" for letter in text) else repr(text)
    return shown if len(shown) <= 80 else f"{shown[:60]}...'"


def as_path(text: str | Path) -> Path:
    """The path that a text names, with `~` expanded.

    Raises:
        BadInput: The text is empty, too long, or has characters that no path should have.
    """
    shown = _short(str(text))
    if not str(text):
        raise BadInput("a path is empty: name a file or a folder")
    if any(unicodedata.category(letter) in ("Cc", "Cs") for letter in str(text)):
        raise BadInput(f"the path {shown} has a control character, or one that isn't UTF-8")
    try:
        path = Path(text).expanduser()
        path.exists()
    except RuntimeError:
        raise BadInput(f"the path {shown} is in the home folder of a user who doesn't exist") from None
    except PermissionError:  # what it is used for decides whether that matters
        return path
    except OSError as error:
        raise BadInput(f"the path {shown} can't be used: {error.strerror or error}") from None
    return path


class Interval(NamedTuple):
    """The numbers that a parameter may have, for its annotation; `above` and `below` exclude the end itself.

    NaN and the infinities are in none.
    """

    low: float = -math.inf
    high: float = math.inf
    above: bool = False
    below: bool = False

    def __contains__(self, value: Any) -> bool:
        is_number = isinstance(value, Integral) or (isinstance(value, Real) and math.isfinite(value))
        if not is_number:
            return False
        return (self.low < value if self.above else self.low <= value) and (
            value < self.high if self.below else value <= self.high
        )

    def __str__(self) -> str:
        low = f"{'above' if self.above else 'at least'} {self.low:g}" if self.low > -math.inf else ""
        high = f"{'below' if self.below else 'at most'} {self.high:g}" if self.high < math.inf else ""
        return " and ".join(filter(None, (low, high)))


def split(text: str) -> tuple[str, str]:
    """Split `name:parameters`, or `path/to/file.py:Class:parameters`, whose path may hold colons of its own."""
    if ".py:" in text:
        path, _, rest = text.rpartition(".py:")
        name, _, parameters = rest.partition(":")
        return f"{path}.py:{name}", parameters
    name, _, parameters = text.strip().partition(":")
    return name, parameters


def parameters(kind: str, cls: Any, text: str) -> dict[str, Any]:
    """Parse `value`, `key=value,...` or `preset,key=value,...` into the fields of `cls`, checked by their annotations.

    A field is `Annotated[int, "meaning", range(1, 14)]`; without a range it takes any value of its type.
    """
    fields = hints(cls)
    presets: Mapping[str, dict] = getattr(cls, "presets", {})
    preset: dict[str, Any] = {}
    values: dict[str, Any] = {}
    for position, part in enumerate(filter(None, text.split(","))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if position == 0 and not equals and key in presets:
            preset = presets[key]
            continue
        if not equals:
            if position > 0 or not fields:
                raise BadInput(f"{kind}: {part!r} should read key=value; {describe(fields)}")
            key, value = next(iter(fields)), key
        if key not in fields:
            raise BadInput(f"{kind}: no parameter is called {key!r}; {describe(fields)}")
        if key in values:
            raise BadInput(f"{kind}: {key} is given twice")
        values[key] = convert(kind, key, value, fields[key])
    return check(kind, cls, preset | values)


def hints(cls: Any) -> dict[str, tuple[type, str, Any]]:
    """Parameter -> (type, what it means, allowed values or None).

    The parameters of a NamedTuple or dataclass are its fields; those of another class are the parameters of its
    constructor that are `Annotated`, those of a function likewise.
    """
    found = {}
    fields = hasattr(cls, "_fields") or dataclasses.is_dataclass(cls)
    source = cls.__init__ if isinstance(cls, type) and not fields else cls  # type: ignore[misc]
    for key, hint in get_type_hints(source, include_extras=True).items():
        if not fields and get_origin(hint) is not Annotated:
            continue
        kind: Any = hint
        notes: list[Any] = []
        if get_origin(hint) is Annotated:
            kind, *notes = get_args(hint)
        meaning = next((note for note in notes if isinstance(note, str)), "")
        allowed = next((note for note in notes if not isinstance(note, str)), None)
        found[key] = (kind, meaning, allowed)
    return found


def describe(fields: Mapping[str, tuple[type, str, Any]]) -> str:
    """The parameters and the values that they take, in words."""
    if not fields:
        return "it takes no parameters"
    return "its parameters are " + ", ".join(f"{key} ({span(*field)})" for key, field in fields.items())


def span(kind: type, meaning: str, allowed: Any) -> str:
    """The values that a field takes, in words."""
    if isinstance(allowed, range):
        return f"{allowed[0]} to {allowed[-1]}"
    words = {bool: "yes or no", int: "a whole number", float: "a number"}.get(kind, "text")
    if isinstance(allowed, Interval):
        return f"{words}, {allowed}"
    return words if allowed is None else " or ".join(map(str, allowed))


def convert(kind: str, key: str, value: str, field: tuple[type, str, Any]) -> Any:
    """The value of a field from its text."""
    wanted = field[0]
    try:
        if wanted is bool:
            return {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}[value.lower()]
        return wanted(value)
    except (KeyError, ValueError):
        raise BadInput(f"{kind}: {key}={value} should be {span(*field)}") from None


def check(kind: str, cls: Any, values: dict[str, Any]) -> dict[str, Any]:
    """Convert each value to its field's type, after checking type and range."""
    fields = hints(cls)
    for key, value in values.items():
        wanted, _, allowed = fields[key]
        if not isinstance(value, wanted) and not (wanted is float and isinstance(value, int)):
            raise BadInput(f"{kind}: {key}={value} should be {span(*fields[key])}")
        if not is_allowed(value, allowed):
            raise BadInput(f"{kind}: {key}={value} is out of range, it should be {span(*fields[key])}")
    return {key: fields[key][0](value) for key, value in values.items()}


def is_allowed(value: Any, allowed: Any) -> bool:
    """Whether a value is in a domain: None (all values), a range, an interval, or a tuple of values."""
    if isinstance(allowed, range) and not isinstance(value, Integral):  # which would compare it with each number
        return False
    return allowed is None or value in allowed


def checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function refuse arguments outside the domain of their annotation."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        fields = hints(function)
        for key, value in signature.bind(*args, **kwargs).arguments.items():
            if key in fields and not is_allowed(value, fields[key][2]):
                raise BadInput(f"{key}={value} is out of range, it should be {span(*fields[key])}")
        return function(*args, **kwargs)

    return call


# The domains of parameters that many have.
EXPLORATION = Interval(0, 1e6)
SIMULATIONS = Interval(0, 1e12)  # 0: no limit
SECONDS = Interval(0, 1e7)  # 0: no limit
ITERATION = Interval(0, 1e9)  # 0: the last
LEARNING_RATE = Interval(0, 1, above=True, below=True)

# ---------------------------------------------------------------- code in files


class Trust:
    """Which `.py` files may be imported, and which programs started: those that the person has named, not those that
    only data names."""

    def __init__(self, named: Iterable[Path] = (), guarded: bool = False, everything: bool = False) -> None:
        self.named = set(named)  # by the person, on the command line or in Python, since this process was started
        self.programs: set[str] = set()  # likewise: commands of engines
        self.guarded = guarded  # whether only those may be imported
        self.everything = everything  # whether data may name any other

    def allows(self, file: Path) -> bool:
        """Whether a file may be imported. Where nothing is guarded, Python code names it: that is remembered."""
        if not self.guarded:
            self.named.add(file.resolve())
        return self.everything or file.resolve() in self.named

    def allows_program(self, command: str) -> bool:
        """Whether a program may be started, as `allows` says of a file."""
        if not self.guarded:
            self.programs.add(command)
        return self.everything or command in self.programs


_trust = Trust()
ENGINE = "engine:"  # how the name of a player begins that is a program


def program_in(text: str) -> str:
    """The command in the name of a player that is a program: `engine:COMMAND,seconds=1` -> `COMMAND`."""
    parts = [part.strip() for part in text.removeprefix(ENGINE).split(",")]
    named = [part.partition("=")[2].strip() for part in parts if part.startswith("path=")]
    return named[0] if named else parts[0]


@contextmanager
def only_named(*texts: Any, trust: bool = False) -> Iterator[None]:
    """Allow only `.py` files to be imported, and programs to be started, that these texts name or that were before.

    The command line and the functions of the API run inside such a block, with what the person has given them; names
    that come from a file are resolved inside one without texts.

    Args:
        texts: Command-line arguments, or names of games, players, searches and learners; other objects are ignored.
        trust: Whether any file may be imported, as the person has said so.
    """
    before = _trust.guarded, _trust.everything
    for text in texts:
        name = re.sub("^--?[a-z_-]+=", "", text) if isinstance(text, str) else ""
        if name.startswith(ENGINE):
            _trust.programs.add(program_in(name))
        elif ".py:" in name:
            _trust.named.add(as_path(name.rpartition(".py:")[0] + ".py").resolve())
    _trust.guarded, _trust.everything = True, _trust.everything or trust
    try:
        yield
    finally:
        _trust.guarded, _trust.everything = before


def trust_all() -> None:
    """Allow every file until the end of the surrounding `only_named`: the person has said so."""
    _trust.everything = True


def trust() -> Trust:
    """What may be imported now, for `use_trust` in a worker process."""
    return _trust


def use_trust(given: Trust) -> None:
    """Allow in this process what another one allows."""
    global _trust
    _trust = given


# ---------------------------------------------------------------- registries


class Registry(Mapping[str, Any]):
    """Classes of one kind by name. `@registry("name")` adds one; all modules of a package are imported to find them.

    Adding a game, search, player, learner or study therefore touches one file. A class outside the package is named
    `path/to/file.py:Class`.
    """

    def __init__(self, kind: str, package: str, folders_only: bool = False) -> None:
        """
        Args:
            kind: What is registered, for error messages: "player".
            package: The package whose modules are imported to find all of them.
            folders_only: Whether only its subpackages are imported, not its modules.
        """
        self.kind, self.package, self.folders_only = kind, package, folders_only
        self._classes: dict[str, Any] = {}
        self._complete = False

    def __call__(self, name: str) -> Callable[[C], C]:
        """Class decorator that registers a class under a name; a later class of the same name replaces it."""

        def register(cls: C) -> C:
            self._classes[name] = cls
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

    def __contains__(self, name: object) -> bool:
        return name in self._all()

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._all()))

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> dict[str, Any]:
        if not self._complete:
            package = importlib.import_module(self.package)
            for module in pkgutil.iter_modules(package.__path__):
                if module.ispkg or not self.folders_only:
                    importlib.import_module(f"{self.package}.{module.name}")
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
    if not _trust.allows(file):
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


@functools.cache
def _module_from_file(file: Path, named: str) -> Any:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None  # noqa: PT018
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(file.parent))  # so that it can import modules beside it
    try:
        sys.modules.setdefault(file.stem, module)
        spec.loader.exec_module(module)
    except Exception as error:
        if sys.modules[file.stem] is module:
            del sys.modules[file.stem]
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise BadInput(f"{named}{_line(file, error)} can't be imported: {reason}") from error
    finally:
        sys.path.pop(0)
    return module
