"""Results of matches, with 95% intervals.

The two games of a pair have the same chance outcomes (with more seats: as many games as seats), so they aren't
independent: intervals come from the variance between pairs, never between single games. What the deal adds to the
payoffs of a pair cancels out, which also makes the intervals narrower.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from html import escape
from typing import Any, NamedTuple

import numpy as np

from ..core.names import counted
from ..games.records import Record
from .play import round_of, seat_of

Z = 1.96  # quantile of the normal distribution for 95% intervals


class Estimate(NamedTuple):
    """A mean with its 95% interval, which is NaN where there are too few games for one."""

    mean: float
    low: float
    high: float

    def as_json(self) -> dict[str, float | None]:
        return {key: None if math.isnan(value) else value for key, value in self._asdict().items()}

    @property
    def margin(self) -> float:
        """Half of the interval's width; infinite where there is none."""
        return math.inf if math.isnan(self.low) else (self.high - self.low) / 2

    def span(self, scale: float = 1, form: str = "+.4f", unit: str = "") -> str:
        """The interval in words: `+0.12 to +0.34`."""
        if math.isnan(self.low):
            return "-"
        return f"{scale * self.low:{form}}{unit} to {scale * self.high:{form}}{unit}"


class Reduced(NamedTuple):
    """The mean payoff of the player named first, from estimates that vary less than the payoffs (`aivat`)."""

    payoff: Estimate
    of_pairs: float  # standard deviation of the mean estimate between pairs; NaN for one pair
    known: list[str]  # players whose policies were used

    def as_json(self) -> dict[str, Any]:
        of_pairs = None if math.isnan(self.of_pairs) else self.of_pairs
        return {"payoff": self.payoff.as_json(), "of_pairs": of_pairs, "known": self.known}


@dataclass(frozen=True)
class Result:
    """The result of a match, for the player named first."""

    games: int
    wins: int
    draws: int
    losses: int
    score: Estimate  # a win is 1, a draw 1/2
    payoff: Estimate
    deviation: float  # standard deviation of the payoff between games; NaN for one game
    of_pairs: float  # standard deviation of the mean payoff between pairs; NaN for one pair
    by_name: dict[str, Estimate]  # mean payoff of each player; of a player named for several seats, over these
    payoffs_differ: bool = False  # in size, as bets do: then a share of won games says little, and isn't shown
    reduced: Reduced | None = None  # the same payoff with reduced variance, where asked for

    def as_json(self) -> dict[str, Any]:
        found = asdict(self)
        del found["reduced"]
        reduced = {} if self.reduced is None else {"reduced": self.reduced.as_json()}
        return (
            found
            | reduced
            | {
                "score": self.score.as_json(),
                "payoff": self.payoff.as_json(),
                "deviation": None if math.isnan(self.deviation) else self.deviation,
                "of_pairs": None if math.isnan(self.of_pairs) else self.of_pairs,
                "by_name": {name: payoff.as_json() for name, payoff in self.by_name.items()},
            }
        )

    def rows(self, milli_unit: str = "") -> list[list[str]]:
        """Lines of a table: measure, value, 95% interval. `milli_unit` is what a thousandth of a payoff is called."""
        unit = f", {milli_unit[1:].partition('/')[0]}" if milli_unit else ""  # of mbb/g: bb
        outcomes = [["won / drawn / lost", f"{self.wins:,} / {self.draws:,} / {self.losses:,}", ""]]
        if not self.payoffs_differ:
            score = f"{100 * self.score.mean:.1f}%"
            outcomes.append(["score (a draw is half)", score, self.score.span(100, ".1f", "%")])
        found = [[f"mean payoff{unit}", f"{self.payoff.mean:+.4f}", self.payoff.span()]]
        if milli_unit:
            found.append([f"in {milli_unit}", f"{1000 * self.payoff.mean:+,.1f}", self.payoff.span(1000, "+,.1f")])
        if self.reduced is not None:
            payoff = self.reduced.payoff
            found.append(["with reduced variance", f"{payoff.mean:+.4f}", payoff.span()])
            if milli_unit:
                found.append([f"in {milli_unit}", f"{1000 * payoff.mean:+,.1f}", payoff.span(1000, "+,.1f")])
        found = [*found, *outcomes] if self.payoffs_differ else [*outcomes, *found]
        if not math.isnan(self.deviation):
            found.append([f"standard deviation between games{unit}", f"{self.deviation:.4f}", ""])
        return found

    def __str__(self) -> str:
        return text_table(["", counted(self.games, "game"), "95% interval"], self.rows())

    def _repr_html_(self) -> str:
        return html_table(["", counted(self.games, "game"), "95% interval"], self.rows())


def text_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Aligned columns of text."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = (zip(row, widths, strict=True) for row in (head, *rows))
    return "\n".join("  ".join(f"{cell:{width}}" for cell, width in line).rstrip() for line in lines)


def html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table for notebooks."""

    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    return f"<table>{line(head, 'th')}{''.join(line(row, 'td') for row in rows)}</table>"


def score_of(record: Record, seat: int) -> float:
    """Return 1 where the seat got more than the others on average, 1/2 where it got as much, 0 otherwise.

    So partners win together, and in a zero-sum game a win is a payoff above 0.
    """
    mine, others = record.payoffs[seat], [payoff for other, payoff in enumerate(record.payoffs) if other != seat]
    mean = math.fsum(others) / len(others)
    return 0.5 if math.isclose(mine, mean) else float(mine > mean)


def summary(records: Iterable[Record]) -> Result:
    """Summarize the games of a match. A pair of which only one game was played counts half as much."""
    played = sorted(records, key=lambda record: record.number)
    numbers, seats = np.array([record.number for record in played]), len(played[0].players)
    seat = seat_of(np.arange(seats), numbers[:, None], seats)  # [game, player]
    payoffs = np.take_along_axis(np.array([record.payoffs for record in played]), seat, 1)
    scores = np.array([score_of(record, own) for record, own in zip(played, seat[:, 0].tolist(), strict=True)])
    pair = np.unique(round_of(numbers, seats), return_inverse=True)[1]
    games = np.bincount(pair)

    def estimate(values: np.ndarray, bounds: tuple[float, float] | None = None) -> Estimate:
        return interval(np.bincount(pair, values), games.astype(float), bounds=bounds)

    bounds = outcome_bounds(payoffs[:, 0], scores) if seats == 2 else None
    names = [played[0].players[own] for own in seat[0]]
    whole = np.bincount(pair, payoffs[:, 0])[games == seats] / seats
    return Result(
        games=len(played),
        wins=int((scores == 1).sum()),
        draws=int((scores == 0.5).sum()),
        losses=int((scores == 0).sum()),
        score=estimate(scores, (0, 1)),
        payoff=estimate(payoffs[:, 0], bounds),
        deviation=float(np.std(payoffs[:, 0], ddof=1)) if len(played) > 1 else math.nan,
        of_pairs=float(np.std(whole, ddof=1)) if len(whole) > 1 else math.nan,
        by_name={
            name: estimate(payoffs[:, [name == other for other in names]].mean(axis=1), bounds)
            for name in dict.fromkeys(names)
        },
        payoffs_differ=bool(payoffs[:, 0].any()) and outcome_bounds(payoffs[:, 0], scores) is None,
    )


def further_games(result: Result, seats: int, within: float) -> int | None:
    """Number of further games until the 95% interval of the payoff is ± `within`, if these vary as those so far do.

    None where there are too few games to tell.
    """
    of_pairs = result.of_pairs if result.reduced is None else result.reduced.of_pairs
    if math.isnan(of_pairs):
        return None
    return max(seats * math.ceil((Z * of_pairs / within) ** 2) - result.games, 0)


def outcome_bounds(payoffs: np.ndarray, scores: np.ndarray) -> tuple[float, float] | None:
    """Payoffs of a loss and of a win where winning and losing alone decide the payoff, as in board games; else None."""
    most = float(abs(payoffs).max())
    return (-most, most) if most and np.allclose(payoffs, most * (2 * scores - 1)) else None


@cache
def t_quantile(degrees: int) -> float:
    """The quantile of Student's t distribution for 95% intervals, 12.7 for one degree of freedom and 1.96 for many."""
    from scipy.special import stdtrit  # imported here, as that takes longer than many a command

    return float(stdtrit(degrees, 0.975))


def interval(sums: np.ndarray, counts: np.ndarray, *, bounds: tuple[float, float] | None = None) -> Estimate:
    """Estimate the mean over games from the sum and the count of each pair. Pairs are independent, their games aren't.

    Without bounds this is Student's t-interval, which holds for few pairs too. A mean between bounds, such as a win
    rate, has Wilson's interval (1927), which has a width even if all games were won: its number of trials is the number
    of pairs, times p (1 - p) over the variance between pairs, both after adding one pair at either bound.

    Args:
        sums: [pairs] f8.
        counts: [pairs] f8: number of games.
        bounds: Lowest and highest possible payoff of a game.
    """
    pairs, games = len(sums), float(counts.sum())
    mean = float(sums.sum() / games)
    if pairs < 2:
        return Estimate(mean, math.nan, math.nan)
    squares = float(((sums - mean * counts) ** 2).sum()) / games**2
    if bounds is None:
        reach = t_quantile(pairs - 1) * math.sqrt(squares * pairs / (pairs - 1))
        return Estimate(mean, mean - reach, mean + reach)
    low, width = bounds[0], bounds[1] - bounds[0]
    n, share = float(games**2 / (counts**2).sum()), (mean - low) / width
    added = (n * share + 1) / (n + 2)
    variance = (n * (n * squares / width**2 + (share - added) ** 2) + (1 - added) ** 2 + added**2) / (n + 2)
    trials = n * added * (1 - added) / variance
    shrunk = 1 + Z**2 / trials
    middle = (share + Z**2 / (2 * trials)) / shrunk
    reach = Z * math.sqrt(max(share * (1 - share), 0) / trials + Z**2 / (4 * trials**2)) / shrunk
    return Estimate(mean, low + width * max(middle - reach, 0), low + width * min(middle + reach, 1))


class Running:
    """The result so far, for a progress line: cheap to update, with an interval from the variance of pairs."""

    def __init__(self) -> None:
        self.outcomes = {1.0: 0, 0.5: 0, 0.0: 0}
        self.waiting: dict[int, list[float]] = {}  # payoffs of incomplete pairs
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
        reach = t_quantile(self.pairs - 1) * math.sqrt(variance / self.pairs)
        return Estimate(mean, mean - reach, mean + reach)

    def __str__(self) -> str:
        wins, draws, losses = self.outcomes.values()
        margin = "" if math.isinf(self.payoff.margin) else f" ± {self.payoff.margin:.3f}"
        return f"+{wins:,} ={draws:,} -{losses:,}, payoff {self.payoff.mean:+.3f}{margin}"
