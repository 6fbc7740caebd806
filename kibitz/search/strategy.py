"""Strategies: for each infoset the probabilities of its actions, in the order of the rules."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ..core.files import readable
from ..core.names import BadInput
from ..core.registry import Registry
from ..core.tensor_files import Format
from ..games import Game, full_name, load_stored, name_if
from ..games.game import SCRATCH
from ..jit import kernel
from .infoset_table import Table

FORMAT = Format(
    "kibitz strategy 1",
    "strategy",
    {"keys": "uint64 infosets?", "starts": "int64 infosets+1", "probs": "float64 ?"},
    about={"game": str},
)
STRATEGY_FILES = strategy_file = Registry("strategy file")  # other formats: format of a file -> function(path, game)


class AnyStrategy(Protocol):
    """A strategy of a game. One of buckets has `on(form)` too, the `Strategy` on the form of a small game."""

    @property
    def game(self) -> Any:
        """The game that it is for."""

    def action_probs(self, views: np.ndarray) -> np.ndarray:
        """[views, num_actions] f8: the probabilities of each view's legal actions in their order, then zeros."""


class Sequences(Protocol):
    """A seat's sequences in a sequence form (`kibitz.solve.sequence_form.Side`)."""

    @property
    def keys(self) -> np.ndarray: ...

    @property
    def first(self) -> np.ndarray: ...

    @property
    def parent(self) -> np.ndarray: ...

    @property
    def sequences(self) -> int: ...


@dataclass(frozen=True)
class Strategy:
    """A behaviour strategy of both seats; uniform at infosets that it doesn't contain."""

    game: Game
    keys: np.ndarray  # [infosets] u8, ascending
    starts: np.ndarray  # [infosets + 1] i8: those of infoset i are probs[starts[i] : starts[i + 1]]
    probs: np.ndarray  # f8

    def at(self, key: int, n: int) -> np.ndarray:
        """Probabilities of the n actions at an infoset."""
        i = int(np.searchsorted(self.keys, np.uint64(key)))
        if i < len(self.keys) and self.keys[i] == np.uint64(key) and self.starts[i + 1] - self.starts[i] == n:
            return self.probs[self.starts[i] : self.starts[i + 1]]
        return np.full(n, 1 / n)

    def behaviour(self, side: Sequences) -> np.ndarray:
        """Probabilities of one seat as an array over the sequences of a sequence form."""
        probs = np.ones(side.sequences)
        self._fill(probs, side.first[:-1], side.keys, np.diff(side.first))
        return probs

    def action_probs(self, views: np.ndarray) -> np.ndarray:
        """Probabilities at views of the mover: [views, num_actions] f8, the legal actions in order, then zeros."""
        keys, counts = np.zeros(len(views), np.uint64), np.zeros(len(views), np.int64)
        probs, actions = np.zeros((len(views), self.game.facts.num_actions)), np.zeros(SCRATCH, np.int64)
        _infosets(self.game, views, actions, keys, counts)
        self._fill(probs.reshape(-1), np.arange(len(views)) * probs.shape[1], keys, counts)
        return probs

    def _fill(self, probs: np.ndarray, starts: np.ndarray, keys: np.ndarray, counts: np.ndarray) -> None:
        """Write the probabilities of infosets `keys`, each with its count of actions, to `probs` from `starts` on."""
        most = int(counts.max(initial=0))
        for offset in range(most):
            probs[starts[counts > offset] + offset] = 1 / counts[counts > offset]
        if not len(self.keys):
            return
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        known = (self.keys[places] == keys) & (np.diff(self.starts)[places] == counts)
        for offset in range(most):
            here = known & (counts > offset)
            probs[starts[here] + offset] = self.probs[self.starts[places[here]] + offset]

    def save(self, path: Path) -> None:
        """Write the strategy to a file, for `read_strategy`."""
        tensors = {"keys": self.keys, "starts": self.starts, "probs": self.probs}
        FORMAT.write(path, tensors, game=full_name(self.game))


@kernel
def _infosets(game, views, actions, keys, counts):
    for i in range(len(views)):
        keys[i] = game.infoset(views[i], game.turn(views[i]))
        counts[i] = game.actions(views[i], actions)


def read_strategy(path: Path, game: Game | None = None) -> Strategy:
    """Read a strategy from its file.

    Raises:
        BadInput: The file is missing, damaged, no strategy, or for another game than `game`.
    """
    if path.is_dir():
        raise BadInput(f"{path} is a folder; the strategy is a file in it, strategy.safetensors")
    tensors, about = FORMAT.read(path, game=name_if(game))
    with readable(path, FORMAT.what):
        keys, starts, probs = tensors.values()
        sound = (
            starts[0] == 0
            and starts[-1] == len(probs)
            and (starts[1:] > starts[:-1]).all()
            and (keys[1:] > keys[:-1]).all()
            and (probs >= 0).all()
            and np.allclose(np.add.reduceat(probs, starts[:-1]) if len(keys) else 1, 1)
        )
        if not sound:
            raise ValueError("its probabilities don't sum to 1 at every infoset")
        return Strategy(game or load_stored(about["game"]), keys, starts, probs)


def uniform_strategy(game: Game) -> Strategy:
    """The strategy that plays every legal action with the same probability."""
    return Strategy(game, np.zeros(0, np.uint64), np.zeros(1, np.int64), np.zeros(0))


def normalised(game: Game, keys: np.ndarray, counts: np.ndarray, weights: np.ndarray) -> Strategy:
    """A strategy from weights, one infoset after the other; uniform where all weights of an infoset are zero."""
    order = np.argsort(keys)
    starts = np.concatenate([[0], np.cumsum(counts)])
    probs = [weights[starts[i] : starts[i + 1]] for i in order]
    totals = [part.sum() for part in probs]
    probs = [
        part / total if total > 0 else np.full(len(part), 1 / len(part))
        for part, total in zip(probs, totals, strict=True)
    ]
    new_starts = np.concatenate([[0], np.cumsum(counts[order])]).astype(np.int64)
    return Strategy(
        game, keys[order].astype(np.uint64), new_starts, np.concatenate(probs) if len(probs) else np.zeros(0)
    )


def from_table(game: Game, table: Table) -> Strategy:
    """The average strategy of a sampling search: the cells of an infoset are n regrets, then n weights."""
    slots = table.slots[table.slots["key"] != 0]
    counts = slots["width"].astype(np.int64) // 2
    ends = np.cumsum(counts)
    places = np.repeat(slots["at"].astype(np.int64) + counts - (ends - counts), counts) + np.arange(counts.sum())
    return normalised(game, slots["key"], counts, table.cells[places])


def mean_probs(side: Sequences, probs: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """The behaviour strategy equivalent to drawing one of several strategies and keeping to it for a game.

    At each infoset a strategy counts by the probability that its own moves lead there (Kuhn 1953); all count the same
    where none does.

    Args:
        side: The seat's infosets.
        probs: [strategies, sequences] f8.
        weights: [strategies] f8: the probability that each is drawn, uniform if None.
    """
    plans, mean = np.ones_like(probs), np.ones(probs.shape[1])
    if weights is not None:
        plans *= weights[:, None]
    for infoset, parent in enumerate(side.parent):
        here = slice(side.first[infoset], side.first[infoset + 1])
        reach = plans[:, parent]
        plans[:, here] = reach[:, None] * probs[:, here]
        mean[here] = np.average(probs[:, here], axis=0, weights=reach if reach.any() else None)
    return mean
