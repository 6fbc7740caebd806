"""`kibitz runs` and `kibitz runs compare`: run folders, what they reached, and how they differ."""

import shlex
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table
from typer.core import TyperGroup

from ...core.names import BadInput
from ..run_summary import RunSummary, run_folders, summarize
from ..ui.progress import out, print_plain, reporting
from .options import Json, path_to_read, write_json
from .runs_compare import compare

RUNS = Path("runs")


class Runs(TyperGroup):
    """Group that points to --in when a folder is given in place of a command."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in self.commands:
            known = ", ".join(self.commands)
            raise BadInput(f"runs has no command {args[0]!r}, only {known}; for runs in another folder: --in {args[0]}")
        return super().resolve_command(ctx, args)


def register(app: typer.Typer) -> None:
    group = typer.Typer(cls=Runs, invoke_without_command=True)
    group.callback()(list_runs)
    group.command("compare")(compare)
    app.add_typer(group, name="runs")


def list_runs(
    context: typer.Context,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--in", help="Folder to search. Default: runs.", metavar="FOLDER", show_default=False, parser=path_to_read
        ),
    ] = None,
    json_file: Json = None,
) -> None:
    """List the runs in a folder, newest last: the command, its progress and its result.

    Example: kibitz runs

    Example: kibitz runs --in experiments/may

    Example: kibitz runs compare runs/leduc-cfr-001 runs/leduc-cfr+-001
    """
    if context.invoked_subcommand is not None:
        for option, given in (("--in", folder), ("--json", json_file)):
            if given is not None:
                raise BadInput(f"{option} {given} before {context.invoked_subcommand} applies to the list of runs only")
        return
    where = RUNS if folder is None else folder
    if folder is not None and not folder.is_dir():
        raise BadInput(f"no folder {str(folder)!r} to search for runs")
    with reporting(f"reading the runs in {where}") as report:
        rows = []
        for found in run_folders(where):
            rows.append(summarize(found))
            report.progress(len(rows), note=f"{len(rows):,}")
    rows.sort(key=lambda row: (row.written, row.run))
    write_json(json_file, [asdict(row) for row in rows])
    if not rows:
        print_plain(f"no runs in {where} yet; make one: kibitz solve leduc")
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for head in ("run", "command", "done", "result", "changed"):
        table.add_column(head, overflow="fold", no_wrap=head in ("run", "changed"))
    table.columns[-1].min_width = 9
    now = time.time()
    for row in rows:
        cells = (row.run, row.what, row.progress, row.reached, age(now - row.written) if row.written else "-")
        table.add_row(*map(escape, cells), style="dim" if row.problem else "")
    out.print(table)
    _suggest(rows)


def _suggest(rows: list[RunSummary]) -> None:
    """Print how to resume the newest unfinished run, and how to compare the newest two of the same game."""
    for row in reversed(rows):
        if row.resume_command:
            print_plain(f"to resume: {row.resume_command}")
            break
    newest: dict[str, str] = {}  # game -> newest run with measurements
    for row in reversed([row for row in rows if row.nash_conv is not None or row.loss is not None]):
        if row.game in newest:
            print_plain(f"to compare: {shlex.join(['kibitz', 'runs', 'compare', row.run, newest[row.game]])}")
            break
        newest[row.game] = row.run


def age(seconds: float) -> str:
    """`40 s ago`, `3 min ago`, `5 h ago`, `2 d ago`."""
    for most, unit, length in ((90, "s", 1), (90 * 60, "min", 60), (36 * 3600, "h", 3600)):
        if seconds < most:
            return f"{max(seconds, 0) / length:.0f} {unit} ago"
    return f"{seconds / 86400:.0f} d ago"
