"""Progress of matches and tables of their results, as the commands show them."""

import math
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import typer
from rich import box
from rich.markup import escape
from rich.table import Column, Table
from rich.text import Text

from ...arena.match import against
from ...arena.statistics import Estimate, Result, further_games
from ...arena.tournament import Standings
from ...core.files import read_lines
from ...core.progress import Reporter
from ...core.runs import Run
from ...games.records import FILE
from .formatting import format_duration
from .progress import err, out, waiting

FIRST = 8  # games by which the duration of the others is estimated
LONG = 20.0  # seconds; shorter durations are not announced

# ---------------------------------------------------------------- progress


class GamesReporter(Reporter):
    """Shows a live line of games, and announces once how long a long run will take and how large it will be."""

    def __init__(self, line: Callable[..., None], run: Run | None = None) -> None:
        self.line, self.run = line, run
        self.first: tuple[float, float] | None = None  # time and number of games of the first report
        self.estimated = run is None

    def progress(self, done: float, total: float | None = None, note: str = "") -> None:
        self.line(done, note)
        now = time.perf_counter()
        if self.first is None:
            self.first = now, done
        elif not self.estimated and total and done - self.first[1] >= FIRST:
            self.estimated = True
            self.announce((now - self.first[0]) / (done - self.first[1]) * (total - done), done, total)

    def announce(self, seconds: float, done: float, total: float) -> None:
        if seconds > LONG and self.run is not None:
            size = sum(path.stat().st_size for path in self.run.folder.rglob(FILE)) / done * total
            duration = format_duration(seconds)
            print_line(f"about {duration}, and {size / 1e6:,.1f} MB of disk, in {self.run.folder}", err)

    def message(self, text: str) -> None:
        print_line(text, err)


def print_line(text: str, console: Any = out) -> None:
    """Print a line as it is: no markup, no line breaks, so that commands and paths in it can be copied."""
    console.print(text, soft_wrap=True, highlight=False, markup=False)


@contextmanager
def shown(
    title: str, games: int, run: Run | None = None, command: Sequence[str] = (), human: bool = False
) -> Iterator[GamesReporter]:
    """Show the progress of games. Ctrl-C ends with exit code 130, and prints the command that resumes them.

    Args:
        title: Of the live line.
        games: Their number.
        run: The run folder, where there is one.
        command: Resumes the run.
        human: Whether a person plays, who needs the terminal: then there is no live line.
    """
    display: Any = nullcontext(lambda *_: None) if human else waiting(title, games)
    with display as line:
        try:
            yield GamesReporter(line, None if human else run)
        except KeyboardInterrupt:
            if run is None or not command:
                raise
            done = sum(
                line.endswith(b"\n") for path in run.folder.rglob(FILE) for line in read_lines(path, "file of games")
            )
            print_line(f"stopped after {done:,} of {games:,} games; they are saved", err)
            print_line(f"to resume: {shlex.join(command)}", err)
            raise typer.Exit(130) from None


# ---------------------------------------------------------------- matches


def result_table(players: list[str], result: Result, milli_unit: str) -> Table:
    table = Table(escape(players[0]), f"against {escape(against(players))}", "95% interval")
    for row in result.rows(milli_unit):
        table.add_row(*row)
    return table


def players_table(players: list[str], result: Result) -> Table:
    """Mean payoffs; a player named for several seats has one row, with the mean over them."""
    table = Table("player", "seats", "mean payoff", "95% interval")
    for name, payoff in result.by_name.items():
        table.add_row(escape(name), str(players.count(name)), f"{payoff.mean:+.4f}", payoff.span())
    return table


def needed(result: Result, seats: int, within: float | None, milli_unit: str) -> dict[str, Any]:
    """For a report with --within: the number of further games that the interval needs."""
    if within is None:
        return {}
    return {"within": within, "further_games": further_games(result, seats, within / 1000 if milli_unit else within)}


def print_needed(report: dict[str, Any], milli_unit: str) -> None:
    if report.get("further_games") is not None:
        interval = f"a 95% interval of ±{report['within']:g} {milli_unit or 'points'}"
        print_line(f"{interval} needs {report['further_games']:,} further games")


# ---------------------------------------------------------------- tournaments


def standings_table(found: Standings) -> Table:
    """The players by their place, best first."""
    scale, form = found.scale
    mean = Column(f"mean, {found.milli_unit}" if found.milli_unit else "mean payoff", no_wrap=True)
    table = Table("", Column("player", overflow="fold"), mean)
    for place, i in enumerate(found.order):
        margin = f" ±{scale * found.overall[i].margin:{form.lstrip('+')}}"
        table.add_row(str(place + 1), Text(found.names[i]), _cell(found, found.overall[i]).append(margin))
    return table


def cross_table(found: Standings) -> Table:
    """The payoff of each player against each other one, by their places. Intervals are in the plot."""
    order = found.order
    places = [Column(str(place + 1), justify="right", no_wrap=True) for place in range(len(order))]
    table = Table("", *places, box=box.SIMPLE, padding=(0, 1, 0, 0))
    for place, i in enumerate(order):
        table.add_row(str(place + 1), *(_cell(found, found.cross[i][j]) for j in order))
    return table


def _cell(found: Standings, payoff: Estimate) -> Text:
    """A mean payoff: green where the interval is above 0, red where it is below."""
    scale, form = found.scale
    if math.isnan(payoff.mean):
        return Text("-", "dim")
    style = "green" if payoff.low > 0 else "red" if payoff.high < 0 else "dim"
    return Text(f"{scale * payoff.mean:{form}}", style)
