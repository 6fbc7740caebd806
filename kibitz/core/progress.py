"""Progress reports of long work. The terminal shows them; only the app knows the terminal."""

from collections.abc import Callable

on_compile: Callable[[str | None], None] | None = None  # gets a kernel's name when compiling starts, None when it ends


class Reporter:
    """Receives the reports of long work. This class ignores them; the app has one that shows them as a live line."""

    def progress(self, done: float, total: float | None = None, note: str = "") -> None:
        """Report the amount of work done, in any unit, with a note such as a loss or a rate."""

    def remaining(self, seconds: float) -> None:
        """Report a prediction of the seconds that are left, where it is better than one by the speed so far."""

    def message(self, text: str) -> None:
        """Report an event in one line, such as a worker process that died."""


SILENT = Reporter()
