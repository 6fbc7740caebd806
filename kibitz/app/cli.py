"""The command `kibitz`. Each command says what it does and shows an example in its --help."""

import sys
from typing import Annotated, Any, NoReturn

import typer
from rich.markup import escape
from rich.table import Table

from .. import __version__, games, jit
from ..core import names
from ..core.names import BadInput
from ..core.runs import Run
from ..search import solvers
from ..search.best_response import evaluate
from ..search.precompile import precompile
from .commands import (
    convert,
    demo,
    explain,
    exploit,
    match,
    play,
    rate,
    record,
    replay,
    runs,
    session,
    study,
    tournament,
    train,
)
from .commands.options import GameName, Json, Out, Seed, write_json
from .ui import formatting, plots
from .ui.progress import compiling, err, out, waiting

try:
    from typer._click import exceptions as click_errors
except ImportError:  # before Typer brought its own
    from click import exceptions as click_errors  # type: ignore[no-redef]

app = typer.Typer(
    name="kibitz",
    help="Search teaches networks to play games. Start with [bold]kibitz solve leduc[/bold].",
    rich_markup_mode="rich",
    no_args_is_help=True,
    add_completion=False,
)


@app.command("games")
def list_games(
    name: Annotated[str | None, typer.Argument(help="Only this one, with the facts that searches use.")] = None,
) -> None:
    """List the games with their parameters.

    Example: kibitz games leduc:ranks=4
    """
    if name is None:
        table = Table("game", "parameters (default)", "what it is")
        for key, cls in games.known().items():
            table.add_row(f"[bold]{key}[/bold]", _parameters(cls), cls.__doc__)
        out.print(table)
        out.print("One by name: [bold]kibitz games goofspiel[/bold]. With parameters: goofspiel:cards=6,base=1")
        return
    game = games.load(name)
    kind: Any = type(game)
    out.print(f"[bold]{games.full_name(game)}[/bold]: {kind.__doc__}")
    table = Table("parameter", "value", "may be", "meaning")
    for key, field in names.hints(kind).items():
        table.add_row(key, _word(getattr(game, key)), names.span(*field), field[1])
    if names.hints(kind):
        out.print(table)
    for preset, values in getattr(kind, "presets", {}).items():
        said = ", ".join(f"{key}={_word(value)}" for key, value in values.items())
        out.print(f"[bold]{game.name}:{preset}[/bold]: {said}", highlight=False)
    facts = Table("fact", "value")
    for key, value in vars(game.facts).items():
        facts.add_row(key.replace("_", " "), _word(value))
    facts.add_row("position", f"{game.state.itemsize} bytes")
    out.print(facts)


def _parameters(cls: Any) -> str:
    return ", ".join(f"{key} ({_word(default)})" for key, default in cls._field_defaults.items()) or "-"


def _word(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(_word, value)) or "-"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


@app.command()
def solve(
    game_name: GameName,
    method: Annotated[
        str, typer.Option("--with", help="; ".join(f"{key}: {text}" for key, text in solvers.METHODS.items()))
    ] = "cfr+",
    iterations: Annotated[int, typer.Option(help="An iteration updates both seats.")] = 1000,
    seed: Seed = 1,
    out_folder: Out = None,
    json_file: Json = None,
) -> None:
    """Find an equilibrium of a two-seat zero-sum game, and show how it converges.

    Writes a run folder with the strategy, metrics and a plot. Ctrl-C stops early and keeps what is there.

    Example: kibitz solve leduc --with cfr+ --iterations 1000
    """
    game = games.load(game_name)
    name = games.full_name(game)
    names.choose("solver", method, solvers.METHODS)
    names.at_least("--iterations", iterations, 1)
    names.at_least("--seed", seed, 0)
    with waiting(f"writing out {name}"):
        solver, form = solvers.new_solver(game, method, seed)
    label = f"{game.name}-{method}"
    config = {"command": "solve", "game": name, "with": method, "iterations": iterations, "seed": seed}
    run = Run.create(out_folder, label, config)
    points: list[tuple[int, float]] = []
    last, interrupted = None, False
    with waiting(f"{name}, {method}", iterations) as line:
        try:
            for last in solvers.solve(solver, form, iterations):
                if last.nash_conv is not None:
                    points.append((last.iterations, last.nash_conv))
                    run.measure(iterations=last.iterations, nash_conv=last.nash_conv)
                line(last.iterations, f"NashConv {points[-1][1]:.4g}" if points else "")
        except KeyboardInterrupt:
            interrupted = True
    strategy = solver.strategy()
    strategy.save(run.path("strategy.safetensors"))
    done = solver.iterations
    if interrupted:
        err.print(f"stopped after {done:,} of {iterations:,} iterations; what is there was saved")
        if form is not None and done:
            points.append((done, evaluate(form, strategy).nash_conv))
            run.measure(iterations=points[-1][0], nash_conv=points[-1][1])
    report: dict[str, Any] = dict(config, done=done, seconds=last.seconds if last else 0.0, infosets=len(strategy.keys))
    out.print(f"[bold]{name}[/bold] by {method}: {done:,} iterations, {len(strategy.keys):,} infosets, seed {seed}")
    if form is not None and points:
        verdict = evaluate(form, strategy)
        report |= {"nash_conv": verdict.nash_conv, "value": verdict.value}
        out.print(
            f"NashConv {verdict.nash_conv:.6g} (exploitability, its half: {verdict.nash_conv / 2:.6g}), "
            f"value for seat 1: {verdict.value:.6f}"
        )
        plots.convergence(run.path("convergence.png"), f"{name}, {method}", *zip(*points, strict=True))
    elif form is None:
        out.print("NashConv not measured: the game is too large to write out")
    for seat, view in formatting.sample_views(game, strategy, 3, seed):
        out.print(f"\n{escape(game.show(view, seat))}", highlight=False)
        key = int(game.infoset(view, seat))
        out.print(formatting.probs_table(game, view, strategy.at(key, len(games.legal_actions(game, view)))))
    out.print(f"\nstrategy: {run.path('strategy.safetensors')}", soft_wrap=True)
    if run.path("convergence.png").exists():
        out.print(f"plot:     {run.path('convergence.png')}", soft_wrap=True)
    write_json(json_file, report)
    if interrupted:
        raise typer.Exit(130)


@app.command()
def bench(
    rows: Annotated[
        list[str] | None, typer.Argument(help="Rows by name or part of it; default all.", metavar="NAME...")
    ] = None,
    json_file: Json = None,
) -> None:
    """Measure our speed against OpenSpiel's, one core, in the same run: the ratio is what counts.

    Example: kibitz bench os-mccfr --json bench.json
    """
    try:
        import benchmarks  # outside the package, beside it in a checkout
    except ImportError:
        raise names.BadInput(
            "benchmarks are part of the source repository: run kibitz bench from its top folder"
        ) from None
    chosen = benchmarks.select(rows or [])
    results = []
    table = Table("name", "unit", "ours", "peer", "ratio", "at least")
    with waiting("benchmarks", len(chosen)) as line:
        for done, row in enumerate(chosen):
            line(done, row.name)
            result = row.measure()
            results.append(result)
            colour = "green" if result["ratio"] >= row.wanted else "red"
            table.add_row(
                row.name, row.unit, f"{result['ours']:,.4g}", f"{result['peer']:,.4g}",
                f"[{colour}]{result['ratio']:.3g}x", f"{row.wanted:g}x",
            )  # fmt: skip
    out.print(table)
    write_json(json_file, results)


@app.command("compile")
def compile_ahead(
    game_names: Annotated[list[str], typer.Argument(help="Games to compile ahead.", metavar="GAME...")],
) -> None:
    """Compile ahead what searches and solvers need for a game, so that nobody waits later.

    Example: kibitz warm leduc goofspiel:13
    """
    loaded = [games.load(name) for name in game_names]
    before = len(jit.compiled)
    with waiting("warming", len(loaded)) as line:
        for done, game in enumerate(loaded):
            line(done, games.full_name(game))
            precompile(game)
    out.print(f"{', '.join(games.full_name(game) for game in loaded)}: {len(jit.compiled) - before} kernels compiled")


@app.command()
def cache(clear: Annotated[bool, typer.Option("--clear", help="Remove all compiled kernels.")] = False) -> None:
    """Show where compiled kernels are kept and how large they are, or clear them."""
    files = jit.cache_files()
    total = sum(path.stat().st_size for path in files)
    out.print(f"{jit.cache_folder()}: {len(files)} files, {total / 1e6:.1f} MB", soft_wrap=True)
    if clear:
        for path in files:
            path.unlink(missing_ok=True)
        out.print("cleared")


match.register(app)
rate.register(app)
replay.register(app)
exploit.register(app)
tournament.register(app)
session.register(app)
record.register(app)
convert.register(app)
play.register(app)
train.register(app)
runs.register(app)
explain.register(app)
study.register(app)
demo.register(app)


def _version(show: bool) -> None:
    if show:
        out.print(f"kibitz {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def main() -> NoReturn:
    """Run a command; what the user did wrong is told in one line, and never with a traceback."""
    try:
        with compiling():
            code = app(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except click_errors.ClickException as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message())
            sys.exit(2)
        _fail(error.format_message())
    except (BadInput, MemoryError) as error:
        _fail(str(error) or "out of memory")
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(1)


def _fail(message: str) -> NoReturn:
    err.print(f"kibitz: {' '.join(message.split())}", style="red", markup=False, highlight=False, soft_wrap=True)
    sys.exit(2)
