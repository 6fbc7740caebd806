"""`kibitz engine`: a player as an engine for other programs, on standard input and output."""

import sys
from typing import Annotated

import typer

from ...core.names import BadInput
from .. import completion
from .options import GameName, Seed, Trust


def register(app: typer.Typer) -> None:
    app.command("engine")(engine)


def engine(
    game_name: GameName,
    player: Annotated[
        str | None,
        typer.Option(
            help="Who plays: puct:seconds=1, alphabeta:5, ... Default: the strongest that answers within a second.",
            autocompletion=completion.players,
        ),
    ] = None,
    dialect: Annotated[
        str, typer.Option(help="Protocol: uci, gtp or piskvork. Default: the game's usual one.", show_default=False)
    ] = "auto",
    seed: Seed = 1,
    trust: Trust = False,
) -> None:
    """Let a player be an engine for other programs: their windows, arenas and scripts ask it for moves.

    It speaks GTP in Hex, Othello, Connect Four and Gomoku, UCI in Breakthrough, and Gomocup's protocol in Gomoku, until
    the protocol's command to quit or the end of standard input. Time controls of the protocol replace the seconds of
    the player.

    Example: kibitz engine hex:11 --player puct:seconds=1

    Example: kibitz engine gomoku --dialect gtp
    """
    from ...bridges.engine_server import EngineTable, lines_of, serve
    from ...bridges.gtp_server import GtpServer
    from ...bridges.piskvork_server import PiskvorkServer
    from ...bridges.uci_server import UciServer
    from ...games import load
    from ...games.engine_notation import dialect_of

    game = load(game_name)
    spoken = dialect_of(game, dialect)
    if player == "human":
        raise BadInput("--player human: standard input is for the other program; name a player such as uct:1000")
    table = EngineTable(game, player, seed)
    servers = {"gtp": GtpServer, "uci": UciServer, "piskvork": PiskvorkServer}
    serve(servers[spoken](table), lines_of(getattr(sys.stdin, "buffer", sys.stdin)), _write)


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
