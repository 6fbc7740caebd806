"""Consoles, and what a person sees while waiting: live lines on stderr, nothing where stderr is no terminal."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, Task, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Column
from rich.text import Text

from ...core import progress
from ...core.progress import Reporter
from .console import SafeConsole

out = SafeConsole()
err = SafeConsole(stderr=True)
WIDE = 100  # columns of a terminal from which bars are longer


def print_plain(text: str, console: Console = out) -> None:
    """Print a line as it is: no markup, no highlighting, no line breaks, so that commands in it can be copied."""
    console.print(text, soft_wrap=True, highlight=False, markup=False)


class TerminalReporter(Reporter):
    """Shows progress as a live line: a bar where the total is known, a spinner elsewhere."""

    def __init__(self, screen: Progress, task: TaskID) -> None:
        self._screen, self._task, self._predicted = screen, task, False

    def progress(self, done: float, total: float | None = None, note: str = "") -> None:
        self._screen.update(self._task, completed=done, total=total, note=note)

    def remaining(self, seconds: float) -> None:
        """Count down from this prediction; the first one is printed as a line too."""
        from .formatting import format_duration

        if not self._predicted:
            self.message(f"about {format_duration(seconds)} left, by the iterations so far")
        self._predicted = True
        self._screen.update(self._task, ends=time.monotonic() + seconds)

    def message(self, text: str) -> None:
        print_plain(text, err)


class _Count(TextColumn):
    """`120/1,000`; empty where the total is unknown."""

    def render(self, task: Task) -> Text:
        return Text("" if task.total is None else f"{task.completed:,.0f}/{task.total:,.0f}")


class _Time(TimeRemainingColumn):
    """The time that is left, as predicted or by the speed; where the total is unknown, the time that has passed."""

    def render(self, task: Task) -> Text:
        if "ends" in task.fields:
            minutes, seconds = divmod(max(0, round(task.fields["ends"] - time.monotonic())), 60)
            return Text(f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}", "progress.remaining")
        if task.total is not None:
            return super().render(task)
        return Text(f"{task.elapsed:.0f} s" if task.elapsed and task.elapsed >= 1 else "")


_screen: Progress | None = None  # rich allows one live display at a time


@contextmanager
def reporting(text: str, total: float | None = None) -> Iterator[TerminalReporter]:
    """Show a live line for long work, and yield the reporter that updates it. Lines may be nested."""
    global _screen
    with ExitStack() as stack:
        if _screen is None:
            bar, words = BarColumn(20 if err.width >= WIDE else 8), TextColumn("{task.description}", markup=False)
            columns = (SpinnerColumn(), words, bar, _Count(""), _Time())
            folded = Column(overflow="fold")  # continues on the next line
            note = TextColumn("{task.fields[note]}", markup=False, table_column=folded)
            _screen = stack.enter_context(
                Progress(*columns, note, console=err, transient=True, disable=not err.is_terminal)
            )
            stack.callback(_clear)
        screen = _screen
        task = screen.add_task(text, total=total, note="")
        stack.callback(screen.remove_task, task)
        yield TerminalReporter(screen, task)


def _clear() -> None:
    global _screen
    _screen = None


@contextmanager
def compiling() -> Iterator[None]:
    """Show "compiling ... (first time only)" whenever a kernel isn't in the cache, and what else takes long."""
    shown = ExitStack()

    def watch(name: str | None) -> None:
        if name is None:
            shown.close()
        else:
            shown.enter_context(reporting(f"compiling {name.strip('_')} ... (first time only)"))

    progress.on_compile, progress.on_wait = watch, lambda text: print_plain(text, err)
    try:
        yield
    finally:
        progress.on_compile = progress.on_wait = None
        shown.close()
