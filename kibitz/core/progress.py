"""Progress of long work: whoever works reports here, whoever shows it decides how. Lower rooms know no terminal."""


class Reporter:
    """Receives what long work reports. This one ignores all of it; the terminal has one that shows a live line."""

    def progress(self, done: float, total: float | None = None, note: str = "") -> None:
        """Report how far the work has got, in its own unit, with a note such as a loss or a rate."""

    def message(self, text: str) -> None:
        """Report something worth a line of its own, such as a worker process that died."""


SILENT = Reporter()
