"""The result of a study: a table, notes and curves, written as Markdown, JSON and (by the app) a plot."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..core.files import write_atomically
from ..core.progress import Reporter
from ..play.statistics import Estimate, Result


class Watcher(Reporter):
    """Calls a study's functions for the progress of a training run."""

    def __init__(self, watch: Callable[[float, float], None], tell: Callable[[str], None]) -> None:
        self.watch, self.tell = watch, tell

    def progress(self, done: float, total: float | None = None, note: str = "") -> None:
        self.watch(done, total or 0)

    def message(self, text: str) -> None:
        self.tell(text)


Panels = dict[str, dict[str, list[tuple[float, ...]]]]  # game -> name -> points


@dataclass(frozen=True)
class Report:
    title: str
    heads: list[str]
    rows: list[list[str]]
    notes: list[str]
    curves: dict[str, list[tuple[float, float]]] = field(default_factory=dict)  # name -> points; one plot of all
    panels: Panels = field(default_factory=dict)  # or one small plot per game
    y_label: str = ""
    x_label: str = "iterations"

    def markdown(self, command: str, scale: str) -> str:
        lines = [f"### {self.title}", "", "```", command, "```", "", f"Scale: {scale}.", ""]
        lines += ["| " + " | ".join(self.heads) + " |", "|" + "---|" * len(self.heads)]
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        return "\n".join([*lines, "", *(f"- {note}" for note in self.notes), ""])

    def write(self, folder: Path, name: str, command: str, scale: str) -> Path:
        path = folder / f"{name}.md"
        write_atomically(path, self.markdown(command, scale).encode())
        return path

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def score(result: Result) -> tuple[str, str]:
    """`51.2% (49.8 to 52.6)` and `2,400 / 310 / 2,290`."""
    mean, low, high = result.score
    return (
        f"{100 * mean:.1f}% ({100 * low:.1f} to {100 * high:.1f})",
        f"{result.wins:,} / {result.draws:,} / {result.losses:,}",
    )


def points(found: Estimate, digits: int = 2) -> str:
    """`+0.31 (+0.26 to +0.36)`."""
    return f"{found.mean:+.{digits}f} ({found.low:+.{digits}f} to {found.high:+.{digits}f})"
