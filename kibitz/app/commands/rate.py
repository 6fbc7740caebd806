"""`kibitz rate`: Elo ratings from recorded games."""

import math
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Column, Table

from ...core.names import BadInput
from ..ui.progress import out
from .options import Json, path_to_read, write_json


def register(app: typer.Typer) -> None:
    app.command("rate")(rate_players)


def rate_players(
    folder: Annotated[
        Path,
        typer.Argument(
            help="Folder; all files games.jsonl in it and below are read.", metavar="FOLDER", parser=path_to_read
        ),
    ],
    fix: Annotated[
        str | None,
        typer.Option(
            help="Player with a fixed rating. Default: the first in alphabetical order, at 1500.", metavar="NAME=ELO"
        ),
    ] = None,
    game_name: Annotated[
        str | None, typer.Option("--game", help="Game to rate, if the folder holds several.", metavar="GAME")
    ] = None,
    json_file: Json = None,
) -> None:
    """Rate players by Elo, from all their games in a folder.

    A difference of 400 points means odds of 10 to 1. Intervals are relative to the fixed player; the games of a deal
    are one observation. A game that is there twice, as a match was repeated with the same seed, counts once.

    Example: kibitz rate runs --game leduc --fix random=1000
    """
    from ...games import full_name, load
    from ...play.elo import rate, read_games

    records = read_games(folder, None if game_name is None else full_name(load(game_name)))
    rating = rate(records, *_fixed(fix))
    table = Table(Column("player", overflow="fold"), "Elo", "95% interval", "games", "score", "")
    for player in rating.players:
        interval = "fixed" if player.low == player.high else f"{player.low:.0f} to {player.high:.0f}"
        score = f"{100 * player.score:.1f}%"
        table.add_row(escape(player.name), f"{player.elo:.0f}", interval, f"{player.games:,}", score, player.note)
    games = sum(player.games for player in rating.players) // 2
    out.print(f"[bold]{escape(rating.game)}[/bold], {games:,} games", highlight=False)
    out.print(table)
    if rating.repeated:
        again = f"{rating.repeated:,} games are there again, with the same players, seed and moves: they count once"
        out.print(again, highlight=False)
    if rating.helped:
        pairs = "; ".join(f"{one} and {two}" for one, two in rating.helped)
        why = "where all wins are on one side, Elo is unbounded: half a win was added for either side"
        out.print(f"{why} between {escape(pairs)}", highlight=False)
    players = [vars(player) for player in rating.players]
    write_json(
        json_file,
        {
            "game": rating.game,
            "players": players,
            "draws": rating.draws,
            "half_wins_added": rating.helped,
            "repeated_games": rating.repeated,
        },
    )


def _fixed(text: str | None) -> tuple[str | None, float]:
    """`oos:1000,delta=0.9=1500` -> the name, and 1500."""
    if text is None:
        return None, 1500.0
    name, _, elo = text.rpartition("=")
    try:
        value = float(elo)
        if name and math.isfinite(value):
            return name, value
    except ValueError:
        pass
    raise BadInput(f"--fix {text} should read NAME=ELO, such as random=1500")
