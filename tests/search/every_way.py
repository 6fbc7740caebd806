"""All outcomes of the random choices of a sampling algorithm, each with its probability.

The kernel runs as plain Python; whatever it draws is asked of `Chooser.choose`, which plays one
script of choices after the other until all have been seen.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from kibitz.games import chance_outcomes


class Chooser:
    def __init__(self) -> None:
        self.script: list[tuple[int, list[float]]] = []
        self.depth = 0
        self.probability = 1.0

    def choose(self, probabilities: Sequence[float]) -> int:
        if self.depth == len(self.script):
            chances = [float(chance) for chance in probabilities]
            self.script.append((_next_possible(chances, 0), chances))
        index, chances = self.script[self.depth]
        self.depth += 1
        self.probability *= chances[index]
        return index

    def advance(self) -> bool:
        """Advance to the next script; return False when there is none."""
        self.depth, self.probability = 0, 1.0
        while self.script:
            index, chances = self.script.pop()
            index = _next_possible(chances, index + 1)
            if index < len(chances):
                self.script.append((index, chances))
                return True
        return False


def _next_possible(chances: list[float], start: int) -> int:
    while start < len(chances) and chances[start] <= 0:
        start += 1
    return start


class Scripted:
    """A game whose `sample_action` asks the chooser."""

    def __init__(self, game: Any, chooser: Chooser) -> None:
        self._game, self._chooser = game, chooser

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)

    def sample_action(self, state: Any, rng: Any) -> int:
        outcomes = chance_outcomes(self._game, state)
        return outcomes[self._chooser.choose([probs for _, probs in outcomes])][0]


def every_way(run: Callable[[Chooser], Any]) -> Iterator[tuple[float, Any]]:
    chooser = Chooser()
    while True:
        result = run(chooser)
        yield chooser.probability, result
        if not chooser.advance():
            return
