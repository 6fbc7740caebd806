"""Round-robins: everybody plays everybody, the same deals in every match."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from ..core.names import BadInput, at_least
from ..core.runs import Run
from ..games import full_name, load
from ..games.records import Record
from ..players import make_for
from .match import open_match
from .play import round_of
from .statistics import Estimate, interval, summary


def open_tournament(folder: Path | None, game_name: str, names: Sequence[str], games: int, seed: int) -> Run:
    """A new run folder, or one that holds this tournament, of as many games a match or fewer."""
    game = load(game_name)
    at_least("games", games, 1)
    at_least("seed", seed, 0)
    if game.facts.seats != 2:
        raise BadInput(f"a tournament is for games of two seats, {full_name(game)} has {game.facts.seats}")
    if len(names) < 2:
        raise BadInput("a tournament is for at least two players")
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"{name} is named twice")
        if name == "human":
            raise BadInput("a human can't play everybody on all cores; kibitz match takes one")
        make_for(name, game)
    config = {"command": "tournament", "game": full_name(game), "players": list(names), "games": games, "seed": seed}
    return Run.create_or_resume(folder, f"{game.name}-tournament", config, may_grow=("games",))


def matches(run: Run) -> dict[tuple[int, int], Run]:
    """The match of each pair of players: a run folder of its own, inside that of the tournament."""
    game, names, games, seed = (run.config()[key] for key in ("game", "players", "games", "seed"))
    return {
        (i, j): open_match(run.path("matches") / f"{i + 1}-{j + 1}", game, [names[i], names[j]], games, seed)
        for i, j in combinations(range(len(names)), 2)
    }


@dataclass(frozen=True)
class Standings:
    names: list[str]
    cross: list[list[Estimate]]  # payoff of the player of a row against that of a column; NaN against itself
    overall: list[Estimate]  # mean over all others

    @property
    def order(self) -> list[int]:
        """Best first."""
        return sorted(range(len(self.names)), key=lambda i: -self.overall[i].mean)

    def as_json(self) -> dict[str, Any]:
        return {
            "order": [self.names[i] for i in self.order],
            "overall": {name: found.as_json() for name, found in zip(self.names, self.overall, strict=True)},
            "cross": [[found.as_json() for found in row] for row in self.cross],
        }


def standings(names: Sequence[str], played: dict[tuple[int, int], list[Record]], seed: int = 0) -> Standings:
    """Deals are the same in all matches, so that means over opponents are bootstrapped over deals."""
    nothing = Estimate(math.nan, math.nan, math.nan)
    cross = [[nothing] * len(names) for _ in names]
    deals = 1 + max(round_of(record.number, 2) for records in played.values() for record in records)
    sums, counts = np.zeros((len(names), deals)), np.zeros((len(names), deals))
    for (i, j), records in played.items():
        by_name = summary(records, seed).by_name
        cross[i][j], cross[j][i] = by_name[names[i]], by_name[names[j]]
        for record in records:
            for player in (i, j):
                sums[player, round_of(record.number, 2)] += record.payoffs[record.players.index(names[player])]
                counts[player, round_of(record.number, 2)] += 1
    overall = [interval(sums[i], counts[i], seed) for i in range(len(names))]
    return Standings(list(names), cross, overall)
