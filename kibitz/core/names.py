"""Names such as `leduc`, `goofspiel:13`, `liars_dice:dice=2,faces=6`: one parser, one error message."""

import dataclasses
import difflib
import functools
import inspect
import math
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from numbers import Integral, Real
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints


class BadInput(ValueError):
    """The user's input is wrong. The message is one line that names the bad value and what would be right."""

    def __init__(self, message: str = "") -> None:
        super().__init__(" ".join(str(message).splitlines()))  # a value in it may have line breaks


class TooLarge(BadInput):
    """Something is too large: for the memory that there is, or to be enumerated."""


class NoMove(BadInput):
    """A text names no legal move."""


class FactTooSmall(BadInput):
    """A fact of a game is too small. Kernels raise it by its class alone: the game and the value are added to it."""

    fact = why = ""

    def __init__(self, message: str = "") -> None:
        super().__init__(message or f"{self.fact} is too small: {self.why}")

    def of_game(self, name: str, value: Any) -> "FactTooSmall":
        return type(self)(f"{name}: {self.fact} = {value} is too small: {self.why}")


@contextmanager
def located(place: object) -> Iterator[None]:
    """Begin the message of a BadInput in this block with its place: a file, a line of it, a game."""
    try:
        yield
    except BadInput as error:
        raise type(error)(f"{place}: {error}") from None


FORMER: dict[str, dict[str, str]] = {"preset": {"kibitz": "best"}}  # what is named -> former name -> present name


def present(kind: str, name: str) -> str:
    """The present name of something, which may have had another one that was typed or stored."""
    return FORMER.get(kind, {}).get(name, name)


def choose(kind: str, name: str, known: Iterable[str]) -> str:
    """Return the present name, if there is one; else raise an error that lists the known ones, the nearest first."""
    known = sorted(known)
    for known_as in (name, present(kind, name)):
        if known_as in known:
            return known_as
    spelled = {each.replace("+", "plus"): each for each in known}  # cfr+ is cfrplus too
    near = difflib.get_close_matches(name.replace("+", "plus"), spelled, 1)
    hint = f"did you mean {spelled[near[0]]!r}? " if near else ""
    raise BadInput(f"no {kind} is called {name!r}: {hint}known are {', '.join(known)}")


LARGEST = 2**63 - 1  # integer that kernels and arrays hold
MAX_GAMES = 10**7  # of a match, whose records are held in memory
MAX_PROCESSES = 512


def at_least(what: str, value: float, low: float, high: float = LARGEST) -> None:
    """Raise an error if a value is below its minimum or above its maximum, or no number; whole where these are."""
    whole = isinstance(low, int) and isinstance(high, int)
    if not isinstance(value, Integral if whole else Real):
        raise BadInput(f"{what} should be a {'whole ' if whole else ''}number, not {value!r}")
    if not value >= low:
        raise BadInput(f"{what} should be at least {low}, not {value}")
    if value > high:
        raise BadInput(f"{what} should be at most {high}, not {value}")


def whole(digits: str, most: int = LARGEST) -> int:
    """The number that is written in digits, as many as somebody likes: int() itself fails after 4,300.

    Raises:
        BadInput: It is larger than `most` (of at most 40 digits), or smaller than its negative.
    """
    if len(digits) > 40 or abs(int(digits)) > most:
        raise BadInput(f"the number {digits[:12]}... is too large")
    return int(digits)


def counted(number: int, noun: str) -> str:
    """`1 game`, `1,000 games`."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


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


def absolute_path(text: str) -> str:
    """The absolute form of a path to something that exists; another text as it is."""
    return os.path.abspath(as_path(text)) if text and as_path(text).exists() else text


def absolute(name: str) -> str:
    """A name of `path/to/file.py:Class` or `efg:FILE` with the file's absolute path; another by its present parts."""
    if ".py:" in name:
        path, _, rest = name.rpartition(".py:")
        return f"{absolute_path(f'{path}.py')}:{rest}"
    if name.startswith("efg:"):
        return f"efg:{absolute_path(name.removeprefix('efg:'))}"
    return current(name)


def current(name: str) -> str:
    """A name such as `leduc:ranks=4` with the present names of its parameters."""
    kind = f"parameter of {name.partition(':')[0]}"
    return re.sub(r"\w+(?==)", lambda key: present(kind, key[0]), name) if kind in FORMER else name


PATH = "path"  # behind the meaning of a field: it names a file or a folder, which a run keeps as an absolute path


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
        low = f"{'above' if self.above else 'at least'} {_written(self.low)}" if self.low > -math.inf else ""
        high = f"{'below' if self.below else 'at most'} {_written(self.high)}" if self.high < math.inf else ""
        return " and ".join(filter(None, (low, high)))


def _written(number: float) -> str:
    """`0.5`, `1,000,000`."""
    return f"{number:,.0f}" if float(number).is_integer() else f"{number:g}"


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
        first = next(iter(fields), "")
        if position == 0 and first and fields[first][0] is str and " " in key:  # a command: engine:edax --level=5
            key, value = first, part.strip()
        elif not equals:
            if position > 0 or not fields:
                raise BadInput(f"{kind}: {part!r} should read key=value; {describe(fields)}")
            key, value = first, key
        if key not in fields:
            key = present(f"parameter of {kind}", key)
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
    for key, (kind, *notes) in _annotated(cls):
        meaning = next((note for note in notes if isinstance(note, str)), "")
        allowed = next((note for note in notes if not isinstance(note, str)), None)
        found[key] = (kind, meaning, allowed)
    return found


def paths(cls: Any) -> set[str]:
    """The parameters that name files or folders."""
    return {key for key, (_, *notes) in _annotated(cls) if PATH in notes}


def _annotated(cls: Any) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Each parameter with its type and the notes behind it."""
    fields = hasattr(cls, "_fields") or dataclasses.is_dataclass(cls)
    source = cls.__init__ if isinstance(cls, type) and not fields else cls  # type: ignore[misc]
    for key, hint in get_type_hints(source, include_extras=True).items():
        if get_origin(hint) is Annotated:
            yield key, get_args(hint)
        elif fields:
            yield key, (hint,)


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
        choose(f"option of {kind}", key, fields)
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
