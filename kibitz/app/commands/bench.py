"""`kibitz bench`: the door to `benchmarks/`, a folder of the source repository beside the package."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Column, Table

from ...core.names import BadInput
from ..streams import interrupts
from ..ui.progress import out, reporting
from .options import Json, write_json

REPOSITORY = Path(__file__).parents[3]


def register(app: typer.Typer) -> None:
    app.command("bench")(bench)


def bench(
    rows: Annotated[
        list[str] | None,
        typer.Argument(help="Benchmarks whose name contains one of these. Default: all.", metavar="NAME"),
    ] = None,
    json_file: Json = None,
) -> None:
    """Measure speed against OpenSpiel and other peers by turns on one core; the ratio is what counts.

    Each row is measured in five runs: median ratio, and the lowest and highest.

    Part of the source repository, not of the installed package.

    Example: kibitz bench

    Example: kibitz bench os-mccfr --json bench.json
    """
    results = []
    table = Table(Column("benchmark", overflow="fold"), "kibitz", "peer", "ratio", "target")
    with interrupts() as check_interrupt, reporting("benchmarks") as report:
        chosen = _benchmarks().select(rows or [])
        if skipped := _benchmarks().skipped(rows or []):
            report.message(f"skipped, as the peer isn't installed (pip install 'kibitz[bench]'): {', '.join(skipped)}")
        for done, row in enumerate(chosen):
            check_interrupt()
            report.progress(done, len(chosen), row.name)
            result = row.measure()
            check_interrupt()
            results.append(result)
            colour = "green" if result["ratio"] >= row.wanted else "red"
            span = f"{min(result['ratios']):.3g} to {max(result['ratios']):.3g}"
            table.add_row(
                f"{row.name}\n{row.unit}", f"{result['ours']:,.4g}", f"{result['peer']:,.4g}",
                f"[{colour}]{result['ratio']:.3g}x[/]\n{span}", f"{row.wanted:g}x",
            )  # fmt: skip
    out.print(table)
    write_json(json_file, results)


def _benchmarks() -> Any:
    """Import `benchmarks` from beside the package, whatever the current folder is."""
    if not (REPOSITORY / "benchmarks" / "__init__.py").is_file():
        raise BadInput("benchmarks are part of the source repository, not of the installed package: clone it first")
    if str(REPOSITORY) not in sys.path:
        sys.path.insert(0, str(REPOSITORY))
    import benchmarks

    return benchmarks
