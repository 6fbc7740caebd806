"""`kibitz solve`: computes an equilibrium and shows how it converges."""

from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.markup import escape

from ...core import names
from ...core.names import BadInput, TooLarge, counted
from ...core.runs import Run
from ..ui.progress import end_stopped, err, out, print_plain, reporting
from .options import GameName, Json, Memory, Out, Seed, Threads, Trust, path_to_read, refuse_given, write_json

ITERATIONS = 1000


def register(app: typer.Typer) -> None:
    app.command("solve")(solve)


def solve(
    context: typer.Context,
    game_name: GameName = "",
    method: Annotated[
        str,
        typer.Option(
            "--with",
            help="Solver: cfr, cfr+, linear (linear CFR), dcfr (discounted CFR), pcfr+ (predictive CFR+), external or "
            "outcome (Monte Carlo CFR with external or outcome sampling), pcs (linear CFR with public chance sampling) "
            "and cfr-br (CFR in a card abstraction against best responses without one), for games such as "
            "leduc.",
        ),
    ] = "cfr+",
    iterations: Annotated[
        int | None, typer.Option(help=f"Number of iterations; each updates both seats. Default: {ITERATIONS:,}.")
    ] = None,
    seed: Seed = 1,
    abstraction: Annotated[
        Path | None,
        typer.Option(
            help="With pcs and cfr-br: card abstraction (a folder). Default: all hands are kept apart.",
            metavar="FOLDER",
            parser=path_to_read,
        ),
    ] = None,
    buckets: Annotated[
        str | None,
        typer.Option(
            help="With pcs and cfr-br, if there are many cards: compute a card abstraction first, with this number of "
            "buckets per street, instead of naming one by --abstraction: small, medium, large, or a number for each "
            "street after the first. Its folder is that of --out with -buckets added to the name.",
        ),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(
            help="With pcs and cfr-br, and for games with a public tree such as liars_dice: cpu or cuda (torch on a "
            "GPU). Default: cpu."
        ),
    ] = None,
    boards: Annotated[
        str | None,
        typer.Option(
            help="With pcs: boards per iteration. A number (on a GPU; default: 16), or all: discounted CFR on all "
            "boards, measured exactly, for games of two streets. With cfr-br in longer games: "
            "boards of the street before the last. Default: 1, on a GPU 2.",
            metavar="NUMBER|all",
        ),
    ] = None,
    start: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="With cfr-br: run of pcs whose tables it starts from.",
            metavar="RUN",
            parser=path_to_read,
        ),
    ] = None,
    start_weight: Annotated[
        float | None,
        typer.Option(
            help="With --from: how many iterations of that run the regrets at the start are worth. More keep its "
            "strategy longer: better for long runs, and where an iteration visits few hands. Default: 10.",
            metavar="WEIGHT",
        ),
    ] = None,
    threads: Threads = None,
    resumed: Annotated[
        Path | None,
        typer.Option(
            "--resume",
            help="Run folder of pcs, cfr-br or a large game to resume; takes no GAME.",
            metavar="RUN",
            parser=path_to_read,
        ),
    ] = None,
    memory: Memory = None,
    out_folder: Out = None,
    trust: Trust = False,
    json_file: Json = None,
) -> None:
    """Compute an equilibrium of a two-player zero-sum game and show how it converges.

    Writes a run folder with the strategy, the metrics and a plot. Ctrl-C stops early and saves the strategy so far.
    The player strategy:RUN plays it.

    Games that are too large for a game tree have solvers of their own, such as pcs for games with public cards, with a
    card abstraction where there are many: each iteration samples a board and updates all hands of both seats. With
    --boards all, it visits all boards. cfr-br lowers the exploitability that is left in an abstraction: each seat
    learns against a best response that sees all cards. After Ctrl-C or a kill, --resume RUN continues to the same
    result, with more --iterations if they are given.

    A large game that declares a public tree, such as Liar's Dice with two dice, is solved on it by cfr, cfr+, linear
    and dcfr: each iteration visits all public states with vectors over what is private. Runs are resumed in the same
    way. With --device or --threads small games are solved so, too.

    Example: kibitz solve leduc

    Example: kibitz solve goofspiel:5 --with dcfr --iterations 500

    Example: kibitz solve leduc --with pcs --iterations 20000 --out runs/leduc-pcs

    Example: kibitz solve --resume runs/leduc-pcs --iterations 50000

    Example: kibitz solve liars_dice:2 --with cfr+ --iterations 1000
    """
    if resumed is not None:
        refuse_given(context, ("resumed", "iterations", "threads", "memory", "trust", "json_file"), resumed)
        from ...solve import vector_cfr_runs

        if vector_cfr_runs.is_vector_run(Run(resumed)):
            _on_public_tree(vector_cfr_runs.open_run(resumed, iterations), threads, json_file)
        else:
            _solver_of(Run(resumed)).resume(resumed, iterations, threads, json_file)
        return
    if not game_name:
        raise BadInput("name a game, such as leduc, or --resume RUN; see kibitz solve --help")
    from ...solve import solvers

    value: Any
    names.choose("solver", method, [*solvers.METHODS, *solvers.SOLVERS])
    iterations = ITERATIONS if iterations is None else iterations
    names.at_least("--iterations", iterations, 1)
    names.at_least("--seed", seed, 0)
    if start is not None and method != "cfr-br":
        raise BadInput(f"--from {start} is for --with cfr-br, not for {method}")
    if start_weight is not None:
        if start is None:
            raise BadInput(f"--start-weight {start_weight:g} is for --from, the run that cfr-br starts from")
        names.at_least("--start-weight", start_weight, 0, 1e6)
    if method not in solvers.METHODS:
        given: dict[str, Any] = {
            "abstraction": abstraction,
            "buckets": buckets,
            "device": device,
            "boards": boards,
            "from": start,
        }
        given |= {"start_weight": start_weight, "threads": threads, "iterations": iterations, "seed": seed}
        solvers.SOLVERS[method]().start(game_name, method, given | {"out": out_folder, "json": json_file})
        return
    for name, value in {"--abstraction": abstraction, "--buckets": buckets, "--boards": boards}.items():
        if value is not None:
            raise BadInput(f"{name} {value} is for --with pcs or cfr-br, not for {method}")
    from ...games import load
    from ...solve.public_tree.cfr import METHODS
    from ...solve.public_tree.tree import is_large, is_split

    game, chosen = load(game_name), device is not None or threads is not None
    if chosen and not (method in METHODS and is_split(game)):
        name, value = ("--device", device) if device is not None else ("--threads", threads)
        raise BadInput(f"{name} {value} is for --with pcs and for games with a public tree, not for {method} here")
    if method in METHODS and (chosen or is_large(game)):
        from ...solve.vector_cfr_runs import check_threads as check_cores
        from ...solve.vector_cfr_runs import new_run as new_vector_run

        check_cores(threads, device or "cpu")
        with reporting(f"counting the public states of {game_name}"):
            run = new_vector_run(game, method, iterations, device or "cpu", out_folder)
        _on_public_tree(run, threads, json_file)
        return
    _enumerate(game_name, method, iterations, seed, out_folder, json_file)


def _solver_of(run: Run) -> Any:
    """The registered solver that a run was made by."""
    from ...solve.solvers import SOLVERS

    if not run.path("config.json").is_file():
        raise BadInput(f"{run.folder} holds no run")
    config = run.config()
    if config.get("command") != "solve" or config.get("with") not in SOLVERS:
        made = " ".join(str(config.get(key, "")) for key in ("command", "with")).strip() or "something else"
        wanted = " or ".join(SOLVERS)
        raise BadInput(f"{run.folder} can't be resumed by kibitz solve: it was made by {made}, not by solve {wanted}")
    return SOLVERS[config["with"]]()


def _enumerate(
    game_name: str, method: str, iterations: int, seed: int, out_folder: Path | None, json_file: Path | None
) -> None:
    """Solve a small game, or one by Monte Carlo CFR."""
    from ...games import full_name, legal_actions, load
    from ...solve import solvers
    from ...solve.best_response import evaluate
    from ..ui import formatting, plots

    game = load(game_name)
    name = full_name(game)
    try:
        with reporting(f"building the game tree of {name}"):
            solver, form = solvers.new_solver(game, method, seed)
    except TooLarge as error:
        how = getattr(game, "how_to_solve", "--with outcome samples it")
        raise BadInput(f"{error}; {how}") from None
    config = {"command": "solve", "game": name, "with": method, "iterations": iterations, "seed": seed}
    run = Run.create(out_folder, f"{game.name}-{method}", config)
    points: list[tuple[int, float]] = []
    last, interrupted = None, False
    with run.lock():
        with reporting(f"{name}, {method}", iterations) as report:
            try:
                for last in solvers.solve(solver, form, iterations):
                    if last.nash_conv is not None:
                        points.append((last.iterations, last.nash_conv))
                        run.log(iterations=last.iterations, nash_conv=last.nash_conv)
                    report.progress(last.iterations, iterations, f"NashConv {points[-1][1]:.4g}" if points else "")
            except KeyboardInterrupt:
                interrupted = True
        strategy, done = solver.strategy(), solver.iterations
        strategy.save(run.path("strategy.safetensors"))
        if interrupted:
            kept = f"the strategy so far is saved in {run.folder}"
            print_plain(f"stopped after {done:,} of {iterations:,} iterations; {kept}", err)
            if form is not None and done:
                points.append((done, evaluate(form, strategy).nash_conv))
                run.log(iterations=points[-1][0], nash_conv=points[-1][1])
    results: dict[str, Any] = dict(config, done=done, seconds=last.seconds if last else 0.0)
    results["infosets"] = len(strategy.keys)
    out.print(
        f"[bold]{escape(name)}[/bold], {method}: {counted(done, 'iteration')}, "
        f"{len(strategy.keys):,} infosets, seed {seed}"
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


def _on_public_tree(run: Run, threads: int | None, json_file: Path | None) -> None:
    """Solve a game on its public tree, from wherever the run is, and print what it has reached."""
    from ...core.interrupts import Interrupted
    from ...solve.vector_cfr_runs import solve_run
    from ..ui import plots

    config, interrupted = run.config(), False
    name, method = str(config["game"]), config["with"]
    err.print(f"[bold]{escape(name)}[/bold] into {escape(str(run.folder))}", highlight=False)
    with reporting(f"{name}, {method}", config["iterations"]) as report:
        try:
            solved = solve_run(run, threads, report)
        except Interrupted as stopped:
            solved, interrupted = stopped.result, True
        except KeyboardInterrupt:  # before anything new was done, or in an iteration that takes long
            show_resume(run, name)
    out.print(
        f"[bold]{escape(name)}[/bold], {method} on the public tree: {counted(solved.iterations, 'iteration')}, "
        f"{solved.infosets:,} infosets, {solved.seconds_per_iteration:.3g} s per iteration",
        highlight=False,
    )
    points = [(line["iteration"], line["nash_conv"]) for line in run.read_lines()]
    if points:
        last = f"NashConv {points[-1][1]:.6g} (exploitability, half of it: {points[-1][1] / 2:.6g})"
        print_plain(last + (f" after {points[-1][0]:,} iterations" if points[-1][0] < solved.iterations else ""))
        print_plain(f"value for seat 1: {solved.metrics['value']:.6f}")
        plots.convergence(run.path("convergence.png"), f"{name}, {method}", *zip(*points, strict=True))
        print_plain(f"plot:     {run.path('convergence.png')}")
    print_plain(f"strategy: {run.path('strategy.safetensors')}")
    print_plain(f"play it:  kibitz play {name} --against strategy:{run.folder}")
    found = {key: value for key, value in solved._asdict().items() if key not in ("iterations", "metrics")}
    write_json(json_file, config | {"done": solved.iterations} | found | solved.metrics)
    if interrupted:
        show_resume(run, name, solved.iterations)


def show_resume(run: Run, name: str, done: int | None = None) -> NoReturn:
    """Say how to resume a run that was interrupted, and end the command."""
    if done is None:
        said = "stopped; everything up to the last checkpoint is saved"
    else:
        said = f"stopped after {done:,} of {run.config()['iterations']:,} iterations; all is saved"
    end_stopped(said, ["kibitz", "solve", "--resume", run.place, *(["--trust"] if ".py:" in name else [])])
