"""`kibitz runs`, `runs compare` and `models`: what there is, what it reached, and what to do with it."""

import json
import math
import os
import shlex
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.markup import escape
from rich.table import Column, Table
from typer.core import TyperGroup

from ...arena.match import FILE
from ...core.names import BadInput, choose
from ...core.runs import Run
from ...learn.model_files import PREFIX, describe, shipped
from ..ui import plots
from ..ui.progress import out, waiting
from .options import Json, write_json

RUNS = Path("runs")
INNER = {"checkpoints", "journal", "networks"}  # folders of a run that hold no runs
PNG = b"\x89PNG"
LABELS = {"nash_conv": "NashConv", "loss": "loss (KL to the expert)"}
OVER = ("iterations", "games", "seconds")


class Runs(TyperGroup):
    """Says what to do with a folder where a command should stand."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args[0] not in self.commands:
            known = ", ".join(self.commands)
            raise BadInput(f"runs has no command {args[0]!r}, only {known}; for runs elsewhere: --in {args[0]}")
        return super().resolve_command(ctx, args)


def register(app: typer.Typer) -> None:
    group = typer.Typer(cls=Runs, invoke_without_command=True)
    group.callback()(list_runs)
    group.command("compare")(compare)
    app.add_typer(group, name="runs")
    app.command("models")(list_models)


@dataclass
class Row:
    """What a run folder tells at a glance."""

    run: str  # its folder
    written: float = 0.0  # when something in it was, in seconds since 1970
    command: str = ""
    method: str = ""
    game: str = ""
    done: int | None = None  # iterations or games
    wanted: int | None = None
    nash_conv: float | None = None
    loss: float | None = None
    score: dict[str, float | None] | None = None  # of the first player: mean, low, high
    players: list[str] | None = None
    seed: int | None = None
    problem: str = ""  # why it can't be read

    @property
    def what(self) -> str:
        """Nearly the command that made it."""
        method = {"train": f"{self.method} {self.game}", "solve": f"{self.game} with {self.method}"}
        return f"{self.command} {method.get(self.command, self.game)} {' '.join(self.players or [])}".strip() or "-"

    @property
    def progress(self) -> str:
        if self.wanted is None:
            return "-"
        done = "?" if self.done is None else f"{self.done:,}"
        return done if self.done == self.wanted else f"{done} of {self.wanted:,}"

    @property
    def reached(self) -> str:
        if self.problem:
            return f"unreadable: {self.problem.split(': ')[0]}"
        if self.score is not None and self.players and (mean := self.score["mean"]) is not None:
            low, high = self.score["low"], self.score["high"]
            sure = "" if low is None or high is None else f" ({100 * low:.1f} to {100 * high:.1f})"
            return f"{self.players[0]} scores {100 * mean:.1f}%{sure}"
        parts = [f"NashConv {self.nash_conv:.4g}"] if self.nash_conv is not None else []
        parts += [f"loss {self.loss:.4g}"] if self.loss is not None else []
        return ", ".join(parts) or "-"

    @property
    def unfinished(self) -> bool:
        return None not in (self.done, self.wanted) and self.done != self.wanted

    @property
    def how_to_go_on(self) -> str:
        """The command; nothing where there is none."""
        if self.command == "train" and self.unfinished:
            return shlex.join(["kibitz", "train", "--resume", self.run])
        if self.command == "match" and self.unfinished and self.players:
            numbers = ["--games", str(self.wanted), "--seed", str(self.seed)]
            return shlex.join(["kibitz", "match", self.game, *self.players, *numbers, "--out", self.run])
        if self.command == "record" and self.unfinished and self.players:
            asked = [part for name in self.players for part in ("--players", name)]
            numbers = ["--games", str(self.wanted), "--seed", str(self.seed)]
            return shlex.join(["kibitz", "record", self.game, *asked, *numbers, "--out", self.run])
        return ""


def list_runs(
    context: typer.Context,
    folder: Annotated[
        Path | None, typer.Option("--in", help="Where to look; default runs.", metavar="FOLDER", show_default=False)
    ] = None,
    json_file: Json = None,
) -> None:
    """List the runs of a folder: what they are, how far they came, what they reached. The newest is the last.

    Example: kibitz runs

    Example: kibitz runs --in experiments/may

    Example: kibitz runs compare runs/leduc-cfr-001 runs/leduc-cfr+-001
    """
    if context.invoked_subcommand is not None:
        for option, given in (("--in", folder), ("--json", json_file)):
            if given is not None:
                raise BadInput(f"{option} {given} before {context.invoked_subcommand} is for the list of runs only")
        return
    where = RUNS if folder is None else folder
    if folder is not None and not folder.is_dir():
        raise BadInput(f"no folder {str(folder)!r} to look for runs in")
    with waiting(f"reading the runs below {where}") as line:
        rows = []
        for found in run_folders(where):
            rows.append(read_row(found))
            line(len(rows), f"{len(rows):,}")
    rows.sort(key=lambda row: (row.written, row.run))
    write_json(json_file, [asdict(row) for row in rows])
    if not rows:
        out.print(f"no runs in {escape(str(where))} yet: kibitz solve leduc makes one", highlight=False)
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for head in ("run", "what", "done", "reached", "written"):
        table.add_column(head, overflow="fold", no_wrap=head in ("run", "written"))
    table.columns[-1].min_width = 9
    now = time.time()
    for row in rows:
        cells = (row.run, row.what, row.progress, row.reached, age(now - row.written) if row.written else "-")
        table.add_row(*map(escape, cells), style="dim" if row.problem else "")
    out.print(table)
    for row in reversed(rows):
        if row.how_to_go_on:
            _say(f"to go on: {row.how_to_go_on}")
            break
    newest: dict[str, str] = {}  # game -> run that was measured
    for row in reversed([row for row in rows if row.nash_conv is not None or row.loss is not None]):
        if row.game in newest:
            _say(f"to compare: {shlex.join(['kibitz', 'runs', 'compare', row.run, newest[row.game]])}")
            break
        newest[row.game] = row.run


def run_folders(top: Path) -> Iterator[Path]:
    """Folders that hold a config.json, `top` too; hidden ones are passed by."""
    for place, folders, files in os.walk(top):
        held = "config.json" in files
        folders[:] = sorted(name for name in folders if not name.startswith(".") and not (held and name in INNER))
        if held:
            yield Path(place)


def read_row(folder: Path) -> Row:
    """Whatever is in the folder, this doesn't fail."""
    row, run = Row(str(folder)), Run(folder)
    try:
        row.written = max(path.lstat().st_mtime for path in folder.iterdir())
        config = run.config()
        if not isinstance(config.get("command"), str):
            raise BadInput("config.json is not a run's")
        row.command, row.game = config["command"], str(config.get("game", ""))
        row.method = str(config.get("method", config.get("with", "")))
        row.wanted, row.seed = _whole(config.get("iterations")), _whole(config.get("seed"))
        if row.command in ("match", "record"):
            _read_match(row, run, config)
        elif row.command == "session":
            row.players, row.wanted = [str(name) for name in config["players"]], config["games"] * config["sessions"]
            row.done = run.path(FILE).read_bytes().count(b"\n") if run.path(FILE).is_file() else 0
        else:
            measured = measurements(run)
            row.done = int(step(measured[-1])) if measured else (0 if row.command == "train" else None)
            row.nash_conv, row.loss = _last(measured, "nash_conv"), _last(measured, "loss")
    except BadInput as error:
        row.problem = str(error).removeprefix(f"{folder}{os.sep}")
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        row.problem = f"can't be read: {error}"
    return row


def _read_match(row: Row, run: Run, config: dict[str, Any]) -> None:
    row.players, row.wanted = [str(name) for name in config["players"]], _whole(config["games"])
    if run.path("result.json").is_file():
        result = json.loads(run.path("result.json").read_text())
        row.done, score = _whole(result["games"]), result["score"]
        row.score = {key: score[key] if _number(score[key]) else None for key in ("mean", "low", "high")}
    if row.done is None or row.done != row.wanted:
        row.done = run.path(FILE).read_bytes().count(b"\n") if run.path(FILE).is_file() else 0


def _whole(value: Any) -> int | None:
    return value if type(value) is int else None


def _last(measured: list[dict[str, Any]], key: str) -> float | None:
    return next((line[key] for line in reversed(measured) if _number(line.get(key))), None)


def age(seconds: float) -> str:
    """`40 s ago`, `3 min ago`, `5 h ago`, `2 d ago`."""
    for most, unit, length in ((90, "s", 1), (90 * 60, "min", 60), (36 * 3600, "h", 3600)):
        if seconds < most:
            return f"{max(seconds, 0) / length:.0f} {unit} ago"
    return f"{seconds / 86400:.0f} d ago"


def measurements(run: Run, name: str = "metrics.jsonl") -> list[dict[str, Any]]:
    """Its lines that say at which iteration they were made."""
    try:
        lines = run.lines(name)
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{run.path(name)} can't be read: {error}") from None
    return [line for line in lines if isinstance(line, dict) and _number(step(line))]


def step(line: dict[str, Any]) -> Any:
    """Training counts `iteration`, solving `iterations`."""
    return line.get("iteration", line.get("iterations"))


def _number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _png_file(path: Path) -> Path:
    """Told before the work, not after it."""
    if path.suffix.lower() != ".png":
        raise BadInput(f"--out {path} should end in .png")
    if path.is_dir() or not path.parent.is_dir():
        raise BadInput(f"can't write {path}: {'it is a folder' if path.is_dir() else 'its folder does not exist'}")
    if path.exists() and path.stat().st_size and not _is_png(path):
        raise BadInput(f"{path} holds something that is no picture: give another file by --out")
    return path


def _is_png(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(PNG)) == PNG
    except OSError:
        return False


def compare(
    folders: Annotated[list[Path], typer.Argument(help="Run folders, two or more.", metavar="RUN...")],
    measures: Annotated[
        list[str] | None,
        typer.Option("--measure", help="What to compare; may be given again. Default nash_conv where all have it."),
    ] = None,
    over: Annotated[str, typer.Option(help=f"{', '.join(OVER[:-1])} or {OVER[-1]}.")] = "iterations",
    picture: Annotated[Path, typer.Option("--out", callback=_png_file, help="The picture to write.")] = Path(
        "compare.png"
    ),
    json_file: Json = None,
) -> None:
    """Plot runs together, and say how they ended and in which settings they differ.

    Example: kibitz runs compare runs/leduc-cfr-001 runs/leduc-cfr+-001

    Example: kibitz runs compare runs/a runs/b runs/c --measure loss --over seconds --out abc.png
    """
    choose("measure of progress", over, OVER)
    runs = _named(folders)
    configs = {name: run.config() for name, run in runs.items()}
    measured = {name: _measured(run) for name, run in runs.items()}
    there = {name: _measures(lines) for name, lines in measured.items()}
    chosen = list(dict.fromkeys(measures or [_default_measure(there)]))
    for measure in chosen:
        choose("measure", measure, set().union(*there.values()))
        for name, known in there.items():
            if measure not in known:
                raise BadInput(f"{name} has no {measure}, it has {', '.join(sorted(known))}")
    axes = {name: _positions(run, measured[name], over) for name, run in runs.items()}
    lines = {
        measure: {
            name: [
                (x, line[measure]) for x, line in zip(axes[name], measured[name], strict=True) if _has(line, measure)
            ]
            for name in runs
        }
        for measure in chosen
    }
    games = list(dict.fromkeys(str(config.get("game", "")) for config in configs.values()))
    solved = all(config.get("command") == "solve" for config in configs.values())
    try:
        panels = {LABELS.get(measure, measure): found for measure, found in lines.items()}
        plots.panels(picture, ", ".join(games), panels, over, log_x=solved and over == "iterations")
    except OSError as error:
        raise BadInput(f"can't write {picture}: {error.strerror or error}") from None
    differing = differences(configs)
    _show(lines, over, differing)
    _say(f"plot: {picture}")
    report = {
        "over": over,
        "runs": [
            {"run": str(run.folder)} | {measure: _ends(lines[measure][name]) for measure in chosen}
            for name, run in runs.items()
        ],
        "differences": differing,
        "plot": str(picture),
    }
    write_json(json_file, report)


def _named(folders: list[Path]) -> dict[str, Run]:
    """Runs by the names of their folders; by their paths, where the same name is there twice."""
    for folder in folders:
        if not (folder / "config.json").is_file():
            raise BadInput(f"{folder} holds no run; kibitz runs lists those of runs, with --in those of any folder")
    if len(folders) < 2:
        raise BadInput(f"one run, {folders[0]}, can't be compared: name two or more")
    whole = [folder.resolve() for folder in folders]
    for folder, path in zip(folders, whole, strict=True):
        if whole.count(path) > 1:
            raise BadInput(f"{folder} is named twice")
    short = [path.name for path in whole]
    names = short if len(set(short)) == len(short) else [str(folder) for folder in folders]
    return {name: Run(folder) for name, folder in zip(names, folders, strict=True)}


def _measured(run: Run) -> list[dict[str, Any]]:
    lines = measurements(run)
    if not _measures(lines):
        why = {
            "match": "it is a match, and kibitz rate compares players",
            "train": "its first iteration isn't done",
            "solve": "its game is too large for that",
        }.get(str(run.config().get("command")), "metrics.jsonl holds none")
        raise BadInput(f"{run.folder} has no measurements: {why}")
    return lines


def _measures(lines: list[dict[str, Any]]) -> set[str]:
    """What was measured; counts of work aren't."""
    return {key for line in lines for key in line if _has(line, key)} - {"iteration", "iterations", "games"}


def _has(line: dict[str, Any], key: str) -> bool:
    return key in line and _number(line[key])


def _default_measure(there: dict[str, set[str]]) -> str:
    common = set.intersection(*there.values())
    for measure in ("nash_conv", "loss"):
        if measure in common:
            return measure
    if not common:
        told = "; ".join(f"{name} has {', '.join(sorted(known))}" for name, known in there.items())
        raise BadInput(f"these runs have no measure in common: {told}")
    return min(common)


def _positions(run: Run, lines: list[dict[str, Any]], over: str) -> list[float]:
    """Where each measurement stands on the axis."""
    if over == "iterations":
        return [step(line) for line in lines]
    if over == "games":
        if not all(_has(line, "games") for line in lines):
            raise BadInput(f"{run.folder} plays no games: compare it over iterations")
        return [line["games"] for line in lines]
    took: dict[float, float] = {}
    for line in measurements(run, "times.jsonl"):
        # An iteration that was learned again after a kill has two lines: its games were played in the first only.
        seconds = sum(line[key] for key in ("playing", "traversing", "collecting", "learning") if _has(line, key))
        took[step(line)] = max(seconds, took.get(step(line), 0))
    if not took:
        raise BadInput(f"{run.folder} has no times: compare it over iterations")
    passed = np.cumsum([0, *(took[at] for at in sorted(took))])
    return [float(passed[np.searchsorted(sorted(took), step(line), "right")]) for line in lines]


def differences(configs: dict[str, dict[str, Any]]) -> dict[str, list[Any]]:
    """Keys in which configurations differ, each with its values; None where one has no such key."""
    keys = dict.fromkeys(key for config in configs.values() for key in config)
    values = {key: [config.get(key) for config in configs.values()] for key in keys}
    return {key: found for key, found in values.items() if any(value != found[0] for value in found)}


def _ends(points: list[tuple[float, float]]) -> dict[str, float]:
    at, lowest = min(points, key=lambda point: point[1])
    return {"first": points[0][1], "last": points[-1][1], "lowest": lowest, "lowest_at": at, "until": points[-1][0]}


def _show(lines: dict[str, dict[str, list[tuple[float, float]]]], over: str, differing: dict[str, list[Any]]) -> None:
    for measure, runs in lines.items():
        table = Table(escape(LABELS.get(measure, measure)), "first", "last", over, "lowest", "at")
        table.columns[0].overflow = "fold"
        for name, points in runs.items():
            ends = _ends(points)
            first, last, lowest = (f"{ends[key]:.4g}" for key in ("first", "last", "lowest"))
            table.add_row(escape(name), first, last, _count(ends["until"]), lowest, _count(ends["lowest_at"]))
        out.print(table)
    if not differing:
        out.print("the settings of all these runs are the same", highlight=False)
        return
    table = Table("setting", *(escape(name) for name in next(iter(lines.values()))))
    for key, values in differing.items():
        table.add_row(escape(key), *("-" if value is None else escape(_word(value)) for value in values))
    out.print(table)


def _count(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 or number == int(number) else f"{number:.3g}"


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _say(text: str) -> None:
    out.print(text, soft_wrap=True, highlight=False, markup=False)


def list_models(json_file: Json = None) -> None:
    """List the networks and learned patterns that ship with Kibitz, and how to play them.

    Example: kibitz models
    """
    networks = []
    table = Table(Column("model", no_wrap=True), "game", "layers, patterns", "kB", "made by")
    for name, path in shipped().items():
        used = f"{PREFIX}{name}"
        try:
            about = describe(path)
        except BadInput as error:
            table.add_row(used, "unreadable", "", "", escape(str(error)), style="dim")
            continue
        play = shlex.join(["kibitz", "play", about.game, "--against", f"{about.player}:{used}"])
        networks.append({"network": used, **about._asdict(), "play": play})
        table.add_row(
            f"[bold]{escape(used)}[/bold]", escape(about.game), about.what, f"{about.bytes / 1000:,.0f}",
            escape(about.made),
        )  # fmt: skip
    if not table.row_count:
        _say("no network ships with this version: kibitz train exit-oos leduc --preset small makes one")
    else:
        out.print(table)
    for network in networks:
        _say(f"play it: {network['play']}")
    write_json(json_file, networks)
