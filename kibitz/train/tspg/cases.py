"""Cases: every legal action of a batch of positions, with its active patterns."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...jit import kernel
from .linear import activity, look, new_eyes, new_halves
from .patterns import window
from .sets import Tables, sight


@dataclass(frozen=True)
class Cases:
    active: np.ndarray  # [cases, patterns] f4: 1 where a pattern is active
    actions: np.ndarray  # [cases] i8
    first: np.ndarray  # [positions] i8: first case of each

    @property
    def lengths(self) -> np.ndarray:
        return np.diff(np.append(self.first, len(self.actions)))

    def spread(self, numbers: np.ndarray) -> np.ndarray:
        """Repeat a number per position for all its cases."""
        return np.repeat(numbers, self.lengths)

    def summed(self, numbers: np.ndarray) -> np.ndarray:
        """Sum over the cases of each position."""
        return np.add.reduceat(numbers, self.first)

    def softmax(self, logits: np.ndarray) -> np.ndarray:
        probs = np.exp(logits - self.spread(np.maximum.reduceat(logits, self.first)))
        return probs / self.spread(self.summed(probs))


class Finder:
    """Finds the cases of positions, reusing its buffers."""

    def __init__(self, game: Any, kind: str) -> None:
        self.game, self.seen = game, sight(game, kind == "rich")
        self.eyes, self.actions = new_eyes(self.seen), np.zeros(game.facts.num_actions, np.int64)
        self.symmetries = len(window(game.board()).turns)

    def find(self, states: np.ndarray, tables: Tables, count: int) -> Cases:
        """Return the cases of positions, none of them finished, by the tables of `count` patterns."""
        words = tables.rows.shape[1]
        room = len(states) * self.game.facts.num_actions
        actions, first = np.zeros(room, np.int64), np.zeros(len(states), np.int64)
        bits = np.zeros((room, words), np.uint64)
        halves = new_halves(1, len(self.eyes.content) - 1, self.symmetries, words)
        n = find_cases(self.game, states, self.seen, self.eyes, tables, halves, self.actions, bits, actions, first)
        dense = np.unpackbits(bits[:n].view(np.uint8), axis=1, bitorder="little", count=count)
        return Cases(dense.astype(np.float32), actions[:n], first)


@kernel
def find_cases(game, states, seen, eyes, tables, halves, scratch, bits, actions, first):
    found = 0
    for i in range(len(states)):
        first[i] = found
        look(game, states[i], seen, eyes)
        for j in range(game.actions(states[i], scratch)):
            start, to = game.from_to(states[i], scratch[j])
            activity(eyes, tables, halves, 0, start, to, bits[found])
            actions[found] = scratch[j]
            found += 1
    return found
