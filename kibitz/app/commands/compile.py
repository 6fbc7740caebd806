"""`kibitz compile`: compiles kernels ahead of time, on all cores."""

from typing import Annotated

import typer

from ...core.names import BadInput
from ..ui.progress import out, reporting
from .options import Processes


def register(app: typer.Typer) -> None:
    app.command("compile")(compile_ahead)


def compile_ahead(
    game_names: Annotated[
        list[str] | None, typer.Argument(help="Games to compile kernels for.", metavar="GAME...", show_default=False)
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Compile for all games, which takes minutes.")] = False,
    players: Annotated[
        list[str] | None,
        typer.Option(
            "--player", help="Compile only what this player needs; may be repeated. Default: all searches and solvers."
        ),
    ] = None,
    processes: Processes = None,
) -> None:
    """Compile the kernels that searches and solvers need for a game, so that its first use doesn't wait.

    Example: kibitz compile leduc goofspiel:13

    Example: kibitz compile hex --player uct:seconds=1

    Example: kibitz compile --all
    """
    from ...core.pool import spread
    from ...core.workers import cores
    from ...games import GAMES, full_name, load
    from ...play.players import make_for
    from ...play.players.precompile import compiler, tasks

    if not game_names and not every:
        raise BadInput("name games to compile kernels for, such as leduc, or give --all")
    loaded = [load(name) for name in dict.fromkeys([*(game_names or []), *(GAMES if every else [])])]
    for game in loaded:
        for player in players or []:
            make_for(player, game)
    todo = [task for game in loaded for task in tasks(game, players or [])]
    count = 0
    with reporting("compiling", len(todo)) as report:
        for done, (game_name, kernels) in enumerate(spread(compiler, (), todo, processes or cores(), alone=None)):
            count += kernels
            report.progress(done + 1, len(todo), game_name)
    out.print(f"{', '.join(full_name(game) for game in loaded)}: {count} kernels compiled")
