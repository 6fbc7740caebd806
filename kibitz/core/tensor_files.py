"""Tensor files. A format declares what its tensors and the values about them have to be; reading checks all of it.

A tensor file is a safetensors file whose metadata has one key, `about`: JSON with the `format` of the file and further
values. (safetensors writes several keys in arbitrary order; with one key, equal content gives an equal file.)

A tensor is declared by its types and sizes, such as "float16|float32 rows 4*units ?". A size is a number, ? for any, or
a name: of a size given to `read`, of a value in `about`, or else of the size that is found first, which the others with
that name have to equal. It is at least 1, unless it is written with a question mark (`rows?`). "weights.{i}" declares
a tensor for each i from 0, with as many sizes "n{i}" and "n{i+1}", for as many as there are in the file, at least one.
"""

import hashlib
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .files import check_fits, check_regular, parse_json, readable, write_atomically
from .names import BadInput, absolute, located

if TYPE_CHECKING:
    import numpy as np  # imported where tensors are: commands start without it

Tensors = dict[str, "np.ndarray"]
Shapes = dict[str, tuple[int, ...]]
About = dict[str, Any]

DTYPES = {  # of safetensors -> of NumPy, in the order of a file; others, such as float8 and bfloat16, are not read
    "U64": "uint64", "I64": "int64", "F64": "float64", "F32": "float32", "U32": "uint32", "I32": "int32",
    "F16": "float16", "U16": "uint16", "I16": "int16", "I8": "int8", "U8": "uint8", "BOOL": "bool",
}  # fmt: skip
INDEX = re.compile(r"\{(\w+)(\+1)?\}")
SIZE = re.compile(r"(?:(\d+)\*)?([A-Za-z_]\w*)(\?)?(?:\+(\d+))?")


class Expected(NamedTuple):
    """What a tensor in a file has to be."""

    dtypes: tuple[str, ...]  # of NumPy
    shape: tuple[int | None, ...]  # None: any size
    finite: bool = True


Declared = Mapping[str, str | Expected]


def like(array: Any, *sizes: int | None, finite: bool = True) -> Expected:
    """A tensor of the type and shape of an array of NumPy or torch, but for the sizes of its first axes."""
    kind = str(array.dtype).removeprefix("torch.")
    return Expected((kind,), (*sizes, *array.shape[len(sizes) :]), finite)


@dataclass(frozen=True)
class Format:
    """A format of tensor files."""

    name: str  # in each file; a number at its end changes with the content
    what: str  # the kind of file in words, for error messages
    # The tensors by name, or a function of `about` and the shapes that are found; None: whatever there is.
    tensors: Declared | Callable[[About, Shapes], Declared] | None = None
    about: dict[str, Any] = field(default_factory=dict)  # a schema of `check_fits`; there may be further values
    sealed: bool = False  # whether `about` has a `checksum` of the tensors, in their order

    def fits(self, path: Path) -> bool:
        """Whether a file has this format; False if it can't be read."""
        return tensor_file_format(path) == self.name

    def write(self, path: Path, tensors: Tensors, **about: Any) -> None:
        """Write tensors, which are not copied, and values `about` them; sealed ones in the order of the declaration."""
        import numpy as np

        if self.sealed:
            about["checksum"] = checksum(tensors.values())
        header: dict[str, Any] = {"__metadata__": {"about": json.dumps({"format": self.name, **about})}}
        codes, order = {value: key for key, value in DTYPES.items()}, list(DTYPES.values())
        arrays, end = {key: np.asarray(tensor, order="C") for key, tensor in tensors.items()}, 0
        # The largest numbers first, so that all are aligned.
        for key in sorted(arrays, key=lambda key: (order.index(arrays[key].dtype.name), key)):
            start, end = end, end + arrays[key].nbytes
            kind = codes[arrays[key].dtype.name]
            header[key] = {"dtype": kind, "shape": list(arrays[key].shape), "data_offsets": [start, end]}
        text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
        text += b" " * (-len(text) % 8)
        parts = (arrays[key].reshape(-1).view(np.uint8).data for key in header if key in arrays)
        write_atomically(path, itertools.chain([len(text).to_bytes(8, "little"), text], parts))

    def read(
        self,
        path: Path,
        tensors: Declared | Callable[[About, Shapes], Declared] | None = None,
        *,
        game: str | None = None,
        same: Mapping[str, Any] | None = None,
        mapped: bool = False,
        whole: bool | None = None,
        **sizes: int,
    ) -> tuple[Tensors, About]:
        """Read the tensors of a file, in the order in which they are declared, and what was written about them.

        Args:
            path: The file.
            tensors: In place of the format's: what they have to be, where a run or a game decides it.
            game: The name of the game that the file must be for, if any.
            same: Values of `about` by which a run knows its own files.
            mapped: Whether the tensors stay in the file, which is mapped into memory and read where it is used: for
                large ones, of whole numbers, of which little is needed.
            whole: Whether to check every number and the checksum, too; by default unless they are mapped.
            sizes: Sizes that are known.

        Raises:
            BadInput: The file is missing, damaged, or of another format, game or run. One line that names it.
        """
        check_regular(path, self.what)
        with readable(path, self.what), _opened(path) as file:
            about = _about(file)
            if about.get("format") != self.name:
                shown = f"{about.get('format', 'not given')!r:.100}"
                raise BadInput(f"{path} is no {self.what} of Kibitz (its format is {shown})")
            if any(about.get(key) != value for key, value in (same or {}).items()):
                raise BadInput(f"{path} is the state of another run")
            check_fits(about, self.about | ({"checksum": str} if self.sealed else {}))
            if game is not None and absolute(about["game"]) != game:
                kind = f"{'an' if self.what[0] in 'aeiou' else 'a'} {self.what}"
                raise BadInput(f"{path} is {kind} for {about['game']}, not for {game}")
            with located(path):
                wanted = _checked(file, about, self.tensors if tensors is None else tensors, sizes)
            read = _mapped(path, list(wanted)) if mapped else {key: file.get_tensor(key) for key in wanted}
            if whole or (whole is None and not mapped):
                self._check_all(read, wanted, about)
            return read, about

    def _check_all(self, tensors: Tensors, wanted: Mapping[str, Expected], about: About) -> None:
        import numpy as np

        for key, tensor in tensors.items():
            if wanted[key].finite and tensor.dtype.kind == "f" and not np.isfinite(tensor).all():
                raise ValueError(f"{key} has numbers that aren't finite")
        if self.sealed and checksum(tensors.values()) != about["checksum"]:
            raise ValueError("its checksum is wrong")


def checksum(arrays: Iterable[Any]) -> str:
    """SHA-256 of the contents of arrays."""
    import numpy as np

    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()


# ---------------------------------------------------------------- declarations


def _checked(file: Any, about: About, declared: Any, sizes: Mapping[str, int]) -> dict[str, Expected]:
    """What each tensor of a file has to be; ValueError where its header says something else."""
    parts = {key: file.get_slice(key) for key in file.keys()}  # noqa: SIM118
    shapes: Shapes = {key: tuple(part.get_shape()) for key, part in parts.items()}
    if declared is None:
        declared = {key: Expected(tuple(DTYPES.values()), shapes[key], False) for key in sorted(shapes)}
    wanted = _each(declared(about, shapes) if callable(declared) else declared, shapes)
    if foreign := shapes.keys() - wanted.keys():
        raise ValueError(f"{min(foreign):.60} doesn't belong there")
    known = {key: value for key, value in about.items() if isinstance(value, int)} | dict(sizes)
    found = {}
    for key, each in wanted.items():
        if key not in shapes:
            raise ValueError(f"{key} is missing")
        found[key] = _parsed(key, each, shapes[key], known) if isinstance(each, str) else each
        dtype = DTYPES.get(parts[key].get_dtype(), parts[key].get_dtype())
        _check_header(key, found[key], shapes[key], dtype)
    return found


def _each(declared: Declared, shapes: Shapes) -> dict[str, str | Expected]:
    """The tensors one by one: "weights.{i}" stands for weights.0, weights.1, ..."""
    counts: dict[str, int] = {}
    for key in declared:
        if index := INDEX.search(key):
            numbered = re.compile(re.escape(key[: index.start()]) + r"\d+" + re.escape(key[index.end() :]))
            count = sum(numbered.fullmatch(each) is not None for each in shapes)
            counts[index[1]] = max(counts.get(index[1], 1), count)
    found: dict[str, str | Expected] = {}
    for key, text in declared.items():
        index = INDEX.search(key)
        for i in range(counts[index[1]] if index else 1):
            found.setdefault(_numbered(key, i), _numbered(text, i) if isinstance(text, str) else text)
    return found


def _numbered(text: str, i: int) -> str:
    return INDEX.sub(lambda match: str(i + 1 if match[2] else i), text)


def _parsed(key: str, text: str, shape: tuple[int, ...], known: dict[str, int]) -> Expected:
    """What a declared tensor has to be. Sizes that aren't `known` are those of its shape, and known from now on."""
    dtypes, *sizes = text.split()
    found: list[int | None] = []
    for size, there in itertools.zip_longest(sizes, shape[: len(sizes)]):
        match = SIZE.fullmatch(size)
        if match is None:
            found.append(None if size == "?" else int(size))
            continue
        factor, name, empty, more = int(match[1] or 1), match[2], match[3], int(match[4] or 0)
        if name not in known and there is not None:
            known[name] = (there - more) // factor
            if known[name] < 1 and not empty:
                raise ValueError(f"{key} is empty")
        found.append(factor * known[name] + more if name in known else None)
    return Expected(tuple(dtypes.split("|")), tuple(found))


def _check_header(key: str, expected: Expected, shape: tuple[int, ...], dtype: str) -> None:
    if dtype not in expected.dtypes:
        raise ValueError(f"{key} is of type {dtype}, not {' or '.join(expected.dtypes)}")
    fits = len(shape) == len(expected.shape) and all(
        size in (None, found) for size, found in zip(expected.shape, shape, strict=True)
    )
    if not fits:
        shown = ", ".join("any" if size is None else str(size) for size in expected.shape)
        raise ValueError(f"{key} has the shape {list(shape)}, not [{shown}]")


# ---------------------------------------------------------------- files


def tensor_file_format(path: Path) -> str:
    """The format of a tensor file; empty if it is something else or can't be read."""
    return str(tensor_file_about(path).get("format", ""))


def tensor_file_about(path: Path) -> About:
    """What was written about the tensors of a file, which aren't read; empty if it is something else."""
    try:
        check_regular(path, "tensor")
        with _opened(path) as file:
            return _about(file)
    except (OSError, ValueError):
        return {}


def _mapped(path: Path, keys: list[str]) -> Tensors:
    """Tensors of a file whose header was checked, read-only: it begins with its length, offsets are from its end."""
    import numpy as np

    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))

    def tensor(dtype: str, shape: list[int], data_offsets: list[int]) -> Any:
        return np.memmap(path, DTYPES[dtype], "r", 8 + size + data_offsets[0], tuple(shape))

    return {key: tensor(**header[key]) for key in keys}


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    import safetensors

    try:
        with safetensors.safe_open(path, "numpy") as file:  # type: ignore[no-untyped-call]
            yield file
    except safetensors.SafetensorError as error:
        raise ValueError(str(error)) from None


def _about(file: Any) -> About:
    about = parse_json((file.metadata() or {}).get("about", "{}"))
    check_fits(about, dict)
    return dict(about)
