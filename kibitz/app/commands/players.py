"""`kibitz players`: the players by name, with their options."""

from typing import Annotated

import typer
from rich.markup import escape
from rich.padding import Padding

from .. import completion
from ..ui.progress import out, print_plain
from ..ui.tables import compact_table
from .options import Json, write_json


def register(app: typer.Typer) -> None:
    app.command("players")(list_players)


def list_players(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Show the options of this player only, with their meaning.",
            metavar="PLAYER",
            autocompletion=completion.players,
        ),
    ] = None,
    json_file: Json = None,
) -> None:
    """List the players by name: what they do, the games that they play, their options and an example.

    Example: kibitz players

    Example: kibitz players oos
    """
    from ...play.players import PLAYERS
    from ...play.players.listing import player_info

    found = [player_info(each) for each in (PLAYERS if name is None else [name])]
    for each in found:
        out.print(f"[bold]{each.name}[/bold]  {escape(each.about)}", highlight=False)
        lines = [f"plays {each.plays}; example: {each.example}"]
        if each.options and name is None:
            lines.append(f"options: {', '.join(map(str, each.options))}")
        for key, values in each.presets.items():
            lines.append(f"{each.name}:{key} sets {', '.join(f'{option}={value}' for option, value in values.items())}")
        for line in lines:
            out.print(Padding(escape(line), (0, 0, 0, 4)), highlight=False)
        if each.options and name is not None:
            table = compact_table("option", "default", "allowed", "meaning")
            for option in each.options:
                default = "required" if option.default is None else option.default or "none"
                table.add_row(option.name, escape(default), escape(option.allowed), escape(option.meaning))
            out.print(Padding(table, (0, 0, 0, 4)), highlight=False)
    if name is None:
        print_plain("options are written name=default|other; what they mean: kibitz players oos")
        print_plain("set them: oos:1000,target=ist (the first one needs no name); a player in a file: my.py:MyPlayer")
    write_json(
        json_file, [each._asdict() | {"options": [option._asdict() for option in each.options]} for each in found]
    )
