"""`kibitz session`: an evening of Doppelkopf with its compulsory solos, and the score sheet at the end."""

import json
import re
import shlex
import time
from contextlib import nullcontext
from typing import Annotated, Any

import typer
from rich.console import Console, Group
from rich.markup import escape
from rich.table import Table

from ...arena.doppelkopf_session import Played, open_session, play_sessions, read_sessions, seated, summary, totals
from ...arena.statistics import Estimate
from ...core.names import choose
from ...games import load
from ...games.doppelkopf.display import headline, sheet
from ...games.doppelkopf.state import PLAIN, known_parties
from ..ui.progress import err, out, waiting
from .match import span
from .options import GameName, Json, Out, Processes, Seed, write_json

SHEETS = "sheets.txt"
WIDTH = 120  # of sheets in the file


def register(app: typer.Typer) -> None:
    app.command("session")(session)


def session(
    game_name: GameName,
    players: Annotated[
        list[str], typer.Argument(help="The four, as they sit; the last one deals.", metavar="PLAYER...")
    ],
    games: Annotated[int, typer.Option(help="Of a session.")] = 24,
    solos: Annotated[
        str | None, typer.Option(help="yes or no: each player owes a compulsory solo. Default: as the game has solos.")
    ] = None,
    sessions: Annotated[int, typer.Option(help="How many; of several the totals are told, with intervals.")] = 1,
    seed: Seed = 1,
    processes: Processes = None,
    out_folder: Out = None,
    json_file: Json = None,
) -> None:
    """Play whole sessions of Doppelkopf: 24 games, one compulsory solo a player.

    Writes a run folder with every game and the score sheets. The same command with --out on that folder
    goes on where it was stopped, or to more sessions.

    Example: kibitz session doppelkopf random random random random

    Example: kibitz session doppelkopf:nines=no ensemble-uct:10x100 random random random --sessions 20
    """
    if solos is None:
        owed = getattr(load(game_name), "solos", False)
    else:
        owed = choose("answer to --solos", solos, ("yes", "no")) == "yes"
    run = open_session(out_folder, game_name, players, games, sessions, owed, seed)
    config = run.config()
    began, total, done = time.perf_counter(), games * sessions, 0
    points = [0] * len(players)
    display: Any = waiting(config["game"], total)
    if "human" in players:  # who needs the terminal for himself, and can't be in two processes
        processes, display = 1, nullcontext(lambda *_: None)
    with display as line:

        def show(number: int, played: Played) -> None:
            nonlocal done
            done += 1
            for player, score in enumerate(played.scores):
                points[player] += score
            line(done, " ".join(f"{score:+d}" for score in points))

        try:
            found = play_sessions(run, processes, show, lambda text: err.print(text, highlight=False, markup=False))
        except KeyboardInterrupt:
            stopped = read_sessions(run)
            if sessions == 1:
                out.print(score_sheet(players, stopped[0]), highlight=False)
            again = ["kibitz", "session", game_name, *players, "--games", str(games), "--sessions", str(sessions)]
            again += ["--solos", "yes" if owed else "no", "--seed", str(seed), "--out", str(run.folder)]
            count = sum(map(len, stopped))
            err.print(f"stopped after {count:,} of {total:,} games; what is there was saved", highlight=False)
            err.print(f"to go on: {escape(shlex.join(again))}", soft_wrap=True, highlight=False)
            raise typer.Exit(130) from None
    seconds = time.perf_counter() - began
    result = summary(players, found, seed)
    report = config | {
        "totals": [totals(session) for session in found],
        "by_name": {name: estimate.as_json() for name, estimate in result.items()},
    }
    run.write("result.json", json.dumps(report, indent=2) + "\n")
    run.write(SHEETS, "\n".join(_text(players, number, session) for number, session in enumerate(found)))
    if sessions == 1:
        out.print(score_sheet(players, found[0]), highlight=False)
    what = f"{total:,} games" if sessions == 1 else f"{sessions:,} sessions of {games} games"
    out.print(f"{what} of [bold]{config['game']}[/bold], seed {seed}, {seconds:.1f} s", highlight=False)
    out.print(_summary_table(players, result, games))
    for label, name in (("games: ", "games.jsonl"), ("sheets:", SHEETS), ("result:", "result.json")):
        out.print(f"{label} {run.path(name)}", soft_wrap=True, highlight=False)
    write_json(json_file, report)


def score_sheet(players: list[str], session: list[Played]) -> Group:
    """Game by game: each player's score and total, who still owes a solo; and below, why each was worth what it was."""
    who = ", ".join(f"{player + 1} {name}" for player, name in enumerate(players))
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
        items = ", ".join(f"{name} {worth:+d}" for name, worth in sheet(played.game, played.end)) or "nothing counts"
        reasons.append(f"game {number + 1}, {_parties(played)}: {items}")
    return Group(f"players: {escape(who)}", table, "", "what each was worth to Re:", *map(escape, reasons))


def _what(played: Played) -> str:
    """`♣ solo of 3, owed`: players as they are numbered here, where the game knows seats."""
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
    """`Re 1 3 with 130`."""
    names = " ".join(sorted(str(seated(played.before)[seat] + 1) for seat in re_seats(played)))
    return f"Re {names} with {sum(int(played.end.points[seat]) for seat in re_seats(played))}"


def _text(players: list[str], number: int, session: list[Played]) -> str:
    console = Console(width=WIDTH, color_system=None)
    with console.capture() as captured:
        console.print(f"session {number + 1}", score_sheet(players, session), highlight=False)
    return captured.get()


def _summary_table(players: list[str], result: dict[str, Estimate], games: int) -> Table:
    table = Table("player", "seats", "points a session", "95% interval", "points a game")
    for name, points in result.items():
        cells = f"{points.mean:+.2f}", span(points, 1, "+.2f", ""), f"{points.mean / games:+.4f}"
        table.add_row(escape(name), str(players.count(name)), *cells)
    return table
