"""Options that several commands share."""

import json
import math
import os
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from ...core import memory
from ...core.files import write_atomically, writing
from ...core.names import MAX_PROCESSES, BadInput, as_path
from ...core.trust import trust_all
from .. import completion
from ..ui.progress import out

GameName = Annotated[
    str,
    typer.Argument(
        help="Game: leduc, goofspiel:13, liars_dice:dice=2,faces=6, path/to/my_game.py:MyGame, "
        "openspiel:leduc_poker(players=3) or efg:FILE.",
        metavar="GAME",
        autocompletion=completion.games,
    ),
]
Seed = Annotated[int, typer.Option(help="Random seed, 0 to 2^63 - 1; equal seeds give equal results.")]
Openings = Annotated[
    int,
    typer.Option(
        metavar="PLIES",
        help="Begin each pair of games with the same random moves, this number of them; in games without chance.",
    ),
]


def path_to_read(text: str) -> Path:
    """Parse a path; whether there is what it should name is up to the command."""
    try:
        return as_path(text)
    except BadInput as error:
        raise typer.BadParameter(str(error)) from None


def folder_to_write(text: str) -> Path:
    """Parse the path of a run folder; refuse one that can't be created, before the work starts."""
    path = path_to_read(text)
    there = next(each for each in (path, *path.absolute().parents) if each.exists())
    if not there.is_dir():
        raise typer.BadParameter(f"can't write to {path}: {there} is a file")
    try:
        tempfile.TemporaryFile(dir=there).close()
    except OSError as error:
        raise typer.BadParameter(f"can't write to {path}: {error.strerror or error}") from None
    return path


Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        parser=folder_to_write,
        metavar="FOLDER",
        help="Run folder to write. Default: a new folder in runs/.",
    ),
]
Processes = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=MAX_PROCESSES,
        help="Worker processes, for work that takes longer than starting them. Default: one per core.",
    ),
]


def _cluster(address: str | None) -> str | None:
    if address is not None:
        from ...core.pool import check_cluster

        check_cluster(address)
    return address


Cluster = Annotated[
    str | None,
    typer.Option(
        callback=_cluster,
        help="Run the workers on a Ray cluster: auto, or its ADDRESS. Needs pip install 'kibitz\\[cluster]'.",
        metavar="ADDRESS",
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(min=1, max=MAX_PROCESSES, help="Threads of compiled kernels. Default: one per core."),
]


def _memory(text: str | None) -> str | None:
    if text is not None:
        memory.set_limit(text)
    return text


Memory = Annotated[
    str | None,
    typer.Option(
        callback=_memory,
        help="Memory to use at most: gigabytes (8), 8G, 500M, or a percentage. Default: 80% of what is free.",
        metavar="SIZE",
    ),
]


def _trust(given: bool) -> None:
    if given:
        trust_all()


Trust = Annotated[
    bool,
    typer.Option(
        "--trust",
        callback=_trust,
        is_eager=True,
        help="Run the code of games and players in .py files, and engines, that a run, a record or a network names.",
    ),
]


def refuse_given(context: typer.Context, taken: tuple[str, ...], run: Path) -> None:
    """Refuse all that was given with --resume but what it takes, by the names of parameters."""
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE" and name not in taken:
            shown = parameter.opts[0] if parameter.opts[0].startswith("-") else parameter.make_metavar(context)
            raise BadInput(f"--resume takes no {shown} ({context.params[name]}): the run in {run} has its own")


def finite(value: float | None) -> float | None:
    """Refuse NaN and the infinities, which the parser of options takes for numbers."""
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value} is no finite number")
    return value


Within = Annotated[
    float | None,
    typer.Option(
        callback=finite,
        help="Report how many more games are needed for a 95% interval of ± this (payoff units; thousandths in games "
        "that are counted so).",
        min=0.001,
    ),
]


def check_writable(path: Path) -> Path:
    """Refuse a file that can't be created, before the work starts."""
    path = as_path(path)
    if path.is_dir() or not path.parent.is_dir():
        raise BadInput(f"can't write {path}: {'it is a folder' if path.is_dir() else 'its folder does not exist'}")
    if path.exists() and not os.access(path, os.W_OK):
        raise BadInput(f"can't write {path}: no permission")
    if path.is_file() or not path.exists():  # it will be written beside its place and moved there (write_atomically)
        with writing(path):
            tempfile.TemporaryFile(dir=path.parent).close()
    return path


def file_to_write(text: str) -> Path:
    """Parse the path of a file that a command writes; refuse one that can't be, before the work starts."""
    try:
        return check_writable(Path(text))
    except BadInput as error:
        raise typer.BadParameter(str(error)) from None


PICTURES = (".png", ".svg")


def _picture(path: Path | None) -> Path | None:
    """Check the file of a picture, before the work starts."""
    if path is not None and path.suffix.lower() not in PICTURES:
        raise BadInput(f"--plot {path} should end in {' or '.join(PICTURES)}")
    return None if path is None else check_writable(path)


PlotFile = Annotated[
    Path | None,
    typer.Option(
        "--plot",
        callback=_picture,
        parser=path_to_read,
        metavar="FILE",
        help="Draw it too, into this .png or .svg file.",
    ),
]

STDOUT = Path("-")


def _json_file(context: typer.Context, path: Path | None) -> Path | None:
    """Check the file. With `-`, standard output is for JSON alone: what people read goes to standard error."""
    if path == STDOUT:
        out.stderr = True
        context.call_on_close(lambda: setattr(out, "stderr", False))
    elif path is not None:
        check_writable(path)
    return path


Json = Annotated[
    Path | None,
    typer.Option(
        "--json", callback=_json_file, help="Write the results to this JSON file; - prints them to standard output."
    ),
]


def write_json(path: Path | None, value: Any) -> None:
    """Write a value to the file of `--json`, or to standard output, if the option was given."""
    if path == STDOUT:
        print(json.dumps(value, indent=2), flush=True)
    elif path is not None:
        write_atomically(path, (json.dumps(value, indent=2) + "\n").encode())


PlayedGame = Annotated[
    str | None,
    typer.Option(
        "--rules",
        help="The game that was played, where the format doesn't name it.",
        metavar="GAME",
        show_default="the format's usual one",
    ),
]
