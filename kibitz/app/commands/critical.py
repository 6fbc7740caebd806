"""`kibitz critical`: how often players keep the outcome where a wrong move changes it."""

from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from ...core.names import BadInput
from .. import completion
from ..ui.progress import out, reporting
from .options import Cluster, GameName, Json, Memory, Processes, Seed, Trust, write_json

Players = Annotated[
    list[str],
    typer.Argument(
        help="Players: uct:seconds=1, alphabeta:seconds=1, ...", metavar="PLAYER...", autocompletion=completion.players
    ),
]


def register(app: typer.Typer) -> None:
    app.command("critical")(critical)


def critical(
    game_name: GameName,
    players: Players,
    count: Annotated[int, typer.Option("--positions", help="Number of positions.")] = 200,
    plies: Annotated[str, typer.Option(help="Random moves before a position: the fewest and the most.")] = "8-25",
    seed: Seed = 1,
    processes: Processes = None,
    cluster: Cluster = None,
    memory: Memory = None,
    trust: Trust = False,
    json_file: Json = None,
) -> None:
    """Measure how often players keep the outcome in critical positions, those in which a wrong move changes it.

    Positions are reached by random moves, and solved: in connect_four by a solver of its own, in other two-seat games
    without hidden information and chance by alpha-beta search, which is for small boards or late positions. All
    players see the same positions.

    Example: kibitz critical connect_four uct:seconds=0.1 alphabeta:seconds=0.1 --positions 200

    Example: kibitz critical tic_tac_toe uct:100 --plies 2-5 --positions 50
    """
    from ...games import full_name, load
    from ...play.critical import examine_players

    first, _, last = plies.partition("-")
    if not (first.isdecimal() and (last or first).isdecimal() and len(plies) < 12):
        raise BadInput(f"--plies {plies} should be two numbers, such as 8-25")
    game = load(game_name)
    with reporting(full_name(game)) as report:
        found = examine_players(
            game, players, count, (int(first), int(last or first)), seed, cluster or processes, report
        )
    table = Table("player", "outcome kept", "95% interval")
    for name, share in found.items():
        table.add_row(escape(name), f"{share.mean:.1%}", share.span(100, ".1f", "%"))
    out.print(f"{count:,} critical positions of [bold]{escape(full_name(game))}[/bold], seed {seed}", highlight=False)
    out.print(table)
    config = {"game": full_name(game), "positions": count, "plies": plies, "seed": seed}
    write_json(json_file, config | {"players": {name: share.as_json() for name, share in found.items()}})
