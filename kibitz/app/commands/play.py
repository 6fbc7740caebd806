"""`kibitz play`: games against players in the terminal, with a kibitzer to ask."""

import contextlib
import sys
from typing import Annotated, Any

import typer
from rich.text import Text

from ...core import names
from ...core.names import BadInput
from ..ui.progress import COMPILING, err, out, reporting
from .options import GameName, Trust


def register(app: typer.Typer) -> None:
    app.command("play")(play)


def play(
    game_name: GameName,
    against: Annotated[
        str | None,
        typer.Option(
            help="Player of the other seats: oos:1000, net:RUN, file.py:Class, ... Default: the strongest that answers "
            "within a second."
        ),
    ] = None,
    advice: Annotated[bool, typer.Option("--advice/--no-advice", help="Show advice before your moves.")] = False,
    kibitzer: Annotated[
        str | None, typer.Option("--with", help="Player that advises you. Default: as --against.")
    ] = None,
    seat: Annotated[
        str, typer.Option(help="Your seat in the first game: 1, 2, ... or random. You move on one seat per game.")
    ] = "1",
    seed: Annotated[
        int | None, typer.Option(help="Random seed; equal seeds deal equal games. Default: a new one each time.")
    ] = None,
    language: Annotated[
        str, typer.Option(help="Language of the table: en or de. Terms of the game itself stay as they are.")
    ] = "en",
    trust: Trust = False,
) -> None:
    """Play a game in the terminal and ask a kibitzer for advice.

    Type ? at the prompt for help.

    Example: kibitz play leduc --against oos:1000 --advice

    Example: kibitz play liars_dice --seat random --language de
    """
    from ...games import load

    run_game(load(game_name), against, kibitzer, advice, seat, seed, language)


def run_game(
    game: Any,
    against: Any = None,
    kibitzer: Any = None,
    advice: bool = False,
    seat: str = "1",
    seed: int | None = None,
    language: str = "en",
) -> None:
    """Play at this terminal. Players are names or objects."""
    import numpy as np

    from ...play.players import default_player, label, make_for
    from ...play.players.precompile import Preparation, PreparedPlayer
    from ..ui.terminal import TerminalGame

    names.at_least("--seed", seed or 0, 0)
    for option, name in (("--against", against), ("--with", kibitzer)):
        if name == "human":
            raise BadInput(f"{option} human: you are the human; name a player such as random or oos:1000")
    against = default_player(game) if against is None else against
    kibitzer = against if kibitzer is None else kibitzer
    seed = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else seed
    seats = [str(number + 1) for number in range(game.facts.seats)]
    if seat not in (*seats, "random"):
        raise BadInput(f"--seat {seat} should be {', '.join(seats)} or random")
    others = [make_for(against, game) for _ in range(game.facts.seats - 1)]
    adviser = make_for(kibitzer, game)
    preparation = Preparation(game, [against, kibitzer])

    def wait() -> None:
        with reporting(COMPILING):
            preparation.wait()

    table = TerminalGame(
        game,
        [PreparedPlayer(each, wait) for each in others],
        PreparedPlayer(adviser, wait),
        _ask,
        out.print,
        seat=int(np.random.default_rng(seed).integers(len(seats))) if seat == "random" else seats.index(seat),
        seed=seed,
        advice=advice,
        name=label(kibitzer),
        against=label(against),
        language=language,
        ranges=isinstance(kibitzer, str),
    )
    with contextlib.suppress(ImportError, AttributeError):
        import readline  # noqa: F401  (arrow keys and a history at the prompt)

        sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]
    with preparation:
        try:
            table.run()
        except KeyboardInterrupt:
            stopped = table.words("stopped; {score}", score=table.score.text(table.words))
            err.print(f"\n{stopped}", style="dim", highlight=False)
            raise typer.Exit(130) from None


def _ask(prompt: str) -> str:
    if sys.stdin.isatty():
        try:
            return input(prompt)
        except EOFError:
            out.print()  # Ctrl-D leaves the cursor at the prompt
            raise
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    out.print(Text(prompt + line.rstrip()))  # so that a transcript of piped input reads like a terminal
    return line
