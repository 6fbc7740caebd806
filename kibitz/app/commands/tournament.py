"""`kibitz tournament`: a round-robin, as a table and as a plot."""

from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...core.files import read_json
from ...core.names import BadInput, absolute, counted
from .. import completion
from ..ui.progress import out, reporting
from .options import Cluster, GameName, Json, Memory, Openings, Out, Processes, Seed, Trust, path_to_read, write_json

if TYPE_CHECKING:
    from ...play.tournament import Standings


def register(app: typer.Typer) -> None:
    app.command("tournament")(tournament)


def tournament(
    game_name: GameName,
    players: Annotated[
        list[str] | None,
        typer.Argument(
            help="Two or more: random, net:RUN, net:RUN,iteration=10, ...", autocompletion=completion.players
        ),
    ] = None,
    number: Annotated[
        int, typer.Option("--games", help="Number of games per match; each deal is played from both seats.")
    ] = 1000,
    checkpoints: Annotated[
        Path | None,
        typer.Option(help="Add every network that this training run has kept.", metavar="RUN", parser=path_to_read),
    ] = None,
    openings: Openings = 0,
    seed: Seed = 1,
    processes: Processes = None,
    cluster: Cluster = None,
    memory: Memory = None,
    out_folder: Out = None,
    trust: Trust = False,
    json_file: Json = None,
) -> None:
    """Play a match between every two players, and rank them by their mean payoff.

    The run folder holds every match, the table and a plot of it. The same command with --out on that folder resumes the
    tournament, or extends it to a larger number of games.

    Example: kibitz tournament leduc oos:1000 ismcts:1000 random --games 10000

    Example: kibitz tournament breakthrough uct:1000 puct:1000 alphabeta:seconds=0.1 --openings 4 --games 100

    Example: kibitz tournament leduc --checkpoints runs/leduc-deep-cfr-001 random --games 100000
    """
    from ...games import load
    from ...nets.model_files import kept_networks
    from ...play.match import RESULT, open_run, opened
    from ...play.play import labels
    from ...play.tournament import check_entrants
    from ...play.tournament import tournament as play_tournament
    from ..ui.arena_tables import cross_tables, print_line, print_unit, shown, standings_table

    entrants = list(players or [])
    if checkpoints is not None:
        kept = kept_networks(checkpoints)
        if not kept:
            raise BadInput(f"{checkpoints} has kept no networks")
        entrants += [f"net:{checkpoints},iteration={iteration}" for iteration in kept]
    game = load(game_name)
    with reporting("loading the players"):
        run = open_run(out_folder, "tournament", game, entrants, number, seed, check_entrants, **opened(openings))
    command = ["kibitz", "tournament", absolute(game_name), *labels(entrants)]
    command += ["--games", str(number), "--seed", str(seed), "--out", run.place]
    command += ["--openings", str(openings)] if openings else []
    games = number * len(entrants) * (len(entrants) - 1) // 2
    with shown(run.config()["game"], games, run, command) as report:
        found = play_tournament(game, entrants, number, seed, cluster or processes, run.folder, report, openings)
    found = replace(found, names=entrants)  # as they were given
    title = f"{run.config()['game']}, {counted(number, 'game')} per match"
    print_line(f"{title}, seed {seed}")
    out.print(standings_table(found))
    out.print(*cross_tables(found, out.width), sep="")
    print_unit(game)
    plot(run.path("matrix.png"), found, title)
    print_line(f"result: {run.path(RESULT)}\nplot:   {run.path('matrix.png')}")
    write_json(json_file, read_json(run.path(RESULT), "result"))


def plot(path: Path, found: "Standings", title: str) -> None:
    """Write the matrix of mean payoffs, with the margins of their intervals."""
    from ..ui import plots

    (scale, form), order = found.scale, found.order

    def matrix(value: Any) -> list[list[float]]:
        return [[scale * value(found.cross[i][j]) for j in order] for i in order]

    names = without_common_folder([found.names[i] for i in order])
    unit = f", {found.milli_unit}" if found.milli_unit else ", mean payoff"
    means, margins = matrix(lambda payoff: payoff.mean), matrix(lambda payoff: payoff.margin)
    plots.matrix(path, title + unit, names, means, margins, form)


def without_common_folder(names: list[str]) -> list[str]:
    """Leave out the folders that all names begin with."""
    parts = [name.split("/") for name in names]
    folders = zip(*(part[:-1] for part in parts), strict=False)
    common = sum(1 for _ in takewhile(lambda each: len(set(each)) == 1, folders))
    return ["/".join(part[common:]) for part in parts]
