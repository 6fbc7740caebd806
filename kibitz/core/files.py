"""Atomic writes, and the one tensor-file format of networks, strategies and checkpoints.

A tensor file is a safetensors file whose metadata has one key, `about`: JSON with the `format` of the file and further
values. (safetensors writes several keys in arbitrary order; with one key, equal content gives an equal file.)
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from .names import BadInput

Tensors = dict[str, np.ndarray]


def write_atomically(path: Path, data: bytes) -> None:
    """Write the whole file or nothing: a reader never sees part of it, and a kill leaves the old content."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_tensors(path: Path, format: str, tensors: Tensors, **about: Any) -> None:
    """Write tensors and JSON values `about` them; `format` is what `read_tensors` asks for."""
    contiguous = {key: np.asarray(tensor, order="C") for key, tensor in tensors.items()}  # (keeps scalars scalars)
    data = safetensors.numpy.save(contiguous, {"about": json.dumps({"format": format, **about})})
    write_atomically(path, data)


def read_tensors(path: Path, format: str, what: str, unmarked: bool = False) -> tuple[Tensors, dict[str, Any]]:
    """Read the tensors of a file and what was written about them.

    Args:
        path: The file.
        format: The format that it must have.
        what: The kind of file in words for error messages, such as "strategy".
        unmarked: Whether a file that names no format is accepted: journals and checkpoints from before version 0.2.

    Raises:
        BadInput: The file is missing, damaged, or of another format. One line that names it.
    """
    with readable(path, what), safetensors.safe_open(path, "numpy") as file:  # type: ignore[no-untyped-call]
        about = _about(file)
        if about.get("format", format if unmarked else None) != format:
            raise BadInput(f"{path} is no {what} of Kibitz (its format is {about.get('format', 'not given')!r})")
        return {key: file.get_tensor(key) for key in file.keys()}, about  # noqa: SIM118


def tensor_file_format(path: Path) -> str:
    """The format of a tensor file; empty if it is something else or can't be read."""
    return str(tensor_file_about(path).get("format", ""))


def tensor_file_about(path: Path) -> dict[str, Any]:
    """What was written about the tensors of a file, which aren't read; empty if it is something else."""
    try:
        with safetensors.safe_open(path, "numpy") as file:  # type: ignore[no-untyped-call]
            return _about(file)
    except (safetensors.SafetensorError, OSError, ValueError):
        return {}


@contextmanager
def readable(path: Path, what: str) -> Iterator[None]:
    """Turn every error of reading and checking a file inside the block into a one-line BadInput."""
    try:
        yield
    except BadInput:
        raise
    except FileNotFoundError:
        raise BadInput(f"no {what} file {str(path)!r}") from None
    except (
        safetensors.SafetensorError,
        OSError,
        KeyError,
        ValueError,
        TypeError,
        AttributeError,
        RecursionError,
    ) as error:
        raise BadInput(f"{path} can't be read as {what}, it is damaged or foreign: {error}") from None


def _about(file: Any) -> dict[str, Any]:
    """Files written before version 0.2 keep their values as separate keys of the metadata, or as a list."""
    metadata = file.metadata() or {}
    about = json.loads(metadata["about"]) if "about" in metadata else metadata
    return about if isinstance(about, dict) else {"values": about}
