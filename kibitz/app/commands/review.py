"""`kibitz review`: what each move of a recorded game cost, by a player's advice."""

import math
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ...core import names
from ...core.names import BadInput
from ..ui.progress import out, reporting
from .options import Json, Memory, PlayedGame, Seed, Trust, path_to_read, write_json

COST_OF_A_POLICY = (
    "policy: how often {player} plays the move; values: the mean of playouts in which both seats then play like "
    "{player}; cost: the value of the best move less that of the one played, ± its margin (95%). A mixed strategy "
    "plays moves of about the same value: a rare move isn't wrong by itself, only a costly one is."
)
PLURALS = {"blunder": "blunders", "mistake": "mistakes", "inaccuracy": "inaccuracies"}


def register(app: typer.Typer) -> None:
    app.command("review")(review)


def review(
    file: Annotated[
        Path,
        typer.Argument(
            help="File of games, or the run folder that holds one: games.jsonl, or another format that kibitz "
            "convert reads.",
            metavar="FILE",
            parser=path_to_read,
        ),
    ],
    number: Annotated[int, typer.Option("--game", help="Number of the game, from 1.")] = 1,
    player: Annotated[
        str | None,
        typer.Option(
            "--with",
            help="Player that advises: uct:10000, oos:10000, strategy:FILE, ... Default: the strongest that answers "
            "within a second.",
        ),
    ] = None,
    seat: Annotated[
        int | None, typer.Option(help="Review only the moves of this seat (1 is the first). Default: all.")
    ] = None,
    read_as: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="Format of FILE: json, or one of kibitz convert --formats. Default: recognized by its content.",
            metavar="FORMAT",
        ),
    ] = None,
    rules: PlayedGame = None,
    seed: Seed = 1,
    language: Annotated[str, typer.Option(help="Language of the output: en or de.")] = "en",
    memory: Memory = None,
    trust: Trust = False,
    json_file: Json = None,
) -> None:
    """Review a recorded game: the value of each move and of the best one, and what each mistake cost.

    Values are expected payoffs of the seat that moves, by the advice of a player that sees what the seat saw. A
    network or a strategy is valued by its own play; other players without search give no values.

    Example: kibitz review runs/connect_four-match-001 --game 3 --with uct:10000

    Example: kibitz review runs/leduc-match-001 --game 7 --seat 2 --with net:models/leduc
    """
    from ...games import load_stored
    from ...games.display import display
    from ...games.record_files import read_game
    from ...play.players import default_player
    from ...play.review import HEAD, MARKS, VALUES
    from ...play.review import review as review_game
    from ..ui.formatting import position, unit_note
    from ..ui.tables import compact_table
    from ..ui.words import Words

    words = Words(language)
    say = partial(out.print, highlight=False, markup=False)
    names.at_least("--seed", seed, 0)
    record = read_game(file, number, read_as, rules)
    game = load_stored(record.game)
    if seat is not None and not 1 <= seat <= game.facts.seats:
        raise BadInput(f"--seat {seat} should be 1 to {game.facts.seats}")
    player = player or default_player(game)
    with reporting(f"{player} reviews game {number}") as report:
        found = review_game(record, player, None if seat is None else seat - 1, seed, report)
    players = ", ".join(f"{words('seat {seat}', seat=i + 1)} {name}" for i, name in enumerate(record.players))
    head = "game {number} of {game}: {players}; reviewed by {player}"
    say(words(head, number=number, game=record.game, players=players, player=player))
    shown = display(game, language)
    stages = shown.stage_head  # decisions are found by their stage, and the whole end is shown
    if stages:
        *_, (end, _) = record.replay()
        out.print(position(shown, end, -1, words("the hand")))
    table = compact_table(*map(words, [stages, *HEAD[1:]] if stages else HEAD))
    styles = dict(zip(MARKS, ("red", "yellow", "cyan"), strict=True))
    for row, move in zip(found.rows(shown), found.moves, strict=True):
        if move.mark or shown.is_visible(move.view, move.action):  # nobody hears that a seat announces nothing
            first = shown.stage(move.view) if stages else row[0]
            cells = [words.number(cell) if i in VALUES else cell for i, cell in enumerate(row)]
            table.add_row(first, *cells[1:-1], words(move.mark) if move.mark else "", style=styles.get(move.mark, ""))
    say(table)
    unit = f" {shown.symbol}" if shown.symbol else ""
    for mover in sorted({move.seat for move in found.moves}):
        total, marked = found.total_cost(mover), [move.mark for move in found.moves if move.seat == mover and move.mark]
        margin = found.total_margin(mover)
        error = f" ±{margin:.2f}" if margin else ""
        counts = ", ".join(
            f"{marked.count(mark)} {words(mark if marked.count(mark) == 1 else PLURALS[mark])}"
            for mark in MARKS
            if mark in marked
        )
        known = words.number(f"{total:.2f}{error}") + unit
        cost = words("unknown: the adviser gives no values") if math.isnan(total) else known
        text = words("total cost of seat {seat}: {cost}", seat=mover + 1, cost=cost)
        say(f"{text}{f' ({counts})' if counts else ''}")
    say(words(found.mark_text, **found.mark_values(words, words.number)))
    if found.by_playouts:
        say(words(COST_OF_A_POLICY, player=player))
    if note := unit_note(shown, words):
        say(note)
    write_json(json_file, found.as_json())
