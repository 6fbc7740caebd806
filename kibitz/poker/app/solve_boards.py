"""`kibitz solve --with pcs` and `--with cfr-br`: poker on the public tree, in a run folder."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from ...app.commands.options import write_json
from ...app.commands.solve import show_resume
from ...app.ui.progress import err, out, print_plain, reporting
from ...core.names import BadInput, counted, whole
from ...core.runs import Run

if TYPE_CHECKING:
    from ..gpu.pcs_runs import Solved


def start(game_name: str, method: str, given: dict[str, Any]) -> None:
    """Solve a game into a run folder. `given` has the options of the command by name."""
    from ...games import load
    from ..gpu.pcs_runs import new_run
    from ..gpu.pcs_solvers import check_threads, has_threads

    abstraction, buckets, start = given["abstraction"], given["buckets"], given["from"]
    device, seed, threads, out_folder = given["device"] or "cpu", given["seed"], given["threads"], given["out"]
    boards = _boards(given["boards"])
    if buckets is None:  # whose computation uses them too
        check_threads(threads, method, device, boards)
    if buckets is not None:
        if abstraction is not None or start is not None:
            name, value = ("--abstraction", abstraction) if abstraction is not None else ("--from", start)
            raise BadInput(f"--buckets {buckets} makes an abstraction, and {name} {value} has one: leave one out")
        from .abstract import compute

        folder = None if out_folder is None else out_folder.with_name(f"{out_folder.name}-buckets")
        abstraction = compute(load(game_name), buckets, device, seed, threads, folder)[0].folder
        threads = threads if has_threads(method, device, boards) else None
    with reporting("reading the card abstraction" if abstraction else "counting the hands"):
        sizes = given["iterations"], seed, device, boards
        run = new_run(load(game_name), abstraction, *sizes, out_folder, method, start, given["start_weight"])
    _sample(run, threads, given["json"])


def resume(folder: Path, iterations: int | None, threads: int | None, json_file: Path | None) -> None:
    """Continue a run, to more iterations if they are given."""
    from ..gpu.pcs_runs import open_run

    _sample(open_run(folder, iterations), threads, json_file)


def _boards(text: str | None) -> int | str | None:
    if text is None or text == "all":
        return text
    if not text.isdecimal():
        raise BadInput(f"--boards {text!r} should be a number of boards per iteration, or all")
    return whole(text)


def _sample(run: Run, threads: int | None, json_file: Path | None) -> None:
    """Solve poker on the public tree, from wherever the run is, and print what it has reached."""
    from ...core.interrupts import Interrupted
    from ..gpu.pcs_runs import solve_run

    config, interrupted = run.config(), False
    name = str(config["game"])
    err.print(f"[bold]{escape(name)}[/bold] into {escape(str(run.folder))}", highlight=False)
    with reporting(f"{name}, {config['with']}", config["iterations"]) as report:
        try:
            solved = solve_run(run, threads, report)
        except Interrupted as stopped:
            solved, interrupted = stopped.result, True
        except KeyboardInterrupt:  # before anything new was done, or in an iteration that takes long
            show_resume(run, name)
    _show(run, config, solved)
    write_json(json_file, _results(config, solved))
    if interrupted:
        show_resume(run, name, solved.iterations)


def _results(config: dict[str, Any], solved: "Solved") -> dict[str, Any]:
    found = {key: value for key, value in solved._asdict().items() if key not in ("iterations", "boards", "metrics")}
    milli = {"mbb_per_game": 500 * solved.metrics["nash_conv"]} if _in_big_blinds(config, solved) else {}
    return config | {"done": solved.iterations, "sampled": solved.boards} | found | solved.metrics | milli


def _in_big_blinds(config: dict[str, Any], solved: "Solved") -> bool:
    """Whether there is an exploitability in mbb/g to show."""
    from ...games import load_stored

    return "nash_conv" in solved.metrics and load_stored(str(config["game"])).facts.milli_unit == "mbb/g"


def _show(run: Run, config: dict[str, Any], solved: "Solved") -> None:
    from ...app.ui import plots

    name, metrics = str(config["game"]), solved.metrics
    out.print(
        f"[bold]{escape(name)}[/bold], {config['with']}: {counted(solved.iterations, 'iteration')}, "
        f"{solved.boards:,} boards, {solved.infosets:,} infosets, seed {config['seed']}"
        + (f", {solved.boards_per_second:,.1f} boards/s" if solved.boards_per_second else ""),
        highlight=False,
    )
    if "nash_conv" in metrics:
        milli = f", {500 * metrics['nash_conv']:.4g} mbb/g" if _in_big_blinds(config, solved) else ""
        half = metrics["nash_conv"] / 2
        print_plain(f"NashConv {metrics['nash_conv']:.6g} (exploitability, half of it: {half:.6g}{milli})")
    if "nash_conv_current" in metrics:
        print_plain(f"NashConv of the last iteration's strategy, not the average: {metrics['nash_conv_current']:.6g}")
    if "opponents_win" in metrics:
        print_plain(f"opponents of both seats won {metrics['opponents_win']:.4g} (mean over the iterations)")
    if "value" in metrics:
        over = "iterations" if config["boards"] == "all" else "boards"
        print_plain(f"value for seat 1: {metrics['value']:.4f} (mean over the {over})")
    if "regret_bound" in metrics:
        what = "abstract game" if config["abstraction"] else "game"
        print_plain(
            f"regret: {metrics['regret_bound']:.4g} (bounds the NashConv of the {what}, but for sampling noise)"
        )
    lines = run.read_lines()
    points = [(line["iteration"], line["nash_conv"]) for line in lines if "nash_conv" in line]
    if points:
        plots.convergence(run.path("convergence.png"), f"{name}, {config['with']}", *zip(*points, strict=True))
        print_plain(f"plot:     {run.path('convergence.png')}")
    print_plain(f"strategy: {run.path('strategy.safetensors')}")
    print_plain(f"play it:  kibitz play {name} --against strategy:{run.folder}")
    if "nash_conv" not in metrics:
        print_plain(f"measure:  kibitz exploit {name} {run.folder} --with lbr")
