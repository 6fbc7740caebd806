"""`kibitz models`: the trained models that ship with the package."""

import shlex
from typing import Annotated, Any

import typer
from rich.text import Text

from ...core.names import choose
from .. import completion
from ..index import index
from ..ui.progress import out, print_plain
from ..ui.tables import compact_table, fits
from .options import Json, write_json

HEADS = {"network": "model", "game": "game", "what": "layers or patterns", "made": "trained by", "play": "play it"}


def register(app: typer.Typer) -> None:
    app.command("models")(list_models)


def list_models(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Show this model only, with how it was trained.", metavar="MODEL", autocompletion=completion.models
        ),
    ] = None,
    json_file: Json = None,
) -> None:
    """List the networks and pattern features that ship with Kibitz, and how to play against them.

    Example: kibitz models

    Example: kibitz models models/leduc
    """
    models = index()["models"]
    if name is not None:
        chosen = choose("model", "models/" + name.removeprefix("models/"), [model["network"] for model in models])
        models = [model for model in models if model["network"] == chosen]
        for key, head in HEADS.items():
            print_plain(f"{head}: {models[0][key]}")
    else:
        whole = compact_table("player", "game", "kB", "layers or patterns")
        brief = compact_table("player", "game", "kB")
        for model in models:
            cells = Text(f"{model['player']}:{model['network']}"), Text(model["game"]), f"{model['bytes'] / 1000:,.0f}"
            whole.add_row(*cells, Text(model["what"]))
            brief.add_row(*cells)
        out.print(whole if fits(whole) else brief, highlight=False)
        first = models[0]
        print_plain(f"play against one: {first['play']}\nhow one was trained: kibitz models {first['network']}")
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
