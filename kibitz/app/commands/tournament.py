"""`kibitz tournament`: everybody against everybody, as a table and as a picture."""

import json
import math
import os
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.table import Column, Table
from rich.text import Text

from ... import games
from ...arena.statistics import Estimate
from ...arena.tournament import Standings, matches, open_tournament, standings
from ...core.names import BadInput
from ...learn.model_files import kept_networks
from ..ui import plots
from ..ui.progress import out, waiting
from .match import play_shown
from .options import GameName, Json, Out, Processes, Seed, write_json


def register(app: typer.Typer) -> None:
    app.command("tournament")(tournament)


def tournament(
    game_name: GameName,
    players: Annotated[
        list[str] | None, typer.Argument(help="random, net:RUN, net:RUN,iteration=10, ...", metavar="PLAYER...")
    ] = None,
    number: Annotated[int, typer.Option("--games", help="Of each match: every deal is played from both seats.")] = 1000,
    checkpoints: Annotated[
        Path | None, typer.Option(help="Also every network that this run has kept.", metavar="RUN")
    ] = None,
    seed: Seed = 1,
    processes: Processes = None,
    out_folder: Out = None,
    json_file: Json = None,
) -> None:
    """Let every player play every other, and say who is best.

    Writes a run folder with a match for each pair, a table and a picture of it. The same command with --out on that
    folder goes on where it was stopped, or to a larger number of games.

    Example: kibitz tournament holdem always:call style:loose-passive style:tight-aggressive --games 10000

    Example: kibitz tournament holdem --checkpoints runs/holdem-deep-cfr-001 random --games 100000
    """
    entrants = list(players or [])
    if checkpoints is not None:
        kept = kept_networks(checkpoints)
        if not kept:
            raise BadInput(f"{checkpoints} has kept no networks")
        entrants += [f"net:{checkpoints},iteration={iteration}" for iteration in kept]
    run = open_tournament(out_folder, game_name, entrants, number, seed)
    again = shlex.join(["kibitz", "tournament", game_name, *entrants])
    again += f" --games {number} --seed {seed} --out {run.folder}"
    played = {}
    pairs = matches(run)
    with waiting("matches", len(pairs)) as line:
        for done, ((i, j), match) in enumerate(pairs.items()):
            line(done)
            played[i, j] = play_shown(match, again, processes, f"{entrants[i]} against {entrants[j]}")
    with waiting("intervals"):
        found = standings(entrants, played, seed)
    config, milli_unit = run.config(), games.load(game_name).facts.milli_unit
    report = config | found.as_json()
    run.write("result.json", json.dumps(report, indent=2) + "\n")
    out.print(f"[bold]{config['game']}[/bold], {number:,} games a match, seed {seed}", highlight=False)
    for table in (standings_table(found, milli_unit), cross_table(found, milli_unit)):
        out.print(table)
    picture(run.path("matrix.png"), found, f"{config['game']}, {number:,} games a match", milli_unit)
    out.print(f"result:  {run.path('result.json')}\npicture: {run.path('matrix.png')}", soft_wrap=True, highlight=False)
    write_json(json_file, report)


def scaled(milli_unit: str) -> tuple[float, str]:
    """The factor to payoffs, and how they are written."""
    return (1000, "+,.0f") if milli_unit else (1, "+.3f")


def margin(estimate: Estimate) -> float:
    """Half of the interval; a single pair of games could be anything."""
    return math.inf if math.isnan(estimate.low) else (estimate.high - estimate.low) / 2


def cell(estimate: Estimate, milli_unit: str) -> Text:
    """Green is a sure win, red a sure loss."""
    scale, form = scaled(milli_unit)
    if math.isnan(estimate.mean):
        return Text("-", "dim")
    style = "green" if estimate.low > 0 else "red" if estimate.high < 0 else "dim"
    return Text(f"{scale * estimate.mean:{form}}", style)


def standings_table(found: Standings, milli_unit: str) -> Table:
    """Best first."""
    scale, form = scaled(milli_unit)
    mean = Column(f"mean, {milli_unit}" if milli_unit else "mean", no_wrap=True)
    table = Table("", Column("player", overflow="fold"), mean)
    for place, i in enumerate(found.order):
        whole = cell(found.overall[i], milli_unit).append(f" ±{scale * margin(found.overall[i]):{form.lstrip('+')}}")
        table.add_row(str(place + 1), Text(found.names[i]), whole)
    return table


def cross_table(found: Standings, milli_unit: str) -> Table:
    """What each wins of each other one, by their places. Intervals are in the picture."""
    order = found.order
    places = [Column(str(place + 1), justify="right", no_wrap=True) for place in range(len(order))]
    table = Table("", *places, box=box.SIMPLE, padding=(0, 1, 0, 0))
    for place, i in enumerate(order):
        table.add_row(str(place + 1), *(cell(found.cross[i][j], milli_unit) for j in order))
    return table


def picture(path: Path, found: Standings, title: str, milli_unit: str) -> None:
    scale, form = scaled(milli_unit)
    order = found.order

    def of(value: Any) -> list[list[float]]:
        return [[scale * value(found.cross[i][j]) for j in order] for i in order]

    names = without_common_folder([found.names[i] for i in order])
    unit = f", {milli_unit}" if milli_unit else ", mean payoff"
    plots.matrix(path, title + unit, names, of(lambda estimate: estimate.mean), of(margin), form)


def without_common_folder(names: list[str]) -> list[str]:
    """Names that all begin with the same folders are told apart by what comes behind them."""
    common = os.path.commonpath(names)
    return [name.removeprefix(f"{common}/") for name in names]
