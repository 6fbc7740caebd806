"""`kibitz match`: players against each other, with intervals."""

import json
import time
from typing import Annotated

import typer
from rich.markup import escape

from ...core.names import BadInput, absolute, at_least, counted
from .. import completion
from ..ui.progress import out, reporting
from .options import Cluster, GameName, Json, Memory, Openings, Out, Processes, Seed, Trust, Within, write_json

Players = Annotated[
    list[str],
    typer.Argument(
        help="One per seat: random, oos:1000, strategy:FILE, path/to/my_player.py:MyPlayer, ...",
        metavar="PLAYER...",
        autocompletion=completion.players,
    ),
]


def register(app: typer.Typer) -> None:
    app.command("match")(match)


def match(
    game_name: GameName,
    players: Players,
    number: Annotated[
        int | None,
        typer.Option(
            "--games",
            help="Number of games. Each deal is played from every seat; with two seats, games 1 and 2 are a pair.",
            show_default="1000",
        ),
    ] = None,
    deals: Annotated[int | None, typer.Option(help="Number of deals, instead of the number of games.")] = None,
    within: Within = None,
    reduce_variance: Annotated[
        bool,
        typer.Option(
            "--reduce-variance",
            help="In leduc and its like: also estimate the payoff by AIVAT, which is unbiased and varies less. Uses "
            "the policies of players that don't search; at least one is needed, two reduce more.",
        ),
    ] = False,
    openings: Openings = 0,
    seed: Seed = 1,
    processes: Processes = None,
    cluster: Cluster = None,
    memory: Memory = None,
    out_folder: Out = None,
    trust: Trust = False,
    json_file: Json = None,
) -> None:
    """Play a match and report who is better, with 95% intervals.

    Every deal is played from all seats (duplicate deals), which reduces the variance due to chance. The run folder
    holds every game. The same command with --out on that folder resumes the match, or extends it to a larger number of
    games.

    Example: kibitz match leduc oos:1000 random --games 1000

    Example: kibitz match kuhn path/to/my_player.py:MyPlayer random

    Example: kibitz match leduc net:models/leduc always:call --games 100000 --within 10

    Example: kibitz match breakthrough alphabeta:seconds=0.1 uct:seconds=0.1 --openings 4 --games 100

    Example: kibitz match leduc net:models/leduc random --games 2000 --reduce-variance
    """
    from ...games import load
    from ...play.match import FILE, RESULT, open_run, opened
    from ...play.match import match as play_match
    from ...play.play import labels
    from ...play.variance import known_policies
    from ..ui.arena_tables import needed, players_table, print_line, print_needed, print_unit, result_table, shown

    if number is not None and deals is not None:
        raise BadInput(f"--games {number} and --deals {deals}: give one of them")
    game = load(game_name)
    if deals is not None:
        at_least("deals", deals, 1)
        number = deals * game.facts.seats
    number = 1000 if number is None else number
    if reduce_variance:
        known_policies(game, players)
    with reporting("loading the players"):
        run = open_run(out_folder, "match", game, players, number, seed, **opened(openings))
    command = ["kibitz", "match", absolute(game_name), *labels(players)]
    command += ["--games", str(number), "--seed", str(seed), "--out", run.place]
    command += ["--openings", str(openings)] if openings else []
    command += ["--reduce-variance"] if reduce_variance else []
    began = time.perf_counter()
    with shown(run.config()["game"], number, run, command, "human" in players) as report:
        result = play_match(
            game, players, number, seed, cluster or processes, run.folder, report, reduce_variance, openings
        ).result
    seconds = time.perf_counter() - began
    seats, milli_unit = len(players), game.facts.milli_unit
    measured = run.config() | result.as_json() | needed(result, seats, within, milli_unit)
    run.write(RESULT, json.dumps(measured, indent=2) + "\n")
    deals_played, rest = divmod(result.games, seats)
    dealt = f", {counted(deals_played, 'deal')} from {seats} seats" if seats > 2 and not rest else ""
    out.print(
        f"{counted(result.games, 'game')} of [bold]{escape(measured['game'])}[/bold]{dealt}, "
        f"seed {seed}, {seconds:.1f} s",
        highlight=False,
    )
    out.print(result_table(players, result, milli_unit))
    if result.reduced is not None:
        print_line(f"variance reduced by AIVAT, with the known policies of: {', '.join(result.reduced.known)}")
    if seats > 2:
        out.print(players_table(players, result))
    print_unit(game)
    print_needed(measured, milli_unit)
    print_line(f"games:  {run.path(FILE)}\nresult: {run.path(RESULT)}")
    write_json(json_file, measured)
