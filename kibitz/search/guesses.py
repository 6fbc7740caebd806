"""Full positions that fit what a seat has seen, drawn by the rules of the game."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..games import Game, full_name
from ..jit import kernel
from ..names import BadInput

Guesser = Callable[[Game, Any, int, int, np.ndarray], np.ndarray]  # game, view, seat, count, rng -> full positions


def draw_guesses(game: Game, view: Any, seat: int, count: int, rng: np.ndarray) -> np.ndarray:
    """`count` records, or BadInput where nothing fits."""
    views, notes = np.zeros(1, game.state), np.zeros(game.facts.notes)
    views[0] = view
    guesses = np.zeros(count, game.state)
    if not _draw(game, views, seat, notes, guesses, rng):
        raise nothing_fits(game, seat)
    return guesses


def nothing_fits(game: Game, seat: int) -> BadInput:
    return BadInput(f"nothing fits what seat {seat + 1} of {full_name(game)} has seen")


@kernel
def _draw(game, views, seat, notes, guesses, rng):
    game.prepare(views[0], seat, notes)
    fits = True
    for i in range(len(guesses)):
        fits = fits and game.guess(views[0], seat, notes, rng, guesses[i])
    return fits
