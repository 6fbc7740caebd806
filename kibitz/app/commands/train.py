"""`kibitz train`: one subcommand per learner. Its options are the fields of the learner's configuration."""

import inspect
import time
from dataclasses import MISSING, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, get_type_hints

import typer
from rich.markup import escape
from typer.core import TyperGroup

from ...core import names, plugins
from ...core.names import BadInput
from ...core.runs import Run
from ..index import index, is_enough, rebuild_command
from ..ui.progress import end_stopped, err, format_duration, out, print_plain, reporting
from .options import Cluster, GameName, Json, Memory, Out, Processes, Trust, path_to_read, write_json

if TYPE_CHECKING:
    from ...core.pool import Places


class LearnerGroup(TyperGroup):
    """Makes the subcommand of a learner when it is asked for, that of `path/to/file.py:Class` too."""

    def list_commands(self, context: Any) -> list[str]:
        if is_enough() and not plugins.have("learner"):
            return list(index()["train"])
        from ...train.learner import LEARNERS

        return list(LEARNERS)

    def get_command(self, context: Any, name: str) -> Any:
        single = typer.Typer(rich_markup_mode="rich", add_completion=False)
        if is_enough() and name in index()["train"]:
            command, text = rebuild_command(index()["train"][name]), index()["train"][name]["help"]
        else:
            command, text = command_of(name)
        single.command(name, help=text, short_help=text.partition(". ")[0] + ".")(command)
        return typer.main.get_command(single)


def register(app: typer.Typer) -> None:
    group = typer.Typer(cls=LearnerGroup, invoke_without_command=True)
    group.callback()(resume)
    app.add_typer(group, name="train")


def command_of(name: str) -> tuple[Any, str]:
    """The command of a learner, with an option for each field of its configuration, and its help text."""
    from ...train.learner import ADVANCED, Learner, learner_class
    from ...train.trainer import configured, new_run

    cls = learner_class(name)

    def command(game_name: str, out_folder: Any, json_file: Any, preset: str | None = None, processes: Any = None, cluster: Any = None, memory: Any = None, trust: bool = False, **given: Any) -> None:  # fmt: skip  # noqa: E501
        _start(new_run(out_folder, name, configured(name, game_name, preset, given)), cluster or processes, json_file)

    parameters = [_parameter("game_name", GameName)]
    if cls.presets:
        listed = "; ".join(f"{key}: {text}" for key, text in cls.presets.items())
        text = f"{listed}. Other options override single values."
        parameters.append(_parameter("preset", Annotated[str | None, typer.Option(help=text)], None))
    annotations = get_type_hints(cls.Config, include_extras=True)
    for field in fields(cls.Config):
        if field.default is MISSING:
            continue
        kind, meaning, allowed = names.hints(cls.Config)[field.name]
        span = "" if allowed is None or isinstance(allowed, range) else f" ({names.span(kind, meaning, allowed)})"
        default = {True: "yes", False: "no", "": "none"}.get(field.default) if kind in (bool, str) else None
        default = default or (f"{field.default:,}" if kind is int else field.default)
        text = f"{meaning[:1].upper()}{meaning[1:]}{span}; default {default}."
        panel = "Advanced options" if ADVANCED in annotations[field.name].__metadata__ else None
        # A field can't have the name of a keyword of Python: `from_` is the option --from.
        flags = (f"--{field.name[:-1]}",) if field.name.endswith("_") else ()
        option = typer.Option(*flags, help=text, rich_help_panel=panel)
        parameters.append(_parameter(field.name, Annotated[kind | None, option], None))
    if cls.worker is not Learner.worker:
        parameters += [_parameter("processes", Processes, None), _parameter("cluster", Cluster, None)]
    parameters += [_parameter("memory", Memory, None), _parameter("out_folder", Out, None)]
    parameters.append(_parameter("trust", Trust, False))
    parameters += [_parameter("json_file", Json, None)]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    examples = "\n\n".join(f"Example: kibitz train {name} {each}" for each in cls.examples)
    return command, (
        f"{cls.about}\n\n"
        "Writes a run folder: network, metrics, checkpoints, TensorBoard events. After Ctrl-C or a kill, "
        f"kibitz train --resume RUN continues to the same result.\n\n{examples}"
    )


def _parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def resume(
    context: typer.Context,
    folder: Annotated[
        Path | None,
        typer.Option("--resume", help="Run folder to resume.", metavar="RUN", show_default=False, parser=path_to_read),
    ] = None,
    iterations: Annotated[int | None, typer.Option(help="With --resume: total number of iterations to reach.")] = None,
    processes: Processes = None,
    cluster: Cluster = None,
    memory: Memory = None,
    trust: Trust = False,
    json_file: Json = None,
) -> None:
    """Train a learner into a run folder, or resume a run. A learner in a file is named path/to/file.py:Class.

    Example: kibitz train exit-oos leduc --preset small

    Example: kibitz train --resume runs/leduc-exit-oos-001
    """
    if context.invoked_subcommand is not None:
        if folder is not None:
            raise BadInput("--resume takes no learner: the run names its own")
        given = {
            "iterations": iterations,
            "processes": processes,
            "cluster": cluster,
            "memory": memory,
            "json": json_file,
        }
        for name, value in given.items():
            if value is not None:
                raise BadInput(f"--{name} {value} should follow {context.invoked_subcommand}, not precede it")
        return
    from ...train.learner import LEARNERS
    from ...train.trainer import check_workers, method_of, open_run

    if folder is None:
        raise BadInput(f"name a learner ({', '.join(LEARNERS)}) or --resume RUN; see kibitz train --help")
    run = open_run(folder, iterations)
    check_workers(method_of(run), cluster or processes)
    _start(run, cluster or processes, json_file)


def _start(run: Run, processes: "Places | None", json_file: Path | None) -> None:
    """Train with a live line, and print the result and how to use it."""
    from ...train.trainer import config_of, train

    config = config_of(run)
    err.print(f"[bold]{escape(config.game)}[/bold] into {escape(str(run.folder))}", highlight=False)
    began = time.perf_counter()
    interrupted = False
    with run.lock():
        lines = run.read_lines()
        if lines and 0 < lines[-1]["iteration"] < config.iterations:
            err.print(f"{lines[-1]['iteration']:,} of {config.iterations:,} iterations are done", highlight=False)
        with reporting(config.game) as line:
            try:
                train(run, processes, line)
            except KeyboardInterrupt:
                interrupted = True
        report(run, time.perf_counter() - began, json_file)
    if interrupted:
        stop(run)


def stop(run: Run) -> NoReturn:
    """Say how to resume a training that was interrupted, and end the command."""
    config = run.config()
    trust = ["--trust"] if ".py:" in f"{config['game']} {config['method']}" else []
    said = "stopped: everything up to the last checkpoint and all collected games are kept"
    end_stopped(said, ["kibitz", "train", "--resume", run.place, *trust])


def report(run: Run, seconds: float, json_file: Path | None = None) -> None:
    """Print what a run has reached, and how to play against it."""
    from ...train.trainer import class_of, config_of

    config, cls, lines = config_of(run), class_of(run), run.read_lines()
    last = lines[-1] if lines else {"iteration": 0}
    totals = "".join(f"{last[key]:,} {key}, " for key in ("games", "traversals") if key in last)
    out.print(
        f"[bold]{escape(config.game)}[/bold]: {last['iteration']:,} of {config.iterations:,} iterations, "
        f"{totals}{format_duration(seconds)}",
        highlight=False,
    )
    for name in cls.headline:
        points = [(line["iteration"], line[name]) for line in lines if name in line]
        if not points:
            continue
        text = f"{LABELS.get(name, name)} {points[-1][1]:.4f}"
        if len(points) > 1:
            text += f", from {points[0][1]:.4f} at iteration {points[0][0]}"
        print_plain(text)
        if name == "nash_conv" and len(points) > 1:
            from ..ui import plots

            plots.curves(run.path("nash_conv.png"), {run.folder.name: points}, config.game, "NashConv")
            print_plain(f"plot:    {run.path('nash_conv.png')}")
    if run.path("network.safetensors").exists():
        print_plain(f"network: {run.path('network.safetensors')}")
        player = cls.search.format(run.folder) if cls.search else f"{cls.player}:{run.folder}"
        print_plain(f"play it: kibitz play {config.game} --against {player}")
        if cls.player == "features":
            print_plain(f"explain: kibitz explain {run.folder}")
    write_json(json_file, run.config() | {"measured": last, "nash_conv": _last(lines, "nash_conv")})


LABELS = {
    "loss": "loss",
    "nash_conv": "NashConv",
    "accuracy": "accuracy on the validation set",
    "loss_1": "loss of seat 1",
    "loss_2": "loss of seat 2",
    "kl": "KL divergence from the table strategy",
    "aces_raise": "share of aces that raise first",
}


def _last(lines: list[dict[str, Any]], name: str) -> Any:
    found = [line[name] for line in lines if name in line]
    return found[-1] if found else None
