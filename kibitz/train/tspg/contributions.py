"""How much each active pattern contributes to each move of a position.

The policy is a softmax of linear logits, so it can be explained exactly: a logit is the sum of the weights of the
patterns that are active for a move. Terms that all moves share change nothing, so the contribution of a pattern to a
move is its weight times how much more active it is there than on average, w (φ - mean φ). A pattern that is active for
other moves only contributes too.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .cases import Cases, Finder
from .patterns import Pattern, images, seen_at, spelled, window
from .sets import compile_set, words_for
from .store import Features

MAX_CONTRIBUTIONS = 12  # patterns listed per move


class Contribution(NamedTuple):
    """Contribution of a pattern to the logit of a move."""

    pattern: int
    adds: float  # its weight, or 0 where it isn't active
    relative: float  # `adds` less its mean over the moves
    image: int  # the first symmetry under which the pattern matches; -1: not active


@dataclass(frozen=True)
class Move:
    name: str
    start: int
    to: int
    logit: float
    prob: float
    contributions: tuple[Contribution, ...]  # the largest first


class Explainer:
    """Evaluates the patterns of both seats at positions."""

    def __init__(self, game: Any, features: Features) -> None:
        self.game, self.features, self.board = game, features, game.board()
        self.window = window(self.board, features.kind == "rich")
        self.finder = Finder(game, features.kind)
        self.tables = [
            compile_set(game, features.kind, seat, patterns, words_for(len(patterns)))
            for seat, patterns in enumerate(features.patterns)
        ]
        self.images = functools.cache(lambda seat, f: images(self.patterns(seat)[f], self.window))

    def patterns(self, seat: int) -> tuple[Pattern, ...]:
        return self.features.patterns[seat]

    def cases(self, states: np.ndarray, seat: int) -> Cases:
        """All legal moves of positions in which the seat is to move, with their active patterns."""
        return self.finder.find(states, self.tables[seat], len(self.patterns(seat)))

    def content(self, state: Any) -> tuple[int, ...]:
        """Content of each cell, as in `ExplainedPosition`."""
        found = []
        for place in self.game.places():
            word, bit = divmod(int(place), 64)
            first, second = (int(self.game.pieces(state, seat, word)) >> bit & 1 for seat in range(2))
            found.append(first + 2 * second)
        return tuple(found)

    def image(self, seat: int, f: int, content: Sequence[int], start: int, to: int) -> int:
        """The first symmetry under which a pattern matches at a move; -1: none."""
        kinds, places = (0, 1 + seat, 2 - seat), self.board.places
        came = (places[start][0] - places[to][0], places[start][1] - places[to][1])
        for symmetry, image in enumerate(self.images(seat, f)):
            if image.start and image.start != came:
                continue
            for anchor, place, allowed in image.elements:
                there = seen_at(self.board, to if anchor == 0 else start, place, self.features.kind == "rich")
                if not allowed >> (kinds.index(content[there]) if there >= 0 else 3) & 1:
                    break
            else:
                return symmetry
        return -1

    def text(self, seat: int, f: int) -> str:
        """A pattern as in its file."""
        return spelled(self.patterns(seat)[f], self.window)

    def explain(
        self, state: Any, seat: int, weights: np.ndarray, most: int = MAX_CONTRIBUTIONS
    ) -> tuple[tuple[Move, ...], np.ndarray]:
        """All moves at a position with their largest contributions; and the number of moves per active pattern."""
        states = np.zeros(1, self.game.state)
        states[0] = state
        cases, content = self.cases(states, seat), self.content(state)
        active = cases.active.astype(float)
        relative = weights * (active - active.mean(axis=0))
        logits = active @ weights
        probs = softmax(logits)
        moves = []
        for i, action in enumerate(cases.actions.tolist()):
            start, to = move_cells(self.game, state, action)
            order = np.lexsort((-np.abs(weights * active[i]), -np.abs(relative[i])))[:most]
            contributions = tuple(
                Contribution(
                    f,
                    float(weights[f] * active[i, f]),
                    float(relative[i, f]),
                    self.image(seat, f, content, start, to) if active[i, f] else -1,
                )
                for f in order.tolist()
                if relative[i, f] or (len(active) == 1 and weights[f] and active[i, f])
            )
            name = self.game.action_to_string(state, action)
            moves.append(Move(name, start, to, float(logits[i]), float(probs[i]), contributions))
        return tuple(moves), active.sum(axis=0).astype(int)


def softmax(logits: np.ndarray) -> np.ndarray:
    probs = np.exp(logits - logits.max())
    return probs / probs.sum()


def move_cells(game: Any, state: Any, action: int) -> tuple[int, int]:
    start, to = game.from_to(state, action)
    return int(start), int(to)
