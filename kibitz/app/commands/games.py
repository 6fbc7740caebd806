"""`kibitz games`: lists games, their parameters and their facts."""

from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from ...core import names
from .. import completion
from ..index import games_listed, text_of
from ..ui.progress import out, print_plain
from ..ui.tables import compact_table, fits


def register(app: typer.Typer) -> None:
    app.command("games")(list_games)


def list_games(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Show the parameters and facts of this game only.", metavar="GAME", autocompletion=completion.games
        ),
    ] = None,
) -> None:
    """List the games and their parameters.

    Example: kibitz games

    Example: kibitz games leduc:ranks=4
    """
    if name is None:
        whole, brief = (
            compact_table("game", "parameters (default)", "description"),
            compact_table("game", "description"),
        )
        for key, (parameters, about) in games_listed().items():
            whole.add_row(key, parameters, about)
            brief.add_row(key, about)
        out.print(whole if fits(whole) else brief, highlight=False)
        print_plain("parameters of a game: kibitz games goofspiel; set them: goofspiel:cards=6,base=1")
        print_plain("of OpenSpiel: openspiel:leduc_poker; of Gambit: efg:FILE; own: game.py:MyGame")
        return
    from ...games import full_name, load

    game = load(name)
    kind: Any = type(game)
    out.print(f"[bold]{escape(full_name(game))}[/bold]: {escape(kind.__doc__ or '')}")
    table = Table("parameter", "value", "allowed", "meaning")
    for key, field in ({} if hasattr(game, "source") else names.hints(kind)).items():
        table.add_row(key, escape(text_of(getattr(game, key))), escape(names.span(*field)), escape(field[1]))
    if table.row_count:
        out.print(table)
    for preset, values in getattr(kind, "presets", {}).items():
        settings = ", ".join(f"{key}={text_of(value)}" for key, value in values.items())
        out.print(f"[bold]{game.name}:{preset}[/bold]: {settings}", highlight=False)
    facts = Table("fact", "value")
    for key, value in vars(game.facts).items():
        facts.add_row(key.replace("_", " "), escape(text_of(value)))
    facts.add_row("state size", f"{game.state.itemsize} bytes")
    out.print(facts)
