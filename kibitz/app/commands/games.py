"""`kibitz games`: lists games, their parameters and their facts."""

from typing import Annotated, Any

import typer
from rich.table import Table

from ...core import names
from ..index import index
from ..ui.progress import out


def register(app: typer.Typer) -> None:
    app.command("games")(list_games)


def list_games(
    name: Annotated[
        str | None, typer.Argument(help="Show the parameters and facts of this game only.", metavar="GAME")
    ] = None,
) -> None:
    """List the games and their parameters.

    Example: kibitz games

    Example: kibitz games leduc:ranks=4
    """
    if name is None:
        table = Table("game", "parameters (default)", "description")
        for key, (parameters, about) in index()["games"].items():
            table.add_row(f"[bold]{key}[/bold]", parameters, about)
        out.print(table)
        out.print("Details of one game: [bold]kibitz games goofspiel[/bold]. Set parameters: goofspiel:cards=6,base=1")
        return
    from ...games import full_name, load

    game = load(name)
    kind: Any = type(game)
    out.print(f"[bold]{full_name(game)}[/bold]: {kind.__doc__}")
    table = Table("parameter", "value", "allowed", "meaning")
    for key, field in names.hints(kind).items():
        table.add_row(key, _text(getattr(game, key)), names.span(*field), field[1])
    if table.row_count:
        out.print(table)
    for preset, values in getattr(kind, "presets", {}).items():
        settings = ", ".join(f"{key}={_text(value)}" for key, value in values.items())
        out.print(f"[bold]{game.name}:{preset}[/bold]: {settings}", highlight=False)
    facts = Table("fact", "value")
    for key, value in vars(game.facts).items():
        facts.add_row(key.replace("_", " "), _text(value))
    facts.add_row("state size", f"{game.state.itemsize} bytes")
    out.print(facts)


def summary(cls: Any) -> list[str]:
    """The parameters of a game with their defaults, and a sentence about it."""
    defaults = ", ".join(f"{field} ({_text(value)})" for field, value in cls._field_defaults.items())
    return [defaults or "-", cls.__doc__]


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(_text, value)) or "-"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
