"""`kibitz match`, `rate`, `replay`: the arena, as a person meets it."""

import itertools
import json
import math
import time
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from ... import games
from ...arena.elo import rate, read_games
from ...arena.match import FILE, open_match, play_into, table
from ...arena.statistics import Estimate, Result, Running, further_games, summary
from ...core.names import BadInput, at_least
from ...core.runs import Run
from ...games import CHANCE, Game, view_of
from ...games.records import Record, read_records
from ..ui.formatting import format_duration, position
from ..ui.progress import err, out, waiting
from ..ui.referee import Step, observed_action
from .options import GameName, Json, Out, Processes, Seed, Within, write_json

FIRST = 8  # games by which the others are foretold
LONG_DEAL = 8  # cards before the first move that are worth being shown one by one
OFTEN = 0.05  # seconds between two looks at the bar
LONG = 20.0  # seconds: what takes less isn't


def register(app: typer.Typer) -> None:
    app.command("match")(match)
    app.command("rate")(rate_players)
    app.command("replay")(replay)


def match(
    game_name: GameName,
    players: Annotated[
        list[str], typer.Argument(help="One for each seat: random, oos:1000, strategy:FILE, ...", metavar="PLAYER...")
    ],
    number: Annotated[
        int | None,
        typer.Option("--games", help="Games 1 and 2 are a pair: same deal, seats swapped.", show_default="1000"),
    ] = None,
    deals: Annotated[int | None, typer.Option(help="Instead of games: each is played from every seat.")] = None,
    rotate: Annotated[bool, typer.Option("--rotate", help="Each player through all seats. It is always so.")] = True,
    duplicate: Annotated[bool, typer.Option("--duplicate", help="The same, as it is called in poker.")] = True,
    within: Within = None,
    seed: Seed = 1,
    processes: Processes = None,
    out_folder: Out = None,
    json_file: Json = None,
) -> None:
    """Let players play each other, and say who is better and how sure that is.

    Writes a run folder with every game. The same command with --out on that folder goes on where
    it was stopped, or to a larger number of games.

    Example: kibitz match leduc oos:1000 random --games 1000

    Example: kibitz match doppelkopf:thesis ensemble-uct:10x1000 random random random --deals 1000 --rotate

    Example: kibitz match holdem style:tight-aggressive always:call --games 100000 --duplicate --within 10
    """
    if number is not None and deals is not None:
        raise BadInput(f"--games {number} and --deals {deals}: give one of them")
    if deals is not None:
        at_least("deals", deals, 1)
        number = deals * games.load(game_name).facts.seats
    number = 1000 if number is None else number
    run = open_match(out_folder, game_name, players, number, seed)
    config = run.config()
    began = time.perf_counter()
    again = f"kibitz match {game_name} {' '.join(players)} --games {number} --seed {seed} --out {run.folder}"
    records = play_shown(run, again, processes)
    seconds = time.perf_counter() - began
    result = summary(records, seed)
    report = config | result.as_json()
    game, seats = games.load(game_name), len(players)
    milli_unit = game.facts.milli_unit
    report |= still_needed(result, seats, within, milli_unit)
    run.write("result.json", json.dumps(report, indent=2) + "\n")
    dealt = f", {result.games // seats:,} deals from {seats} seats" if seats > 2 and result.games % seats == 0 else ""
    what = f"{result.games:,} games of [bold]{config['game']}[/bold]{dealt}"
    out.print(f"{what}, seed {seed}, {seconds:.1f} s", highlight=False)
    out.print(_result_table(players, result, milli_unit))
    if seats > 2:
        out.print(_players_table(players, result))
    say_needed(report, milli_unit)
    out.print(f"games:  {run.path(FILE)}\nresult: {run.path('result.json')}", soft_wrap=True, highlight=False)
    write_json(json_file, report)


def still_needed(result: Result, seats: int, within: float | None, milli_unit: str) -> dict[str, Any]:
    """For a report, if it was asked: how many more games make the interval ± `within`."""
    if within is None:
        return {}
    return {"within": within, "further_games": further_games(result, seats, within / 1000 if milli_unit else within)}


def say_needed(report: dict[str, Any], milli_unit: str) -> None:
    if report.get("further_games") is not None:
        what = f"an interval of ±{report['within']:g} {milli_unit or 'points'}"
        out.print(f"{what} takes {report['further_games']:,} further games", highlight=False)


def play_shown(run: Run, again: str, processes: int | None, title: str = "", make: Any = table) -> list[Record]:
    """The games of a match, with a bar; stopped by Ctrl-C it says that `again` goes on."""
    config, so_far = run.config(), Running()
    number, with_human = config["games"], "human" in config["players"]
    fresh: list[float] = []  # when games ended
    shown_at = 0.0
    display: Any = waiting(title or config["game"], number)
    if with_human:  # who needs the terminal for himself, and can't be in two processes
        processes, display = 1, nullcontext(lambda *_: None)
    with display as line:

        def show(record: Record) -> None:
            nonlocal shown_at
            so_far.add(record)
            fresh.append(time.perf_counter())
            if len(fresh) == FIRST and not with_human:
                foretell((fresh[-1] - fresh[0]) / (FIRST - 1) * (number - so_far.games), run)
            if fresh[-1] - shown_at > OFTEN:
                shown_at = fresh[-1]
                line(so_far.games, str(so_far))

        try:
            return play_into(run, processes, show, tell, make=make)
        except KeyboardInterrupt:
            done = len(read_records(run.path(FILE)))
            err.print(f"stopped after {done:,} of {number:,} games; what is there was saved", highlight=False)
            err.print(f"to go on: {escape(again)}", soft_wrap=True, highlight=False)
            raise typer.Exit(130) from None


def foretell(seconds: float, run: Run) -> None:
    """How long a match will take and what of the disk, where it is worth telling."""
    if seconds > LONG:
        size = run.path(FILE).stat().st_size / FIRST * run.config()["games"]
        err.print(
            f"about {format_duration(seconds)}, and {size / 1e6:,.1f} MB of disk, in {run.folder}", highlight=False
        )


def tell(text: str) -> None:
    err.print(text, highlight=False, markup=False)


def _result_table(players: list[str], result: Result, milli_unit: str) -> Table:
    others = Counter(players[1:])
    against = ", ".join(f"{count} x {name}" if count > 1 else name for name, count in others.items())
    table = Table(escape(players[0]), f"against {escape(against)}", "95% interval")
    table.add_row("won / drawn / lost", f"{result.wins:,} / {result.draws:,} / {result.losses:,}", "")
    table.add_row("score (a draw is half)", f"{100 * result.score.mean:.1f}%", span(result.score, 100, ".1f", "%"))
    table.add_row("mean payoff", f"{result.payoff.mean:+.4f}", span(result.payoff, 1, "+.4f", ""))
    if milli_unit:
        table.add_row(f"in {milli_unit}", f"{1000 * result.payoff.mean:+,.1f}", span(result.payoff, 1000, "+,.1f", ""))
    if not math.isnan(result.deviation):
        table.add_row("its deviation from game to game", f"{result.deviation:.4f}", "")
    return table


def _players_table(players: list[str], result: Result) -> Table:
    """Points a game; who is named several times stands there once, with the mean."""
    table = Table("player", "seats", "mean payoff", "95% interval")
    for name, payoff in result.by_name.items():
        table.add_row(escape(name), str(players.count(name)), f"{payoff.mean:+.4f}", span(payoff, 1, "+.4f", ""))
    return table


def span(estimate: Estimate, scale: float, form: str, unit: str) -> str:
    if math.isnan(estimate.low):
        return "-"
    return f"{scale * estimate.low:{form}}{unit} to {scale * estimate.high:{form}}{unit}"


def rate_players(
    folder: Annotated[Path, typer.Argument(help="All games.jsonl below it are read.", metavar="FOLDER")],
    fix: Annotated[
        str | None, typer.Option(help="NAME=ELO of one player; default the first by name, at 1500.", metavar="NAME=ELO")
    ] = None,
    game_name: Annotated[str | None, typer.Option("--game", help="Where the folder holds several games.")] = None,
    json_file: Json = None,
) -> None:
    """Rate players by Elo, from all their games in a folder.

    400 points are odds of 10 to 1. Intervals are relative to the fixed player.

    Example: kibitz rate runs --fix random=1000
    """
    records = read_games(folder, game_name if game_name is None else games.full_name(games.load(game_name)))
    rating = rate(records, *_fixed(fix))
    table = Table("player", "Elo", "95% interval", "games", "score", "")
    for player in rating.players:
        sure = "fixed" if player.low == player.high else f"{player.low:.0f} to {player.high:.0f}"
        score = f"{100 * player.score:.1f}%"
        table.add_row(escape(player.name), f"{player.elo:.0f}", sure, f"{player.games:,}", score, player.note)
    out.print(
        f"[bold]{rating.game}[/bold], {sum(player.games for player in rating.players) // 2:,} games", highlight=False
    )
    out.print(table)
    if rating.helped:
        pairs = "; ".join(f"{one} and {two}" for one, two in rating.helped)
        why = "where wins go one way only, Elo has no end: half a win was added for either side"
        out.print(f"{why} between {escape(pairs)}", highlight=False)
    players = [vars(player) for player in rating.players]
    write_json(
        json_file, {"game": rating.game, "players": players, "draws": rating.draws, "half_wins_added": rating.helped}
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


def replay(
    file: Annotated[Path, typer.Argument(help="A games.jsonl, or the folder it lies in.", metavar="FILE")],
    number: Annotated[int, typer.Option("--game", help="Its number, from 0.")] = 0,
    seat: Annotated[int | None, typer.Option(help="Only what this seat saw, from 1; default all.")] = None,
) -> None:
    """Show a recorded game move by move.

    Example: kibitz replay runs/leduc-match-001 --game 12 --seat 2
    """
    path = file / FILE if file.is_dir() else file
    records = {record.number: record for record in read_records(path)}
    if number not in records:
        held = f"its numbers are {min(records)} to {max(records)}" if records else "it holds none"
        raise BadInput(f"{path} has no game {number}: {held}")
    record = records[number]
    record.verify()
    game = games.load(record.game)
    if seat is not None and not 1 <= seat <= game.facts.seats:
        raise BadInput(f"--seat {seat} should be 1 to {game.facts.seats}")
    who = ", ".join(f"seat {i + 1} {name}" for i, name in enumerate(record.players))
    out.print(f"game {number} of {escape(record.game)}: {escape(who)}", highlight=False)
    steps = list(record.replay())
    dealt = sum(1 for _ in itertools.takewhile(lambda step: game.turn(step[0]) == CHANCE, steps))
    if dealt > LONG_DEAL:
        out.print(f"  chance moves {dealt} times", highlight=False)
        steps = steps[dealt:]
    for (state, action), (after, _) in itertools.pairwise(steps):
        _show_position(game, state, seat)
        out.print(f"  {_move(game, record, state, action, after, seat)}", highlight=False, markup=False)
    _show_position(game, steps[-1][0], seat)
    for i, (name, payoff) in enumerate(zip(record.players, record.payoffs, strict=True)):
        out.print(f"seat {i + 1} ({name}) gets {payoff:+g}", highlight=False, markup=False)


def _show_position(game: Game, state: Any, seat: int | None) -> None:
    shown, who = (state, -1) if seat is None else (view_of(game, state, seat - 1), seat - 1)
    out.print(position(game, shown, who, ""))


def _move(game: Game, record: Record, state: Any, action: Any, after: Any, seat: int | None) -> str:
    """Who did what; a seat that couldn't see what isn't told."""
    turn = int(game.turn(state))
    who = "chance" if turn == CHANCE else f"seat {turn + 1} ({record.players[turn]})"
    if seat is not None and turn != seat - 1:
        step = Step(turn, view_of(game, state, seat - 1), view_of(game, after, seat - 1))
        if observed_action(game, seat - 1, step) is None:
            return f"{who}: hidden"
    return f"{who}: {game.action_to_string(state, action)}"
