"""`kibitz advise` and `kibitz play`: the kibitzer in one line, and a table in the terminal."""

import contextlib
import json
import sys
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.text import Text

from ... import games
from ...core import names
from ...core.names import BadInput
from ...players import make_adviser, make_for
from ..ui.formatting import advice_table, position
from ..ui.position_parser import read_line, split
from ..ui.progress import err, out, waiting
from ..ui.referee import Led, views_on_the_way
from ..ui.terminal import Table
from .options import GameName, Json, write_json

STDOUT = Path("-")
OPPONENT = "oos:1000"  # of a game that names no other


def register(app: typer.Typer) -> None:
    app.command()(advise)
    app.command()(play)


def advise(
    game_name: GameName,
    moves: Annotated[
        str,
        typer.Argument(
            help="All moves and chance outcomes so far, such as '? K raise': ? is what the seat to move can't see.",
            metavar="MOVES",
        ),
    ] = "",
    player: Annotated[str, typer.Option("--with", help="Who advises: oos:10000, strategy:FILE, ...")] = "oos:10000",
    seed: Annotated[int, typer.Option(help="The same seed gives the same advice.")] = 1,
    json_file: Json = None,
) -> None:
    """Say what to play at a position, with probabilities and values. With --json - it prints JSON and nothing else.

    Example: kibitz advise leduc "? K raise" --with oos:10000
    """
    game = games.load(game_name)
    names.at_least("--seed", seed, 0)
    states = read_line(game, moves)
    adviser = make_adviser(player, game)
    seat = int(game.turn(states[-1]))
    views = views_on_the_way(game, states, seat)
    with waiting(f"{player} thinks"):
        Led(adviser, game, seat, seed).move(views)
    if adviser.advice is None:
        raise BadInput(f"{player} gives no advice: it only moves")
    asked = {"game": games.full_name(game), "line": split(moves), "seat": seat + 1, "with": player, "seed": seed}
    report = asked | adviser.advice.as_json(game, views[-1])
    if json_file == STDOUT:
        print(json.dumps(report, indent=2))
    else:
        out.print(position(game, views[-1], seat, f"{games.full_name(game)}, seat {seat + 1} to move"))
        out.print(advice_table(game, views[-1], adviser.advice))
    write_json(None if json_file == STDOUT else json_file, report)


def play(
    game_name: GameName,
    against: Annotated[
        str | None, typer.Option(help="Who plays the other seats; default what suits the game, mostly oos:1000.")
    ] = None,
    advice: Annotated[bool, typer.Option("--advice/--no-advice", help="Show advice before your moves.")] = False,
    kibitzer: Annotated[str | None, typer.Option("--with", help="Who advises you; default as --against.")] = None,
    seat: Annotated[str, typer.Option(help="1, 2 or random; the next game is from the next seat.")] = "1",
    seed: Annotated[int | None, typer.Option(help="The same seed deals the same games; default new ones.")] = None,
    language: Annotated[str, typer.Option(help="Of the game's own words: en, or de where a game speaks it.")] = "en",
) -> None:
    """Play in the terminal, with a kibitzer to ask.

    Example: kibitz play leduc --against oos:1000 --advice
    """
    game = games.load(game_name)
    names.at_least("--seed", seed or 0, 0)
    for option, name in (("--against", against), ("--with", kibitzer)):
        if name == "human":
            raise BadInput(f"{option} human: you are the human here; name a player such as random or oos:1000")
    against = against or str(getattr(game, "opponent", OPPONENT))
    seed = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else seed
    table = Table(
        game,
        [make_for(against, game) for _ in range(game.facts.seats - 1)],
        make_for(kibitzer or against, game),
        _ask,
        out.print,
        seat=_seat(seat, game.facts.seats, seed),
        seed=seed,
        advice=advice,
        name=kibitzer or against,
        language=language,
    )
    with contextlib.suppress(ImportError, AttributeError):
        import readline  # noqa: F401  (arrow keys and a history at the prompt)

        sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        table.sit()
    except KeyboardInterrupt:
        err.print(f"\nstopped; {table.score}", style="dim", highlight=False)
        raise typer.Exit(130) from None


def _seat(text: str, seats: int, seed: int) -> int:
    known = [str(seat + 1) for seat in range(seats)]
    if text == "random":
        return int(np.random.default_rng(seed).integers(seats))
    if text not in known:
        raise BadInput(f"--seat {text} should be {', '.join(known)} or random")
    return known.index(text)


def _ask(prompt: str) -> str:
    if sys.stdin.isatty():
        try:
            return input(prompt)
        except EOFError:
            out.print()  # Ctrl-D leaves the cursor at the prompt
            raise
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    out.print(Text(prompt + line.rstrip()))  # so that a transcript reads as a terminal does
    return line
