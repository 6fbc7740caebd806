"""Playouts by a linear policy over patterns: bit tables against testing every pattern."""

from functools import partial
from typing import Any

import numpy as np

from kibitz import games
from kibitz.search.playouts import by_policy
from kibitz.train.tspg.linear import linear
from kibitz.train.tspg.patterns import Pattern, canonical, combined, turned, window
from kibitz.train.tspg.sets import atoms_of

from .measuring import Row, Work
from .naive_patterns import naive

# The patterns are the atoms and 200 random combinations: which ones makes no difference to the bit tables, and little
# to the tests one by one.
GROWN = 200
TEN = (
    "breakthrough", "connect_four", "fanorona", "gomoku", "hex:7", "hex:11", "knightthrough", "othello", "teeko",
    "yavalath",
)  # fmt: skip


def _patterns(name: str) -> tuple[Any, list[list[Pattern]], list[np.ndarray]]:
    game: Any = games.load(name)
    chance, eye = np.random.default_rng(1), window(game.board())
    sets = []
    for seat in range(2):
        found = dict.fromkeys(atoms_of(game, "faithful", seat))
        wanted = len(found) + GROWN
        while len(found) < wanted:
            one, two = (list(found)[i] for i in chance.integers(len(found), size=2))
            both = combined(one, turned(two, eye, int(chance.integers(len(eye.turns)))), eye)
            if both is not None and len(both.elements) > 1:
                found[canonical(both, eye)] = None
        sets.append(list(found))
    return game, sets, [chance.normal(0, 0.15, len(each)) for each in sets]


def _pattern_playouts(make: Any, name: str) -> Work:
    game, sets, weights = _patterns(name)
    policy = make(game, "faithful", sets, weights)
    return lambda count: by_policy(game, policy, count, 1)


ROWS = [
    Row(
        f"features-{name}",
        "games/s",
        10,
        partial(_pattern_playouts, linear, name),
        partial(_pattern_playouts, naive, name),
    )
    for name in TEN
]
