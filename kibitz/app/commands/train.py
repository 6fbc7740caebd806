"""`kibitz train`: networks learn from searches. Its options are made of the dataclass of the method."""

import importlib.util
import inspect
import math
import shlex
import time
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.markup import escape

from ...core import names
from ...core.names import BadInput
from ...core.runs import Run
from ...learn.deep_cfr.loop import Stage
from ...learn.expert_iteration import Progress
from ...learn.lessons import Passed
from ...learn.method import Lessons, Solving
from ...learn.trainer import METHODS, Estimate, config_of, configured, estimate, method_of, new_run, train
from ..ui import plots
from ..ui.formatting import format_duration
from ..ui.progress import err, out, waiting
from .options import GameName, Json, Out, Processes, write_json

Cluster = Annotated[
    str | None,
    typer.Option(help="Play on a Ray cluster: auto, or its ADDRESS. Needs pip install 'kibitz\\[cluster]'."),
]


def register(app: typer.Typer) -> None:
    group = typer.Typer(invoke_without_command=True)  # its help is that of `resume`
    group.callback()(resume)
    for name, method in METHODS.items():
        group.command(name, help=_help(name))(_command(name, method.config))
    app.add_typer(group, name="train")


def _help(method: str) -> str:
    examples = "\n\n".join(f"Example: kibitz train {method} {each}" for each in METHODS[method].examples)
    return (
        f"{METHODS[method].about}\n\n"
        "Writes a run folder: what was learned, metrics, checkpoints, TensorBoard events. Ctrl-C stops and keeps all; "
        f"kibitz train --resume RUN goes on, after a kill too, to the same result.\n\n{examples}"
    )


def _command(method: str, config: Any) -> Any:
    """A command with an option for each field of the configuration; what isn't given is left to preset and default."""

    def command(game_name: str, preset: str | None, out_folder: Any, json_file: Any, processes: Any = None, cluster: Any = None, **given: Any) -> None:  # fmt: skip  # noqa: E501
        if cluster is not None and importlib.util.find_spec("ray") is None:
            raise BadInput("a cluster needs Ray: pip install 'kibitz[cluster]'")
        _start(new_run(out_folder, method, configured(method, game_name, preset, given)), processes, cluster, json_file)

    parameters = [
        _parameter("game_name", GameName),
        _parameter(
            "preset",
            Annotated[
                str | None,
                typer.Option(
                    help="; ".join(f"{key}: {text}" for key, text in METHODS[method].presets.items())
                    + ". Then single numbers:"
                ),
            ],
            None,
        ),
    ]
    hints = names.hints(config)
    for field in fields(config):
        if field.default is MISSING:
            continue
        kind, meaning, allowed = hints[field.name]
        span = "" if allowed is None or isinstance(allowed, range) else f" ({names.span(kind, meaning, allowed)})"
        text = f"{meaning}{span}; default {field.default:g}" if kind in (int, float) else f"{meaning}{span}; default {field.default}"  # fmt: skip  # noqa: E501
        parameters.append(_parameter(field.name, Annotated[kind | None, typer.Option(help=text)], None))
    if not isinstance(METHODS[method], Lessons):  # one that plays
        parameters += [_parameter("processes", Processes, None), _parameter("cluster", Cluster, None)]
    parameters += [_parameter("out_folder", Out, None), _parameter("json_file", Json, None)]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command


def _parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def resume(
    context: typer.Context,
    folder: Annotated[
        Path | None, typer.Option("--resume", help="A run folder to go on with.", metavar="RUN", show_default=False)
    ] = None,
    iterations: Annotated[int | None, typer.Option(help="With --resume: go on to so many.")] = None,
    processes: Processes = None,
    cluster: Cluster = None,
    json_file: Json = None,
) -> None:
    """Train a network by search, into a run folder; or go on with one.

    Example: kibitz train exit-oos leduc --preset small

    Example: kibitz train --resume runs/leduc-exit-oos-001
    """
    if context.invoked_subcommand is not None:
        if folder is not None:
            raise BadInput("--resume goes without a method: the run knows its own")
        given = {"iterations": iterations, "processes": processes, "cluster": cluster, "json": json_file}
        for name, value in given.items():
            if value is not None:
                raise BadInput(f"--{name} {value} should stand behind {context.invoked_subcommand}, not before it")
        return
    if folder is None:
        raise BadInput(f"name a method ({', '.join(METHODS)}) or --resume RUN; kibitz train --help shows how")
    run = Run(folder)
    if not run.path("config.json").is_file():
        raise BadInput(f"{folder} holds no run")
    config = config_of(run)
    if iterations is not None:
        if iterations < config.iterations:
            raise BadInput(f"{folder} was begun for {config.iterations} iterations, and that can grow only")
        config_of(run, iterations=iterations)  # refused before it is written
        run = Run.create_or_resume(folder, "", run.config() | {"iterations": iterations}, may_grow=("iterations",))
    _start(run, processes, cluster, json_file)


def _start(run: Run, processes: int | None, cluster: str | None, json_file: Path | None) -> None:
    """Say what it will take, train with a live line, and say what came out and what to do with it."""
    config = config_of(run)
    err.print(f"[bold]{config.game}[/bold] into {escape(str(run.folder))}", highlight=False)
    began = time.perf_counter()
    interrupted = False
    lines = run.lines()
    if not lines or lines[-1]["iteration"] < config.iterations:
        try:
            with waiting("how long will it take?"):
                told = foretold(estimate(run, processes))
            err.print(told, highlight=False)
        except KeyboardInterrupt:
            _stopped(run)
    nash_convs = [line["nash_conv"] for line in run.lines() if "nash_conv" in line][-1:]
    method = method_of(run)
    taught, solving = isinstance(method, Lessons), isinstance(method, Solving)
    total = None if taught else config.iterations if solving else config.iterations * config.games
    with waiting(f"{config.game}", total) as line:

        def show_stage(stage: Stage) -> None:
            if "nash_conv" in stage.metrics:
                nash_convs[:] = [stage.metrics["nash_conv"]]
            note = f"{stage.what} {stage.done:,}/{stage.total:,}" if stage.what != "done" else ""
            if nash_convs:
                note += f"  NashConv {nash_convs[0]:.3f}"
            if stage.metrics:
                note += f"  loss {stage.metrics['loss_1']:.2f} {stage.metrics['loss_2']:.2f}"
            note += f"  {stage.nodes / max(stage.traversing, 1e-9):,.0f} nodes/s"
            line(stage.iteration, note)

        def show_lesson(passed: Passed) -> None:
            rate = passed.fresh / max(passed.seconds, 1e-9)
            note = f"{passed.steps:,} of {passed.total:,} steps  pass {passed.iteration}  {rate:,.1f} steps/s"
            left = format_duration((passed.total - passed.steps) / max(rate, 1e-9))
            note += f"  loss {passed.loss:.4f}  {left} left"
            if "accuracy" in passed.metrics:
                note += f"  accuracy {passed.metrics['accuracy']:.1%}"
            line(passed.steps, note)

        def show(progress: Progress) -> None:
            metrics = progress.metrics
            if "nash_conv" in metrics:
                nash_convs[:] = [metrics["nash_conv"]]
            rate = progress.decisions * getattr(config, "simulations", 1) / max(progress.seconds, 1e-9)
            unit = "simulations" if hasattr(config, "simulations") else "games"
            note = f"iteration {progress.iteration}  {rate:,.0f} {unit}/s"
            if "loss" in metrics:
                note += f"  loss {metrics['loss']:.3f}  experience {metrics['rows']:,}"
            if nash_convs:
                note += f"  NashConv {nash_convs[0]:.3f}"
            line(progress.games, note)

        try:
            train(
                run,
                processes,
                cluster,
                show_lesson if taught else show_stage if solving else show,
                lambda text: err.print(text, highlight=False, markup=False),
            )
        except KeyboardInterrupt:
            interrupted = True
    report(run, time.perf_counter() - began, json_file)
    if interrupted:
        _stopped(run)


def _stopped(run: Run) -> NoReturn:
    taught = isinstance(method_of(run), Lessons | Solving)
    kept = (
        "what was learned since the last checkpoint is learned again" if taught else "all games that count were saved"
    )
    err.print(f"stopped; {kept}", highlight=False)
    again = shlex.join(["kibitz", "train", "--resume", str(run.folder)])
    err.print(f"to go on: {again}", soft_wrap=True, highlight=False, markup=False)
    raise typer.Exit(130) from None


def foretold(told: Estimate) -> str:
    left = "" if told.done == 0 else f" ({told.done:,} of {told.iterations:,} iterations are done)"
    cores = "1 core" if told.processes == 1 else f"{told.processes} cores"
    return f"about {format_duration(told.seconds)} on {cores}, and {told.bytes / 1e6:,.0f} MB of disk{left}"


def report(run: Run, seconds: float, json_file: Path | None = None) -> None:
    """What a run got, and how to play it."""
    config, lines = config_of(run), run.lines()
    last = lines[-1] if lines else {"iteration": 0, "games": 0}
    played = f"{last['games']:,} games, " if "games" in last else ""
    judged = [(line["iteration"], line["nash_conv"]) for line in lines if "nash_conv" in line]
    out.print(
        f"[bold]{config.game}[/bold]: {last['iteration']:,} of {config.iterations:,} iterations, "
        f"{played}{format_duration(seconds)}",
        highlight=False,
    )
    if "accuracy" in last:
        out.print(
            f"foretells {last['accuracy']:.1%} of the cards in games that it hasn't seen, {lines[0]['accuracy']:.1%} "
            f"untrained; loss {last.get('loss', math.nan):.4f}, there {last['loss_of_validation']:.4f}",
            highlight=False,
        )
    elif "loss_1" in last:
        out.print(
            f"{last['rows']:,} samples; loss of seat 1 {last['loss_1']:.4f}, of seat 2 {last['loss_2']:.4f}",
            highlight=False,
        )
    elif "loss" in last:
        out.print(f"loss (how far from the expert) {last['loss']:.4f}", highlight=False)
    if len(judged) > 1:
        first, best = judged[0][1], min(value for _, value in judged)
        out.print(
            f"NashConv {judged[-1][1]:.4f}, from {first:.4f} untrained; the lowest on the way was {best:.4f}",
            highlight=False,
        )
        plots.curves(run.path("nash_conv.png"), {run.folder.name: judged}, config.game, "NashConv")
        out.print(f"plot:    {run.path('nash_conv.png')}", soft_wrap=True, highlight=False)
    if run.path("network.safetensors").exists():
        out.print(f"learned: {run.path('network.safetensors')}", soft_wrap=True, highlight=False)
        player = f"{method_of(run).player}:{run.folder}"
        out.print(f"play it: kibitz play {config.game} --against {player}", soft_wrap=True, highlight=False)
        if method_of(run).player == "features":
            out.print(f"look at it: kibitz explain {run.folder}", soft_wrap=True, highlight=False)
    write_json(json_file, run.config() | {"measured": last, "nash_conv": judged[-1][1] if judged else None})
