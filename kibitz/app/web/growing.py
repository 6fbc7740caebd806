"""Advice that grows while a player thinks."""

from collections.abc import Iterator
from typing import Any

from ...core.names import BadInput
from ...games import Game
from ...players import explained, label
from ...players.search import SearchPlayer
from ...search.advice import Advice

STEPS = 6  # each with twice the budget of the one before


def growing_advice(player: Any, game: Game, view: Any, seat: int, seconds: float, seed: int = 1) -> Iterator[Advice]:
    """Yield the advice of a player on a view while it thinks, each on about twice the time of the one before.

    A search is repeated with twice the budget: up to `seconds` where it has a budget in seconds, else up to its own. A
    player without a search advises once.

    Raises:
        BadInput: The player only moves.
    """
    player.begin(game, seat, seed)
    budgets = [(0, 0.0)]
    if isinstance(player, SearchPlayer):
        shares = [2.0 ** (step + 1 - STEPS) for step in range(STEPS)]
        if player.seconds:
            budgets = [(0, seconds / 2 * share) for share in shares]
        elif player.simulations:
            budgets = [(max(int(player.simulations * share), 1), 0.0) for share in shares]
    own = getattr(player, "simulations", 0), getattr(player, "seconds", 0.0)
    try:
        for budget in budgets:
            if any(budget):
                player.simulations, player.seconds = budget
                player.foreseen = None
            player.move(view.copy())
            advice = explained(player, view)
            if advice is None:
                raise BadInput(f"{label(player)} gives no advice, only moves: name a player such as oos:1000")
            yield advice
            if advice.exact or not advice.simulations:
                return
    finally:
        if any(budgets[0]):
            player.simulations, player.seconds = own
