"""What is wrong in a rule or a fact, in one line with its place in the author's file."""

import difflib
import linecache
import re
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ...core.names import BadInput
from ..protocol import Game
from .strict import DropsFraction

LONG = 240  # characters of a record in a message


def fault(game: Game, name: str, message: str, line: int = 0) -> BadInput:
    """The error of a rule or a fact, with its place in the author's file."""
    kind: Any = type(game)
    function = vars(kind).get(name)
    file, known = _source(kind), getattr(getattr(function, "__code__", None), "co_firstlineno", 0)
    if not line and known and function.__code__.co_filename == file:
        line = known
    return BadInput(f"{shown(file)}:{line or _line_of_fact(kind, name)}: {name}: {' '.join(message.split())}")


def shown(file: str) -> str:
    """A path as short as it can be given here."""
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file


def _source(kind: Any) -> str:
    return str(kind.start.__code__.co_filename)


def _line_of_fact(kind: Any, name: str) -> int:
    """The line in the decorator that states a fact, else that of the class."""
    file, first = _source(kind), min(rule.__code__.co_firstlineno for rule in _own_rules(kind))
    lines = linecache.getlines(file)[:first]
    for wanted in (rf"\b{name}\s*=", r"\s*class\b"):
        for number in range(len(lines), 0, -1):
            if re.search(wanted, lines[number - 1]):
                return number
    return first


def _own_rules(kind: Any) -> list[Any]:
    own = [value for value in vars(kind).values() if hasattr(value, "__code__")]
    return [value for value in own if value.__code__.co_filename == _source(kind)]


def call(game: Game, rule: str, *arguments: Any) -> Any:
    """Call a rule; what it raises is reported with its line. Rules that only read may not change a position."""
    changes = CHANGES.get(rule, -1)
    before = [value.copy() if isinstance(value, np.void) else None for value in arguments]
    try:
        found = getattr(game, rule)(*arguments)
    except BadInput:
        raise
    except Exception as error:
        file = _source(type(game))
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
        raise fault(game, rule, _reason(game, error), (lines[-1] or 0) if lines else 0) from error
    for index, (value, old) in enumerate(zip(arguments, before, strict=True)):
        if old is not None and index != changes and not same(value, old):
            changed = next(field for field in value.dtype.names if not np.array_equal(value[field], old[field]))
            raise fault(game, rule, f"it changes the field {changed} of the position that it is given to read")
    return found


# Rule -> which of its arguments it writes a position into.
CHANGES = {"start": 0, "play": 0, "random_playout": 0, "look": 2, "determinize": 4}


def _reason(game: Game, error: Exception) -> str:
    """An exception of a rule in words."""
    text, names = str(error), game.state.names or ()
    missing = re.search(r"'(?:record|numpy\.record)' object has no attribute '(\w+)'", text)
    if missing:
        near = difflib.get_close_matches(missing[1], names, 1)
        hint = f": did you mean {near[0]!r}?" if near else ";"
        return f"the position has no field {missing[1]!r}{hint} its fields are {', '.join(names)}"
    if isinstance(error, RuntimeWarning | OverflowError):
        return f"{text}: write int(state.x) before you calculate with a field of a small type"
    if isinstance(error, DropsFraction):
        return f"{text}: write // or int(...), or make it a field of a float type"
    if isinstance(error, IndexError):
        return f"{text}: negative indices count from the end, others have to be below the length"
    return f"{type(error).__name__}: {text}"


def same(one: Any, two: Any) -> bool:
    """Whether two records are equal, field by field."""
    return one.tobytes() == two.tobytes() or all(np.array_equal(one[field], two[field]) for field in one.dtype.names)


def written(state: Any) -> str:
    """A record in one line, such as `(cards=[2, -1], step=2)`."""
    text = ", ".join(f"{field}={np.asarray(state[field]).tolist()}" for field in state.dtype.names)
    return f"({text})" if len(text) < LONG else f"({text[:LONG]}...)"


def changed(state: Any, other: Any) -> str:
    """A record in one line, where it is long by how it differs from another, such as `it with cards[1]=2`."""
    if same(state, other):
        return "the view itself"
    differ = [f"{name}={a}" for name, a, b in numbers(state, other) if a != b]
    text, short = written(state), ", ".join(differ)
    if len(text) < LONG:
        return text
    return f"it with {short}" if len(short) < LONG else f"it with {short[:LONG]}..."


def numbers(one: Any, two: Any) -> Iterator[tuple[str, Any, Any]]:
    """Each number of two records with its name, such as `cards[1]`."""
    for field in one.dtype.names:
        for index in np.ndindex(np.shape(one[field])):
            name = field + (f"[{', '.join(map(str, index))}]" if index else "")
            yield name, np.asarray(one[field])[index], np.asarray(two[field])[index]


def whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def described(value: Any) -> str:
    return "nothing" if value is None else f"{value!r}, a {type(value).__name__}"
