"""`kibitz replay`: a recorded game, move by move."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.padding import Padding
from rich.text import Text

from ...core.names import BadInput
from ..ui.progress import out
from .options import Trust, path_to_read

if TYPE_CHECKING:
    from ...games import Game

LONG_DEAL = 8  # chance outcomes before the first move; more of them are not shown


def register(app: typer.Typer) -> None:
    app.command("replay")(replay)


def replay(
    file: Annotated[
        Path,
        typer.Argument(
            help="A file games.jsonl, or the run folder that holds it.", metavar="FILE", parser=path_to_read
        ),
    ],
    number: Annotated[int, typer.Option("--game", help="Number of the game, from 1.")] = 1,
    seat: Annotated[
        int | None, typer.Option(help="Show only what this seat saw (1 is the first). Default: everything.")
    ] = None,
    every: Annotated[
        int,
        typer.Option(
            "--positions", help="Show the position after every N moves; 0: only at the end.", metavar="N", min=0
        ),
    ] = 0,
    trust: Trust = False,
) -> None:
    """Show a recorded game: its moves, one round of the table or one trick per line, and the last position.

    Example: kibitz replay runs/leduc-match-001 --game 12 --seat 2

    Example: kibitz replay runs/goofspiel-match-001 --positions 1
    """
    from ...games import CHANCE, load_stored
    from ...games.records import FILE, read_records
    from ..ui.arena_tables import print_line

    path = file / FILE if file.is_dir() else file
    records = {record.number + 1: record for record in read_records(path)}
    if number not in records:
        held = f"its games are {min(records)} to {max(records)}" if records else "it is empty"
        raise BadInput(f"{path} has no game {number}: {held}")
    record = records[number]
    try:
        record.verify()
        game = load_stored(record.game)
    except BadInput as error:
        raise BadInput(f"{path}, {error}") from None
    if seat is not None and not 1 <= seat <= game.facts.seats:
        raise BadInput(f"--seat {seat} should be 1 to {game.facts.seats}")
    players = ", ".join(f"seat {i + 1} {name}" for i, name in enumerate(record.players))
    out.print(f"game {number} of {record.game}: {players}", highlight=False, markup=False)
    steps = list(record.replay())
    dealt = sum(1 for _ in itertools.takewhile(lambda step: game.turn(step[0]) == CHANCE, steps))
    if dealt > LONG_DEAL:
        print_line(f"  chance moves {dealt} times")
        steps = steps[dealt:]
    for moves, after in _rows(game, steps, seat, every):
        if moves:
            out.print(Padding(Text(", ".join(moves)), (0, 0, 0, 2), expand=False))
        if every:
            _show_position(game, after, seat)
    if not every:
        _show_position(game, steps[-1][0], seat)
    for i, (name, payoff) in enumerate(zip(record.players, record.payoffs, strict=True)):
        out.print(f"seat {i + 1} ({name}) gets {payoff:+g}", highlight=False, markup=False)
    if record.forfeit:
        print_line(f"seat {record.forfeit.seat + 1} forfeits: {record.forfeit.reason}")


def _rows(game: "Game", steps: list[Any], seat: int | None, every: int) -> Iterator[tuple[list[str], Any]]:
    """The moves by lines, each with the position after it.

    A line is as many moves as there are seats, with the announcements before them, or what chance dealt at once.
    """
    from ...games import CHANCE
    from ...games.display import display

    words, size, was_chance, after = display(game), 0, None, steps[0][0]
    row: list[str] = []
    for count, ((state, action), (after, _)) in enumerate(itertools.pairwise(steps)):
        is_chance = game.turn(state) == CHANCE
        full = count % every == 0 if every else size == game.facts.seats or is_chance != was_chance
        if full and count:
            yield row, state
            row, size = [], 0
        size, was_chance = size + (not is_chance and not game.is_announcement(state)), is_chance
        if words.is_visible(state, action):
            row.append(_move(game, state, action, after, seat))
    yield row, after


def _show_position(game: "Game", state: Any, seat: int | None) -> None:
    from ...games import view_of
    from ..ui.formatting import position

    shown, viewer = (state, -1) if seat is None else (view_of(game, state, seat - 1), seat - 1)
    out.print(position(game, shown, viewer, ""))


def _move(game: "Game", state: Any, action: Any, after: Any, seat: int | None) -> str:
    """A move in words; hidden where the seat couldn't see it."""
    from ...games import CHANCE, view_of
    from ..ui.referee import Step, observed_action

    turn = int(game.turn(state))
    mover = "chance" if turn == CHANCE else f"seat {turn + 1}"
    if seat is not None and turn != seat - 1:
        step = Step(turn, view_of(game, state, seat - 1), view_of(game, after, seat - 1))
        if observed_action(game, seat - 1, step) is None:
            return f"{mover}: hidden"
    return f"{mover}: {game.action_to_string(state, action)}"
