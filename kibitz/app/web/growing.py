"""Advice that grows while a player thinks."""

from collections.abc import Iterator
from typing import Any

from ...games import Game
from ...players import explained
from ...players.search import SearchPlayer
from ...search.advice import Advice

STEPS = 6  # each with twice the budget of the one before


def growing_advice(
    player: Any, game: Game, view: Any, seat: int, seconds: float
) -> Iterator[tuple[Advice | None, bool]]:
    """Advice on one view, better each time, and whether it is the last.

    A search is repeated with twice the budget: up to `seconds` where it has a budget in seconds, else up to its own. A
    player without a search advises once.
    """
    if not isinstance(player, SearchPlayer):
        player.move(view)
        yield explained(player, view), True
        return
    own = player.simulations, player.seconds
    try:
        for step in range(STEPS):
            share = 2.0 ** (step + 1 - STEPS)
            player.foreseen = None
            if own[1]:
                player.simulations, player.seconds = 0, seconds / 2 * share
            elif own[0]:
                player.simulations = max(int(own[0] * share), 1)
            player.move(view)
            advice = explained(player, view)
            last = step + 1 == STEPS or advice is None or advice.exact or not advice.simulations
            yield advice, last
            if last:
                return
    finally:
        player.simulations, player.seconds = own
