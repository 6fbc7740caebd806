"""`kibitz study`: a table or figure of a paper, our numbers beside the published ones.

The options of a study are the fields of its dataclass. Studies are imported only when they are asked for.
"""

import inspect
import os
import shlex
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table
from typer.core import TyperGroup

from ...core import names, plugins
from ..index import index, is_enough, rebuild_command
from ..ui.progress import end_stopped, err, out, print_plain, reporting
from .options import Json, Trust, folder_to_write, write_json

if TYPE_CHECKING:
    from ...reproduce.report import Report


class Studies(TyperGroup):
    def list_commands(self, ctx: Any) -> list[str]:
        if is_enough() and not plugins.have("study"):
            return list(index()["study"])
        from ...reproduce.study import STUDIES

        return list(STUDIES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        app = typer.Typer(rich_markup_mode="rich", add_completion=False)
        if is_enough() and cmd_name in index()["study"]:
            command, text = rebuild_command(index()["study"][cmd_name]), index()["study"][cmd_name]["help"]
        else:
            command, text = command_of(cmd_name)
        app.command(cmd_name, help=text)(command)
        return typer.main.get_command(app)


def register(app: typer.Typer) -> None:
    help_text = "Reproduce tables and figures of the papers, our numbers beside the published ones."
    app.add_typer(typer.Typer(cls=Studies, help=help_text, no_args_is_help=True), name="study")


def command_of(name: str) -> tuple[Any, str]:
    """The command of a study, with an option for each of its fields, and its help text."""
    from ...reproduce.study import STUDIES

    study = STUDIES[name]

    def command(json_file: Any, trust: bool, **options: Any) -> None:
        run_study(study(**options), json_file)

    parts = "; ".join(f"{name}: {text}" for name, text in study.parts.items())
    scales = "; ".join(f"{name}: {scale.what}" for name, scale in study.scales.items())
    annotations: dict[str, Any] = {"part": Annotated[str, typer.Argument(help=f"{parts}.", metavar="PART")]}
    annotations["scale"] = Annotated[str, typer.Option(help=f"{scales}.")]
    defaults: dict[str, Any] = {}
    hints = names.hints(study)
    for field in fields(study):
        kind, meaning, _ = hints[field.name]
        written: Any = {"parser": folder_to_write, "metavar": "FOLDER"} if field.name == "out" else {}
        option = typer.Option(f"--{field.name}", help=meaning, **written)
        annotations.setdefault(field.name, Annotated[kind, option])
        default = field.default if field.default_factory is MISSING else field.default_factory()
        defaults[field.name] = inspect.Parameter.empty if default is MISSING else default
    annotations |= {"trust": Trust, "json_file": Json}
    defaults |= {"trust": False, "json_file": None}
    command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name], annotation=annotation)
            for name, annotation in annotations.items()
        ]
    )
    command.__annotations__ = annotations
    return command, inspect.getdoc(study) or ""


def run_study(study: Any, json_file: Any) -> None:
    """Run a study until it is done, or stopped by the keyboard; show and write its report."""
    with reporting(study.name) as progress:
        err.print(f"{study.part} into {study.folder}", highlight=False, markup=False)
        try:
            report = study.run(progress)
        except KeyboardInterrupt:
            out_folder = [] if study.out is None else ["--out", os.path.abspath(study.out)]
            end_stopped("stopped; all finished work is saved", [*shlex.split(study.command()), *out_folder])
    present(report, study, json_file)


def present(report: "Report", study: Any, json_file: Any) -> None:
    from ..ui import plots

    written = report.write(study.folder, study.file_name(), study.command(), study.scale_text())
    table = Table(*map(escape, report.heads), title=escape(report.title))
    for row in report.rows:
        table.add_row(*map(escape, row))
    out.print(table)
    for note in report.notes:
        out.print(escape(note), highlight=False)
    print_plain(f"table: {written}")
    plot = written.with_suffix(".png")
    if report.curves:
        plots.curves(plot, report.curves, report.title, report.y_label, report.x_label)
    if report.panels:
        plots.multiples(plot, report.title, report.panels, report.x_label, report.y_label)
    if report.curves or report.panels:
        print_plain(f"plot:  {plot}")
    write_json(json_file, report.as_json())
