"""`kibitz doppelkopf session`: sessions of Doppelkopf with compulsory solos, and their score sheets."""

import json
import re
import time
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console, Group
from rich.markup import escape
from rich.table import Column, Table

from ...app.commands import command
from ...app.commands.options import Cluster, GameName, Json, Memory, Out, Processes, Seed, Trust, write_json
from ...app.ui.progress import out, reporting
from ...app.ui.words import ENGLISH, Words
from ...core.names import absolute, choose

if TYPE_CHECKING:
    from ...play.statistics import Estimate
    from ..session import Played

SHEETS = "sheets.txt"
WIDTH = 120  # of score sheets in the file


@command("doppelkopf session", formerly="session")
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
    cluster: Cluster = None,
    memory: Memory = None,
    out_folder: Out = None,
    trust: Trust = False,
    json_file: Json = None,
    language: Annotated[str, typer.Option(help="Language of the score sheets: en or de.")] = "en",
) -> None:
    """Play whole sessions of Doppelkopf: 24 games, with one compulsory solo per player.

    The run folder holds every game and the score sheets. The same command with --out on that folder resumes the
    sessions, or adds more of them.

    Example: kibitz doppelkopf session doppelkopf random random random random

    Example: kibitz doppelkopf session doppelkopf:nines=no ensemble-uct:10x100 random random random --sessions 20
    """
    from ...app.ui.arena_tables import print_line, shown
    from ...games import load
    from ...play.match import FILE, RESULT
    from ...play.play import labels
    from ..session import open_session, play_sessions, read_sessions, summary, totals

    words = Words(language)
    if solos is None:
        owed = getattr(load(game_name), "solos", False)
    else:
        owed = choose("answer to --solos", solos, ("yes", "no")) == "yes"
    with reporting("loading the players"):
        run = open_session(out_folder, game_name, players, games, sessions, owed, seed)
    command = ["kibitz", "doppelkopf", "session", absolute(game_name), *labels(players)]
    command += ["--games", str(games), "--sessions", str(sessions)]
    command += ["--solos", "yes" if owed else "no", "--seed", str(seed), "--out", run.place]
    began, total, config = time.perf_counter(), games * sessions, run.config()
    try:
        with shown(config["game"], total, run, command, "human" in players) as report:
            found = play_sessions(run, cluster or processes, report)
    except typer.Exit:
        if sessions == 1:
            out.print(score_sheet(players, read_sessions(run)[0], words), highlight=False)
        raise
    seconds = time.perf_counter() - began
    result = summary(players, found)
    measured = config | {
        "totals": [totals(session) for session in found],
        "by_name": {name: estimate.as_json() for name, estimate in result.items()},
    }
    run.write(RESULT, json.dumps(measured, indent=2) + "\n")
    run.write(SHEETS, "\n".join(_text(players, number, session, words) for number, session in enumerate(found)))
    if sessions == 1:
        out.print(score_sheet(players, found[0], words), highlight=False)
    what = words("{count} games", count=f"{total:,}")
    if sessions > 1:
        what = words("{sessions} sessions of {games} games", sessions=f"{sessions:,}", games=games)
    line = "{what} of {game}, seed {seed}, {seconds} s"
    named = f"[bold]{escape(config['game'])}[/bold]"
    out.print(words(line, what=what, game=named, seed=seed, seconds=f"{seconds:.1f}"), highlight=False)
    out.print(_summary_table(players, result, games, words))
    for text, file in (("games:  {file}", FILE), ("sheets: {file}", SHEETS), ("result: {file}", RESULT)):
        print_line(words(text, file=run.path(file)))
    write_json(json_file, measured)


def score_sheet(players: list[str], session: "list[Played]", words: Words = ENGLISH) -> Group:
    """Score and total of each player game by game, the solos still owed, and below the items of each score."""
    from ..rules.display import sheet

    named = ", ".join(f"{player + 1} {name}" for player, name in enumerate(players))
    table = Table(box=None, padding=(0, 1, 0, 0))
    for head in ("game", "dealer", "played", *(str(player + 1) for player in range(len(players))), "owe"):
        table.add_column(words(head), justify="right" if head.isdecimal() else "left", no_wrap=True)
    points = [0] * len(players)
    reasons = []
    for number, played in enumerate(session):
        cells = []
        for player, score in enumerate(played.scores):
            points[player] += score
            cells.append(f"{score:+d} [bold]{points[player]:4d}[/bold]")
        owe = " ".join(str(player + 1) for player in range(len(players)) if played.after.owed >> player & 1) or "-"
        table.add_row(str(number + 1), str(played.before.dealer + 1), escape(_what(played, words)), *cells, owe)
        items = ", ".join(f"{term(name, words)} {value:+d}" for name, value in sheet(played.game, played.end))
        what = "game {number}, {parties}: {items}"
        parties = _parties(played, words)
        reasons.append(words(what, number=number + 1, parties=parties, items=items or words("no points")))
    head = words("players: {names}", names=escape(named))
    return Group(head, table, "", words("points for Re:"), *map(escape, reasons))


def term(english: str, words: Words) -> str:
    """A term of Doppelkopf in the language."""
    from ..rules.german import WORDS as GERMAN

    return GERMAN.get(english, english) if words.language == "de" else english


def _what(played: "Played", words: Words) -> str:
    """A game in words, such as `♣ solo of 3, owed`, with the numbers of players instead of seats."""
    from ..rules.display import kind_of_game
    from ..rules.session import seated
    from ..rules.state import PLAIN

    order = seated(played.before)
    text = kind_of_game(played.end, lambda english: term(english, words))
    text = re.sub(rf"{term('seat', words)} (\d)", lambda seat: str(order[int(seat[1]) - 1] + 1), text)
    if played.end.mode == PLAIN and len(re_seats(played)) == 1:
        text = f"{term('silent marriage', words)} {term('of', words)} {order[re_seats(played)[0]] + 1}"
    if played.compulsory:
        text += f", {term('owed' if played.game.forced < 0 else 'forced', words)}"
    return text


def re_seats(played: "Played") -> list[int]:
    from ..rules.state import known_parties

    parties = known_parties(played.end)[0]
    return [seat for seat in range(len(played.end.points)) if parties >> seat & 1]


def _parties(played: "Played", words: Words) -> str:
    """The party Re in words, such as `Re 1 3 with 130`."""
    from ..rules.session import seated

    names = " ".join(sorted(str(seated(played.before)[seat] + 1) for seat in re_seats(played)))
    points = sum(int(played.end.points[seat]) for seat in re_seats(played))
    return words("Re {names} with {points}", names=names, points=points)


def _text(players: list[str], number: int, session: "list[Played]", words: Words) -> str:
    console = Console(width=WIDTH, color_system=None)
    with console.capture() as captured:
        head = words("session {number}", number=number + 1)
        console.print(head, score_sheet(players, session, words), highlight=False)
    return captured.get()


def _summary_table(players: list[str], result: "dict[str, Estimate]", games: int, words: Words) -> Table:
    heads = ("seats", "points per session", "95% interval", "points per game")
    table = Table(Column(words("player"), overflow="fold"), *(words(head) for head in heads))
    for name, points in result.items():
        cells = f"{points.mean:+.2f}", points.span(1, "+.2f"), f"{points.mean / games:+.4f}"
        table.add_row(escape(name), str(players.count(name)), *cells)
    return table
