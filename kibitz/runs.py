"""Run folders: what was asked for, what was measured, what came out.

    config.json     the exact configuration
    metrics.jsonl   one line a measurement
    ...             what the command makes: a strategy, a plot

Files are written whole or not at all, and a folder that holds something else is never touched.
"""

import json
from pathlib import Path
from typing import Any

from .files import write_whole
from .names import BadInput


class Run:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def create(cls, folder: Path | None, name: str, config: dict[str, Any]) -> "Run":
        """A new run in `folder`, or in the next free `runs/NAME-001`."""
        try:
            if folder is None:
                folder = _next_free(Path("runs"), name)
            elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
                what = "holds a run already" if (folder / "config.json").exists() else "holds other things"
                raise BadInput(f"{folder} {what}: give a new or an empty folder")
            else:
                folder.mkdir(parents=True, exist_ok=True)
            run = cls(folder)
            run.write("config.json", json.dumps(config, indent=2) + "\n")
        except OSError as error:
            raise BadInput(f"can't write to {folder}: {error.strerror or error}") from None
        return run

    def path(self, name: str) -> Path:
        return self.folder / name

    def write(self, name: str, text: str) -> None:
        write_whole(self.path(name), text.encode())

    def measure(self, **values: Any) -> None:
        """One line more in metrics.jsonl."""
        with self.path("metrics.jsonl").open("a") as file:
            file.write(json.dumps(values) + "\n")


def _next_free(base: Path, name: str) -> Path:
    number = 1
    while True:
        folder = base / f"{name}-{number:03d}"
        try:
            folder.mkdir(parents=True)
            return folder
        except FileExistsError:
            number += 1
