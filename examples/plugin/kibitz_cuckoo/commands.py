"""`kibitz cuckoo odds`."""

from typing import Annotated

import typer

from kibitz.app.commands import command


@command("cuckoo odds")
def odds(
    card: Annotated[int, typer.Argument(help="The card, from 1.")],
    cards: Annotated[int, typer.Option(help="Cards in the deck.")] = 13,
) -> None:
    """Say how often a card beats another one from the deck.

    Example: kibitz cuckoo odds 9
    """
    from kibitz import BadInput

    if not 1 <= card <= cards:
        raise BadInput(f"card {card} should be 1 to {cards}")
    print(f"{card} wins {(card - 1) / (cards - 1):.1%}")
