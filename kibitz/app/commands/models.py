"""`kibitz models`: the trained models that ship with the package."""

import shlex
from typing import Annotated

import typer
from rich.text import Text

from ...core.names import BadInput, choose
from .. import completion
from ..ui.progress import err, out, print_plain
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
    from ...learn.model_files import PREFIX, describe, shipped

    files = {f"{PREFIX}{key}": path for key, path in shipped().items()}
    if name is not None:
        name = choose("model", PREFIX + name.removeprefix(PREFIX), files)
        files = {name: files[name]}
    models = []
    whole, brief = compact_table("player", "game", "kB", "layers or patterns"), compact_table("player", "game", "kB")
    for used, path in files.items():
        try:
            about = describe(path)
        except BadInput as error:
            for table in (whole, brief):
                table.add_row(Text(used), "unreadable", style="dim")
            print_plain(str(error), err)
            continue
        player = f"{about.player}:{used}"
        play = shlex.join(["kibitz", "play", about.game, "--against", player])
        models.append({"network": used, **about._asdict(), "play": play})
        cells = Text(player), Text(about.game), f"{about.bytes / 1000:,.0f}"
        whole.add_row(*cells, Text(about.what))
        brief.add_row(*cells)
    if name is not None:
        for model in models:
            for key, head in HEADS.items():
                print_plain(f"{head}: {model[key]}")
    elif files:
        out.print(whole if fits(whole) else brief, highlight=False)
        for model in models[:1]:
            print_plain(f"play against one: {model['play']}\nhow one was trained: kibitz models {model['network']}")
    else:
        print_plain("no model ships with this version; train one: kibitz train exit-oos leduc --preset small")
    write_json(json_file, models)
