"""What other rooms may ask of Doppelkopf (`games.protocol.HOOKS`); each imports its part when it is asked."""

from typing import Any


def beliefs(game: Any, view: Any, seat: int, assumed: Any = None, own: Any = None) -> Any:
    from ..beliefs import card_beliefs

    return card_beliefs(game, view, seat, assumed)


def session(game: Any, games: int) -> Any:
    from .session import Session

    return Session(game, games)


def training(game: Any) -> dict[str, Any]:
    from ..learn.presets import TRAINING

    return TRAINING
