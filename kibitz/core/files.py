"""Reading and writing of files: atomic writes, and readers that check what they read before anything is computed.

Every reader checks types, shapes, sizes and depth first; a damaged file is a BadInput, one line that names it.
"""

import json
import math
import os
import types
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

from .names import BadInput, whole

MAX_JSON = 64 << 20  # bytes of a JSON file, or of one line of a .jsonl file
MAX_TEXT = 1 << 30  # bytes of a file of games; of a pipe too, which has no size
MAX_DEPTH = 32  # of nested lists and objects in JSON

# ---------------------------------------------------------------- writing


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an error of the file system into one line."""
    try:
        yield
    except OSError as error:
        raise BadInput(f"can't write {path}: {error.strerror or error}") from None


def write_atomically(path: Path, data: bytes | Iterable[bytes | memoryview], new: bool = False) -> None:
    """Write the whole file or nothing: a reader never sees part of it, and a kill leaves the old content.

    A device or a pipe, such as /dev/null, is written to, not replaced by a file.

    Args:
        path: The file.
        data: Its content, or its parts one after the other.
        new: Whether the file must not exist: of several processes that create it, one succeeds.

    Raises:
        BadInput: It can't be written.
    """
    parts = [data] if isinstance(data, bytes) else data
    if path.exists() and not path.is_file() and not path.is_dir():
        with writing(path), path.open("wb") as file:
            file.writelines(parts)
        return
    temporary = path.with_name(f"{path.name}.{os.getpid()}.part")
    with writing(path):
        try:
            with temporary.open("wb") as file:
                file.writelines(parts)
            if not new or not _linked(temporary, path):
                os.replace(temporary, path)
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


def _linked(temporary: Path, path: Path) -> bool:
    """Give a file its name unless that exists (FileExistsError); False where the file system has no links."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:
        return False
    return True


def make_folder(path: Path, parents: bool = False) -> None:
    """Create a folder unless it is there; BadInput where that is impossible."""
    with writing(path):
        path.mkdir(parents=parents, exist_ok=True)


# ---------------------------------------------------------------- JSON and text


def parse_json(text: str | bytes) -> Any:
    """A JSON value, with bounded depth and numbers; ValueError where it is none."""
    try:
        value = _DECODER.decode(text if isinstance(text, str) else text.decode("utf-8"))
    except RecursionError:
        raise ValueError("its values are nested too deeply") from None
    except BadInput as error:  # of `whole`: the reader says which file it is
        raise ValueError(str(error)) from None
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            part
            for each in level
            if isinstance(each, dict | list)
            for part in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return value
    raise ValueError(f"its values are nested more than {MAX_DEPTH} deep")


# The state of a random generator has 128 bits; larger numbers don't fit into a float.
_DECODER = json.JSONDecoder(parse_int=partial(whole, most=(1 << 128) - 1))


def read_json(path: Path, what: str, schema: Any = Any) -> Any:
    """Read a JSON file whose value fits a schema (see `check_fits`).

    Raises:
        BadInput: The file is missing, damaged or something else. One line that names it.
    """
    with readable(path, what):
        value = parse_json(read_bytes(path, what, MAX_JSON))
        check_fits(value, schema)
        return value


def check_fits(value: Any, schema: Any, where: str = "it") -> None:
    """Raise ValueError where a JSON value doesn't fit a schema.

    A schema is a type (`int`, `float` for any finite number, `str | None`), a list of one schema that all items fit, or
    a dictionary of schemas by key; further keys are allowed, and a key that ends in "?" may be missing. A range or a
    tuple holds all values that fit.
    """
    if schema is Any:
        return
    if isinstance(schema, dict):
        check_fits(value, dict, where)
        for key, inner in schema.items():
            name = key.removesuffix("?")
            if name in value:
                check_fits(value[name], inner, name)
            elif name == key:
                raise ValueError(f"{key} is missing")
    elif isinstance(schema, list):
        check_fits(value, list, where)
        for part in value:
            check_fits(part, schema[0], f"a value of {where}")
    elif isinstance(schema, range | tuple):
        if not isinstance(value, type(schema[0])) or value is True or value not in schema:
            known = f"{schema[0]} to {schema[-1]}" if isinstance(schema, range) else " or ".join(map(str, schema))
            raise ValueError(f"{where} is {json.dumps(value):.60}, which should be {known}")
    elif not any(_is(value, kind) for kind in (schema.__args__ if isinstance(schema, types.UnionType) else (schema,))):
        raise ValueError(f"{where} is {json.dumps(value):.60}, which should be {WORDS.get(schema, str(schema))}")


WORDS = {
    int: "a whole number", float: "a number", str: "text", bool: "true or false", list: "a list", dict: "an object",
}  # fmt: skip


def check_numbers(values: dict[str, Any]) -> None:
    """Raise ValueError where a value is no number; one that isn't finite is."""
    for key, value in values.items():
        if type(value) not in (int, float):
            raise ValueError(f"{key} is {json.dumps(value):.60}, which should be a number")


def _is(value: Any, kind: type) -> bool:
    if isinstance(value, bool):
        return kind is bool
    if kind is float:
        return isinstance(value, int | float) and math.isfinite(value)
    return isinstance(value, kind)


def read_bytes(path: Path, what: str, limit: int = MAX_TEXT) -> bytes:
    """The bytes of a file, at most `limit` of them; BadInput where there are more or it can't be read."""
    with _opened(path) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise BadInput(f"{path} is too large for a {what}: more than {limit >> 20:,} MB")
    return data


def read_text(path: Path, what: str, limit: int = MAX_TEXT) -> str:
    """The text of a file, as `read_bytes` reads it."""
    try:
        return read_bytes(path, what, limit).decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} can't be read as {what}, it is no text: {error}") from None


def read_lines(path: Path, what: str) -> Iterator[bytes]:
    """The lines of a file one after the other, with their ends; a line that is too long is refused."""
    with _opened(path) as file:
        while line := file.readline(MAX_JSON):
            if len(line) == MAX_JSON:
                raise BadInput(f"{path} is no {what}: a line is longer than {MAX_JSON >> 20} MB")
            yield line


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise BadInput(f"{path} can't be read: {error.strerror or error}") from None


def check_regular(path: Path, what: str) -> None:
    """Refuse a folder, a device or a pipe, of which reading might never end."""
    if path.exists() and not path.is_file():
        raise BadInput(f"{path} is a {'folder' if path.is_dir() else 'device'}, not a {what} file")


@contextmanager
def readable(path: Path, what: str) -> Iterator[None]:
    """Turn every error of reading and checking a file inside the block into a one-line BadInput."""
    try:
        yield
    except BadInput:
        raise
    except FileNotFoundError:
        raise BadInput(f"no {what} file {str(path)!r}") from None
    except UNREADABLE as error:
        raise BadInput(f"{path} can't be read as {what}, it is damaged or foreign: {reason(error)}") from None


# What may be raised by code that reads a damaged file.
UNREADABLE = (
    OSError,
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    ArithmeticError,
    RuntimeError,  # of torch; RecursionError
    MemoryError,
)


def reason(error: BaseException) -> str:
    """The message of an error in one line."""
    if isinstance(error, KeyError):
        return f"{error.args[0]} is missing"
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(text[:300].split()) or type(error).__name__
