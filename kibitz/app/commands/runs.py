"""`kibitz runs`: run folders, what they reached, and with its subcommands one of them, or how they differ."""

import shlex
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from typer.core import TyperGroup

from ...core.names import BadInput
from ..run_summary import RunSummary, run_folders, summarize
from ..ui.progress import out, print_plain, reporting
from ..ui.tables import compact_table
from .options import Json, path_to_read, write_json
from .runs_compare import compare
from .runs_show import show

RUNS = Path("runs")
GAP = 2  # spaces between columns


class Runs(TyperGroup):
    """Group that points to --in when a folder is given in place of a command."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in self.commands:
            known = ", ".join(self.commands)
            folder = f"for the runs in another folder: --in {args[0]}; for one run: show {args[0]}"
            raise BadInput(f"runs has no command {args[0]!r}, only {known}; {folder}")
        return super().resolve_command(ctx, args)


def register(app: typer.Typer) -> None:
    group = typer.Typer(cls=Runs, invoke_without_command=True)
    group.callback()(list_runs)
    group.command("compare")(compare)
    group.command("show")(show)
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

    Example: kibitz runs show runs/leduc-match-001

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
    shown = _fitting(rows, out.width)
    table = compact_table(*shown)
    for row, *cells in zip(rows, *shown.values(), strict=True):
        table.add_row(*map(escape, cells), style="dim" if row.problem else "")
    out.print(table)
    if shown.get("command") != [row.what for row in rows]:
        print_plain(f"one run in detail: kibitz runs show {shlex.quote(rows[-1].run)}")
    _suggest(rows)


def _fitting(rows: list[RunSummary], width: int) -> dict[str, list[str]]:
    """The columns of the list, with as much as fits into the width: one line per run."""
    now = time.time()
    columns = {
        "run": [row.run for row in rows],
        "command": [row.what for row in rows],
        "done": [row.progress for row in rows],
        "result": [row.reached for row in rows],
        "changed": ["running" if row.running else age(now - row.written) if row.written else "-" for row in rows],
    }

    def fits() -> bool:
        return sum(max(map(len, [head, *cells])) + GAP for head, cells in columns.items()) <= width

    if not fits():
        columns["command"] = [row.what_briefly for row in rows]
    if not fits():
        del columns["command"]
    if not fits():
        columns["result"] = [row.reached_briefly for row in rows]
    if not fits():
        columns["changed"] = [text.removesuffix(" ago") for text in columns["changed"]]
    return columns


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
