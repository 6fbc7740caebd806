"""Matches of one against others, as studies need them: played once, kept, gone on with."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..arena.match import open_run, play_into
from ..arena.play import seat_of
from ..arena.statistics import Estimate, interval, summary
from ..core.progress import Reporter
from ..games import load


class Played(NamedTuple):
    points: Estimate  # a game
    games: int
    by_deal: np.ndarray  # [deals] f8: points of all games of a deal

    def row(self) -> list[str]:
        return [told(self.points), f"{self.games:,}"]

    def beside(self, other: "Played", seed: int) -> Estimate:
        """What it wins a game more than another one on the same deals."""
        each = self.games / len(self.by_deal)
        return interval(self.by_deal - other.by_deal, np.full(len(self.by_deal), each), seed)


def told(found: Estimate) -> str:
    """`+0.31 (+0.26 to +0.36)`."""
    return f"{found.mean:+.2f} ({found.low:+.2f} to {found.high:+.2f})"


class Watched(Reporter):
    """Passes progress on to the callbacks of a study."""

    def __init__(self, what: str, watch: Callable[[str, float, float], None], tell: Callable[[str], None]) -> None:
        self.what, self.watch, self.tell = what, watch, tell

    def progress(self, done: float, total: float | None = None, note: str = "") -> None:
        self.watch(self.what, done, total or 0)

    def message(self, text: str) -> None:
        self.tell(text)


def against_others(
    folder: Path,
    game: str,
    one: str,
    others: str,
    deals: int,
    seed: int,
    processes: int | None = None,
    watch: Callable[[str, float, float], None] = lambda what, done, total: None,
    tell: Callable[[str], None] = lambda text: None,
) -> Played:
    """One against the others' seats, each deal from all of them."""
    seats = load(game).facts.seats
    games = seats * deals
    run = open_run(folder, "match", game, [one, *[others] * (seats - 1)], games, seed)
    records = play_into(run, processes, Watched(f"{folder.name}, games", watch, tell))
    won = np.array([record.payoffs[seat_of(0, record.number, seats)] for record in records])
    return Played(summary(records, seed).payoff, len(records), won.reshape(-1, seats).sum(axis=1))
