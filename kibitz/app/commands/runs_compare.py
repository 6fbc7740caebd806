"""`kibitz runs compare`: the metrics of several runs in one plot, and the settings in which they differ."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Column, Table
from rich.text import Text

from ...core.names import BadInput, choose
from ...core.runs import Run
from .. import completion
from ..run_summary import is_number, measurements, step
from ..ui.progress import out, print_plain
from ..ui.tables import fits
from .options import Json, check_writable, path_to_read, write_json

PNG = b"\x89PNG"
LABELS = {"nash_conv": "NashConv", "loss": "loss (KL to the expert)"}
OVER = ("iterations", "games", "seconds")

Points = list[tuple[float, float]]


def _png_file(path: Path) -> Path:
    """Refuse a file that shouldn't be overwritten, before the work starts."""
    if path.suffix.lower() != ".png":
        raise BadInput(f"--out {path} should end in .png")
    check_writable(path)
    if path.exists() and path.stat().st_size and not _is_png(path):
        raise BadInput(f"{path} exists and is not a PNG image: choose another file with --out")
    return path


def _is_png(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(PNG)) == PNG
    except OSError:
        return False


def compare(
    folders: Annotated[
        list[Path],
        typer.Argument(
            help="Run folders, two or more.", metavar="RUN", parser=path_to_read, autocompletion=completion.runs
        ),
    ],
    metrics: Annotated[
        list[str] | None,
        typer.Option("--metric", help="Metric to compare; repeatable. Default: nash_conv, else loss, if all have it."),
    ] = None,
    over: Annotated[str, typer.Option(help=f"Horizontal axis: {', '.join(OVER[:-1])} or {OVER[-1]}.")] = "iterations",
    picture: Annotated[Path, typer.Option("--out", callback=_png_file, help="PNG file to write.")] = Path(
        "compare.png"
    ),
    json_file: Json = None,
) -> None:
    """Plot the metrics of several runs together, and list their final values and the settings that differ.

    Example: kibitz runs compare runs/leduc-cfr-001 runs/leduc-cfr+-001

    Example: kibitz runs compare runs/a runs/b runs/c --metric loss --over seconds --out abc.png
    """
    from ..ui import plots

    choose("horizontal axis", over, OVER)
    runs = _named(folders)
    configs = {name: run.config() for name, run in runs.items()}
    measured = {name: _measured(run) for name, run in runs.items()}
    available = {name: _metrics(lines) for name, lines in measured.items()}
    chosen = list(dict.fromkeys(metrics or [_default_metric(available)]))
    for metric in chosen:
        choose("metric", metric, set().union(*available.values()))
        for name, known in available.items():
            if metric not in known:
                raise BadInput(f"{name} has no {metric}, it has {', '.join(sorted(known))}")
    axes = {name: _positions(run, measured[name], over) for name, run in runs.items()}
    curves = {
        metric: {
            name: [(x, line[metric]) for x, line in zip(axes[name], measured[name], strict=True) if _has(line, metric)]
            for name in runs
        }
        for metric in chosen
    }
    games = list(dict.fromkeys(str(config.get("game", "")) for config in configs.values()))
    solved = all(config.get("command") == "solve" for config in configs.values())
    try:
        panels = {LABELS.get(metric, metric): found for metric, found in curves.items()}
        plots.panels(picture, ", ".join(games), panels, over, log_x=solved and over == "iterations")
    except OSError as error:
        raise BadInput(f"can't write {picture}: {error.strerror or error}") from None
    differing = differences(configs)
    _show(curves, over, differing)
    print_plain(f"plot: {picture}")
    report = {
        "over": over,
        "runs": [
            {"run": str(run.folder)} | {metric: _ends(curves[metric][name]) for metric in chosen}
            for name, run in runs.items()
        ],
        "differences": differing,
        "plot": str(picture),
    }
    write_json(json_file, report)


def _named(folders: list[Path]) -> dict[str, Run]:
    """Runs by the names of their folders, or by their paths where two folders have the same name."""
    for folder in folders:
        if not (folder / "config.json").is_file():
            raise BadInput(f"{folder} is not a run folder; kibitz runs lists those in runs, or in another with --in")
    if len(folders) < 2:
        raise BadInput(f"{folders[0]} is only one run: name two or more to compare")
    resolved = [folder.resolve() for folder in folders]
    for folder, path in zip(folders, resolved, strict=True):
        if resolved.count(path) > 1:
            raise BadInput(f"{folder} is named twice")
    short = [path.name for path in resolved]
    names = short if len(set(short)) == len(short) else [str(folder) for folder in folders]
    return {name: Run(folder) for name, folder in zip(names, folders, strict=True)}


def _measured(run: Run) -> list[dict[str, Any]]:
    lines = measurements(run)
    if not _metrics(lines):
        why = {
            "match": "it is a match; kibitz rate compares players",
            "train": "its first iteration isn't finished",
            "solve": "its game tree is too large",
        }.get(str(run.config().get("command")), "metrics.jsonl has none")
        raise BadInput(f"{run.folder} has no metrics: {why}")
    return lines


def _metrics(lines: list[dict[str, Any]]) -> set[str]:
    """Names of the metrics in these lines; counts of work are none."""
    return {key for line in lines for key in line if _has(line, key)} - {"iteration", "iterations", "games"}


def _has(line: dict[str, Any], key: str) -> bool:
    return is_number(line.get(key))


def _default_metric(available: dict[str, set[str]]) -> str:
    common = set.intersection(*available.values())
    for metric in ("nash_conv", "loss"):
        if metric in common:
            return metric
    if not common:
        each = "; ".join(f"{name} has {', '.join(sorted(known))}" for name, known in available.items())
        raise BadInput(f"these runs have no metric in common: {each}")
    return min(common)


def _positions(run: Run, lines: list[dict[str, Any]], over: str) -> list[float]:
    """Positions of the measurements on the horizontal axis."""
    import numpy as np

    if over == "iterations":
        return [step(line) for line in lines]
    if over == "games":
        if not all(_has(line, "games") for line in lines):
            raise BadInput(f"{run.folder} plays no games: compare it over iterations")
        return [line["games"] for line in lines]
    took: dict[float, float] = {}
    for line in measurements(run, "times.jsonl"):
        # An iteration that was repeated after a kill has two lines; only the first includes the time of its games.
        seconds = sum(line[key] for key in ("playing", "traversing", "collecting", "learning") if _has(line, key))
        took[step(line)] = max(seconds, took.get(step(line), 0))
    if not took:
        raise BadInput(f"{run.folder} has no times: compare it over iterations")
    passed = np.cumsum([0, *(took[at] for at in sorted(took))])
    return [float(passed[np.searchsorted(sorted(took), step(line), "right")]) for line in lines]


def differences(configs: dict[str, dict[str, Any]]) -> dict[str, list[Any]]:
    """Keys in which configurations differ, each with its values; None where a configuration lacks the key."""
    keys = dict.fromkeys(key for config in configs.values() for key in config)
    values = {key: [config.get(key) for config in configs.values()] for key in keys}
    return {key: found for key, found in values.items() if any(value != found[0] for value in found)}


def _ends(points: Points) -> dict[str, float]:
    at, lowest = min(points, key=lambda point: point[1])
    return {"first": points[0][1], "last": points[-1][1], "lowest": lowest, "lowest_at": at, "until": points[-1][0]}


def _show(curves: dict[str, dict[str, Points]], over: str, differing: dict[str, list[Any]]) -> None:
    for metric, runs in curves.items():
        table = Table(escape(LABELS.get(metric, metric)), "first", "last", over, "lowest", "at")
        table.columns[0].overflow = "fold"
        for name, points in runs.items():
            ends = _ends(points)
            first, last, lowest = (f"{ends[key]:.4g}" for key in ("first", "last", "lowest"))
            table.add_row(escape(name), first, last, _count(ends["until"]), lowest, _count(ends["lowest_at"]))
        out.print(table)
    if not differing:
        out.print("all settings of these runs are equal", highlight=False)
        return
    names = list(next(iter(curves.values())))
    table = Table("setting", *(Column(Text(name)) for name in names))
    for key, values in differing.items():
        table.add_row(key, *(Text(_text(value)) for value in values))
    out.print(table if fits(table) else _by_value(names, differing))


def _by_value(names: list[str], differing: dict[str, list[Any]]) -> Table:
    """The settings that differ, one line per value, for many runs or a narrow terminal."""
    table = Table("setting", Column("value", overflow="fold"), Column("runs", overflow="fold"))
    for key, values in differing.items():
        texts = [_text(value) for value in values]
        for place, text in enumerate(dict.fromkeys(texts)):
            runs = ", ".join(name for name, other in zip(names, texts, strict=True) if other == text)
            table.add_row(key if place == 0 else "", Text(text), Text(runs))
    return table


def _count(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 or number == int(number) else f"{number:.3g}"


def _text(value: Any) -> str:
    return "-" if value is None else value if isinstance(value, str) else json.dumps(value)
