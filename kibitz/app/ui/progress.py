"""Consoles, and what is shown of long work, on stderr: a live line on a terminal, elsewhere a line now and then."""

import itertools
import shlex
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, NoReturn

import typer
from rich.progress import BarColumn, Progress, SpinnerColumn, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Column
from rich.text import Text

from ...core import progress
from ...core.progress import Reporter
from .console import SafeConsole

out = SafeConsole()
err = SafeConsole(stderr=True)
WIDE = 100  # columns of a terminal from which bars are longer
FIRST, EVERY = 1.5, 10.0  # seconds until the first line, and between two, where stderr is no terminal
MEASURED = 1.0  # seconds of work from which the rest is estimated
COMPILING = "compiling (first time only)"

_compiled = [0]  # how often kernels were compiled: what was done until then says nothing about the speed


def print_plain(text: str, console: SafeConsole = out) -> None:
    """Print a line as it is: no markup, no highlighting, no line breaks, so that commands in it can be copied."""
    console.print(text, soft_wrap=True, highlight=False, markup=False)


def end_stopped(said: str, command: Sequence[str]) -> NoReturn:
    """Say what is kept of work that was interrupted, and which command resumes it, and end this one."""
    print_plain(said, err)
    print_plain(f"to resume: {shlex.join(command)}", err)
    raise typer.Exit(130) from None


def format_duration(seconds: float) -> str:
    """`40 s`, `12 min`, `3.5 h`."""
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class Speed:
    """How fast work is done since a kernel was last compiled: what was done until then says nothing about the rest."""

    def __init__(self) -> None:
        self._compiled, self._began, self._before = -1, 0.0, 0.0
        self._now, self._done = 0.0, 0.0

    def at(self, done: float) -> None:
        """Note how much is done now."""
        self._now, self._done = time.monotonic(), done
        if self._compiled != _compiled[0] or done < self._before:
            self._compiled, self._began, self._before = _compiled[0], self._now, done

    @property
    def measured(self) -> float:
        """The amount of work from which the speed is known."""
        return self._done - self._before

    @property
    def seconds(self) -> float:
        """The time from which the speed is known; 0 as long as nothing was done in it."""
        return self._now - self._began if self.measured else 0.0

    def left(self, total: float) -> float:
        """Seconds until all is done."""
        return (total - self._done) * self.seconds / self.measured


class TerminalReporter(Reporter):
    """Shows progress as a line: with the time that is left, where the total is known."""

    def __init__(self, screen: "Progress | _Lines", task: TaskID, total: float | None = None) -> None:
        self._screen, self._task, self._total, self._predicted = screen, task, total, False
        self._speed = Speed()

    def progress(self, done: float, total: float | None = None, note: str = "") -> None:
        self._total = self._total if total is None else total
        self._speed.at(done)
        ends: dict[str, Any] = {} if self._predicted else {"ends": None}
        if not self._predicted and self._total is not None and self._speed.seconds >= MEASURED:
            ends["ends"] = time.monotonic() + self._speed.left(self._total)
        self._screen.update(self._task, completed=done, total=total, note=note, **ends)

    def remaining(self, seconds: float) -> None:
        """Count down from this prediction; the first one is printed as a line too."""
        if not self._predicted:
            self.message(f"about {format_duration(seconds)} left, by the iterations so far")
        self._predicted = True
        self._screen.update(self._task, ends=time.monotonic() + seconds)

    def message(self, text: str) -> None:
        print_plain(text, err)


class _Count(TextColumn):
    """`120/1,000`; empty where the total is unknown."""

    def render(self, task: Task) -> Text:
        return Text(_count(task.completed, task.total))


def _count(done: float, total: float | None) -> str:
    return "" if total is None else f"{done:,.0f}/{total:,.0f}"


class _Time(TimeRemainingColumn):
    """The time that is left, as predicted or by the speed; where it is unknown, the time that has passed."""

    def render(self, task: Task) -> Text:
        if (ends := task.fields.get("ends")) is not None:
            minutes, seconds = divmod(max(0, round(ends - time.monotonic())), 60)
            return Text(f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}", "progress.remaining")
        return Text(f"{task.elapsed:.0f} s" if task.elapsed and task.elapsed >= 1 else "")


# ---------------------------------------------------------------- without a terminal


@dataclass
class _Line:
    text: str
    total: float | None
    began: float
    completed: float = 0.0
    note: str = ""
    ends: float | None = None

    def __str__(self) -> str:
        now = time.monotonic()
        passed = "" if now - self.began < 1 else f"{format_duration(now - self.began)} so far"
        left = "" if self.ends is None else f"about {format_duration(max(0.0, self.ends - now))} left"
        count = _count(self.completed, self.total) if self.completed else ""
        return ", ".join(part for part in (f"{self.text} {count}".rstrip(), self.note, left or passed) if part)


class _Lines:
    """Prints a line soon, then one every few seconds, about what is worked on: the innermost task."""

    def __init__(self) -> None:
        self._tasks: dict[TaskID, _Line] = {}
        self._numbers = map(TaskID, itertools.count())
        self._due = 0.0  # when the next line is printed, if there is anything to say
        self._ended: threading.Event | None = None
        self._users = 0

    def add_task(self, text: str, total: float | None, note: str) -> TaskID:
        number = next(self._numbers)
        self._tasks[number] = _Line(text, total, time.monotonic(), note=note)
        return number

    def update(self, task: TaskID, **values: Any) -> None:
        line = self._tasks[task]
        for name, value in values.items():
            if value is not None or name == "ends":
                setattr(line, name, value)

    def remove_task(self, task: TaskID) -> None:
        del self._tasks[task]

    @contextmanager
    def printed(self, start: str = "") -> Iterator[None]:
        """Print lines until the block ends.

        Args:
            start: To be said if nothing else is said soon.
        """
        self._users += 1
        if self._users == 1:
            self.begin(time.monotonic())
            self._ended = threading.Event()
            threading.Thread(target=self._print, args=(self._ended, start), daemon=True).start()
        try:
            yield
        finally:
            self._users -= 1
            if not self._users and self._ended is not None:
                self._ended.set()

    def begin(self, now: float) -> None:
        self._due = now + FIRST

    def _print(self, ended: threading.Event, start: str) -> None:
        while not ended.wait(0.1):
            with suppress(OSError, ValueError):  # a stream that is closed is the main thread's business
                self.say(time.monotonic(), start)

    def say(self, now: float, start: str = "") -> None:
        """Print a line if it is time for one and there is anything to say."""
        lines = list(self._tasks.values())
        if now < self._due:
            return
        if lines and not err.is_terminal:
            self._due = now + EVERY
            print_plain(str(lines[-1]), err)
        elif start and not SafeConsole.used:
            self._due = now + FIRST
            print_plain(start, err)


_lines = _Lines()
_screen: Progress | None = None  # rich allows one live display at a time


@contextmanager
def reporting(text: str, total: float | None = None) -> Iterator[TerminalReporter]:
    """Show that long work is done, and yield the reporter that says how far it is. Blocks may be nested."""
    with ExitStack() as stack:
        screen: Progress | _Lines = _lines
        if err.is_terminal:
            screen = _live(stack)
        else:
            stack.enter_context(_lines.printed())
        task = screen.add_task(text, total=total, note="")
        stack.callback(screen.remove_task, task)
        yield TerminalReporter(screen, task, total)


def _live(stack: ExitStack) -> Progress:
    """The live display, which ends with the outermost block."""
    global _screen
    if _screen is None:
        bar, words = BarColumn(20 if err.width >= WIDE else 8), TextColumn("{task.description}", markup=False)
        columns = (SpinnerColumn(), words, bar, _Count(""), _Time())
        folded = Column(overflow="fold")  # continues on the next line
        note = TextColumn("{task.fields[note]}", markup=False, table_column=folded)
        _screen = stack.enter_context(Progress(*columns, note, console=err, transient=True))
        stack.callback(_clear)
    return _screen


def _clear() -> None:
    global _screen
    _screen = None


@contextmanager
def compiling(command: str = "") -> Iterator[None]:
    """Run a command: say so if it says nothing soon, and show whenever a kernel isn't in the cache.

    Args:
        command: Its name; empty: it answers a person or another program, who need no such line.
    """
    shown = ExitStack()

    def watch(name: str | None) -> None:
        if name is None:
            _compiled[0] += 1
            shown.close()
        else:
            shown.enter_context(reporting(COMPILING))

    progress.on_compile, progress.on_wait = watch, lambda text: print_plain(text, err)
    try:
        with _lines.printed(f"kibitz {command}: starting" if command else ""):
            yield
    finally:
        progress.on_compile = progress.on_wait = None
        shown.close()
