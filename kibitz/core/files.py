"""Reading and writing of files: atomic writes, and readers that check what they read before anything is computed.

A tensor file is a safetensors file whose metadata has one key, `about`: JSON with the `format` of the file and further
values. (safetensors writes several keys in arbitrary order; with one key, equal content gives an equal file.)

Every reader checks types, shapes, sizes and depth first; a damaged file is a BadInput, one line that names it.
"""

import itertools
import json
import math
import os
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from .names import BadInput, whole

if TYPE_CHECKING:
    import numpy as np  # imported where tensors are: commands start without it

Tensors = dict[str, "np.ndarray"]
Shapes = dict[str, tuple[int, ...]]

MAX_JSON = 64 << 20  # bytes of a JSON file, or of one line of a .jsonl file
MAX_TEXT = 1 << 30  # bytes of a file of games; of a pipe too, which has no size
MAX_DEPTH = 32  # of nested lists and objects in JSON
DTYPES = {  # of safetensors -> of NumPy; others, such as float8 and bfloat16, are not read
    "BOOL": "bool", "U8": "uint8", "I8": "int8", "U16": "uint16", "I16": "int16", "U32": "uint32", "I32": "int32",
    "U64": "uint64", "I64": "int64", "F16": "float16", "F32": "float32", "F64": "float64",
}  # fmt: skip


class Expected(NamedTuple):
    """What a tensor in a file has to be."""

    dtypes: str | tuple[str, ...]  # of NumPy
    shape: tuple[int | None, ...]  # None: any size
    finite: bool = True


Schema = Callable[[Shapes, dict[str, Any]], Mapping[str, Expected]]

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


def write_tensors(path: Path, format: str, tensors: Tensors, **about: Any) -> None:
    """Write tensors and JSON values `about` them; `format` is what `read_tensors` asks for."""
    import numpy as np
    import safetensors.numpy

    contiguous = {key: np.asarray(tensor, order="C") for key, tensor in tensors.items()}  # (keeps scalars scalars)
    data = safetensors.numpy.save(contiguous, {"about": json.dumps({"format": format, **about})})
    write_atomically(path, data)


def write_large_tensors(path: Path, format: str, tensors: Tensors, **about: Any) -> None:
    """Write tensors as `write_tensors` does, without a copy of them in memory."""
    import numpy as np

    names = {value: key for key, value in DTYPES.items()}
    header: dict[str, Any] = {"__metadata__": {"about": json.dumps({"format": format, **about})}}
    arrays, end = {key: np.ascontiguousarray(tensor) for key, tensor in tensors.items()}, 0
    # The largest numbers first, so that all are aligned.
    for key in sorted(arrays, key=lambda key: (-arrays[key].itemsize, key)):
        start, end = end, end + arrays[key].nbytes
        kind = names[arrays[key].dtype.name]
        header[key] = {"dtype": kind, "shape": list(arrays[key].shape), "data_offsets": [start, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    parts = (arrays[key].reshape(-1).view(np.uint8).data for key in header if key in arrays)
    write_atomically(path, itertools.chain([len(text).to_bytes(8, "little"), text], parts))


# ---------------------------------------------------------------- tensors


def read_tensors(
    path: Path, format: str, what: str, schema: Schema | None = None, mapped: bool = False
) -> tuple[Tensors, dict[str, Any]]:
    """Read the tensors of a file and what was written about them.

    Args:
        path: The file.
        format: The format that it must have.
        what: The kind of file in words for error messages, such as "strategy".
        schema: `schema(shapes, about)` says what each tensor has to be, given the shapes in the header; there may be no
            others. None: all tensors are read, whatever their shape.
        mapped: Whether the tensors stay in the file, which is mapped into memory and read where it is used: for large
            ones, of whole numbers, of which little is needed.

    Raises:
        BadInput: The file is missing, damaged, or of another format. One line that names it.
    """
    import numpy as np

    check_regular(path, what)
    with readable(path, what), _safetensors(path) as file:
        about = _about(file)
        if about.get("format") != format:
            raise BadInput(f"{path} is no {what} of Kibitz (its format is {about.get('format', 'not given')!r:.100})")
        parts = {key: file.get_slice(key) for key in file.keys()}  # noqa: SIM118
        shapes: Shapes = {key: tuple(part.get_shape()) for key, part in parts.items()}
        dtypes = {key: DTYPES.get(part.get_dtype(), part.get_dtype()) for key, part in parts.items()}
        if schema is None:
            wanted = {key: Expected(tuple(DTYPES.values()), shape, False) for key, shape in shapes.items()}
        else:
            wanted = dict(schema(shapes, about))
        if foreign := shapes.keys() - wanted.keys():
            raise ValueError(f"{min(foreign):.60} doesn't belong there")
        for key, expected in wanted.items():
            _check_header(key, expected, shapes, dtypes)
        if mapped:
            return _mapped(path, dtypes, shapes), about
        tensors = {key: file.get_tensor(key) for key in wanted}
        for key, expected in wanted.items():
            if expected.finite and tensors[key].dtype.kind == "f" and not np.isfinite(tensors[key]).all():
                raise ValueError(f"{key} has numbers that aren't finite")
        return tensors, about


def _mapped(path: Path, dtypes: dict[str, str], shapes: Shapes) -> Tensors:
    """Tensors of a file whose header was checked, read-only: it begins with its length, offsets are from its end."""
    import numpy as np

    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
    return {
        key: np.memmap(path, dtypes[key], "r", 8 + size + header[key]["data_offsets"][0], shapes[key]) for key in shapes
    }


def _check_header(key: str, expected: Expected, shapes: Shapes, dtypes: dict[str, str]) -> None:
    if key not in shapes:
        raise ValueError(f"{key} is missing")
    known = (expected.dtypes,) if isinstance(expected.dtypes, str) else expected.dtypes
    if dtypes[key] not in known:
        raise ValueError(f"{key} is of type {dtypes[key]}, not {' or '.join(known)}")
    fits = len(shapes[key]) == len(expected.shape) and all(
        size in (None, found) for size, found in zip(expected.shape, shapes[key], strict=True)
    )
    if not fits:
        shown = ", ".join("any" if size is None else str(size) for size in expected.shape)
        raise ValueError(f"{key} has the shape {list(shapes[key])}, not [{shown}]")


def tensor_file_format(path: Path) -> str:
    """The format of a tensor file; empty if it is something else or can't be read."""
    return str(tensor_file_about(path).get("format", ""))


def tensor_file_about(path: Path) -> dict[str, Any]:
    """What was written about the tensors of a file, which aren't read; empty if it is something else."""
    try:
        check_regular(path, "tensor")
        with _safetensors(path) as file:
            return _about(file)
    except (OSError, ValueError):
        return {}


@contextmanager
def _safetensors(path: Path) -> Iterator[Any]:
    import safetensors

    try:
        with safetensors.safe_open(path, "numpy") as file:  # type: ignore[no-untyped-call]
            yield file
    except safetensors.SafetensorError as error:
        raise ValueError(str(error)) from None


def _about(file: Any) -> dict[str, Any]:
    about = parse_json((file.metadata() or {}).get("about", "{}"))
    check_fits(about, dict)
    return dict(about)


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
