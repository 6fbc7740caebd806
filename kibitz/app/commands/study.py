"""`kibitz study`: a table or figure of a paper, ours beside theirs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from ...core import names
from ...studies import deep_cfr, doppelkopf_ablation, doppelkopf_thesis, exit_oos, tspg
from ...studies.report import Report
from ..ui import plots
from ..ui.formatting import format_duration
from ..ui.progress import err, out, waiting
from .options import Json, Processes, Seed, write_json


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="Tables and figures of the papers, ours beside theirs.", no_args_is_help=True)
    group.command("exit-oos")(study_exit_oos)
    group.command("tspg")(study_tspg)
    group.command("doppelkopf")(study_doppelkopf)
    group.command("doko")(study_doko)
    group.command("deep-cfr")(study_deep_cfr)
    app.add_typer(group, name="study")


def part_of(study: Any) -> Any:
    return typer.Argument(help="; ".join(f"{name}: {text}" for name, text in study.PARTS.items()) + ".", metavar="PART")


def scale_of(study: Any) -> Any:
    return typer.Option(help="; ".join(f"{name}: {scale.what}" for name, scale in study.SCALES.items()))


def folder_of(name: str) -> Any:
    return typer.Option("--out", help=f"The folder to work in; default runs/study-{name}-SCALE.")


def study_exit_oos(
    part: Annotated[str, typer.Argument(help=f"{', '.join(exit_oos.PARTS)}.", metavar="PART")],
    scale: Annotated[str, scale_of(exit_oos)] = "quick",
    out_folder: Annotated[Path | None, folder_of("exit-oos")] = None,
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
    with told("exit-oos") as shown:
        study = exit_oos.Study(part, scale, folder, seed, processes, *shown, preset, number)
        seconds, size = study.foretell()
        what = f"{part} into {folder}: about {format_duration(seconds)}, and {size / 1e6:,.0f} MB of disk"
        report = run_study(study, what)
    command = f"kibitz study exit-oos {part} --scale {scale} --preset {preset} --games {study.games} --seed {seed}"
    present(report, folder, f"{part}-{preset}", command, f"{scale}, {exit_oos.SCALES[scale].what}", json_file)


def study_tspg(
    part: Annotated[str, part_of(tspg)],
    game: Annotated[
        list[str] | None,
        typer.Option(help="A game, or several: --game hex:7 --game othello; default connect_four. all: the paper's."),
    ] = None,
    scale: Annotated[str, scale_of(tspg)] = "quick",
    out_folder: Annotated[Path | None, folder_of("tspg")] = None,
    preset: Annotated[str, typer.Option(help="Numbers of the training: paper, public, or kibitz (ours).")] = "paper",
    features: Annotated[str, typer.Option(help="What patterns grow from: faithful, or rich.")] = "faithful",
    repetitions: Annotated[int | None, typer.Option(min=1, help="Training runs a game; default by the scale.")] = None,
    unvisited: Annotated[
        str, typer.Option(help="What an action never tried counts for tspg: parent (as in the paper), loss, or mixed.")
    ] = "parent",
    seed: Seed = 1,
    processes: Processes = None,
    json_file: Json = None,
) -> None:
    """Reproduce Table I or a figure of tree-search policy gradients: trains, plays, writes Markdown and a picture.

    Repetitions are spread over processes. The same command goes on where it was stopped; all parts share training.

    Example: kibitz study tspg table-1 --game connect_four --scale quick

    Example: kibitz study tspg figure-2 --game all --scale paper --preset kibitz
    """
    names.at_least("--seed", seed, 0)
    names.choose("scale", scale, tspg.SCALES)
    games = list(tspg.PAPER) if game == ["all"] else game or ["connect_four"]
    folder = out_folder or Path("runs") / f"study-tspg-{scale}"
    with told("tspg") as shown:
        study = tspg.Study(
            part, games, scale, folder, preset, features, seed, processes, *shown, repetitions, unvisited
        )
        report = run_study(study, f"{part} into {folder}: {len(study.games)} games")
    chosen = " ".join(f"--game {each}" for each in study.games)
    command = (
        f"kibitz study tspg {part} {chosen} --scale {scale} --preset {preset} --features {features} "
        f"--repetitions {study.repetitions} --seed {seed}"
    )
    name = f"{part}-{preset}-{features}"
    if unvisited != "parent":
        command, name = f"{command} --unvisited {unvisited}", f"{name}-{unvisited}"
    present(report, folder, name, command, f"{scale}, {tspg.SCALES[scale].what}", json_file)


def study_doppelkopf(
    part: Annotated[str, part_of(doppelkopf_thesis)],
    data: Annotated[Path, typer.Option(help="Games to learn from, of doppelkopf:thesis: as kibitz record makes.")],
    scale: Annotated[str, scale_of(doppelkopf_thesis)] = "quick",
    out_folder: Annotated[Path | None, folder_of("doppelkopf")] = None,
    device: Annotated[str, typer.Option(help="Where torch computes: auto, cpu or cuda.")] = "auto",
    also: Annotated[
        list[Path] | None,
        typer.Option(help="A run of another network, measured beside these in table-6, table-7, figure-4; or several."),
    ] = None,
    net: Annotated[
        Path | None,
        typer.Option(
            help="A run of next-card for all but table-6; default: one that learns seven times as long as in table-6."
        ),
    ] = None,
    deals: Annotated[
        int | None, typer.Option(min=1, help="Of a match, each from four seats; default by the scale.")
    ] = None,
    seed: Seed = 1,
    processes: Processes = None,
    json_file: Json = None,
) -> None:
    """Reproduce a table or figure of Obenaus' thesis on Doppelkopf: trains, foretells, plays, writes Markdown.

    The same command goes on where it was stopped. All parts share their training.

    Example: kibitz study doppelkopf table-7 --data runs/doppelkopf-record-001 --scale quick

    Example: kibitz study doppelkopf table-9 --data runs/doppelkopf-record-001 --scale half --processes 8

    Example: kibitz study doppelkopf figure-4 --data runs/uct-games --net runs/study-doppelkopf-paper/thesis-256-1
    """
    names.at_least("--seed", seed, 0)
    names.choose("scale", scale, doppelkopf_thesis.SCALES)
    folder = out_folder or Path("runs") / f"study-doppelkopf-{scale}"
    with told("doppelkopf") as shown:
        study = doppelkopf_thesis.Study(
            part, data, scale, folder, seed, device, *shown, processes, also or [], net, deals
        )
        report = run_study(study, f"{part} into {folder}")
    given = "".join(f" --also {run}" for run in also or [])
    given += (f" --net {net}" if net else "") + (f" --deals {deals}" if deals else "")
    command = f"kibitz study doppelkopf {part} --data {data} --scale {scale}{given} --seed {seed}"
    what = doppelkopf_thesis.SCALES[scale].what + (f"; but 4 x {deals} played" if deals else "")
    present(report, folder, part, command, f"{scale}, {what}", json_file)


def study_doko(
    part: Annotated[str, part_of(doppelkopf_ablation)],
    net: Annotated[str, typer.Option(help="Networks of kibitz train cards or exit-cards: a run folder, or a file.")],
    scale: Annotated[str, scale_of(doppelkopf_ablation)] = "quick",
    worlds: Annotated[int, typer.Option(min=1, help="Deals that it looks ahead on, a card.")] = 100,
    others: Annotated[str, typer.Option(help="Networks that learned how the others play: a run, or a file.")] = "",
    out_folder: Annotated[Path | None, folder_of("doko")] = None,
    seed: Seed = 1,
    processes: Processes = None,
    json_file: Json = None,
) -> None:
    """What each part of doko brings, against three ensemble-uct:10x1000, and how long a card takes.

    The same command goes on where it was stopped.

    Example: kibitz study doko whole --net models/doppelkopf --scale half
    """
    names.at_least("--seed", seed, 0)
    names.choose("scale", scale, doppelkopf_ablation.SCALES)
    folder = out_folder or Path("runs") / f"study-doko-{scale}"
    with told("doko") as shown:
        study = doppelkopf_ablation.Study(part, net, scale, folder, worlds, seed, processes, *shown, others)
        report = run_study(study, f"{part} into {folder}")
    told_of = f" --others {others}" if others else ""
    command = f"kibitz study doko {part} --net {net}{told_of} --scale {scale} --guesses {worlds} --seed {seed}"
    present(report, folder, part, command, f"{scale}, {doppelkopf_ablation.SCALES[scale].what}", json_file)


def study_deep_cfr(
    part: Annotated[str, part_of(deep_cfr)],
    scale: Annotated[str, scale_of(deep_cfr)] = "quick",
    out_folder: Annotated[Path | None, folder_of("deep-cfr")] = None,
    preset: Annotated[str, typer.Option(help="Of Leduc: paper, or kibitz (ours).")] = "kibitz",
    device: Annotated[str, typer.Option(help="Where torch computes: auto, cpu or cuda.")] = "auto",
    seed: Seed = 1,
    processes: Processes = None,
    json_file: Json = None,
) -> None:
    """Deep CFR beside what was published: Leduc's curve; the thesis on hold'em with its defects and without.

    The same command goes on where it was stopped. The parts thesis and ablation share their training.

    Example: kibitz study deep-cfr leduc --scale half

    Example: kibitz study deep-cfr thesis --scale quick
    """
    names.at_least("--seed", seed, 0)
    names.choose("scale", scale, deep_cfr.SCALES)
    folder = out_folder or Path("runs") / f"study-deep-cfr-{scale}"
    with told("deep-cfr") as shown:
        study = deep_cfr.Study(part, scale, folder, seed, processes, device, preset, *shown)
        report = run_study(study, f"{part} into {folder}")
    command = f"kibitz study deep-cfr {part} --scale {scale} --preset {preset} --seed {seed}"
    present(report, folder, part, command, f"{scale}, {deep_cfr.SCALES[scale].what}", json_file)


@contextmanager
def told(title: str) -> Iterator[tuple[Callable[[str, float, float], None], Callable[[str], None]]]:
    """What a study shows while it works: how far it is, and what is to be said."""
    with waiting(title) as line:

        def watch(what: str, done: float, total: float) -> None:
            line(0, f"{what}: {done:,.0f} of {total:,.0f}")

        def tell(text: str) -> None:
            err.print(text, highlight=False, markup=False)

        yield watch, tell


def run_study(study: Any, what: str) -> Report:
    """Until it is done, or stopped by the keyboard: then the same command goes on."""
    err.print(what, highlight=False, markup=False)
    try:
        report: Report = study.run()
    except KeyboardInterrupt:
        err.print("stopped; what is there was saved, and the same command goes on", highlight=False)
        raise typer.Exit(130) from None
    return report


def present(report: Report, folder: Path, name: str, command: str, scale: str, json_file: Path | None) -> None:
    """Show what came out, and write it."""
    written = report.write(folder, name, command, scale)
    table = Table(*map(escape, report.heads), title=report.title)
    for row in report.rows:
        table.add_row(*row)
    out.print(table)
    for note in report.notes:
        out.print(escape(note), highlight=False)
    out.print(f"table: {written}", soft_wrap=True, highlight=False)
    if report.curves:
        picture = folder / f"{name}.png"
        plots.curves(picture, report.curves, report.title, report.measured, report.over)
        out.print(f"plot:  {picture}", soft_wrap=True, highlight=False)
    if report.games:
        picture = folder / f"{name}.png"
        plots.multiples(picture, report.title, report.games, report.over, report.measured)
        out.print(f"plot:  {picture}", soft_wrap=True, highlight=False)
    write_json(json_file, report.as_json())
