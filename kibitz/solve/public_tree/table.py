"""Strategies of a public tree as tables, and their files, which players look up without reading them.

    keys    [decisions] u8: public states in ascending order
    first   [decisions] u4: number of the first entry of each
    parts   [entries, private states] u2: probabilities as shares of 65,535

Entries are in the order of the walk over the tree (see `tree`), so that a best response reads them from front to back.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...core.files import readable
from ...core.names import BadInput
from ...core.tensor_files import Format
from ...games import Game, full_name, load_stored, name_if
from ...games.game import SCRATCH
from ...jit import kernel
from .tree import PublicTree

FORMAT = Format(
    "kibitz public tree strategy 1",
    "strategy",
    {"first": "uint32 states", "keys": "uint64 states", "parts": "uint16 entries private"},
    about={"game": str},
    sealed=True,
)
PARTS = 65535  # probabilities are kept as shares of this


@dataclass(frozen=True)
class PublicStrategy:
    """A behaviour strategy of both seats of a game with a public tree."""

    game: Game
    keys: np.ndarray  # [decisions] u8, ascending
    first: np.ndarray  # [decisions] u4
    parts: np.ndarray  # [entries, private] u2

    def action_probs(self, views: np.ndarray) -> np.ndarray:
        """Probabilities at views of the mover: [views, num_actions] f8, the legal actions in order, then zeros."""
        keys, counts, private = (np.zeros(len(views), kind) for kind in (np.uint64, np.int64, np.int64))
        _places(self.game, views, np.zeros(SCRATCH, np.int64), keys, counts, private)
        rows = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        if (self.keys[rows] != keys).any():
            raise BadInput(f"the strategy of {full_name(self.game)} lacks a public state: it is damaged")
        first = self.first[rows].astype(np.int64)
        probs = np.zeros((len(views), self.game.facts.num_actions))
        for place in range(int(counts.max(initial=0))):
            here = np.flatnonzero(counts > place)
            probs[here, place] = self.parts[np.minimum(first[here] + place, len(self.parts) - 1), private[here]]
        return probs / np.maximum(probs.sum(axis=1, keepdims=True), 1)

    def save(self, path: Path, **about: Any) -> None:
        """Write the strategy to a file, for `read_public_strategy`."""
        tensors = {"first": self.first, "keys": self.keys, "parts": self.parts}
        FORMAT.write(path, tensors, game=full_name(self.game), **about)


def strategy_of(tree: PublicTree, weights: np.ndarray) -> PublicStrategy:
    """The strategy in proportion to weights [entries, private]; uniform where all are zero."""
    keys, first = tree.index()
    parts = np.zeros((tree.entries, tree.private), np.uint16)
    _normalise(weights, first, parts)
    order = np.argsort(keys)
    return PublicStrategy(tree.game, keys[order], first[:-1][order], parts)


def read_public_strategy(path: Path, game: Game | None = None, whole: bool = False) -> PublicStrategy:
    """Open a strategy: its tables stay in the file and are looked up there.

    Args:
        path: The file.
        game: The game that it must be for.
        whole: Whether to check all of it.

    Raises:
        BadInput: The file is missing, damaged, or for another game.
    """
    tensors, about = FORMAT.read(path, game=name_if(game), mapped=True, whole=whole)
    with readable(path, FORMAT.what):
        rules = game or load_stored(about["game"])
        return PublicStrategy(rules, tensors["keys"], tensors["first"], tensors["parts"])


@kernel
def _places(game, views, actions, keys, counts, private):
    for i in range(len(views)):
        keys[i] = game.public_state(views[i])
        counts[i] = game.actions(views[i], actions)
        private[i] = game.private_state(views[i], game.turn(views[i]))


@kernel
def _normalise(weights, first, parts):
    for node in range(len(first) - 1):
        start, stop = np.int64(first[node]), np.int64(first[node + 1])
        for h in range(parts.shape[1]):
            total = 0.0
            for entry in range(start, stop):
                total += max(np.float64(weights[entry, h]), 0.0)
            for entry in range(start, stop):
                share = 1.0 / (stop - start)
                if total > 0:
                    share = max(np.float64(weights[entry, h]), 0.0) / total
                parts[entry, h] = np.uint16(share * PARTS + 0.5)
