"""Checkpoints and journal of a run: what a killed run resumes from.

    checkpoints/000120/           the state of the learner, by number; only the last one is kept
    journal/000123.safetensors    the samples of an iteration, until a checkpoint contains them

Samples are written to the journal before anything is learned from them, and checkpoints are rare. A resumed run starts
from the last checkpoint, learns again from the journal, and arrives at exactly the same state.
"""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..core.files import (
    UNREADABLE,
    check_fits,
    make_folder,
    read_json,
    readable,
    reason,
    write_atomically,
    writing,
)
from ..core.names import BadInput
from ..core.runs import Run
from ..core.tensor_files import Format, Tensors
from .learner import Learner, Samples
from .packing import COLUMNS, Packed, pack, stored

JOURNAL = Format("kibitz journal 1", "journal", about={"kinds": dict, "sum": str})
PACKED = "packed"  # the type of samples that were collected as packed rows


class Changed(BadInput):
    """The checkpoint is sound, but the data it was made from is different now."""


class Checkpoints:
    """Writes checkpoints of a learner, and restores the last one."""

    def __init__(self, run: Run, learner: Learner) -> None:
        self.run, self.learner = run, learner

    def save(self, iteration: int, step: int = 0) -> None:
        """Save the state after an iteration, or after some steps of the next one.

        The folder counts once its last file, state.json, exists; only then the folders before it are removed.
        """
        folder = self.run.path(f"checkpoints/{iteration * self.learner.steps + step:06d}")
        make_folder(folder.parent)
        make_folder(folder)
        self.learner.save(folder)
        self.learner.export(self.run.path("network.safetensors"), origin(self.run, self.learner, iteration, step))
        write_atomically(folder / "state.json", json.dumps({"iteration": iteration}).encode())
        with writing(folder.parent):
            for other in folder.parent.iterdir():
                if other != folder:
                    shutil.rmtree(other)

    def restore(self) -> int | None:
        """Restore the last checkpoint and return the number of finished iterations; None: there is no checkpoint."""
        folders = [path.parent for path in self.run.folder.glob("checkpoints/*/state.json")]
        if not folders:
            return None
        folder = max(folders, key=lambda each: _number(each, self.run.folder))
        try:
            iteration: int = read_json(folder / "state.json", "checkpoint", {"iteration": int})["iteration"]
            if iteration != int(folder.name) // self.learner.steps:
                raise BadInput(f"state.json is of iteration {iteration}")
            self.learner.restore(folder)
        except Changed:
            raise
        except UNREADABLE as error:
            raise BadInput(f"{folder} can't be read, it is damaged: {reason(error)}") from None
        return iteration


def origin(run: Run, learner: Learner, iteration: int, step: int = 0) -> str:
    """Where the weights of an exported file come from, in words."""
    more = f" and {step} of {learner.steps} steps" if step else ""
    return f"{run.title}, iteration {learner.learned_by(iteration)}{more}"


def _number(path: Path, run: Path) -> int:
    """The iteration or step that names a checkpoint or a file of the journal."""
    if not path.stem.isdecimal():
        raise BadInput(f"{path} is no part of the run in {run}: remove it")
    return int(path.stem)


class Journal:
    """The samples of each iteration, as they were collected."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def samples(self, iteration: int, collect: Callable[[], Samples | None]) -> Samples | None:
        """Return the samples of an iteration: from the journal, or else collected now and written to it."""
        found = self.read(iteration)
        if found is None:
            found = collect()
            if found is not None:
                self.write(iteration, found)
        return found

    def write(self, iteration: int, samples: Samples) -> None:
        make_folder(self.folder)
        kinds: dict[str, str] = {}
        tensors: Tensors = {}
        for key, array in samples.items():
            kinds[key] = PACKED if isinstance(array, Packed) else str(array.dtype)
            if isinstance(array, Packed) or (array.ndim == 2 and array.dtype in (np.bool_, np.float32)):
                packed = array if isinstance(array, Packed) else pack(array)
                tensors |= {key: packed.rows, key + COLUMNS: packed.columns}
            else:
                tensors[key] = array
        JOURNAL.write(self._path(iteration), tensors, kinds=kinds, sum=_hash(tensors))

    def read(self, iteration: int) -> Samples | None:
        path = self._path(iteration)
        if not path.exists():
            return None
        try:
            tensors, about = JOURNAL.read(path)
            with readable(path, JOURNAL.what):
                kinds = about["kinds"]
                check_fits(kinds, {key: str for key in tensors if not key.endswith(COLUMNS)})
                if about["sum"] != _hash(tensors):
                    raise ValueError("its samples were changed")
                return {key: _as_collected(key, kind, tensors) for key, kind in kinds.items()}
        except BadInput as error:
            raise BadInput(f"{error}; delete it, and its samples are collected again") from None

    def forget(self, iteration: int) -> None:
        """Delete the samples up to an iteration: a checkpoint contains them."""
        for path in self.folder.glob("*.safetensors"):
            if _number(path, self.folder.parent) <= iteration:
                with writing(path):
                    path.unlink()

    def _path(self, iteration: int) -> Path:
        return self.folder / f"{iteration:06d}.safetensors"


def _as_collected(key: str, kind: str, tensors: Tensors) -> Any:
    columns = tensors.get(key + COLUMNS)
    if columns is None:
        return tensors[key].astype(kind)
    packed = stored(tensors[key], columns, len(columns))
    return packed if kind == PACKED else packed.numbers().astype(kind)


def _hash(tensors: Tensors) -> str:
    """A hash of names, types, shapes and numbers, as the format does not detect changed bytes."""
    digest = hashlib.blake2b(digest_size=16)
    for key in sorted(tensors):
        digest.update(f"{key} {tensors[key].dtype} {tensors[key].shape}\n".encode())
        digest.update(np.ascontiguousarray(tensors[key]).data)
    return digest.hexdigest()
