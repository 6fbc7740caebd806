"""`kibitz check`: whether the rules and facts of a game are right."""

from typing import Annotated

import typer

from ..ui.progress import out, reporting


def register(app: typer.Typer) -> None:
    app.command("check")(check)


def check(
    game: Annotated[str, typer.Argument(help="A game, such as my_game.py:MyGame or leduc.", metavar="GAME")],
    games: Annotated[int, typer.Option("--games", "-n", min=1, max=1_000_000, help="Number of random games.")] = 40,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 1,
) -> None:
    """Check the rules and facts of a game: for authors of games.

    Random games are played in plain Python, and everything that the rules return is checked against the facts and
    against each other; then each rule is compiled and compared with plain Python, and what determinize gives is
    compared with all positions that fit. A mistake is reported in one line with the file, the line, the rule, and what
    to write instead.

    Example: kibitz check my_game.py:MyGame

    Example: kibitz check my_game.py:MyGame:size=5 --games 500
    """
    from ...games import check as check_game
    from ...games import load

    with reporting(f"checking {game}") as report:
        positions = check_game(load(game), games, seed=seed, report=report)
    out.print(f"{game}: no mistake found, at {positions:,} positions of {games} random games", soft_wrap=True)
