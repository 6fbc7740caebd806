"""Advice that grows while a player thinks, for a person who watches."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from ...core.names import BadInput
from ...games import Game
from ...search.advice import Advice
from .make import make_adviser
from .player import explained, label
from .search import SearchPlayer


def growing_advice(
    player: Any,
    game: Game,
    view: Any,
    seat: int,
    simulations: int = 0,
    seconds: float = 0.0,
    seed: int = 1,
    earlier: Sequence[Any] = (),
) -> Iterator[Advice]:
    """Yield the advice of a player on a view while it thinks, each on about twice the time of the one before.

    Searches that can go on do so, others are repeated with doubled budgets; other players answer once. The last advice
    is that of the whole budget. The generator may be left at any time.

    Args:
        player: A name or a player; its budget is used unless another one is given.
        game, view, seat: A view of the seat to move.
        simulations, seconds: The whole budget, of a search; 0 and 0: that of the player.
        seed: The same seed gives the same advice, for a budget of simulations.
        earlier: The seat's earlier views of the game in order, for players that remember them.

    Raises:
        BadInput: The player only moves.
    """
    made = make_adviser(player, game)
    made.begin(game, seat, seed)
    for before in earlier:
        made.move(before.copy())
    if not isinstance(made, SearchPlayer) or game.is_announcement(view):
        made.move(view.copy())
        advice = explained(made, view)
        if advice is None:
            raise BadInput(f"{label(player)} gives no advice, only moves: name a player such as oos:1000")
        yield advice
        return
    assert made.search is not None
    if not simulations and not seconds:
        simulations, seconds = made.simulations, made.seconds
    yield from made.search.growing(view, seat, simulations, seconds or math.inf)
