"""Progress of matches and tables of their results, as the commands show them."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from rich import box
from rich.markup import escape
from rich.table import Column, Table
from rich.text import Text

from ...core.files import read_lines
from ...core.progress import Reporter
from ...core.runs import Run
from ...games.records import FILE
from ...play.match import against
from ...play.play import labels
from ...play.statistics import Estimate, Result, further_games
from ...play.tournament import Standings
from .progress import end_stopped, err, out, reporting

# ---------------------------------------------------------------- progress


class Messages(Reporter):
    """Prints messages without a live line."""

    def message(self, text: str) -> None:
        print_line(text, err)


def print_line(text: str, console: Any = out) -> None:
    """Print a line as it is: no markup, no line breaks, so that commands and paths in it can be copied."""
    console.print(text, soft_wrap=True, highlight=False, markup=False)


@contextmanager
def shown(
    title: str, games: int, run: Run | None = None, command: Sequence[str] = (), human: bool = False
) -> Iterator[Reporter]:
    """Show the progress of games. Ctrl-C ends with exit code 130, and prints the command that resumes them.

    Args:
        title: Of the live line.
        games: Their number.
        run: The run folder, where there is one.
        command: Resumes the run.
        human: Whether a person plays, who needs the terminal: then there is no live line.
    """
    display: Any = nullcontext(Messages()) if human else reporting(title, games)
    with display as report:
        try:
            yield report
        except KeyboardInterrupt:
            if run is None or not command:
                raise
            done = sum(
                line.endswith(b"\n") for path in run.folder.rglob(FILE) for line in read_lines(path, "file of games")
            )
            end_stopped(f"stopped after {done:,} of {games:,} games; they are saved", command)


# ---------------------------------------------------------------- matches


def result_table(players: list[str], result: Result, milli_unit: str) -> Table:
    names = (Text(name) for name in (players[0], f"against {against(players)}"))
    table = Table(*(Column(name, overflow="fold") for name in names), "95% interval")
    for row in result.rows(milli_unit):
        table.add_row(*row)
    return table


def players_table(players: list[str], result: Result) -> Table:
    """Mean payoffs; a player named for several seats has one row, with the mean over them."""
    table = Table(Column("player", overflow="fold"), "seats", "mean payoff", "95% interval")
    given = dict(zip(labels(players), players, strict=True))
    for name, payoff in result.by_name.items():
        row = escape(given[name]), str(players.count(given[name])), f"{payoff.mean:+.4f}", payoff.span()
        table.add_row(*row)
    return table


def print_unit(game: Any) -> None:
    """Say what the unit of results means, where the game has one."""
    if game.facts.milli_unit == "mbb/g":
        folding = 500 * (1 + game.small_blind / game.big_blind)
        print_line(f"mbb/g: thousandths of a big blind (bb) per game; who always folds loses {folding:,.0f}")
    elif game.facts.milli_unit == "mA/g":
        print_line("mA/g: thousandths of an ante (A) per game; who always folds loses 1,000")


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


def cross_tables(found: Standings, width: int) -> Iterator[Table]:
    """The payoff of each player against each other one, by their places, in several tables where it is too wide.

    Intervals are in the plot.
    """
    order = list(enumerate(found.order))
    cells = [[_cell(found, found.cross[i][j]) for _, j in order] for _, i in order]
    most = max(len(cell) for row in cells for cell in row)
    count = max(1, (width - 8) // (most + 2))
    for start in range(0, len(order), count):
        columns = order[start : start + count]
        places = [Column(str(place + 1), justify="right", no_wrap=True) for place, _ in columns]
        table = Table("", *places, box=box.SIMPLE, padding=(0, 1, 0, 0))
        for (place, _), row in zip(order, cells, strict=True):
            table.add_row(str(place + 1), *row[start : start + count])
        yield table


def _cell(found: Standings, payoff: Estimate) -> Text:
    """A mean payoff: green where the interval is above 0, red where it is below."""
    scale, form = found.scale
    if math.isnan(payoff.mean):
        return Text("-", "dim")
    style = "green" if payoff.low > 0 else "red" if payoff.high < 0 else "dim"
    return Text(f"{scale * payoff.mean:{form}}", style)
