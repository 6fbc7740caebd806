"""`kibitz record`: games that networks learn from."""

import time
from typing import Annotated

import typer
from rich.markup import escape

from ...core.names import absolute, counted
from ...core.progress import Reporter
from ..ui.progress import out, reporting
from .options import Cluster, GameName, Json, Memory, Out, Processes, Seed, Trust, write_json


def register(app: typer.Typer) -> None:
    app.command("record")(record)


class _Rate(Reporter):
    """Adds the number of games per second, not counting the first one, which compiles."""

    def __init__(self, report: Reporter) -> None:
        self.report = report
        self.first: tuple[float, float] | None = None
        self.done, self.rate = 0, 0.0

    def progress(self, done: float, total: float | None = None, note: str = "") -> None:
        self.done, now = int(done), time.perf_counter()
        if self.first is None:
            self.first = now, done
        elif done > self.first[1]:
            self.rate = (done - self.first[1]) / (now - self.first[0])
        self.report.progress(done, total, f"{self.rate:,.1f} games/s" if self.rate else "")

    def message(self, text: str) -> None:
        self.report.message(text)


def record(
    game_name: GameName,
    players: Annotated[
        list[str],
        typer.Option(
            "--players",
            help="Player of all seats; or give the option once per seat. Players move on by one seat per game.",
            metavar="PLAYER",
        ),
    ],
    number: Annotated[int, typer.Option("--games", help="Number of games, each with a deal of its own.")] = 1000,
    seed: Seed = 1,
    processes: Processes = None,
    cluster: Cluster = None,
    memory: Memory = None,
    out_folder: Out = None,
    trust: Trust = False,
    json_file: Json = None,
) -> None:
    """Record games for networks to learn from, on all cores, in a run folder.

    The same command with --out on that folder resumes the recording, or extends it to a larger number of games.
    Learners choose their validation set by the deals themselves.

    Example: kibitz record leduc --players oos:1000 --games 100000 --out runs/oos-games
    """
    from ...play.match import FILE, open_run, play_into
    from ...play.play import labels
    from ..ui.arena_tables import print_line, shown

    with reporting("loading the players"):
        run = open_run(out_folder, "record", game_name, players, number, seed)
    named = (part for name in labels(players) for part in ("--players", name))
    command = ["kibitz", "record", absolute(game_name), *named]
    command += ["--games", str(number), "--seed", str(seed), "--out", run.place]
    with shown(run.config()["game"], number, run, command) as report:
        rate = _Rate(report)
        play_into(run, cluster or processes, rate)
    speed = f", {rate.rate:,.1f} games per second" if rate.rate else ""
    out.print(
        f"{counted(rate.done, 'game')} of [bold]{escape(run.config()['game'])}[/bold], seed {seed}{speed}",
        highlight=False,
    )
    print_line(f"games: {run.path(FILE)}")
    write_json(json_file, run.config() | {"done": rate.done, "games_per_second": rate.rate})
