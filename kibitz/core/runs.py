"""Run folders: the configuration, metrics and results of one command.

    config.json     the exact configuration
    metrics.jsonl   one line per iteration, without times, so that the same seed gives the same lines
    times.jsonl     durations in seconds
    events.out.*    the metrics for TensorBoard
    ...             results: a strategy, a network, a plot, games

Files are written atomically or line by line. A folder that holds something else is never touched.
"""

import json
import os
import shlex
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from . import locks
from .files import (
    check_fits,
    check_numbers,
    check_regular,
    make_folder,
    parse_json,
    read_json,
    read_lines,
    readable,
    reason,
    write_atomically,
    writing,
)
from .legacy import current_config
from .names import BadInput

RESUME = "resume"  # in a configuration: the words of the command that continues it, without the folder
PATIENCE = 0.25  # seconds to wait for a lock, which `Run.is_locked` holds for an instant


class Run:
    """A run folder: its configuration, metrics and files.

    Attributes:
        folder: The folder.
        title: Name that the run's networks carry as their origin.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.title = folder.name
        self._larger: dict[str, Any] | None = None  # the configuration to be written once the run is locked
        self.events: Any = None
        self._locked_by: int | None = None  # the thread of this process that holds the lock through this object

    @classmethod
    def create(cls, folder: Path | None, name: str, config: dict[str, Any]) -> "Run":
        """Start a new run in `folder`, or in the next free `runs/NAME-001`.

        Raises:
            BadInput: The folder holds something already, or can't be written to.
        """
        try:
            if folder is None:
                folder = _next_free(Path("runs"), name)
            elif folder.exists() and (not folder.is_dir() or _holds_something(folder)):
                is_run = (folder / "config.json").exists()
                what = "holds a run already" if is_run else "holds other things"
                more = f" (kibitz runs show {shlex.quote(str(folder))})" if is_run else ""
                raise BadInput(f"{folder} {what}{more}: give a new or an empty folder")
            else:
                folder.mkdir(parents=True, exist_ok=True)
            write_atomically(folder / "config.json", _spelled(config), new=True)
        except OSError as error:
            raise BadInput(f"can't write to {folder}: {error.strerror or error}") from None
        return cls(folder)

    @classmethod
    def create_or_resume(
        cls, folder: Path | None, name: str, config: dict[str, Any], may_grow: tuple[str, ...] = ()
    ) -> "Run":
        """Open the run in `folder` if its configuration is `config`; start a new one if the folder is empty.

        Args:
            folder: The folder; None takes the next free `runs/NAME-001`.
            name: Name of a folder that is made.
            config: The configuration.
            may_grow: Fields (games, steps) whose number may be larger now than in the folder.
        """
        if folder is None or not (folder / "config.json").is_file():
            return cls.create(folder, name, config)
        run = cls(folder)
        run.check_same(config, may_grow)
        if run.config() != config:
            run.grow(config, may_grow)
        return run

    def check_same(self, config: dict[str, Any], may_grow: tuple[str, ...] = ()) -> None:
        """Refuse a configuration that isn't the folder's; numbers in `may_grow` may be larger, `RESUME` may differ."""
        folder, before = self.folder, self.config()
        for key in sorted((before.keys() | config.keys()) - {RESUME}):
            was, now = before.get(key), config.get(key)
            if key in may_grow and isinstance(was, int) and isinstance(now, int):
                if now < was:
                    raise BadInput(f"{folder} was started with {key} = {was}, which can only grow: {now} is less")
            elif was != now:
                raise BadInput(
                    f"{folder} holds another run, whose {key} is {json.dumps(was)}, not {json.dumps(now)}: "
                    "give a new or an empty folder"
                )

    def grow(self, config: dict[str, Any], may_grow: tuple[str, ...]) -> None:
        """Use a larger configuration from now on; it is written as soon as this process has locked the run."""
        self._larger, self._may_grow = config, may_grow

    def config(self) -> dict[str, Any]:
        """The configuration, as the present version writes it (see `legacy`)."""
        if self._larger is not None:
            return current_config(self._larger)
        path = self.path("config.json")
        found = read_json(path, "configuration")
        if not isinstance(found, dict):
            raise BadInput(f"{path} is no configuration of Kibitz")
        with readable(path, "configuration"):
            check_fits(found, {"players?": [str], **dict.fromkeys(("games?", "seed?"), int)})
        return current_config(found)

    @property
    def place(self) -> str:
        """The absolute path of the folder, for commands that work from any other."""
        return os.path.abspath(self.folder)

    def path(self, name: str) -> Path:
        return self.folder / name

    def write(self, name: str, text: str) -> None:
        """Write a file atomically."""
        write_atomically(self.path(name), text.encode())

    def write_lines(self, name: str, lines: Iterable[str]) -> None:
        """Write a file of many lines atomically; they are taken one by one."""
        write_atomically(self.path(name), (line.encode() for line in lines))

    def log(self, **metrics: Any) -> None:
        """Append a line to metrics.jsonl, and to TensorBoard's events."""
        self._append("metrics.jsonl", metrics)
        if self.events is not None:
            with writing(self.folder):
                self.events.add(metrics)

    def log_times(self, **seconds: Any) -> None:
        """Append a line to times.jsonl."""
        self._append("times.jsonl", seconds)

    def _append(self, name: str, values: dict[str, Any]) -> None:
        with writing(self.path(name)), self.path(name).open("a+b") as file:
            _drop_truncated_line(file)
            file.write(f"{json.dumps(values)}\n".encode())

    def read_lines(self, name: str = "metrics.jsonl", step: str = "iteration") -> list[dict[str, Any]]:
        """The lines of metrics.jsonl or times.jsonl; a last line that a kill has truncated is left out.

        Args:
            name: The file.
            step: The number that every line has, beside others; if empty, lines may hold anything.
        """
        path, found = self.path(name), []
        if not path.exists():
            return []
        check_regular(path, name)
        for number, line in enumerate(read_lines(path, name), 1):
            if line.endswith(b"\n"):
                try:
                    found.append(parse_json(line))
                    if step:
                        check_fits(found[-1], {step: int})
                        check_numbers(found[-1])
                except ValueError as error:
                    raise BadInput(f"{path} can't be read, it is damaged: line {number}: {reason(error)}") from None
        return found

    def keep_metrics(self, keep: Callable[[dict[str, Any]], bool]) -> None:
        """Remove the metrics that will be logged again after a resume, from TensorBoard too."""
        kept = [line for line in self.read_lines() if keep(line)]
        self.write("metrics.jsonl", "".join(json.dumps(line) + "\n" for line in kept))
        self.write("times.jsonl", "".join(json.dumps(line) + "\n" for line in self.read_lines("times.jsonl")))
        if self.events is not None:
            with writing(self.folder):
                self.events.restart(kept)

    def show_in_tensorboard(self) -> None:
        """Write events for TensorBoard from now on, where it is installed."""
        with suppress(ImportError):
            self.events = Events(self.folder)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other processes from working on the run. Within the block the same thread may lock it once more.

        Raises:
            BadInput: Another process holds the lock.
        """
        if self._locked_by == threading.get_ident():
            yield
            return
        with _locked(self.path("lock")):
            if self._larger is not None:
                larger, self._larger = self._larger, None
                self.check_same(larger, self._may_grow)  # another process may have grown it meanwhile
                self.write("config.json", _spelled(larger).decode())
            self._locked_by = threading.get_ident()
            try:
                yield
            finally:
                self._locked_by = None

    def is_locked(self) -> bool:
        """Whether a process works on the run now, as far as that can be told."""
        return self.owner()[1]

    def owner(self) -> tuple[locks.Owner | None, bool]:
        """The process that works on the run or was the last to do so, if it is known, and whether it works now."""
        owner = None
        try:
            with self.path("lock").open("rb", buffering=0) as file:
                owner = locks.owner_of(file)
                locks.lock(file, shared=True)
                locks.unlock(file)
                return owner, locks.lives_elsewhere(file)
        except BlockingIOError:
            return owner, True
        except OSError:
            return owner, False

    @contextmanager
    def appending(self, name: str) -> Iterator[Callable[[str], None]]:
        """A function that appends a line to a file of a run that is locked.

        A last line that a kill has truncated is dropped first.
        """

        def append(line: str) -> None:
            with writing(self.path(name)):
                file.write(line.encode())
                file.flush()

        with writing(self.path(name)):
            file = self.path(name).open("a+b")
        try:
            with writing(self.path(name)):
                _drop_truncated_line(file)
            yield append
        finally:
            with suppress(OSError):  # all that was written is flushed; what failed to be was reported
                file.close()


class Events:
    """Metrics for TensorBoard, by TensorBoard's own writer, which doesn't need torch."""

    def __init__(self, folder: Path) -> None:
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        self.folder, self.event, self.summary, self.open = folder, Event, Summary, EventFileWriter
        self.writer: Any = None

    def add(self, metrics: dict[str, Any]) -> None:
        if self.writer is None:
            self.writer = self.open(str(self.folder))
        found = [
            self.summary.Value(tag=key, simple_value=value) for key, value in metrics.items() if key != "iteration"
        ]
        event = self.event(wall_time=time.time(), step=metrics["iteration"], summary=self.summary(value=found))
        self.writer.add_event(event)
        self.writer.flush()

    def restart(self, lines: list[dict[str, Any]]) -> None:
        """Replace all events by those of these lines."""
        for path in self.folder.glob("events.out.tfevents.*"):
            path.unlink()
        for line in lines:
            self.add(line)


def _drop_truncated_line(file: IO[bytes]) -> None:
    """Remove the last line if a kill or a full disk has truncated it."""
    if file.seek(0, 2):
        file.seek(-1, 2)
        if file.read() != b"\n":
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock on a file until the block ends or the process dies."""
    with writing(path):
        number = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        file = os.fdopen(number, "r+b", buffering=0)
    with file:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                locks.lock(file)
                if locks.lives_elsewhere(file):
                    raise BlockingIOError
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    owner = locks.owner_of(file)
                    who = f" ({owner.pid} on {owner.host})" if owner else ""
                    raise BadInput(
                        f"{path.parent} is being written by another process{who}: wait for it, or give another folder"
                    ) from None
                time.sleep(0.01)
        try:
            with ExitStack() as stack:
                with writing(path):
                    stack.enter_context(locks.held(path, file))
                yield
        finally:
            locks.unlock(file)


def _spelled(config: dict[str, Any]) -> bytes:
    return (json.dumps(config, indent=2) + "\n").encode()


def _holds_something(folder: Path) -> bool:
    """Whether a folder holds anything except files that a kill left half written."""
    return any(path.suffix != ".part" for path in folder.iterdir())


def _next_free(base: Path, name: str) -> Path:
    make_folder(base, parents=True)
    number = 1
    while True:
        folder = base / f"{name}-{number:03d}"
        try:
            with suppress(FileExistsError):
                folder.mkdir()
                return folder
        except OSError as error:
            raise BadInput(f"can't write to {folder}: {error.strerror or error}") from None
        number += 1
