"""Checkpoints of a run: folders of all that learning goes on from, by number. Only the last is kept."""

import json
import shutil
from pathlib import Path
from typing import Protocol

import safetensors

from ..core.files import write_atomically
from ..core.names import BadInput
from ..core.runs import Run


class Changed(BadInput):
    """A checkpoint is sound, but what it was made from is another thing now."""


class Kept(Protocol):
    def save(self, folder: Path) -> None: ...

    def restore(self, folder: Path) -> None: ...

    def publish(self, path: Path, made: str) -> None:
        """Write what players read."""


def checkpoint(run: Run, learner: Kept, number: int, iteration: int) -> None:
    """A folder counts once its last file, state.json, is there; then the ones before go."""
    folder = run.path(f"checkpoints/{number:06d}")
    folder.mkdir(parents=True, exist_ok=True)
    learner.save(folder)
    learner.publish(run.path("network.safetensors"), f"{run.title}, iteration {iteration}")
    write_atomically(folder / "state.json", json.dumps({"iteration": iteration}).encode())
    for other in folder.parent.iterdir():
        if other != folder:
            shutil.rmtree(other)


def restore(run: Run, learner: Kept) -> int:
    """The learner as it was at the last checkpoint, whose number is returned; 0: there is none."""
    folders = [path.parent for path in run.folder.glob("checkpoints/*/state.json")]
    done = max((int(folder.name) for folder in folders), default=0)
    if done:
        folder = run.path(f"checkpoints/{done:06d}")
        try:
            learner.restore(folder)
        except Changed:
            raise
        except (safetensors.SafetensorError, OSError, KeyError, ValueError, TypeError, RuntimeError) as error:
            raise BadInput(f"{folder} can't be read, it is damaged: {error}") from None
    return done
