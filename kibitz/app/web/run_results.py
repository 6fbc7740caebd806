"""Results of matches, sessions and tournaments, as their files hold them, for a table."""

from typing import Any

from ..run_summary import is_number
from .lab_messages import Interval, ResultView, Standing

MAX_TEXT = 200  # characters of a name
MAX_PLAYERS = 40  # of a result


def interval(value: Any) -> Interval | None:
    if not isinstance(value, dict) or not is_number(value.get("mean")):
        return None
    return Interval(**{key: value[key] if is_number(value.get(key)) else None for key in ("mean", "low", "high")})


def score_or_payoff(result: dict[str, Any]) -> tuple[Interval | None, Interval | None]:
    """The score of a match's first player, or its mean payoff where payoffs differ in size."""
    if result.get("payoffs_differ") is True:
        return None, interval(result.get("payoff"))
    return interval(result.get("score")), None


def result_view(result: dict[str, Any]) -> ResultView:
    """A match, session or tournament for a table; what isn't as it should be is left out."""
    by_name = result.get("overall", result.get("by_name"))
    found = (
        [(str(name)[:MAX_TEXT], interval(value)) for name, value in by_name.items()]
        if isinstance(by_name, dict)
        else []
    )
    rows = [Standing(player=name, payoff=each) for name, each in found[:MAX_PLAYERS] if each is not None]
    order = sorted(range(len(rows)), key=lambda i: -(rows[i].payoff.mean or 0.0))
    cross, size = result.get("cross"), len(rows)
    square = (
        isinstance(cross, list)
        and len(cross) == len(found) == size
        and all(isinstance(row, list) and len(row) == size for row in cross)
    )
    means = [[interval(cross[i][j]) for j in order] for i in order] if square else []  # type: ignore[index]
    counts = {key: result[key] if type(result.get(key)) is int else None for key in ("wins", "draws", "losses")}
    return ResultView(
        **counts,
        rows=[rows[i] for i in order],
        cross=[[None if each is None else each.mean for each in row] for row in means],
    )
