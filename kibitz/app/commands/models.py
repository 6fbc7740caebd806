"""`kibitz models`: the trained models that ship with the package."""

import shlex
from typing import Any

import typer
from rich.markup import escape
from rich.table import Column, Table

from ..index import index
from ..ui.progress import out, print_plain
from .options import Json, write_json


def register(app: typer.Typer) -> None:
    app.command("models")(list_models)


def list_models(json_file: Json = None) -> None:
    """List the networks and pattern features that ship with Kibitz, and how to play against them.

    Example: kibitz models
    """
    models = index()["models"]
    table = Table(Column("model", no_wrap=True), "game", "layers or patterns", "kB", "trained by")
    for model in models:
        table.add_row(
            f"[bold]{escape(model['network'])}[/bold]", escape(model["game"]), model["what"],
            f"{model['bytes'] / 1000:,.0f}", escape(model["made"]),
        )  # fmt: skip
    out.print(table)
    for model in models:
        print_plain(f"play it: {model['play']}")
    write_json(json_file, models)


def described() -> list[dict[str, Any]]:
    """The models that ship, as their files describe themselves."""
    from ...learn.model_files import PREFIX, describe, shipped

    found = []
    for name, path in shipped().items():
        about = describe(path)
        play = shlex.join(["kibitz", "play", about.game, "--against", f"{about.player}:{PREFIX}{name}"])
        found.append({"network": f"{PREFIX}{name}", **about._asdict(), "play": play})
    return found
