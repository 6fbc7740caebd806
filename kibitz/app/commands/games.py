"""`kibitz games`: lists games, their parameters and their facts."""

from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from ...core import names
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
    from ...games import GAMES, full_name, load

    if name is None:
        table = Table("game", "parameters (default)", "description")
        for key, cls in GAMES.items():
            defaults = ", ".join(f"{field} ({_text(value)})" for field, value in cls._field_defaults.items())
            table.add_row(f"[bold]{key}[/bold]", defaults or "-", cls.__doc__)
        out.print(table)
        out.print("Details of one game: [bold]kibitz games goofspiel[/bold]. Set parameters: goofspiel:cards=6,base=1")
        return
    game = load(name)
    kind: Any = type(game)
    out.print(f"[bold]{escape(full_name(game))}[/bold]: {escape(kind.__doc__ or '')}")
    table = Table("parameter", "value", "allowed", "meaning")
    for key, field in names.hints(kind).items():
        table.add_row(key, escape(_text(getattr(game, key))), escape(names.span(*field)), escape(field[1]))
    if table.row_count:
        out.print(table)
    for preset, values in getattr(kind, "presets", {}).items():
        settings = ", ".join(f"{key}={_text(value)}" for key, value in values.items())
        out.print(f"[bold]{game.name}:{preset}[/bold]: {settings}", highlight=False)
    facts = Table("fact", "value")
    for key, value in vars(game.facts).items():
        facts.add_row(key.replace("_", " "), escape(_text(value)))
    facts.add_row("state size", f"{game.state.itemsize} bytes")
    out.print(facts)


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(_text, value)) or "-"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
