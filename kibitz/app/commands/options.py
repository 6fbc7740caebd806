"""Options that several commands share."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ...core.files import write_atomically
from ...core.names import BadInput, trust_all

GameName = Annotated[
    str,
    typer.Argument(
        help="Game: leduc, goofspiel:13, liars_dice:dice=2,faces=6 or path/to/my_game.py:MyGame.", metavar="GAME"
    ),
]
Seed = Annotated[int, typer.Option(help="Random seed; equal seeds give equal results.")]
Out = Annotated[Path | None, typer.Option("--out", help="Run folder to write. Default: a new folder in runs/.")]
Processes = Annotated[int | None, typer.Option(min=1, help="Number of worker processes. Default: one per core.")]


def _trust(given: bool) -> None:
    if given:
        trust_all()


Trust = Annotated[
    bool,
    typer.Option(
        "--trust",
        callback=_trust,
        is_eager=True,
        help="Run the code of games and players in .py files that a run, a record or a network names.",
    ),
]
Within = Annotated[
    float | None,
    typer.Option(
        help="Report how many more games are needed for a 95% interval of ± this (payoff units; mbb/g in poker).",
        min=0.001,
    ),
]


def check_writable(path: Path) -> Path:
    """Refuse a file that can't be created, before the work starts."""
    if path.is_dir() or not path.parent.is_dir():
        raise BadInput(f"can't write {path}: {'it is a folder' if path.is_dir() else 'its folder does not exist'}")
    return path


def _json_file(path: Path | None) -> Path | None:
    return None if path is None else check_writable(path)


Json = Annotated[Path | None, typer.Option("--json", callback=_json_file, help="Write the results to this JSON file.")]


def write_json(path: Path | None, value: Any) -> None:
    """Write a value to the file of `--json`, if the option was given."""
    if path is None:
        return
    try:
        write_atomically(path, (json.dumps(value, indent=2) + "\n").encode())
    except OSError as error:
        raise BadInput(f"can't write {path}: {error.strerror}") from None
