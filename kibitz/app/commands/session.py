"""`kibitz session`: sessions of Doppelkopf with compulsory solos, and their score sheets."""

import json
import re
import time
from typing import Annotated

import typer
from rich.console import Console, Group
from rich.markup import escape
from rich.table import Table

from ...arena.doppelkopf_session import Played, open_session, play_sessions, read_sessions, seated, summary, totals
from ...arena.match import FILE, RESULT
from ...arena.statistics import Estimate
from ...core.names import choose
from ...games import load
from ...games.doppelkopf.display import headline, sheet
from ...games.doppelkopf.state import PLAIN, known_parties
from ..ui.arena_tables import print_line, shown
from ..ui.progress import out
from .options import GameName, Json, Out, Processes, Seed, Trust, write_json

SHEETS = "sheets.txt"
WIDTH = 120  # of score sheets in the file


def register(app: typer.Typer) -> None:
    app.command("session")(session)


def session(
    game_name: GameName,
    players: Annotated[
        list[str], typer.Argument(help="Four, in the order of their seats; the last one deals.", metavar="PLAYER...")
    ],
    games: Annotated[int, typer.Option(help="Number of games per session.")] = 24,
    solos: Annotated[
        str | None,
        typer.Option(help="Whether each player owes a compulsory solo: yes or no. Default: yes if the game has solos."),
    ] = None,
    sessions: Annotated[
        int, typer.Option(help="Number of sessions. Of several, the totals are shown with intervals.")
    ] = 1,
    seed: Seed = 1,
    processes: Processes = None,
    out_folder: Out = None,
    trust: Trust = False,
    json_file: Json = None,
) -> None:
    """Play whole sessions of Doppelkopf: 24 games, with one compulsory solo per player.

    The run folder holds every game and the score sheets. The same command with --out on that folder resumes the
    sessions, or adds more of them.

    Example: kibitz session doppelkopf random random random random

    Example: kibitz session doppelkopf:nines=no ensemble-uct:10x100 random random random --sessions 20
    """
    if solos is None:
        owed = getattr(load(game_name), "solos", False)
    else:
        owed = choose("answer to --solos", solos, ("yes", "no")) == "yes"
    run = open_session(out_folder, game_name, players, games, sessions, owed, seed)
    command = ["kibitz", "session", game_name, *players, "--games", str(games), "--sessions", str(sessions)]
    command += ["--solos", "yes" if owed else "no", "--seed", str(seed), "--out", str(run.folder)]
    began, total, config = time.perf_counter(), games * sessions, run.config()
    try:
        with shown(config["game"], total, run, command, "human" in players) as report:
            found = play_sessions(run, processes, report)
    except typer.Exit:
        if sessions == 1:
            out.print(score_sheet(players, read_sessions(run)[0]), highlight=False)
        raise
    seconds = time.perf_counter() - began
    result = summary(players, found, seed)
    measured = config | {
        "totals": [totals(session) for session in found],
        "by_name": {name: estimate.as_json() for name, estimate in result.items()},
    }
    run.write(RESULT, json.dumps(measured, indent=2) + "\n")
    run.write(SHEETS, "\n".join(_text(players, number, session) for number, session in enumerate(found)))
    if sessions == 1:
        out.print(score_sheet(players, found[0]), highlight=False)
    what = f"{total:,} games" if sessions == 1 else f"{sessions:,} sessions of {games} games"
    out.print(f"{what} of [bold]{escape(config['game'])}[/bold], seed {seed}, {seconds:.1f} s", highlight=False)
    out.print(_summary_table(players, result, games))
    print_line(f"games:  {run.path(FILE)}\nsheets: {run.path(SHEETS)}\nresult: {run.path(RESULT)}")
    write_json(json_file, measured)


def score_sheet(players: list[str], session: list[Played]) -> Group:
    """Score and total of each player game by game, the solos still owed, and below the items of each score."""
    named = ", ".join(f"{player + 1} {name}" for player, name in enumerate(players))
    table = Table(box=None, padding=(0, 1, 0, 0))
    for head in ("game", "dealer", "played", *(str(player + 1) for player in range(len(players))), "owe"):
        table.add_column(head, justify="right" if head.isdecimal() else "left", no_wrap=True)
    points = [0] * len(players)
    reasons = []
    for number, played in enumerate(session):
        cells = []
        for player, score in enumerate(played.scores):
            points[player] += score
            cells.append(f"{score:+d} [bold]{points[player]:4d}[/bold]")
        owe = " ".join(str(player + 1) for player in range(len(players)) if played.after.owed >> player & 1) or "-"
        table.add_row(str(number + 1), str(played.before.dealer + 1), escape(_what(played)), *cells, owe)
        items = ", ".join(f"{name} {value:+d}" for name, value in sheet(played.game, played.end)) or "no points"
        reasons.append(f"game {number + 1}, {_parties(played)}: {items}")
    return Group(f"players: {escape(named)}", table, "", "points for Re:", *map(escape, reasons))


def _what(played: Played) -> str:
    """A game in words, such as `♣ solo of 3, owed`, with the numbers of players instead of seats."""
    order = seated(played.before)
    words = headline(played.game, played.end).removesuffix(", over")
    words = re.sub(r"seat (\d)", lambda seat: str(order[int(seat[1]) - 1] + 1), words)
    if played.end.mode == PLAIN and len(re_seats(played)) == 1:
        words = f"silent marriage of {order[re_seats(played)[0]] + 1}"
    if played.compulsory:
        words += ", owed" if played.game.forced < 0 else ", forced"
    return words


def re_seats(played: Played) -> list[int]:
    parties = known_parties(played.end)[0]
    return [seat for seat in range(len(played.end.points)) if parties >> seat & 1]


def _parties(played: Played) -> str:
    """The party Re in words, such as `Re 1 3 with 130`."""
    names = " ".join(sorted(str(seated(played.before)[seat] + 1) for seat in re_seats(played)))
    return f"Re {names} with {sum(int(played.end.points[seat]) for seat in re_seats(played))}"


def _text(players: list[str], number: int, session: list[Played]) -> str:
    console = Console(width=WIDTH, color_system=None)
    with console.capture() as captured:
        console.print(f"session {number + 1}", score_sheet(players, session), highlight=False)
    return captured.get()


def _summary_table(players: list[str], result: dict[str, Estimate], games: int) -> Table:
    table = Table("player", "seats", "points per session", "95% interval", "points per game")
    for name, points in result.items():
        cells = f"{points.mean:+.2f}", points.span(1, "+.2f"), f"{points.mean / games:+.4f}"
        table.add_row(escape(name), str(players.count(name)), *cells)
    return table
