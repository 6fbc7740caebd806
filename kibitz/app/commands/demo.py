"""`kibitz demo`: the whole loop on the smallest game that is worth it, in a minute or two."""

from pathlib import Path
from typing import Annotated

import typer

from ...arena.match import match
from ...learn.expert_iteration import Progress
from ...learn.trainer import configured, new_run, train
from ..ui import plots
from ..ui.arena_tables import shown
from ..ui.formatting import bar
from ..ui.progress import err, out, waiting
from .options import Seed

GAME = "leduc"
OPPONENTS = ("random", "oos:1000")


def register(app: typer.Typer) -> None:
    app.command()(demo)


def demo(
    iterations: Annotated[int, typer.Option(min=1, help="Rounds of playing and learning.")] = 80,
    simulations: Annotated[int, typer.Option(min=1, help="Simulations a move of the expert.")] = 5000,
    games: Annotated[int, typer.Option(min=2, help="Games against each opponent at the end.")] = 1000,
    seed: Seed = 1,
    out_folder: Annotated[Path | None, typer.Option("--out", help="The folder to write; default a new one.")] = None,
) -> None:
    """Search teaches a network to play Leduc poker, before your eyes.

    NashConv is how much two perfect opponents would win from the network; 0 is perfect play. It is computed exactly.

    Example: kibitz demo
    """
    given = {"iterations": iterations, "simulations": simulations, "seed": seed, "evaluate_every": 5}
    run = new_run(out_folder, "exit-oos", configured("exit-oos", GAME, "small", given))
    out.print("[bold]A search plays Leduc poker against itself; a network learns what it advises,[/bold]")
    out.print("[bold]and plays out the search's simulations. NashConv is what it loses to perfect opponents:[/bold]\n")
    most, printed = 4.75, -1  # NashConv of random play
    with waiting("learning", iterations * 32) as line:

        def show(progress: Progress) -> None:
            nonlocal printed
            value = progress.metrics.get("nash_conv")
            if value is not None and progress.iteration > printed and progress.iteration % 10 == 0:
                printed = progress.iteration
                err.print(f"after {progress.games:5,} games  NashConv {value:.3f}  {bar(value / most, 40)}")
            line(progress.games, f"iteration {progress.iteration}")

        err.print(f"at random          NashConv 4.747  {bar(1, 40)}")
        train(run, None, None, show, lambda text: err.print(text, highlight=False))
    points = [(line["iteration"], line["nash_conv"]) for line in run.lines() if "nash_conv" in line]
    plots.curves(run.path("nash_conv.png"), {"the network": points}, "Leduc poker, learned from search", "NashConv")
    out.print("\n[bold]It plays at once, without any search:[/bold]")
    for opponent in OPPONENTS:
        _play(run.folder, opponent, games, seed)
    out.print(f"\nplot:            {run.path('nash_conv.png')}", soft_wrap=True, highlight=False)
    out.print("What to try next:", style="bold")
    for command, why in (
        (f"kibitz play leduc --against net:{run.folder} --advice", "play it yourself, with advice"),
        (f"kibitz exploit leduc net:{run.folder}", "how far from perfect, exactly"),
        (f"kibitz train --resume {run.folder} --iterations {4 * iterations}", "let it learn more"),
        ("kibitz train exit-oos goofspiel:6 --preset small", "another game"),
        ("kibitz models", "networks that came with Kibitz"),
    ):
        out.print(f"  {command}", soft_wrap=True, highlight=False)
        out.print(f"      {why}", style="dim", highlight=False)


def _play(folder: Path, opponent: str, games: int, seed: int) -> None:
    name = opponent.replace(":", "-")
    with shown(f"against {opponent}", games) as report:
        result = match(GAME, [f"net:{folder}", opponent], games, seed, None, folder / f"against-{name}", report).result
    won = f"wins {result.payoff.mean:+.3f} chips a game ({result.payoff.span(1, '+.3f')})"
    out.print(f"  against {opponent:9} {won} in {result.games:,} games", highlight=False)
