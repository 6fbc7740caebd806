"""`kibitz replay`: a recorded game, move by move."""

import itertools
from pathlib import Path
from typing import Annotated, Any

import typer

from ...core.names import BadInput
from ...games import CHANCE, Game, load_stored, view_of
from ...games.records import FILE, Record, read_records
from ..ui.arena_tables import print_line
from ..ui.formatting import position
from ..ui.progress import out
from ..ui.referee import Step, observed_action
from .options import Trust, path_to_read

LONG_DEAL = 8  # chance outcomes before the first move; more of them are not shown one by one


def register(app: typer.Typer) -> None:
    app.command("replay")(replay)


def replay(
    file: Annotated[
        Path,
        typer.Argument(
            help="A file games.jsonl, or the run folder that holds it.", metavar="FILE", parser=path_to_read
        ),
    ],
    number: Annotated[int, typer.Option("--game", help="Number of the game, from 0.")] = 0,
    seat: Annotated[
        int | None, typer.Option(help="Show only what this seat saw (1 is the first). Default: everything.")
    ] = None,
    trust: Trust = False,
) -> None:
    """Show a recorded game move by move.

    Example: kibitz replay runs/leduc-match-001 --game 12 --seat 2
    """
    path = file / FILE if file.is_dir() else file
    records = {record.number: record for record in read_records(path)}
    if number not in records:
        held = f"its numbers are {min(records)} to {max(records)}" if records else "it is empty"
        raise BadInput(f"{path} has no game {number}: {held}")
    record = records[number]
    record.verify()
    game = load_stored(record.game)
    if seat is not None and not 1 <= seat <= game.facts.seats:
        raise BadInput(f"--seat {seat} should be 1 to {game.facts.seats}")
    players = ", ".join(f"seat {i + 1} {name}" for i, name in enumerate(record.players))
    out.print(f"game {number} of {record.game}: {players}", highlight=False, markup=False)
    steps = list(record.replay())
    dealt = sum(1 for _ in itertools.takewhile(lambda step: game.turn(step[0]) == CHANCE, steps))
    if dealt > LONG_DEAL:
        print_line(f"  chance moves {dealt} times")
        steps = steps[dealt:]
    for (state, action), (after, _) in itertools.pairwise(steps):
        _show_position(game, state, seat)
        out.print(f"  {_move(game, record, state, action, after, seat)}", highlight=False, markup=False)
    _show_position(game, steps[-1][0], seat)
    for i, (name, payoff) in enumerate(zip(record.players, record.payoffs, strict=True)):
        out.print(f"seat {i + 1} ({name}) gets {payoff:+g}", highlight=False, markup=False)


def _show_position(game: Game, state: Any, seat: int | None) -> None:
    shown, viewer = (state, -1) if seat is None else (view_of(game, state, seat - 1), seat - 1)
    out.print(position(game, shown, viewer, ""))


def _move(game: Game, record: Record, state: Any, action: Any, after: Any, seat: int | None) -> str:
    """A move in words; hidden where the seat couldn't see it."""
    turn = int(game.turn(state))
    mover = "chance" if turn == CHANCE else f"seat {turn + 1} ({record.players[turn]})"
    if seat is not None and turn != seat - 1:
        step = Step(turn, view_of(game, state, seat - 1), view_of(game, after, seat - 1))
        if observed_action(game, seat - 1, step) is None:
            return f"{mover}: hidden"
    return f"{mover}: {game.action_to_string(state, action)}"
