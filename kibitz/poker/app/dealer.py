"""`kibitz poker dealer`: deals hold'em to two programs, by the protocol of the Annual Computer Poker Competition."""

import os
from pathlib import Path
from typing import Annotated

import typer

from ...app.commands import command
from ...app.commands.options import GameName, Json, Seed, file_to_write, write_json
from ...app.ui.progress import err, out, print_plain, reporting
from ...core.files import writing
from ...core.names import counted


@command("poker dealer", formerly="dealer")
def dealer(
    game_name: GameName = "holdem",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on. 0: a free one.")] = 0,
    hands: Annotated[int, typer.Option(help="Number of deals, each of which is played from both seats.")] = 1000,
    names: Annotated[
        str, typer.Option(help="Names of the players in the order in which they connect.", metavar="ONE,TWO")
    ] = "player 1,player 2",
    log: Annotated[
        Path | None,
        typer.Option(parser=file_to_write, help="File for the hands, in the format of the ACPC.", metavar="FILE"),
    ] = None,
    seed: Seed = 1,
    connect_seconds: Annotated[float, typer.Option(help="Seconds until both players must be connected.")] = 600.0,
    move_seconds: Annotated[float, typer.Option(help="Seconds for each move.")] = 600.0,
    hand_seconds: Annotated[float, typer.Option(help="Seconds per hand, on average over the match.")] = 7.0,
    json_file: Json = None,
) -> None:
    """Deal a match of hold'em to two programs that connect to a port of this machine, and report who is better.

    Each deal is played twice with the seats exchanged: the second half of the match repeats the cards of the first. A
    player that answers with anything but a legal move, too late or not at all forfeits: the match ends there, and the
    exit code is 1.

    Example: kibitz poker dealer holdem --port 18791 --hands 1000 --log match.acpc

    Example: kibitz poker dealer --port 18791 --hands 500 --names kibitz,guest --move-seconds 10
    """
    from ...app.ui.arena_tables import result_table
    from ...play.statistics import summary
    from ..acpc_dealer import Dealer, Limits, check_match

    limits = Limits(connect_seconds, move_seconds, hand_seconds)
    check_match(hands, seed, limits)
    hands_file = Path(os.devnull) if log is None else log
    table = Dealer(game_name, port, names.split(","))
    try:
        print_plain(f"waiting for two players: kibitz poker client localhost:{table.port} --player NAME")
        with reporting(f"dealer on port {table.port}", 2 * hands) as report:
            table.connect(connect_seconds, report)
            with writing(hands_file), hands_file.open("w", buffering=1, encoding="utf-8", newline="\n") as file:
                found = table.play(hands, seed, limits, file.write, report)
    finally:
        table.close()
    measured = {"game": game_name, "players": table.names, "hands": len(found.records), "seed": seed}
    measured |= {"chips": found.chips, "forfeit": found.forfeit}
    if found.records:
        result = summary(found.records)
        print_plain(f"{counted(len(found.records), 'hand')} of {game_name}, each deal from both seats, seed {seed}")
        out.print(result_table(table.names, result, "mbb/g"))
        measured |= result.as_json()
    if log is not None:
        print_plain(f"hands: {log}")
    write_json(json_file, measured)
    if found.forfeit:
        print_plain(found.forfeit, err)
        raise typer.Exit(1)
