"""A seat's view as numbers: the game's encoding for networks, else the fields of the view."""

from typing import Any

import numpy as np

from ...games import Game, view_of

WIDE = 2  # bytes of the largest integer that float32 holds exactly


def observation_size(game: Game) -> int:
    """How many numbers an observation has."""
    return game.facts.encoding or numbers(np.zeros(1, game.state)).shape[1]


def observation(game: Game, state: Any, seat: int) -> np.ndarray:
    """What a seat sees as float32, in plain Python. Only its view is looked at."""
    views = np.zeros(1, game.state)
    views[0] = view_of(game, state, seat)
    if not game.facts.encoding:
        return numbers(views)[0]
    out = np.zeros(game.facts.encoding, np.float32)
    game.observe(views[0], seat, out)
    return out


def numbers(views: np.ndarray) -> np.ndarray:
    """Views as float32 [views, numbers]: field after field, integers of more than two bytes as bits."""
    columns = []
    for name in views.dtype.names or ():
        field = np.ascontiguousarray(views[name]).reshape(len(views), -1)
        if field.dtype.kind in "iu" and field.dtype.itemsize > WIDE:
            field = np.unpackbits(field.view(np.uint8), axis=1, bitorder="little")
        columns.append(field.astype(np.float32))
    return np.concatenate(columns, axis=1)
