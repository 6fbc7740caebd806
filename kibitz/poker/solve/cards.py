"""Games that can be solved by boards: those that offer their public cards."""

from typing import Any

from ...core.names import BadInput
from ...games import full_name, offering
from ...games.public_cards import PublicCards as Cards

__all__ = ["Cards", "cards_of"]


def cards_of(game: Any) -> Cards:
    """The public cards of a game.

    Raises:
        BadInput: The game offers none.
    """
    offered = getattr(game, "public_cards", None)
    if offered is None:
        raise BadInput(f"{full_name(game)} isn't poker with a public betting tree: only {offering('public_cards')} are")
    found: Cards = offered()
    return found
