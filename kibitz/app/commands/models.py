"""`kibitz models`: the trained models that ship with the package."""

import shlex

import typer
from rich.markup import escape
from rich.table import Column, Table

from ...core.names import BadInput
from ..ui.progress import out, print_plain
from .options import Json, write_json


def register(app: typer.Typer) -> None:
    app.command("models")(list_models)


def list_models(json_file: Json = None) -> None:
    """List the networks and pattern features that ship with Kibitz, and how to play against them.

    Example: kibitz models
    """
    from ...learn.model_files import PREFIX, describe, shipped

    models = []
    table = Table(Column("model", no_wrap=True), "game", "layers or patterns", "kB", "trained by")
    for name, path in shipped().items():
        used = f"{PREFIX}{name}"
        try:
            about = describe(path)
        except BadInput as error:
            table.add_row(used, "unreadable", "", "", escape(str(error)), style="dim")
            continue
        play = shlex.join(["kibitz", "play", about.game, "--against", f"{about.player}:{used}"])
        models.append({"network": used, **about._asdict(), "play": play})
        table.add_row(
            f"[bold]{escape(used)}[/bold]", escape(about.game), about.what, f"{about.bytes / 1000:,.0f}",
            escape(about.made),
        )  # fmt: skip
    if table.row_count:
        out.print(table)
    else:
        print_plain("no model ships with this version; train one: kibitz train exit-oos leduc --preset small")
    for model in models:
        print_plain(f"play it: {model['play']}")
    write_json(json_file, models)
