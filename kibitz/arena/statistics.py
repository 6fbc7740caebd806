"""What a match says about its players, and how sure that is.

The two games of a pair share their luck (with more seats: as many games as seats), so they aren't independent:
intervals come from resampling pairs, never single games. A lucky deal is lucky for all, which makes them narrower, too.
"""

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from ..games.records import Record
from .play import round_of, seat_of

RESAMPLES = 9_999
MAX_DRAWS = 50_000_000  # of all resamples together; a large match is resampled less often, which it can afford


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
    of_pairs: float  # deviation of the mean payoff, from pair to pair; NaN for one pair
    by_name: dict[str, Estimate]  # payoffs; who is named for several seats has their mean

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {
            "score": self.score.as_json(),
            "payoff": self.payoff.as_json(),
            "deviation": None if math.isnan(self.deviation) else self.deviation,
            "of_pairs": None if math.isnan(self.of_pairs) else self.of_pairs,
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
    played = sorted(records, key=lambda record: record.number)
    numbers, seats = np.array([record.number for record in played]), len(played[0].players)
    seat = seat_of(np.arange(seats), numbers[:, None], seats)  # [game, player]
    payoffs = np.take_along_axis(np.array([record.payoffs for record in played]), seat, 1)
    scores = np.array([score_of(record, own) for record, own in zip(played, seat[:, 0].tolist(), strict=True)])
    pair = np.unique(round_of(numbers, seats), return_inverse=True)[1]
    games = np.bincount(pair)

    def estimate(values: np.ndarray) -> Estimate:
        return interval(np.bincount(pair, values), games.astype(float), seed)

    names = [played[0].players[own] for own in seat[0]]
    whole = np.bincount(pair, payoffs[:, 0])[games == seats] / seats
    return Result(
        games=len(played),
        wins=int((scores == 1).sum()),
        draws=int((scores == 0.5).sum()),
        losses=int((scores == 0).sum()),
        score=estimate(scores),
        payoff=estimate(payoffs[:, 0]),
        deviation=float(np.std(payoffs[:, 0], ddof=1)) if len(played) > 1 else math.nan,
        of_pairs=float(np.std(whole, ddof=1)) if len(whole) > 1 else math.nan,
        by_name={
            name: estimate(payoffs[:, [name == other for other in names]].mean(axis=1)) for name in dict.fromkeys(names)
        },
    )


def further_games(result: Result, seats: int, within: float) -> int | None:
    """Games still to be played until the 95% interval of the payoff is ± `within`, if they deviate as those so far."""
    if math.isnan(result.of_pairs):
        return None
    return max(seats * math.ceil((1.96 * result.of_pairs / within) ** 2) - result.games, 0)


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
        n_resamples=int(np.clip(MAX_DRAWS // len(sums), 999, RESAMPLES)),
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
