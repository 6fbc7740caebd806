"""Elo ratings from the games that are recorded in runs/."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...core.names import BadInput
from ...games.records import Record, read_records
from ...play.elo import rate
from .lab_messages import RatedPlayer, RatingList
from .run_watch import RUNS

MAX_BYTES = 16 << 20  # of files of games: the newest
MAX_FILES = 1000
MAX_RATED = 100  # players


class Ratings:
    """Reads the records once, and again when a file has changed."""

    def __init__(self) -> None:
        self._read: tuple[Any, dict[str, list[Record]], str] = (None, {}, "")
        self._rated: dict[str, RatingList] = {}

    def find(self, game: str) -> RatingList:
        """The ratings of a game; of the one with the most records where none is named or it isn't there."""
        files = sorted(_files(), key=lambda each: -each[1].st_mtime_ns)
        key = [(path, found.st_ino, found.st_size, found.st_mtime_ns) for path, found in files]
        if key != self._read[0]:
            self._read, self._rated = (key, *_records(files)), {}
        _, by_game, problem = self._read
        games = sorted(by_game)
        if game not in by_game:
            game = max(games, key=lambda each: len(by_game[each]), default="")
        if game not in self._rated:
            self._rated[game] = _rated(games, game, by_game.get(game, []), problem)
        return self._rated[game]


def _files() -> Iterator[tuple[Path, os.stat_result]]:
    """All files of games in runs/ and below."""
    left = MAX_FILES
    for place, folders, files in os.walk(RUNS):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if "games.jsonl" in files and left:
            path = Path(place) / "games.jsonl"
            try:
                found = path.lstat()
            except OSError:
                continue
            if stat.S_ISREG(found.st_mode):
                left -= 1
                yield path, found


def _records(files: list[tuple[Path, os.stat_result]]) -> tuple[dict[str, list[Record]], str]:
    """The records of games of two seats by game, and what was left out."""
    found: dict[str, list[Record]] = {}
    left_out, size = [], 0
    for path, about in files:
        size += about.st_size
        if size > MAX_BYTES:
            left_out.append(f"games beyond the newest {MAX_BYTES >> 20} MB (kibitz rate reads them all)")
            break
        try:
            for record in read_records(path):
                if len(record.players) == 2:
                    found.setdefault(record.game, []).append(record)
        except BadInput as error:
            left_out.append(str(error)[:200])
    return found, "left out: " + "; ".join(left_out[:5]) if left_out else ""


def _rated(games: list[str], game: str, records: list[Record], problem: str) -> RatingList:
    players = []
    try:
        if records:
            players = [
                RatedPlayer(
                    player=each.name, elo=each.elo, low=each.low, high=each.high, games=each.games, score=each.score,
                    note=each.note,
                )
                for each in rate(records).players[:MAX_RATED]
            ]  # fmt: skip
    except BadInput as error:
        problem = "; ".join(filter(None, [str(error)[:500], problem]))
    return RatingList(games=games, game=game, players=players, problem=problem)
