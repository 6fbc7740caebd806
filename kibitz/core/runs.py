"""Run folders: what was asked for, what was measured, what came out.

    config.json     the exact configuration
    metrics.jsonl   one line a measurement; no times in it, so that the same seed gives the same lines
    times.jsonl     how long things took
    events.out.*    the metrics again, for TensorBoard
    ...             what the command makes: a strategy, a plot, games

Files are written whole or not at all, or line by line; a folder that holds something else is never touched.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from .files import write_atomically
from .legacy import current_config
from .names import BadInput

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


class Run:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.title = folder.name  # what its networks say of where they come from
        self.events: Any = None

    @classmethod
    def create(cls, folder: Path | None, name: str, config: dict[str, Any]) -> "Run":
        """A new run in `folder`, or in the next free `runs/NAME-001`."""
        try:
            if folder is None:
                folder = _next_free(Path("runs"), name)
            elif folder.exists() and (not folder.is_dir() or _holds_something(folder)):
                what = "holds a run already" if (folder / "config.json").exists() else "holds other things"
                raise BadInput(f"{folder} {what}: give a new or an empty folder")
            else:
                folder.mkdir(parents=True, exist_ok=True)
            run = cls(folder)
            run.write("config.json", json.dumps(config, indent=2) + "\n")
        except OSError as error:
            raise BadInput(f"can't write to {folder}: {error.strerror or error}") from None
        return run

    @classmethod
    def create_or_resume(
        cls, folder: Path | None, name: str, config: dict[str, Any], may_grow: tuple[str, ...] = ()
    ) -> "Run":
        """The run that `folder` holds, if its configuration is this one; a new run if it holds nothing.

        The numbers named in `may_grow` (games, steps) may be larger now than they were.
        """
        if folder is None or not (folder / "config.json").is_file():
            return cls.create(folder, name, config)
        run = cls(folder)
        before = run.config()
        for key in sorted(before.keys() | config.keys()):
            was, now = before.get(key), config.get(key)
            if key in may_grow and isinstance(was, int) and isinstance(now, int):
                if now < was:
                    raise BadInput(f"{folder} was begun with {key} = {was}, and that can grow only: {now} is less")
            elif was != now:
                raise BadInput(
                    f"{folder} holds another run, whose {key} is {json.dumps(was)}, not {json.dumps(now)}: "
                    "give a new or an empty folder"
                )
        if before != config:
            run.write("config.json", json.dumps(config, indent=2) + "\n")
        return run

    def config(self) -> dict[str, Any]:
        path = self.path("config.json")
        try:
            found = json.loads(path.read_text())
        except (OSError, ValueError) as error:
            raise BadInput(f"{path} can't be read: {error}") from None
        if not isinstance(found, dict):
            raise BadInput(f"{path} is no configuration of Kibitz")
        return current_config(found)

    def path(self, name: str) -> Path:
        return self.folder / name

    def write(self, name: str, text: str) -> None:
        write_atomically(self.path(name), text.encode())

    def measure(self, **values: Any) -> None:
        """One line more in metrics.jsonl."""
        self._add("metrics.jsonl", values)
        if self.events is not None:
            self.events.add(values)

    def took(self, **values: Any) -> None:
        """One line more in times.jsonl."""
        self._add("times.jsonl", values)

    def _add(self, name: str, values: dict[str, Any]) -> None:
        with _told(self.path(name)), self.path(name).open("a+b") as file:
            _drop_cut_off(file)
            file.write(f"{json.dumps(values)}\n".encode())

    def lines(self, name: str = "metrics.jsonl") -> list[dict[str, Any]]:
        """What was measured; a line that a kill cut off is left out."""
        try:
            text = self.path(name).read_text()
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as error:
            raise BadInput(f"{self.path(name)} can't be read: {error}") from None
        try:
            return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
        except ValueError as error:
            raise BadInput(f"{self.path(name)} can't be read, it is damaged: {error}") from None

    def keep_measures(self, keep: Callable[[dict[str, Any]], bool]) -> None:
        """Take back the measurements that will be made again, for TensorBoard too."""
        kept = [line for line in self.lines() if keep(line)]
        self.write("metrics.jsonl", "".join(json.dumps(line) + "\n" for line in kept))
        self.write("times.jsonl", "".join(json.dumps(line) + "\n" for line in self.lines("times.jsonl")))
        if self.events is not None:
            self.events.restart(kept)

    def show_in_tensorboard(self) -> None:
        """From now on; where TensorBoard is installed."""
        with suppress(ImportError):
            self.events = Events(self.folder)

    @contextmanager
    def held(self) -> Iterator[None]:
        """While this process works on the run, no other can."""
        with _told(self.path("lock")):
            file = self.path("lock").open("a+b")
        with file:
            _lock(file, self.folder)
            yield

    @contextmanager
    def appending(self, name: str) -> Iterator[Callable[[str], None]]:
        """A function that adds a line to a file which this process alone writes to.

        A last line that a kill cut off is dropped first.
        """
        with _told(self.path(name)):
            file = self.path(name).open("a+b")
        with file:
            with _told(self.path(name)):
                _lock(file, self.folder)
                _drop_cut_off(file)

            def append(line: str) -> None:
                with _told(self.path(name)):
                    file.write(line.encode())
                    file.flush()

            yield append


class Events:
    """Numbers for TensorBoard, by its own writer: torch isn't needed for it."""

    def __init__(self, folder: Path) -> None:
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        self.folder, self.event, self.summary, self.open = folder, Event, Summary, EventFileWriter
        self.writer: Any = None

    def add(self, values: dict[str, Any]) -> None:
        if self.writer is None:
            self.writer = self.open(str(self.folder))
        found = [self.summary.Value(tag=key, simple_value=value) for key, value in values.items() if key != "iteration"]
        event = self.event(wall_time=time.time(), step=values["iteration"], summary=self.summary(value=found))
        self.writer.add_event(event)
        self.writer.flush()

    def restart(self, lines: list[dict[str, Any]]) -> None:
        """All over, with these lines."""
        for path in self.folder.glob("events.out.tfevents.*"):
            path.unlink()
        for line in lines:
            self.add(line)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BadInput(f"can't write {path}: {error.strerror or error}") from None


def _drop_cut_off(file: IO[bytes]) -> None:
    """The last line, where a kill or a full disk has cut it off."""
    if file.seek(0, 2):
        file.seek(-1, 2)
        if file.read() != b"\n":
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)


def _lock(file: IO[bytes], folder: Path) -> None:
    """Held until the file is closed, or the process dies."""
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise BadInput(f"{folder} is being written by another process: wait for it, or give another folder") from None


def _holds_something(folder: Path) -> bool:
    """Other than what a kill left half written."""
    return any(path.suffix != ".part" for path in folder.iterdir())


def _next_free(base: Path, name: str) -> Path:
    number = 1
    while True:
        folder = base / f"{name}-{number:03d}"
        try:
            folder.mkdir(parents=True)
            return folder
        except FileExistsError:
            number += 1
