"""`kibitz demo`: expert iteration on Leduc poker, from self-play to matches, in a minute or two."""

from pathlib import Path
from typing import Annotated

import typer

from ...core.names import MAX_GAMES
from ...core.progress import Reporter
from ...core.runs import Run
from ..ui.progress import err, out, print_plain, reporting
from .options import Out, Seed
from .train import stop

GAME = "leduc"
OPPONENTS = ("random", "oos:1000")
RANDOM_NASH_CONV = 4.747  # of uniformly random play


def register(app: typer.Typer) -> None:
    app.command("demo")(demo)


def demo(
    iterations: Annotated[int, typer.Option(min=1, help="Number of iterations of self-play and learning.")] = 80,
    simulations: Annotated[int, typer.Option(min=1, help="Simulations per move of the search.")] = 5000,
    games: Annotated[int, typer.Option(min=2, max=MAX_GAMES, help="Games against each opponent at the end.")] = 1000,
    seed: Seed = 1,
    out_folder: Out = None,
) -> None:
    """Train a network to play Leduc poker by expert iteration, and let it play: the whole project in two minutes.

    NashConv is the sum of what a best response wins against the network in each seat, computed exactly; 0 is an
    equilibrium.

    Example: kibitz demo
    """
    from ...train.trainer import configured, new_run, train
    from ..ui import plots

    given = {"iterations": iterations, "simulations": simulations, "seed": seed, "evaluate_every": 5}
    run = new_run(out_folder, "exit-oos", configured("exit-oos", GAME, "small", given))
    out.print("[bold]A search plays Leduc poker against itself, a network learns to imitate its moves,[/bold]")
    out.print("[bold]and the network guides the search. NashConv measures the distance from an equilibrium:[/bold]\n")
    try:
        with reporting("training", iterations * 32) as live:
            train(run, report=_Curve(run, live))
    except KeyboardInterrupt:
        stop(run)
    points = [(line["iteration"], line["nash_conv"]) for line in run.read_lines() if "nash_conv" in line]
    plots.curves(run.path("nash_conv.png"), {"network": points}, "Leduc poker, expert iteration", "NashConv")
    out.print("\n[bold]The network plays without any search:[/bold]")
    for opponent in OPPONENTS:
        _play(run.folder, opponent, games, seed)
    print_plain(f"\nplot: {run.path('nash_conv.png')}")
    out.print("What to try next:", style="bold")
    for command, why in (
        (f"kibitz play leduc --against net:{run.folder} --advice", "play against it, with its advice"),
        (f"kibitz exploit leduc net:{run.folder}", "measure its exploitability exactly"),
        (f"kibitz train --resume {run.folder} --iterations {4 * iterations}", "train it further"),
        ("kibitz train exit-oos goofspiel:6 --preset small", "train on another game"),
        ("kibitz models", "list the models that ship with Kibitz"),
    ):
        print_plain(f"  {command}")
        out.print(f"      {why}", style="dim", highlight=False)


class _Curve(Reporter):
    """Passes reports on, and prints NashConv as a bar every ten iterations."""

    def __init__(self, run: Run, live: Reporter) -> None:
        self.run, self.live, self.printed = run, live, 0
        self._print("random play       ", RANDOM_NASH_CONV)

    def progress(self, done: float, total: float | None = None, note: str = "") -> None:
        for line in self.run.read_lines()[-1:]:
            if line["iteration"] > self.printed and line["iteration"] % 10 == 0 and "nash_conv" in line:
                self.printed = line["iteration"]
                self._print(f"after {line['games']:5,} games", line["nash_conv"])
        self.live.progress(done, total, note)

    def message(self, text: str) -> None:
        self.live.message(text)

    @staticmethod
    def _print(when: str, nash_conv: float) -> None:
        from ..ui.formatting import bar

        err.print(f"{when}  NashConv {nash_conv:.3f}  {bar(nash_conv / RANDOM_NASH_CONV, 40)}")


def _play(folder: Path, opponent: str, games: int, seed: int) -> None:
    from ...play.match import match

    out_folder = folder / f"against-{opponent.replace(':', '-')}"
    with reporting(f"against {opponent}", games) as report:
        result = match(GAME, [f"net:{folder}", opponent], games, seed, None, out_folder, report).result
    won = f"wins {result.payoff.mean:+.3f} chips per game (95% interval {result.payoff.span(1, '+.3f')})"
    out.print(f"  against {opponent:9} {won} in {result.games:,} games", highlight=False)
