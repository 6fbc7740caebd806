"""`kibitz export`: writes a small game as a file that other programs read."""

from pathlib import Path
from typing import Annotated

import typer

from ...core.names import BadInput
from ..ui.progress import out, reporting
from .options import GameName, file_to_write


def register(app: typer.Typer) -> None:
    app.command("export")(export)


def export(
    game_name: GameName,
    file: Annotated[
        Path, typer.Argument(parser=file_to_write, metavar="FILE", help="File to write; its name ends in .efg.")
    ],
) -> None:
    """Write a small game as an extensive-form file of Gambit (.efg): all nodes, infosets and payoffs.

    efg:FILE is the name of such a file as a game in every command.

    Example: kibitz export kuhn kuhn.efg
    """
    from ...games import efg, full_name, load

    if file.suffix != ".efg":
        raise BadInput(f"{file} should be called .efg: that is the format of Gambit")
    game = load(game_name)
    with reporting("listing the nodes") as report:
        nodes = efg.write(game, file, report=report)
    out.print(f"{full_name(game)}: {nodes:,} nodes in {file}", soft_wrap=True, markup=False, highlight=False)
