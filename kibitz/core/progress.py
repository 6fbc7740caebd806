"""Progress reports of long work. The terminal shows them; only the app knows the terminal."""

from collections.abc import Callable
from typing import Any

on_compile: Callable[[str | None], None] | None = None  # gets a kernel's name when compiling starts, None when it ends
on_wait: Callable[[str], None] | None = None  # gets a line of text where something else keeps us waiting


class Reporter:
    """Receives the reports of long work. This class ignores them; the app has one that shows them as a live line."""

    may_stop = False  # whether a search has to look at `stopped` every few milliseconds
    stopped = False  # whether a search should end now, with what it has found

    def progress(self, done: float, total: float | None = None, note: str = "") -> None:
        """Report the amount of work done, in any unit, with a note such as a loss or a rate."""

    def advice(self, so_far: Callable[[], Any], depth: int = 0) -> None:
        """Report that a search has got on: what gives its advice so far, and the plies that are searched completely."""

    def remaining(self, seconds: float) -> None:
        """Report a prediction of the seconds that are left, where it is better than one by the speed so far."""

    def message(self, text: str) -> None:
        """Report an event in one line, such as a worker process that died."""


SILENT = Reporter()
