"""Round-robin tournaments: every player plays every other, with the same chance outcomes in every match."""

import json
import math
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from ..core.names import MAX_GAMES, BadInput, at_least
from ..core.pool import Places
from ..core.progress import SILENT, Reporter
from ..games import Game, full_name
from ..games.records import Record
from .match import RESULT, open_run, opened, play_all
from .play import as_game, labels, round_of
from .players import make_for
from .statistics import Estimate, html_table, interval, outcome_bounds, score_of, summary, text_table


@dataclass(frozen=True)
class Standings:
    """The result of a round-robin tournament. Prints as a table."""

    names: list[str]
    cross: list[list[Estimate]]  # payoff of the player of a row against that of a column; NaN against itself
    overall: list[Estimate]  # mean over all others
    milli_unit: str = ""  # what a thousandth of a payoff is called in this game, such as "mbb/g"

    @property
    def order(self) -> list[int]:
        """The players by their place, best first."""
        return sorted(range(len(self.names)), key=lambda i: -self.overall[i].mean)

    @property
    def scale(self) -> tuple[float, str]:
        """The factor that payoffs are shown with, and their format."""
        return (1000, "+,.0f") if self.milli_unit else (1, "+.3f")

    def as_json(self) -> dict[str, Any]:
        return {
            "order": [self.names[i] for i in self.order],
            "overall": {name: payoff.as_json() for name, payoff in zip(self.names, self.overall, strict=True)},
            "cross": [[payoff.as_json() for payoff in row] for row in self.cross],
        }

    def _table(self) -> tuple[list[str], list[list[str]]]:
        (scale, form), order = self.scale, self.order
        head = ["", "player", f"mean, {self.milli_unit}" if self.milli_unit else "mean payoff", "95% interval"]
        rows = []
        for place, i in enumerate(order):
            row = [str(place + 1), self.names[i], f"{scale * self.overall[i].mean:{form}}"]
            row += [self.overall[i].span(scale, form)]
            row += ["-" if i == j else f"{scale * self.cross[i][j].mean:{form}}" for j in order]
            rows.append(row)
        return head + [f"against {place + 1}" for place in range(len(order))], rows

    def __str__(self) -> str:
        return text_table(*self._table())

    def _repr_html_(self) -> str:
        return html_table(*self._table())


def tournament(
    game: str | Game,
    players: Sequence[Any],
    games: int = 1000,
    seed: int = 1,
    processes: Places | None = None,
    out: Path | str | None = None,
    report: Reporter = SILENT,
    openings: int = 0,
) -> Standings:
    """Play a match between every two players.

    Args:
        game: A game of two seats, or its name.
        players: Names or objects. Matches with an object are played in this process.
        games: Number of games per match: every deal is played from both seats.
        seed: The same seed gives the same games.
        processes: Worker processes, by default one per core; or the address of a Ray cluster.
        out: A run folder to write, or to resume; None: nothing is written.
        report: Receives the progress, in games of the whole tournament.
        openings: Number of random plies with which games begin, in games without chance: the same in every match.
    """
    rules, names = as_game(game), labels(players)
    check_entrants(rules, players, seed)
    at_least("games", games, 1, MAX_GAMES)
    settings = opened(openings)
    run = None
    if out is not None:
        run = open_run(Path(out), "tournament", rules, players, games, seed, check_entrants, **settings)
    pairs = list(combinations(range(len(names)), 2))
    played = {}
    with nullcontext() if run is None else run.lock():
        for done, (i, j) in enumerate(pairs):
            part = _Part(report, games * done, games * len(pairs), f"{names[i]} against {names[j]}")
            folder = None if run is None else run.path("matches") / f"{i + 1}-{j + 1}"
            pair = [players[i], players[j]]
            played[i, j], _ = play_all(rules, pair, games, seed, processes, folder, part, openings)
        found = standings(names, played, rules.facts.milli_unit)
        if run is not None:
            run.write(RESULT, json.dumps(run.config() | found.as_json(), indent=2) + "\n")
    return found


def check_entrants(game: str | Game, players: Sequence[Any], seed: int) -> Any:
    """Refuse a tournament that can't be played."""
    rules, names = as_game(game), labels(players)
    if rules.facts.seats != 2:
        raise BadInput(f"a tournament is for games of two seats, {full_name(rules)} has {rules.facts.seats}")
    if len(players) < 2:
        raise BadInput("a tournament is for at least two players")
    for name, each in zip(names, players, strict=True):
        if names.count(name) > 1:
            raise BadInput(f"{name} is named twice")
        if each == "human":
            raise BadInput("a human can't play a tournament, which uses all cores; kibitz match takes one")
        make_for(each, rules)


class _Part(Reporter):
    """Reports one match as a part of the tournament."""

    def __init__(self, report: Reporter, before: int, total: int, title: str) -> None:
        self.report, self.before, self.total, self.title = report, before, total, title

    def progress(self, done: float, total: float | None = None, note: str = "") -> None:
        self.report.progress(self.before + done, self.total, f"{self.title}: {note}")

    def message(self, text: str) -> None:
        self.report.message(text)


def standings(names: Sequence[str], played: dict[tuple[int, int], list[Record]], milli_unit: str = "") -> Standings:
    """Rank players by their mean payoff over all opponents.

    Deals are the same in all matches, so the intervals of these means are over deals.
    """
    nothing = Estimate(math.nan, math.nan, math.nan)
    cross = [[nothing] * len(names) for _ in names]
    deals = 1 + max(round_of(record.number, 2) for records in played.values() for record in records)
    sums, counts = np.zeros((len(names), deals)), np.zeros((len(names), deals))
    for (i, j), records in played.items():
        by_name = summary(records).by_name
        cross[i][j], cross[j][i] = by_name[records[0].players[0]], by_name[records[0].players[1]]
        for record in records:
            deal = round_of(record.number, 2)
            for player, payoff in zip((i, j), record.payoffs[:: 1 - 2 * (record.number % 2)], strict=True):
                sums[player, deal] += payoff
                counts[player, deal] += 1
    every = [record for records in played.values() for record in records]
    bounds = outcome_bounds(
        np.array([record.payoffs[0] for record in every]), np.array([score_of(record, 0) for record in every])
    )
    overall = [interval(sums[i], counts[i], bounds=bounds) for i in range(len(names))]
    return Standings(list(names), cross, overall, milli_unit)
