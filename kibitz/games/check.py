"""The contract of games, for authors to run on their own: `check(game)`. Each rule of it is a function in `checks`.

Some random games are played in plain Python, and at their positions everything that the rules return is checked
against the facts and against each other. The rules are then compiled one by one, and compared with plain Python. All
further games are played by compiled rules, and so are the positions enumerated that `determinize` should give. What is
wrong is reported in one line that names the file, the line, and the rule or fact.
"""

import math
import time
import warnings
from collections.abc import Callable

import numpy as np

from ..core.progress import SILENT, Reporter
from ..jit import PLAIN, compiler, generators
from .checks.optional_rules import check_moves, check_public, check_strings
from .checks.turns import Position, check_end, check_facts, check_start, walk
from .checks.views import Seen, check_determinize, check_infoset, check_look, check_views
from .checks.worlds import check_variation, check_worlds
from .protocol import REMEMBERED, Game

GAMES, QUICK_SECONDS = 40, 0.3
KEPT = 100  # positions in plain Python before rules are compiled, and at which they are compared
MOST = 250  # positions at which everything is checked, in plain Python
POSITION_RULES: tuple[Callable[[Game, Position, np.ndarray, Seen], None], ...] = (
    check_look, check_infoset, check_determinize, check_strings, check_moves, check_public,
)  # fmt: skip


def check(
    game: Game,
    games: int = GAMES,
    seconds: float = math.inf,
    seed: int = 1,
    compiled: bool = True,
    most: int = MOST,
    report: Reporter = SILENT,
) -> int:
    """Check that a game keeps the contract.

    Args:
        game: The game.
        games: Number of random games.
        seconds: Time after which no further position is checked; one game is always played to its end.
        seed: The same seed gives the same games.
        compiled: Whether to compile each rule too, compare it with plain Python, and compare what `determinize` gives
            with an enumeration.
        most: Number of positions at which everything is checked, drawn from all games.
        report: Gets the progress.

    Returns:
        The number of positions that were checked.

    Raises:
        BadInput: A rule or a fact is wrong. The message is one line: file, line, rule or fact, what is wrong.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # an overflow of a small type
        rng, seen = generators(seed, 1)[0], Seen({}, {}, {}, {}, {}, {})
        plain = PLAIN or bool(getattr(game, "in_python", False))
        enough = math.inf if plain or not compiled else KEPT
        played = _played(game, games, enough, seconds, rng, report)
        checked = _check_positions(game, played, seconds, rng, seen, most, report)
        if not compiled:
            return checked
        if not plain:
            _check_compiled(game, played, report)
            checked, walked = _check_walks(game, games, rng, seen, most, report)
        else:
            walked = [np.array([each.state for each in positions], game.state) for positions in played]
        check_worlds(game, walked, not plain, report)
        return checked


def _played(
    game: Game, games: int, enough: float, seconds: float, rng: np.ndarray, report: Reporter
) -> list[list[Position]]:
    """Random games in plain Python, until there are enough positions."""
    began, count = time.perf_counter(), 0
    played: list[list[Position]] = []
    check_facts(game)
    check_start(game)
    while len(played) < games and count < enough:
        report.progress(len(played), games, "games in plain Python")
        played.append(walk(game, rng))
        check_end(game, played[-1][-1].state)
        count += len(played[-1])
        if time.perf_counter() - began > seconds / 2:
            break
    return played


def _check_positions(
    game: Game, played: list[list[Position]], seconds: float, rng: np.ndarray, seen: Seen, most: int, report: Reporter
) -> int:
    """Check everything at positions drawn from all games; their number."""
    began, checked = time.perf_counter(), 0
    positions = [position for each in played for position in each]
    check_views(game, positions[:KEPT])
    drawn = np.random.default_rng(1).permutation(len(positions))[:most]
    for number in drawn:
        if time.perf_counter() - began > seconds / 2:
            break
        report.progress(checked, len(drawn), "positions in plain Python")
        for rule in POSITION_RULES:
            rule(game, positions[number], rng, seen)
        checked += 1
    if game.facts.hidden:
        states = ([position.state for position in each] for each in played)
        check_variation(game, states, rng, False, seconds / 4)
    return checked


def _check_compiled(game: Game, played: list[list[Position]], report: Reporter) -> None:
    from .checks.compiled import check_compiled

    check_compiled(game, [position for each in played for position in each][:KEPT], report)


def _check_walks(
    game: Game, games: int, rng: np.ndarray, seen: Seen, most: int, report: Reporter
) -> tuple[int, list[np.ndarray]]:
    """Random games by compiled rules: the number of their positions, and those of the first games."""
    from .checks.walks import Walker, check_knowledge

    walker, draws = Walker(game), np.random.default_rng(1)
    count, chosen, walked = 0, 0, []
    for number in range(games):
        report.progress(number, games, "games")
        states, turns = walker.game_of(rng)
        count += len(states)
        if number < GAMES:
            walked.append(states.copy())
            check_knowledge(game, states, turns, seen, rng)
        share = math.ceil(most * (number + 1) / games) - chosen
        for i in draws.permutation(len(states))[:share]:
            position = walker.position(i)
            for rule in POSITION_RULES:
                rule(game, position, rng, seen)
            chosen += 1
    return count, walked


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
            _check_compiled(game, _played(game, GAMES, KEPT, QUICK_SECONDS, generators(1, 1)[0], SILENT), SILENT)
        finally:
            compiler.explain = _explain
