"""What other rooms may ask of Doppelkopf (`games.protocol.HOOKS`); each part is found by its name when it is asked."""

from typing import Any

from ...core.plugins import named

GUEST = __name__.partition(".rules")[0]


def beliefs(game: Any, view: Any, seat: int, assumed: Any = None, own: Any = None) -> Any:
    return named(f"{GUEST}.beliefs:card_beliefs")(game, view, seat, assumed)


def session(game: Any, games: int) -> Any:
    return named(f"{GUEST}.rules.session:Session")(game, games)


def training(game: Any) -> Any:
    return named(f"{GUEST}.learn.presets:TRAINING")
