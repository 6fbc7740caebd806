"""The contract of games, for authors to run on their own: `check(game)`. Each rule of it is a function in `checks`.

A random game is played in plain Python, and at each of its positions everything that the rules return is checked
against the facts and against each other. The rules are then compiled one by one, and compared with plain Python. What
is wrong is reported in one line that names the file, the line, and the rule or fact.
"""

import math
import time
import warnings
from collections.abc import Callable

import numpy as np

from ..jit import PLAIN, compiler, generators
from .checks.optional_rules import check_moves, check_public, check_strings
from .checks.turns import Position, check_end, check_facts, check_start, walk
from .checks.views import Seen, check_determinize, check_infoset, check_look, check_views
from .protocol import REMEMBERED, Game

GAMES, QUICK_SECONDS = 40, 0.3
KEPT = 200  # positions at which compiled rules are compared
POSITION_RULES: tuple[Callable[[Game, Position, np.ndarray, Seen], None], ...] = (
    check_look, check_infoset, check_determinize, check_strings, check_moves, check_public,
)  # fmt: skip


def check(
    game: Game,
    games: int = GAMES,
    seconds: float = math.inf,
    seed: int = 1,
    compiled: bool = True,
    most: int | None = None,
) -> int:
    """Check that a game keeps the contract.

    Args:
        game: The game.
        games: Number of random games.
        seconds: Time after which no further position is checked; one game is always played to its end.
        seed: The same seed gives the same games.
        compiled: Whether to compile each rule too, and compare it with plain Python.
        most: Number of positions that are checked, drawn from all games; None: all of them.

    Returns:
        The number of positions that were checked.

    Raises:
        BadInput: A rule or a fact is wrong. The message is one line: file, line, rule or fact, what is wrong.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # an overflow of a small type
        return _check(game, games, seconds, generators(seed, 1)[0], compiled and not PLAIN, most)


def _check(game: Game, games: int, seconds: float, rng: np.ndarray, compiled: bool, most: int | None) -> int:
    began = time.perf_counter()
    check_facts(game)
    check_start(game)
    positions: list[Position] = []
    for _ in range(games):
        positions += walk(game, rng)
        check_end(game, positions[-1].state)
        if time.perf_counter() - began > seconds / 2:
            break
    check_views(game, positions[:KEPT])
    seen, checked = Seen({}, {}, {}, {}, {}, {}), 0
    for number in np.random.default_rng(1).permutation(len(positions))[:most]:
        if time.perf_counter() - began > seconds:
            break
        for rule in POSITION_RULES:
            rule(game, positions[number], rng, seen)
        checked += 1
    if compiled and not getattr(game, "in_python", False):
        from .checks.compiled import check_compiled

        check_compiled(game, positions[:KEPT])
    return checked


_checked: dict[type, dict[Game, None]] = {}  # class -> its games that were checked in this process


def check_once(game: Game) -> None:
    """Check a game quickly, in plain Python, when it is first used in a process.

    Where a kernel can't be compiled for it later, its rules are compiled one by one to find the reason.
    """
    known = _checked.setdefault(type(game), {})
    if game not in known:
        check(game, seconds=QUICK_SECONDS, compiled=False)
        known[game] = None
        while len(known) > REMEMBERED:
            known.pop(next(iter(known)), None)
        compiler.explain = _explain


def _explain(kind: type) -> None:
    """Say why kernels of a game can't be compiled."""
    for game in list(_checked.get(kind, {}))[-1:]:
        compiler.explain = None  # the kernels of single rules fail too
        try:
            check(game, seconds=QUICK_SECONDS)
        finally:
            compiler.explain = _explain
