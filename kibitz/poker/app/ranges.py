"""`kibitz poker ranges`: what players of hold'em do with every hand, as a grid of 13 x 13 classes."""

from typing import Annotated

import typer

from ...app import completion
from ...app.commands import command
from ...app.commands.options import GameName, Json, Memory, PlotFile, Trust, write_json
from ...app.ui.progress import out, print_plain, reporting
from ...core.files import write_atomically
from ...core.names import BadInput

DIFFERENCES = 8  # classes that are listed


@command("poker ranges", formerly="ranges")
def ranges(
    game_name: GameName,
    players: Annotated[
        list[str],
        typer.Argument(
            help="One or two players without search: net:models/holdem, strategy:FILE, style:tight-aggressive, ...",
            metavar="PLAYER...",
            autocompletion=completion.players,
        ),
    ],
    line: Annotated[
        str,
        typer.Option(
            "--line",
            help="Moves and cards of the board up to the decision, such as 'raise call 2c7dTs check'; hole cards are "
            "left out.",
            show_default="the first decision, of the small blind",
        ),
    ] = "",
    plot_file: PlotFile = None,
    memory: Memory = None,
    trust: Trust = False,
    json_file: Json = None,
    language: Annotated[str, typer.Option(help="Language of the output: en or de.")] = "en",
) -> None:
    """Show what players of hold'em do with every hand at a decision, as a grid; of two players, where they differ.

    Rows and columns are ranks from the ace: pairs are on the diagonal, suited hands above it, offsuit hands below.

    Example: kibitz poker ranges holdem net:models/holdem --plot preflop.png

    Example: kibitz poker ranges holdem net:models/holdem style:tight-aggressive --line "raise"
    """
    from ...app.ui.words import Words
    from ...games import full_name, load
    from ..beliefs import differences, distance, public_position, public_strategy
    from ..rules import Holdem
    from .range_grid import DIAGONAL, grid_text, mixed_in_words, moves_in_words, strategy_cells

    words, game = Words(language), load(game_name)
    if not isinstance(game, Holdem):
        raise BadInput(f"ranges are for holdem, not for {full_name(game)}")
    if len(players) > 2:
        raise BadInput(f"{len(players)} players: name one or two")
    state = public_position(game, line)
    seat = int(game.turn(state))
    with reporting("asking for every hand"):
        found = [public_strategy(game, state, player) for player in players]
    who = f"{words('seat {seat}', seat=seat + 1)} ({words(('big blind', 'small blind')[seat])})"
    said = f"{full_name(game)}, {who}: {line or words('first decision')}"
    print_plain(said)
    moves = moves_in_words(found[0])
    cells = [strategy_cells(hands, percent=len(found) == 1) for hands in found]
    together = grid_text(list(zip(players, cells, strict=True)), 4 if len(found) == 1 else 2)
    if max(map(len, together.plain.splitlines())) <= out.width:
        out.print(together)
    else:
        for player, hands in zip(players, found, strict=True):
            out.print(grid_text([(player, strategy_cells(hands))]))
    share = "in percent" if len(found) == 1 else "in tenths; 9: 90% or more"
    out.print(words(f"likeliest move ({{moves}}) and its share {share}", moves=moves), style="dim", highlight=False)
    out.print(words(DIAGONAL), style="dim", highlight=False)
    for player, hands in zip(players, found, strict=True):
        mixed = mixed_in_words(hands.actions, hands.mean_policy())
        print_plain(f"{player}: {words('on average {mixed}', mixed=mixed)}")
    apart = {"distance": distance(*found)} if len(found) == 2 else {}
    if apart:
        text = "their moves differ by {share} on average over all hands (total variation distance)"
        text = words(text, share=f"{apart['distance']:.1%}")
        print_plain(text)
        said += f"\n{text}"
    if different := differences(*found)[:DIFFERENCES] if apart else []:
        text = words("the largest differences between {one} and {other}", one=players[0], other=players[1])
        print_plain(f"{text}:")
        for name, *policies in different:
            print_plain(f"  {name:4} {' | '.join(mixed_in_words(found[0].actions, policy) for policy in policies)}")
    if plot_file is not None:
        from .range_plot import plot_strategies

        write_atomically(plot_file, plot_strategies(players, found, said, plot_file.suffix[1:].lower(), words))
        print_plain(f"plot: {plot_file}")
    report = [{"player": player} | hands.as_json() for player, hands in zip(players, found, strict=True)]
    write_json(json_file, {"game": full_name(game), "line": line, "seat": seat + 1, "players": report} | apart)
