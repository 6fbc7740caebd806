"""Determinization: sample worlds, full positions that are consistent with a seat's view."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.names import BadInput
from ..games import Game, full_name
from ..jit import kernel

Determinizer = Callable[[Game, Any, int, int, np.ndarray], np.ndarray]  # game, view, seat, count, rng -> worlds


def sample_worlds(game: Game, view: Any, seat: int, count: int, rng: np.ndarray) -> np.ndarray:
    """Sample `count` worlds by the game's rule `determinize`, as records.

    Raises:
        BadInput: No world is consistent with the view.
    """
    views, notes = np.zeros(1, game.state), np.zeros(game.facts.notes)
    views[0] = view
    worlds = np.zeros(count, game.state)
    if not _draw(game, views, seat, notes, worlds, rng):
        raise nothing_fits(game, seat)
    return worlds


def nothing_fits(game: Game, seat: int) -> BadInput:
    return BadInput(f"no world of {full_name(game)} is consistent with the view of seat {seat + 1}")


@kernel
def _draw(game, views, seat, notes, worlds, rng):
    game.prepare(views[0], seat, notes)
    fits = True
    for i in range(len(worlds)):
        fits = fits and game.determinize(views[0], seat, notes, rng, worlds[i])
    return fits
