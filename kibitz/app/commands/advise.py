"""`kibitz advise`: a kibitzer's advice on one position."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ...core import names
from ...core.files import write_atomically
from ...core.names import BadInput
from ..ui.progress import err, out, print_plain, reporting
from .options import GameName, Json, Memory, PlotFile, Seed, Trust, write_json

STDOUT = Path("-")
ANY = "any"  # no assumption about the other seats


def register(app: typer.Typer) -> None:
    app.command("advise")(advise)


def advise(
    game_name: GameName,
    given: Annotated[
        list[str] | None,
        typer.Argument(
            help="All moves and chance outcomes so far, such as '? K raise'; ? stands for anything that the seat to "
            "move can't see.",
            metavar="MOVES",
            show_default=False,
        ),
    ] = None,
    player: Annotated[
        str | None,
        typer.Option(
            "--with",
            help="Player that advises: oos:10000, strategy:FILE, net:RUN, file.py:Class, ... Default: the strongest "
            "that answers within a second.",
        ),
    ] = None,
    assumed: Annotated[
        str | None,
        typer.Option(
            "--beliefs",
            help="Show too what the seat may believe about hidden cards if the others play like this player, one "
            f"without search such as net:models/leduc; {ANY}: if all deals that fit are equally likely.",
            metavar="PLAYER",
        ),
    ] = None,
    ranges: Annotated[
        bool | None,
        typer.Option(
            "--range/--no-range",
            help="Where a game has ranges: show a grid of what the adviser does with every hand and of those that the "
            "other seat may hold, and how often the own hand wins against these.",
            show_default="shown where the adviser's moves with every hand are known; in --json only if asked for",
        ),
    ] = None,
    plot_file: PlotFile = None,
    seed: Seed = 1,
    memory: Memory = None,
    trust: Trust = False,
    json_file: Json = None,
    language: Annotated[str, typer.Option(help="Language of the output: en or de.")] = "en",
) -> None:
    """Show what a player would do at a position: probabilities, values and visits of the moves.

    With --json - only JSON is printed, to standard output.

    Example: kibitz advise leduc "? K raise"

    Example: kibitz advise leduc "? K raise" --beliefs net:models/leduc

    Example: kibitz advise connect_four "4 4 3" --with uct:10000 --json -
    """
    from ...games import full_name, load, offering
    from ...games.display import display
    from ...play.players import default_player, explained, make_adviser
    from ...play.players.beliefs import beliefs
    from ..ui.formatting import advice_table, position
    from ..ui.position_parser import parse_position, split
    from ..ui.referee import Follower, own_views
    from ..ui.words import Words

    moves = " ".join(given or ())
    game = load(game_name)
    shown, words = display(game, language), Words(language)
    names.at_least("--seed", seed, 0)
    player = player or default_player(game)
    with reporting("reading the position"):
        states = parse_position(game, moves)
    with reporting(f"loading {player}"):
        adviser = make_adviser(player, game)
    seat = int(game.turn(states[-1]))
    views = own_views(game, states, seat)
    believed: Any = None
    asked_for = assumed is not None or bool(ranges) or plot_file is not None
    if ranges is not False or asked_for:
        with reporting("weighing the deals"):
            other = None if assumed == ANY else assumed
            if (insight := getattr(game, "insight", None)) is not None:
                believed = insight(views[-1], seat, player, other, assumed == ANY, asked_for)
            if believed is None and asked_for:
                if ranges or plot_file is not None:
                    option = "--range" if ranges else "--plot"
                    raise BadInput(f"{option} is for {offering('insight')}, not for {full_name(game)}")
                believed = beliefs(game, views[-1], seat, other)
    with reporting(f"{player} is thinking"):
        Follower(adviser, game, seat, seed).move(views)
        advice = explained(adviser, views[-1])
    if advice is None:
        raise BadInput(f"{player} gives no advice, only moves: name a player that searches, such as oos:1000")
    asked = {"game": full_name(game), "line": split(moves), "seat": seat + 1, "with": player, "seed": seed}
    report = asked | advice.as_json(game, views[-1]) | ({"beliefs": believed.as_json()} if asked_for else {})
    if plot_file is not None:
        title = f"{full_name(game)}: {moves}"
        write_atomically(plot_file, believed.plot(title, plot_file.suffix[1:].lower(), words))
    if json_file == STDOUT:
        print(json.dumps(report, indent=2))
        return
    title = f"{full_name(game)}, {words('seat {seat} to move', seat=seat + 1)}"
    out.print(position(shown, views[-1], seat, title))
    out.print(words("{name} would play", name=player), style="green", highlight=False, markup=False)
    out.print(advice_table(shown, views[-1], advice, words))
    if hasattr(believed, "shown"):
        out.print()
        out.print(believed.shown(out.width, words))
    elif believed:
        out.print(f"\n{believed.text(language)}", highlight=False, markup=False)
    if plot_file is not None:
        print_plain(f"plot: {plot_file}")
    if note := getattr(getattr(adviser, "search", None), "note", ""):
        print_plain(note, err)
    write_json(json_file, report)
