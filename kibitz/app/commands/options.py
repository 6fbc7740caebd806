"""Options that several commands share."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ...core.files import write_atomically
from ...core.names import BadInput

GameName = Annotated[
    str,
    typer.Argument(help="leduc, goofspiel:13, liars_dice:dice=2,faces=6, path/to/my_game.py:MyGame", metavar="GAME"),
]
Seed = Annotated[int, typer.Option(help="The same seed gives the same result.")]
Out = Annotated[Path | None, typer.Option("--out", help="The folder to write; default a new one in runs/.")]
Processes = Annotated[int | None, typer.Option(min=1, help="Default one for each core.")]

Within = Annotated[
    float | None,
    typer.Option(help="Say how many more games make the interval ± this: a payoff, in poker mbb/g.", min=0.001),
]


def _json_file(path: Path | None) -> Path | None:
    """Told before the work, not after it, that the folder isn't there."""
    if path is not None and (path.is_dir() or not path.parent.is_dir()):
        raise BadInput(f"can't write {path}: {'it is a folder' if path.is_dir() else 'its folder does not exist'}")
    return path


Json = Annotated[Path | None, typer.Option("--json", callback=_json_file, help="Write what was measured to this file.")]


def write_json(path: Path | None, value: Any) -> None:
    if path is None:
        return
    try:
        write_atomically(path, (json.dumps(value, indent=2) + "\n").encode())
    except OSError as error:
        raise BadInput(f"can't write {path}: {error.strerror}") from None
