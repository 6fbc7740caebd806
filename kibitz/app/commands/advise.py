"""`kibitz advise`: a kibitzer's advice on one position."""

import json
from pathlib import Path
from typing import Annotated

import typer

from ...core import names
from ...core.names import BadInput
from ..ui.progress import out, reporting
from .options import GameName, Json, Seed, Trust, write_json

STDOUT = Path("-")


def register(app: typer.Typer) -> None:
    app.command("advise")(advise)


def advise(
    game_name: GameName,
    moves: Annotated[
        str,
        typer.Argument(
            help="All moves and chance outcomes so far, such as '? K raise'; ? stands for anything that the seat to "
            "move can't see.",
            metavar="MOVES",
        ),
    ] = "",
    player: Annotated[
        str, typer.Option("--with", help="Player that advises: oos:10000, strategy:FILE, net:RUN, file.py:Class, ...")
    ] = "oos:10000",
    seed: Seed = 1,
    trust: Trust = False,
    json_file: Json = None,
) -> None:
    """Show what a player would do at a position: probabilities, values and visits of the moves.

    With --json - only JSON is printed, to standard output.

    Example: kibitz advise leduc "? K raise"

    Example: kibitz advise connect_four "4 4 3" --with uct:10000 --json -
    """
    from ...games import full_name, load
    from ...players import make_adviser
    from ..ui.formatting import advice_table, position
    from ..ui.position_parser import parse_position, split
    from ..ui.referee import Follower, own_views

    game = load(game_name)
    names.at_least("--seed", seed, 0)
    states = parse_position(game, moves)
    adviser = make_adviser(player, game)
    seat = int(game.turn(states[-1]))
    views = own_views(game, states, seat)
    with reporting(f"{player} is thinking"):
        Follower(adviser, game, seat, seed).move(views)
    if adviser.advice is None:
        raise BadInput(f"{player} gives no advice, only moves: name a player that searches, such as oos:1000")
    asked = {"game": full_name(game), "line": split(moves), "seat": seat + 1, "with": player, "seed": seed}
    report = asked | adviser.advice.as_json(game, views[-1])
    if json_file == STDOUT:
        print(json.dumps(report, indent=2))
        return
    out.print(position(game, views[-1], seat, f"{full_name(game)}, seat {seat + 1} to move"))
    out.print(advice_table(game, views[-1], adviser.advice))
    write_json(json_file, report)
