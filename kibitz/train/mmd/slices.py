"""Games side by side in slices that are played at the same time, each by a core of its own.

Rows are in the order of the games, however many slices there are.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from typing import TypeVar

import numpy as np

from .side_by_side import SideBySide

T = TypeVar("T")


class Slices:
    """As `SideBySide`, but an action is played and the next decision is reached in one call."""

    def __init__(self, new: Callable[[int], SideBySide], games: int, slices: int) -> None:
        """`new` makes a slice of a number of games."""
        sizes = [games // slices + (number < games % slices) for number in range(slices)]
        self.slices = [new(size) for size in sizes]
        self.games = _one_after_the_other(sizes)
        self.threads = ThreadPoolExecutor(slices - 1) if slices > 1 else None

    def begin(self) -> None:
        """Start all games from the beginning."""
        for each in self.slices:
            each.begin()

    def advance(self, streams: np.ndarray) -> int:
        """Play chance up to the next decision of each game; return how many games aren't over."""
        return sum(self._each(lambda number: self.slices[number].advance(streams[self.games[number]])))

    def play(self, streams: np.ndarray, log_probs: np.ndarray, explore: float) -> tuple[np.ndarray, int]:
        """Play an action per row, then advance; return the actions, and how many games aren't over."""
        rows, before = self.row_slices(), [each.count for each in self.slices]

        def work(number: int) -> int:
            one, own = self.slices[number], streams[self.games[number]]
            one.act(own, log_probs[rows[number]], explore)
            return one.advance(own)

        left = sum(self._each(work))
        return np.concatenate([each.chosen[:count] for each, count in zip(self.slices, before, strict=True)]), left

    def row_slices(self) -> list[slice]:
        """The rows of each slice among all rows."""
        return _one_after_the_other([each.count for each in self.slices])

    def live(self) -> np.ndarray:
        """[rows] i4: the game of each row."""
        found = [each.live[: each.count] + games.start for each, games in zip(self.slices, self.games, strict=True)]
        return np.concatenate(found)

    def by_row(self, name: str) -> list[np.ndarray]:
        """The rows of an array of `SideBySide`, per slice."""
        return [getattr(each, name)[: each.count] for each in self.slices]

    def by_game(self, name: str) -> np.ndarray:
        """A copy of an array of `SideBySide` that is by game."""
        return np.concatenate([getattr(each, name) for each in self.slices])

    def _each(self, work: Callable[[int], T]) -> list[T]:
        """Call a function with the number of each slice: the first in this thread."""
        if self.threads is None:
            return [work(0)]
        others = [self.threads.submit(work, number) for number in range(1, len(self.slices))]
        return [work(0), *(each.result() for each in others)]


def _one_after_the_other(sizes: list[int]) -> list[slice]:
    return [slice(end - size, end) for size, end in zip(sizes, accumulate(sizes), strict=True)]
