"""`kibitz explain`: learned patterns as pictures, and their contributions to moves, on an HTML page."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from ...core import names
from ...core.files import write_atomically
from ...core.names import BadInput
from ..ui.progress import out, print_plain, reporting
from .options import Json, Seed, Trust, check_writable, file_to_write, write_json

if TYPE_CHECKING:
    from ...train.tspg.explain import Explanation

PAGE = "explained.html"
STRONGEST = 10


def register(app: typer.Typer) -> None:
    app.command()(explain)


def explain(
    run: Annotated[
        str, typer.Argument(help="A run folder of kibitz train tspg, or a file of features.", metavar="RUN")
    ],
    out_file: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="The page to write; default explained.html in the run folder, or beside the file.",
            metavar="FILE.html",
            parser=file_to_write,
        ),
    ] = None,
    policy: Annotated[
        str,
        typer.Option(
            help="Weights to explain: ce: learned from visits; double: ce plus an offset learned from visits; "
            "tspg: ce plus an offset learned from values."
        ),
    ] = "tspg",
    iteration: Annotated[int, typer.Option(help="Iteration of the run; 0: the last.")] = 0,
    moves: Annotated[
        str | None,
        typer.Option(help="Moves to the position that the page shows first, such as 'd4 e4'; '' is the initial one."),
    ] = None,
    games: Annotated[int, typer.Option(help="Number of sample games that the policy plays against itself.")] = 20,
    game_name: Annotated[
        str | None, typer.Option("--game", help="The game, where the file of features is for one outside the package.")
    ] = None,
    seed: Seed = 1,
    trust: Trust = False,
    json_file: Json = None,
) -> None:
    """Show learned patterns as pictures, and their contributions to each move, on one HTML page.

    Example: kibitz explain runs/connect_four-tspg-001

    Example: kibitz explain runs/connect_four-tspg-001 --moves "4 4 3"
    """
    from ...nets.model_files import network_file
    from ...train.tspg.explain import as_json, read_explainable
    from ...train.tspg.explain import explain as explain_policy
    from ...train.tspg.store import POLICIES
    from ..ui.explain_page import page

    names.choose("policy", policy, POLICIES)
    names.at_least("--games", games, 1)
    names.at_least("--seed", seed, 0)
    names.at_least("--iteration", iteration, 0)
    if run.startswith("features:"):  # the name of the player
        run = run.partition(":")[2].partition(",")[0]
    elif run.startswith("net:"):
        raise BadInput(f"{run} is a network, which has no patterns: give a run of kibitz train tspg, or its file")
    path = network_file(run, iteration)
    target = check_writable(default_page(run, path) if out_file is None else out_file)
    game, features, made = read_explainable(path, game_name)
    with reporting(run) as report:
        found = explain_policy(game, features, run, policy, made, games, seed, moves, report)
        write_atomically(target, page(found).encode())
    show(found)
    print_plain(f"page: {target}")
    write_json(json_file, as_json(found) | {"page": str(target)})


def default_page(run: str, path: Path) -> Path:
    """In the run folder; beside a file; in the current folder for a model of the package."""
    from ...nets.model_files import PREFIX

    if Path(run).is_dir():
        return Path(run) / PAGE
    name = f"{path.stem}-{PAGE}"
    return Path(name) if run.startswith(PREFIX) and not Path(run).exists() else path.with_name(name)


def show(found: "Explanation") -> None:
    """Print the patterns with the largest weights, in words."""
    both = [(seat, f) for seat in range(2) for f in found.strongest(seat)[:STRONGEST]]
    both.sort(key=lambda each: -abs(found.weights[each[0]][each[1]]))
    out.print(f"[bold]{escape(found.name)}[/bold], {found.policy}: patterns with the largest weights", highlight=False)
    table = Table("seat", "weight", "active", "move", box=None, pad_edge=False, header_style="dim")
    for seat, f in both[:STRONGEST]:
        weight = float(found.weights[seat][f])
        colour = "blue" if weight > 0 else "red"
        fires = f"{100 * found.sample.fires[seat][f]:.1f}%"
        table.add_row(f"{seat + 1}", f"[{colour}]{weight:+.3f}", fires, escape(found.words(seat, f)))
    out.print(table, highlight=False)
