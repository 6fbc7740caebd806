"""Names such as `leduc`, `goofspiel:13`, `liars_dice:dice=2,faces=6`: one parser, one error message."""

import difflib
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, get_args, get_origin, get_type_hints


class BadInput(ValueError):
    """Something the user gave is wrong. The message is one line for people: the bad value, and what would be right."""


def choose(kind: str, name: str, known: Iterable[str]) -> str:
    """`name` if it is known; else an error that lists what is, the nearest first."""
    known = sorted(known)
    if name in known:
        return name
    near = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise BadInput(f"no {kind} is called {name!r}: {hint}known are {', '.join(known)}")


def at_least(what: str, value: float, low: float) -> None:
    if value < low:
        raise BadInput(f"{what} should be at least {low}, not {value}")


def split(text: str) -> tuple[str, str]:
    """`name:parameters` -> name, parameters. A path to a file may hold colons of its own: the last one counts there."""
    if ".py:" in text:
        path, _, rest = text.rpartition(".py:")
        name, _, parameters = rest.partition(":")
        return f"{path}.py:{name}", parameters
    name, _, parameters = text.strip().partition(":")
    return name, parameters


def parameters(kind: str, cls: Any, text: str) -> dict[str, Any]:
    """Parse `value`, `key=value,...` or a preset's name into the fields of `cls`, checked against their annotations.

    Behind a preset's name `,key=value,...` changes some of it.
    A field is `Annotated[int, "what it means", range(1, 14)]`; without a range anything of its type goes.
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
    """Field -> (type, what it means, allowed values or None)."""
    found = {}
    for key, hint in get_type_hints(cls, include_extras=True).items():
        kind: Any = hint
        notes: list[Any] = []
        if get_origin(hint) is Annotated:
            kind, *notes = get_args(hint)
        meaning = next((note for note in notes if isinstance(note, str)), "")
        allowed = next((note for note in notes if not isinstance(note, str)), None)
        found[key] = (kind, meaning, allowed)
    return found


def describe(fields: Mapping[str, tuple[type, str, Any]]) -> str:
    if not fields:
        return "it takes no parameters"
    return "its parameters are " + ", ".join(f"{key} ({span(*field)})" for key, field in fields.items())


def span(kind: type, meaning: str, allowed: Any) -> str:
    """The values that a field takes, in words."""
    if isinstance(allowed, range):
        return f"{allowed[0]} to {allowed[-1]}"
    if allowed is not None:
        return " or ".join(map(str, allowed))
    return {bool: "yes or no", int: "a whole number", float: "a number"}.get(kind, "text")


def convert(kind: str, key: str, value: str, field: tuple[type, str, Any]) -> Any:
    wanted = field[0]
    try:
        if wanted is bool:
            return {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}[value.lower()]
        return wanted(value)
    except (KeyError, ValueError):
        raise BadInput(f"{kind}: {key}={value} should be {span(*field)}") from None


def check(kind: str, cls: Any, values: dict[str, Any]) -> dict[str, Any]:
    """The same values, each of its field's type and within its range."""
    fields = hints(cls)
    for key, value in values.items():
        wanted, _, allowed = fields[key]
        if not isinstance(value, wanted) and not (wanted is float and isinstance(value, int)):
            raise BadInput(f"{kind}: {key}={value} should be {span(*fields[key])}")
        if allowed is not None and value not in allowed:
            raise BadInput(f"{kind}: {key}={value} is out of range, it should be {span(*fields[key])}")
    return {key: fields[key][0](value) for key, value in values.items()}
