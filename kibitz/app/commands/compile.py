"""`kibitz compile`: compiles kernels ahead of time."""

from typing import Annotated

import typer

from ..ui.progress import out, reporting


def register(app: typer.Typer) -> None:
    app.command("compile")(compile_ahead)


def compile_ahead(
    game_names: Annotated[list[str], typer.Argument(help="Games to compile kernels for.", metavar="GAME")],
) -> None:
    """Compile the kernels that searches and solvers need for a game, so that its first use doesn't wait.

    Example: kibitz compile leduc goofspiel:13
    """
    from ...games import full_name, load
    from ...jit import compiled
    from ...search.precompile import precompile

    loaded = [load(name) for name in game_names]
    before = len(compiled)
    with reporting("compiling", len(loaded)) as report:
        for done, game in enumerate(loaded):
            report.progress(done, note=full_name(game))
            precompile(game)
    out.print(f"{', '.join(full_name(game) for game in loaded)}: {len(compiled) - before} kernels compiled")
