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


def check_two_streets(game: Any, cards: Cards) -> None:
    """Refuse a game whose boards are too many to visit all of them.

    Raises:
        BadInput: The game hasn't two streets.
    """
    if cards.streets != 2:
        raise BadInput(f"{full_name(game)} has {cards.streets} streets: all boards are visited in games of 2 only")


def check_board(game: Any, cards: Cards) -> None:
    """Refuse a game without cards on the board.

    Raises:
        BadInput: The game has one street.
    """
    if cards.streets < 2:
        raise BadInput(f"{full_name(game)} has no board: cfr-br is for games of two streets or more")
