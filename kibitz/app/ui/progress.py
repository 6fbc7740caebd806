"""What a person sees while waiting. Nothing of it when stderr is no terminal."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from ... import jit

out = Console()
err = Console(stderr=True)


class _Count(TextColumn):
    """`120/1,000`, and nothing for what has no known end."""

    def __init__(self) -> None:
        super().__init__("")

    def render(self, task: Task) -> Text:
        return Text("" if task.total is None else f"{task.completed:,.0f}/{task.total:,.0f}")


class _Left(TimeRemainingColumn):
    def render(self, task: Task) -> Text:
        return Text("") if task.total is None else super().render(task)


_screen: Progress | None = None  # rich allows one live display at a time


@contextmanager
def waiting(text: str, total: float | None = None) -> Iterator[Any]:
    """A line with a spinner, or a bar where the end is known: `line(done, "note")` moves it on."""
    global _screen
    with ExitStack() as stack:
        if _screen is None:
            columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(20), _Count(), _Left())
            note = TextColumn("{task.fields[note]}")
            _screen = stack.enter_context(
                Progress(*columns, note, console=err, transient=True, disable=not err.is_terminal)
            )
            stack.callback(_clear)
        screen = _screen
        task = screen.add_task(text, total=total, note="")
        stack.callback(screen.remove_task, task)
        yield lambda done, note="": screen.update(task, completed=done, note=note)


def _clear() -> None:
    global _screen
    _screen = None


@contextmanager
def compiling() -> Iterator[None]:
    """Say "compiling ... (first time only)" whenever a kernel isn't in the cache."""
    shown = ExitStack()

    def watch(name: str | None) -> None:
        if name is None:
            shown.close()
        else:
            shown.enter_context(waiting(f"compiling {name.strip('_')} ... (first time only)"))

    jit.cache.watcher = watch
    try:
        yield
    finally:
        jit.cache.watcher = None
        shown.close()
