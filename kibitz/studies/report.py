"""What a study found: a table, notes, and curves; written as Markdown, JSON, and (by the app) a picture."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..arena.statistics import Result
from ..core.files import write_atomically
from ..core.progress import Reporter


class Watcher(Reporter):
    """Calls a study's functions for the progress of a training run."""

    def __init__(self, watch: Callable[[float, float], None], tell: Callable[[str], None]) -> None:
        self.watch, self.tell = watch, tell

    def progress(self, done: float, total: float | None = None, note: str = "") -> None:
        self.watch(done, total or 0)

    def message(self, text: str) -> None:
        self.tell(text)


@dataclass(frozen=True)
class Report:
    title: str
    heads: list[str]
    rows: list[list[str]]
    notes: list[str]
    curves: dict[str, list[tuple[float, float]]]  # name -> points; nothing: no picture
    measured: str  # what the curves show
    games: dict[str, dict[str, list[tuple[float, ...]]]] = field(default_factory=dict)  # or curves for each game
    over: str = "iterations"  # what the curves go over

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


def percent(result: Result) -> tuple[str, str]:
    """`51.2% (49.8 to 52.6)` and `2,400 / 310 / 2,290`."""
    score = result.score
    return (
        f"{100 * score.mean:.1f}% ({100 * score.low:.1f} to {100 * score.high:.1f})",
        f"{result.wins:,} / {result.draws:,} / {result.losses:,}",
    )
