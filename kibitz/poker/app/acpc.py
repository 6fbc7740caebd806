"""`kibitz poker client`: a player at a dealer of the Annual Computer Poker Competition."""

from typing import Annotated

import typer

from ...app import completion
from ...app.commands import command
from ...app.commands.options import Json, Seed, Trust, write_json
from ...app.ui.progress import err, print_plain, reporting

Rules = Annotated[str, typer.Option(help="The game: holdem is the ACPC's limit game for two players.", metavar="GAME")]


@command("poker client", formerly="acpc")
def acpc(
    where: Annotated[str, typer.Argument(help="Address of the dealer.", metavar="HOST:PORT")],
    player: Annotated[
        str,
        typer.Option(
            help="Who plays: net:models/holdem, style:tight-aggressive, ...", autocompletion=completion.players
        ),
    ] = "net:models/holdem",
    rules: Rules = "holdem",
    seed: Seed = 1,
    wait: Annotated[float, typer.Option(help="Seconds to wait for each line of the dealer.")] = 900.0,
    trust: Trust = False,
    json_file: Json = None,
) -> None:
    """Connect to a dealer of the ACPC and play hold'em there, by the protocol 2.0.0, until the dealer ends the match.

    The dealer is the server of the competition, or kibitz poker dealer. Exit code 1: the connection broke off within a
    hand.

    Example: kibitz poker client localhost:18791 --player net:models/holdem
    """
    from ..acpc_client import play_acpc

    with reporting(f"{player} at {where}") as report:
        played = play_acpc(where, player, rules, seed, wait, report)
    mbb = f", {1000 * played.payoff.mean:+,.1f} mbb/g" if played.hands else ""
    span = f" (95% interval {played.payoff.span(1000, '+,.1f')})" if played.hands > 1 else ""
    print_plain(f"{player}: {played.hands:,} hands, {played.chips:+,} chips{mbb}{span}")
    measured = {"player": player, "hands": played.hands, "chips": played.chips, "payoff": played.payoff.as_json()}
    write_json(json_file, measured | {"broken": played.broken})
    if played.broken:
        print_plain(played.broken, err)
        raise typer.Exit(1)
