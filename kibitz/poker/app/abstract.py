"""`kibitz poker abstract`: computes a card abstraction of hold'em."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from ...app.commands import command
from ...app.commands.options import GameName, Json, Memory, Out, Seed, Threads, write_json
from ...app.ui.progress import end_stopped, err, out, print_plain, reporting
from ...core import names
from ...core.runs import Run


@command("poker abstract", formerly="abstract")
def abstract(
    game_name: GameName,
    buckets: Annotated[
        str,
        typer.Option(
            help="Number of buckets per street after the first: small (200), medium (1,000), large (9,000), or one "
            "number for each, such as 500-1000-1000; 0 keeps all hands of a street apart.",
        ),
    ] = "small",
    device: Annotated[
        str, typer.Option(help="Where k-means looks for the nearest centers: cpu, or cuda (a GPU, many times faster).")
    ] = "cpu",
    seed: Seed = 1,
    threads: Threads = None,
    memory: Memory = None,
    out_folder: Out = None,
    json_file: Json = None,
) -> None:
    """Compute a card abstraction of hold'em: similar hands share a bucket, and are played alike.

    On the last street a hand is described by its equity against eight groups of starting hands, before it by the
    histogram of the equities that it may end with; k-means groups them. Hands that differ only by the names of suits
    are the same. kibitz solve --with pcs takes the folder. The same command with --out FOLDER continues after a kill.

    Example: kibitz poker abstract holdem --out runs/buckets

    Example: kibitz poker abstract holdem --buckets large --device cuda

    Example: kibitz poker abstract holdem:flop --buckets 5000
    """
    from ...core.tensor_files import tensor_file_about
    from ...games import full_name, load
    from ..solve.files import ABSTRACTION_FILE

    game = load(game_name)
    began = time.perf_counter()
    run, found = compute(game, buckets, device, seed, threads, out_folder)
    seconds, path = time.perf_counter() - began, run.path(ABSTRACTION_FILE)
    counts = " / ".join(f"{count:,}" for count in found.counts)
    out.print(f"[bold]{escape(full_name(game))}[/bold]: {counts} buckets, {seconds:.1f} s", highlight=False)
    print_plain(f"abstraction: {path} ({path.stat().st_size / 1e6:,.0f} MB)")
    print_plain(f"solve it:    kibitz solve {full_name(game)} --with pcs --abstraction {run.folder}")
    result = run.config() | {"buckets": list(found.counts), "seconds": seconds}
    write_json(json_file, result | {"checksum": tensor_file_about(path)["checksum"], "file": str(path)})


def compute(
    game: Any, buckets: str, device: str, seed: int, threads: int | None, folder: Path | None
) -> tuple[Run, Any]:
    """Compute a card abstraction, with progress; Ctrl-C ends the command and keeps what is finished."""
    from ...games import full_name
    from ..solve import abstraction_runs

    names.at_least("--seed", seed, 0)
    names.choose("device", device, ("cpu", "cuda"))
    nearest = None
    if device == "cuda":
        from ..gpu.nearest_centers import on_gpu

        nearest = on_gpu()
    command = ["poker", "abstract", full_name(game), "--buckets", buckets, "--device", device, "--seed", str(seed)]
    with reporting("counting the boards"):
        run = abstraction_runs.new_run(game, buckets, seed, folder, command)
    err.print(f"[bold]{escape(full_name(game))}[/bold] into {escape(str(run.folder))}", highlight=False)
    with reporting("card abstraction") as report:
        try:
            return run, abstraction_runs.compute(run, threads, report, nearest)
        except KeyboardInterrupt:
            end_stopped("stopped: what is finished is kept", ["kibitz", *command, "--out", run.place])
