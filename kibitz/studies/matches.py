"""Matches of one against others, as studies need them: played once, kept, gone on with."""

from collections.abc import Callable
from pathlib import Path

from ..arena.match import open_match, play_into
from ..arena.statistics import summary
from ..games import load
from ..records import Record


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
) -> list[str]:
    """One against the others' seats, each deal from all of them: points a game with their interval, and games."""
    seats = load(game).facts.seats
    games = seats * deals
    run = open_match(folder, game, [one, *[others] * (seats - 1)], games, seed)
    done = [0]

    def count(record: Record) -> None:
        done[0] += 1
        watch(f"{folder.name}, games", done[0], games)

    result = summary(play_into(run, processes, count, tell), seed)
    mean, low, high = result.payoff
    return [f"{mean:+.2f} ({low:+.2f} to {high:+.2f})", f"{result.games:,}"]
