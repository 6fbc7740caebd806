"""`kibitz solve`: computes an equilibrium and shows how it converges."""

from typing import Annotated, Any

import typer
from rich.markup import escape

from ...core import names
from ...core.runs import Run
from ..ui.progress import err, out, print_plain, reporting
from .options import GameName, Json, Memory, Out, Seed, write_json


def register(app: typer.Typer) -> None:
    app.command("solve")(solve)


def solve(
    game_name: GameName,
    method: Annotated[
        str,
        typer.Option(
            "--with",
            help="Solver: cfr, cfr+, linear (linear CFR), dcfr (discounted CFR), pcfr+ (predictive CFR+), external or "
            "outcome (Monte Carlo CFR with external or outcome sampling).",
        ),
    ] = "cfr+",
    iterations: Annotated[int, typer.Option(help="Number of iterations; each updates both seats.")] = 1000,
    seed: Seed = 1,
    memory: Memory = None,
    out_folder: Out = None,
    json_file: Json = None,
) -> None:
    """Compute an equilibrium of a two-player zero-sum game and show how it converges.

    Writes a run folder with the strategy, the metrics and a plot. Ctrl-C stops early and saves the strategy so far.

    Example: kibitz solve leduc

    Example: kibitz solve goofspiel:5 --with dcfr --iterations 500
    """
    from ...games import full_name, legal_actions, load
    from ...search import solvers
    from ...search.best_response import evaluate
    from ..ui import formatting, plots

    game = load(game_name)
    name = full_name(game)
    names.choose("solver", method, solvers.METHODS)
    names.at_least("--iterations", iterations, 1)
    names.at_least("--seed", seed, 0)
    with reporting(f"building the game tree of {name}"):
        solver, form = solvers.new_solver(game, method, seed)
    config = {"command": "solve", "game": name, "with": method, "iterations": iterations, "seed": seed}
    run = Run.create(out_folder, f"{game.name}-{method}", config)
    points: list[tuple[int, float]] = []
    last, interrupted = None, False
    with reporting(f"{name}, {method}", iterations) as report:
        try:
            for last in solvers.solve(solver, form, iterations):
                if last.nash_conv is not None:
                    points.append((last.iterations, last.nash_conv))
                    run.log(iterations=last.iterations, nash_conv=last.nash_conv)
                report.progress(last.iterations, note=f"NashConv {points[-1][1]:.4g}" if points else "")
        except KeyboardInterrupt:
            interrupted = True
    strategy = solver.strategy()
    strategy.save(run.path("strategy.safetensors"))
    done = solver.iterations
    if interrupted:
        err.print(f"stopped after {done:,} of {iterations:,} iterations; the strategy so far is saved")
        if form is not None and done:
            points.append((done, evaluate(form, strategy).nash_conv))
            run.log(iterations=points[-1][0], nash_conv=points[-1][1])
    results: dict[str, Any] = dict(config, done=done, seconds=last.seconds if last else 0.0)
    results["infosets"] = len(strategy.keys)
    out.print(
        f"[bold]{escape(name)}[/bold], {method}: {done:,} iterations, {len(strategy.keys):,} infosets, seed {seed}"
    )
    if form is not None and points:
        found = evaluate(form, strategy)
        results |= {"nash_conv": found.nash_conv, "value": found.value}
        out.print(f"NashConv {found.nash_conv:.6g} (exploitability, half of it: {found.nash_conv / 2:.6g})")
        out.print(f"value for seat 1: {found.value:.6f}")
        plots.convergence(run.path("convergence.png"), f"{name}, {method}", *zip(*points, strict=True))
    elif form is None:
        out.print("NashConv not measured: the game tree is too large")
    for seat, view in formatting.sample_views(game, strategy, 3, seed):
        out.print(f"\n{escape(game.show(view, seat))}", highlight=False)
        key = int(game.infoset(view, seat))
        out.print(formatting.probs_table(game, view, strategy.at(key, len(legal_actions(game, view)))))
    print_plain(f"\nstrategy: {run.path('strategy.safetensors')}")
    if run.path("convergence.png").exists():
        print_plain(f"plot:     {run.path('convergence.png')}")
    write_json(json_file, results)
    if interrupted:
        raise typer.Exit(130)
