"""`kibitz study`: a table or figure of a paper, ours beside theirs."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from .. import names
from ..studies import exit_oos
from . import plots
from .options import Json, Processes, Seed, write_json
from .progress import err, out, waiting
from .words import spoken


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="Tables and figures of the papers, ours beside theirs.", no_args_is_help=True)
    group.command("exit-oos")(study_exit_oos)
    app.add_typer(group, name="study")


def study_exit_oos(
    part: Annotated[str, typer.Argument(help=f"{', '.join(exit_oos.PARTS)}.", metavar="PART")],
    scale: Annotated[
        str, typer.Option(help="; ".join(f"{name}: {scale.what}" for name, scale in exit_oos.SCALES.items()))
    ] = "quick",
    out_folder: Annotated[
        Path | None, typer.Option("--out", help="The folder to work in; default runs/study-exit-oos-SCALE.")
    ] = None,
    preset: Annotated[str, typer.Option(help="Numbers of the training: paper, or kibitz (ours, better).")] = "paper",
    number: Annotated[int | None, typer.Option("--games", min=2, help="Of a match; default by the scale.")] = None,
    seed: Seed = 1,
    processes: Processes = None,
    json_file: Json = None,
) -> None:
    """Reproduce a table or the figure of ExIt-OOS: trains, plays, and writes Markdown and a picture.

    The same command goes on where it was stopped. Tables 2 and 5 share their training.

    Example: kibitz study exit-oos table-1 --scale quick
    """
    names.choose("part of exit-oos", part, exit_oos.PARTS)
    names.choose("scale", scale, exit_oos.SCALES)
    names.at_least("--seed", seed, 0)
    folder = out_folder or Path("runs") / f"study-exit-oos-{scale}"
    with waiting("exit-oos") as line:

        def watch(what: str, done: float, total: float) -> None:
            line(0, f"{what}: {done:,.0f} of {total:,.0f}")

        def tell(text: str) -> None:
            err.print(text, highlight=False, markup=False)

        study = exit_oos.Study(part, scale, folder, seed, processes, watch, tell, preset, number)
        line(0, "how long will it take?")
        seconds, size = study.foretell()
        err.print(
            f"{part} into {escape(str(folder))}: about {spoken(seconds)}, and {size / 1e6:,.0f} MB of disk",
            highlight=False,
        )
        try:
            report = study.run()
        except KeyboardInterrupt:
            err.print("stopped; what is there was saved, and the same command goes on", highlight=False)
            raise typer.Exit(130) from None
    command = f"kibitz study exit-oos {part} --scale {scale} --preset {preset} --games {study.games} --seed {seed}"
    written = report.write(folder, f"{part}-{preset}", command, f"{scale}, {exit_oos.SCALES[scale].what}")
    table = Table(*map(escape, report.heads), title=report.title)
    for row in report.rows:
        table.add_row(*row)
    out.print(table)
    for note in report.notes:
        out.print(escape(note), highlight=False)
    out.print(f"table: {written}", soft_wrap=True, highlight=False)
    if report.curves:
        picture = folder / f"{part}-{preset}.png"
        plots.curves(picture, report.curves, report.title, report.measured)
        out.print(f"plot:  {picture}", soft_wrap=True, highlight=False)
    write_json(json_file, report.as_json())
