"""Variance reduction: payoffs of a match replaced by estimates of the same mean that vary less."""

from collections.abc import Sequence
from typing import Any

from ..core.names import BadInput
from ..core.pool import Places
from ..core.progress import SILENT, Reporter
from ..core.registry import Registry
from ..games import Game, full_name
from ..games.records import Record
from .statistics import Reduced

ESTIMATORS = variance_reduction = Registry("variance reduction")


class VarianceReduction:
    """Base class of classes with `@variance_reduction("name")`."""

    games = ""  # the games that it is for, in words

    def plays(self, game: Game) -> bool:
        """Whether it is for a game."""
        raise NotImplementedError

    def known_policies(self, game: Game, players: Sequence[Any]) -> list[str]:
        """The names of those players whose policies are known; BadInput: there are too few."""
        raise NotImplementedError

    def reduced(
        self, game: Game, players: Sequence[Any], records: Sequence[Record], processes: Places | None, report: Reporter
    ) -> Reduced:
        """The mean payoff of the first player of a match, from estimates in place of the payoffs.

        Args:
            game, players: Those of the match.
            records: Its games. The estimates depend on nothing else.
            processes, report: As for `match`.
        """
        raise NotImplementedError


def known_policies(game: Game, players: Sequence[Any]) -> list[str]:
    """The names of those players whose policies are known.

    Raises:
        BadInput: There is none, or nothing reduces the variance in this game.
    """
    return _for(game).known_policies(game, players)


def reduced(
    game: Game,
    players: Sequence[Any],
    records: Sequence[Record],
    processes: Places | None = None,
    report: Reporter = SILENT,
) -> Reduced:
    """The mean payoff of the first player of a match, from estimates in place of the payoffs."""
    return _for(game).reduced(game, players, records, processes, report)


def _for(game: Game) -> VarianceReduction:
    for cls in ESTIMATORS.values():
        made: VarianceReduction = cls()
        if made.plays(game):
            return made
    names = "; ".join(cls.games for cls in ESTIMATORS.values())
    raise BadInput(f"variance is reduced in {names}, not in {full_name(game)}")
