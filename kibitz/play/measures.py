"""What `kibitz exploit --with NAME` offers beside best responses and exploiters: classes with `@measure("name")`."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..core.names import MAX_GAMES, at_least
from ..core.pool import Places
from ..core.progress import Reporter
from ..core.registry import Registry
from ..games import Game
from ..games.records import Record
from .exploiters.bound import Bound, estimate
from .match import open_run, play_into, play_match
from .play import as_game, round_of, seat_of

MEASURES = measure = Registry("measure")


class Measure:
    """Base class of measures, each of which has `games`, or `run`, or both."""

    about = ""  # what it is, for help
    title = ""  # of what it plays: "local best response"

    # @staticmethod
    # def games(game, players, seed) -> Callable[[int], Record]
    #     What plays a game by its number, the measuring opponent, named first, against a player. What it wins is a
    #     lower bound of the player's exploitability. Refuses what it can't play against.
    #
    # def run(self, game, player, chosen, given) -> None
    #     Measures and prints. `chosen` is the player as `exploitability.named` resolves it, `given` has the options of
    #     the command: flops, device, seed, out, json, None where they weren't given.

    def replaces_exact(self, game: Game, player: str, chosen: Any, given: dict[str, Any]) -> bool:
        """Whether `run` takes the place of `--with exact`, as that would take too long or options ask for it.

        Raises:
            BadInput: Options ask for it, and it doesn't measure such a player.
        """
        return False


def with_games() -> dict[str, Any]:
    """The measures that play games, by name."""
    return {name: cls for name, cls in MEASURES.items() if hasattr(cls, "games")}


def games_of(name: str) -> Callable[..., Callable[[int], Record]]:
    """What plays the games of a measure, as `match.open_run` and `match.play_into` take it."""
    return partial(_games, name)


def _games(name: str, game: str | Game, players: Sequence[Any], seed: int) -> Callable[[int], Record]:
    found: Callable[[int], Record] = MEASURES[name].games(as_game(game), players, seed)
    return found


def bound(
    name: str,
    game: Game,
    player: Any,
    games: int,
    seed: int,
    processes: Places | None,
    out: Path | None,
    report: Reporter,
) -> Bound:
    """Play the games of a measure against a player, in a run folder or without one; each deal from both seats."""
    at_least("games", games, 4, MAX_GAMES)
    at_least("seed", seed, 0)
    make = games_of(name)
    players, games = [name, player], games - games % 2
    if out is not None:
        run = open_run(out, name, game, players, games, seed, make)
        records = play_into(run, processes, report, players, game, make)
    else:
        make(game, players, seed)  # refuses what it can't play against
        records = list(play_match(game, players, games, seed, processes, report=report, make=make))
    payoffs = np.zeros((2, games // 2))
    for record in records:
        seat = seat_of(0, record.number, 2)
        payoffs[seat, round_of(record.number, 2)] = record.payoffs[seat]
    by_seat, total = [estimate(each) for each in payoffs], estimate(payoffs.sum(axis=0))
    return Bound(by_seat, chosen=[1, 1], gains=[], nash_conv=total, games=games, compared=0)
