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

HEADS = {
    "network": "model", "game": "game", "rules": "rules stamp", "what": "layers or patterns", "bytes": "bytes",
    "command": "trained by", "seed": "seed", "version": "version of Kibitz", "date": "date", "license": "license",
    "scores": "score", "exploitability": "exploitability", "notes": "note", "page": "more", "play": "play it",
}  # fmt: skip


def register(app: typer.Typer) -> None:
    app.command("models")(list_models)


def list_models(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Show the card of this model: how it was trained, what was measured.",
            metavar="MODEL",
            autocompletion=completion.models,
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
        for head, value in lines(models[0]):
            print_plain(f"{head}: {value}")
    else:
        whole = compact_table("player", "game", "kB", "layers or patterns")
        brief = compact_table("player", "game", "kB")
        for model in models:
            cells = Text(f"{model['player']}:{model['network']}"), Text(model["game"]), f"{model['bytes'] / 1000:,.0f}"
            whole.add_row(*cells, Text(model["what"]))
            brief.add_row(*cells)
        out.print(whole if fits(whole) else brief, highlight=False)
        first = min(models, key=lambda model: len(model["play"]))
        print_plain(f"play against one: {first['play']}\nthe card of one:  kibitz models {first['network']}")
    write_json(json_file, models)


def lines(model: dict[str, Any]) -> list[tuple[str, str]]:
    """The card of a model: what is told, and its value; a list has a line for each of its parts."""
    found = []
    for key, head in HEADS.items():
        value = model.get(key, "unknown")
        value = f"{value:,}" if key == "bytes" else f"docs/{value}" if key == "page" and value != "unknown" else value
        found += [(head, str(each)) for each in (value if isinstance(value, list) else [value])]
    return found


def described() -> list[dict[str, Any]]:
    """The models that ship, as their files describe themselves."""
    from dataclasses import asdict

    from ...nets.model_cards import read_card
    from ...nets.model_files import PREFIX, shipped
    from ...train.descriptions import describe

    found = []
    for name, path in shipped().items():
        about, card = describe(path), read_card(path)
        play = shlex.join(["kibitz", "play", about.game, "--against", about.strongest(PREFIX + name)])
        known = {"network": f"{PREFIX}{name}", **about._asdict(), "play": play, "command": about.made}
        del known["search"]
        found.append(known | ({} if card is None else asdict(card)))
    return found
