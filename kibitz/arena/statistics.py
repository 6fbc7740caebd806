"""What a match says about its players, and how sure that is.

The two games of a pair share their luck (with more seats: as many games as seats), so they aren't independent:
intervals come from resampling pairs, never single games. A lucky deal is lucky for all, which makes them narrower, too.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..records import Record
from .match import round_of, seat_of

RESAMPLES = 9_999
MOST_DRAWS = 50_000_000  # of all resamples together; a large match is resampled less often, which it can afford


class Estimate(NamedTuple):
    """A mean with its 95% interval; NaN where there is too little for one."""

    mean: float
    low: float
    high: float

    def as_json(self) -> dict[str, float | None]:
        return {key: None if math.isnan(value) else value for key, value in self._asdict().items()}


@dataclass(frozen=True)
class Result:
    games: int
    wins: int
    draws: int
    losses: int
    score: Estimate  # a win is 1, a draw 1/2
    payoff: Estimate
    deviation: float  # of the payoff, from game to game; NaN for one game
    by_name: dict[str, Estimate]  # payoffs; who is named for several seats has their mean

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {
            "score": self.score.as_json(),
            "payoff": self.payoff.as_json(),
            "deviation": None if math.isnan(self.deviation) else self.deviation,
            "by_name": {name: payoff.as_json() for name, payoff in self.by_name.items()},
        }


def score_of(record: Record, seat: int) -> float:
    """1 where the seat got more than the others did on average, 1/2 where it got as much, 0 else.

    So partners win together, and where all payoffs sum to zero a win is a payoff above that.
    """
    mine, others = record.payoffs[seat], [payoff for other, payoff in enumerate(record.payoffs) if other != seat]
    mean = math.fsum(others) / len(others)
    return 0.5 if math.isclose(mine, mean) else float(mine > mean)


def summary(records: Iterable[Record], seed: int = 0) -> Result:
    """Of the first-named player, and all payoffs. A pair of which only one game was played counts half as much."""
    rounds: dict[int, list[Record]] = {}
    for record in records:
        rounds.setdefault(round_of(record.number, len(record.players)), []).append(record)
    pairs = [rounds[number] for number in sorted(rounds)]

    def estimate(values: Callable[[Record], list[float]]) -> Estimate:
        found = [[value for record in pair for value in values(record)] for pair in pairs]
        return interval(np.array([sum(pair) for pair in found]), np.array([len(pair) for pair in found], float), seed)

    def payoffs_of(name: str, record: Record) -> list[float]:
        return [payoff for other, payoff in zip(record.players, record.payoffs, strict=True) if other == name]

    def first(record: Record) -> int:
        return seat_of(0, record.number, len(record.players))

    played = [record for pair in pairs for record in pair]
    scores = [score_of(record, first(record)) for record in played]
    payoffs = [record.payoffs[first(record)] for record in played]
    seats = range(len(played[0].players))
    names = [played[0].players[seat_of(player, played[0].number, len(seats))] for player in seats]
    return Result(
        games=len(played),
        wins=scores.count(1),
        draws=scores.count(0.5),
        losses=scores.count(0),
        score=estimate(lambda record: [score_of(record, first(record))]),
        payoff=estimate(lambda record: [record.payoffs[first(record)]]),
        deviation=float(np.std(payoffs, ddof=1)) if len(payoffs) > 1 else math.nan,
        by_name={name: estimate(partial(payoffs_of, name)) for name in dict.fromkeys(names)},
    )


def interval(sums: np.ndarray, counts: np.ndarray, seed: int = 0) -> Estimate:
    """The mean over games, from the sum and the count of each pair; bootstrapped over pairs."""
    mean = float(_mean(sums, counts))
    if len(sums) < 2:
        return Estimate(mean, math.nan, math.nan)
    from scipy.stats import bootstrap  # here, as its import takes longer than many a command

    found = bootstrap(
        (sums, counts),
        _mean,
        paired=True,
        vectorized=True,
        method="percentile",
        n_resamples=int(np.clip(MOST_DRAWS // len(sums), 999, RESAMPLES)),
        batch=max(1, 2_000_000 // len(sums)),
        random_state=np.random.default_rng(seed),
    ).confidence_interval
    return Estimate(mean, float(found.low), float(found.high))


def _mean(sums: np.ndarray, counts: np.ndarray, axis: int = -1) -> Any:
    return sums.sum(axis) / counts.sum(axis)


class Running:
    """The result so far, for a progress bar: cheap to add to, with an interval from the variance of pairs."""

    def __init__(self) -> None:
        self.outcomes = {1.0: 0, 0.5: 0, 0.0: 0}
        self.waiting: dict[int, list[float]] = {}  # payoffs of pairs that aren't whole
        self.games = self.pairs = 0
        self.total = self.sum = self.squares = 0.0

    def add(self, record: Record) -> None:
        seats = len(record.players)
        seat, number = seat_of(0, record.number, seats), round_of(record.number, seats)
        self.outcomes[score_of(record, seat)] += 1
        self.games += 1
        self.total += record.payoffs[seat]
        pair = self.waiting.setdefault(number, [])
        pair.append(record.payoffs[seat])
        if len(pair) == seats:
            mean = sum(self.waiting.pop(number)) / seats
            self.pairs += 1
            self.sum += mean
            self.squares += mean * mean

    @property
    def payoff(self) -> Estimate:
        mean = self.total / self.games if self.games else math.nan
        if self.pairs < 2:
            return Estimate(mean, math.nan, math.nan)
        variance = max(self.squares - self.sum**2 / self.pairs, 0) / (self.pairs - 1)
        reach = 1.96 * math.sqrt(variance / self.pairs)
        return Estimate(mean, mean - reach, mean + reach)

    def __str__(self) -> str:
        wins, draws, losses = self.outcomes.values()
        mean, low, high = self.payoff
        sure = "" if math.isnan(low) else f" ± {(high - low) / 2:.3f}"
        return f"+{wins:,} ={draws:,} -{losses:,}, payoff {mean:+.3f}{sure}"
