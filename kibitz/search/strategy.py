"""Strategies: for each infoset, the odds of its actions in the order of the rules. Kept in safetensors files."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import safetensors
import safetensors.numpy

from ..core.files import write_atomically
from ..core.names import BadInput
from ..games import Game, full_name, load
from ..games.game import SCRATCH
from ..jit import kernel
from .infoset_table import Table
from .sequence_form import Side

FORMAT = "kibitz strategy 1"


@dataclass(frozen=True)
class Strategy:
    game: Game
    keys: np.ndarray  # [infosets] u8, ascending
    starts: np.ndarray  # [infosets + 1] i8: the odds of infoset i are odds[starts[i] : starts[i + 1]]
    probs: np.ndarray  # f8

    def at(self, key: int, n: int) -> np.ndarray:
        """The odds of the n actions at an infoset; even where the strategy doesn't know it."""
        i = int(np.searchsorted(self.keys, np.uint64(key)))
        if i < len(self.keys) and self.keys[i] == np.uint64(key) and self.starts[i + 1] - self.starts[i] == n:
            return self.probs[self.starts[i] : self.starts[i + 1]]
        return np.full(n, 1 / n)

    def behaviour(self, side: Side) -> np.ndarray:
        """The odds as one number a sequence of a written-out game; even where the strategy doesn't know an infoset."""
        probs = np.ones(side.sequences)
        self._fill(probs, side.first[:-1], side.keys, np.diff(side.first))
        return probs

    def action_probs(self, views: np.ndarray) -> np.ndarray:
        """The same at many views of the seat to move: [views, most actions], behind the legal ones zeros."""
        keys, counts = np.zeros(len(views), np.uint64), np.zeros(len(views), np.int64)
        probs, actions = np.zeros((len(views), self.game.facts.num_actions)), np.zeros(SCRATCH, np.int64)
        _infosets(self.game, views, actions, keys, counts)
        self._fill(probs.reshape(-1), np.arange(len(views)) * probs.shape[1], keys, counts)
        return probs

    def _fill(self, probs: np.ndarray, starts: np.ndarray, keys: np.ndarray, counts: np.ndarray) -> None:
        """Write the odds of infosets `keys`, each with so many actions, from these places on."""
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
        """Write the file whole or not at all."""
        meta = {"format": FORMAT, "game": json.dumps({"name": full_name(self.game)})}
        tensors = {"keys": self.keys, "starts": self.starts, "odds": self.probs}
        write_atomically(path, safetensors.numpy.save(tensors, meta))


@kernel
def _infosets(game, views, actions, keys, counts):
    for i in range(len(views)):
        keys[i] = game.infoset(views[i], game.turn(views[i]))
        counts[i] = game.actions(views[i], actions)


def read_strategy(path: Path, game: Game | None = None) -> Strategy:
    """A strategy from its file; refused if it isn't one, is damaged, or is for another game than `game`."""
    try:
        with safetensors.safe_open(path, "numpy") as file:  # type: ignore[no-untyped-call]
            meta = file.metadata() or {}
            if meta.get("format") != FORMAT:
                raise BadInput(f"{path} is no strategy of Kibitz (its format is {meta.get('format', 'not given')!r})")
            name = json.loads(meta["game"])["name"]
            keys, starts, probs = (file.get_tensor(key) for key in ("keys", "starts", "odds"))
    except FileNotFoundError:
        raise BadInput(f"no strategy file {str(path)!r}") from None
    except IsADirectoryError:
        raise BadInput(f"{path} is a folder; the strategy is a file in it, strategy.safetensors") from None
    except BadInput:
        raise
    except (safetensors.SafetensorError, OSError, KeyError, ValueError, TypeError) as error:
        raise BadInput(f"{path} can't be read as a strategy, it is damaged or foreign: {error}") from None
    if game is not None and name != full_name(game):
        raise BadInput(f"{path} is a strategy for {name}, not for {full_name(game)}")
    sound = (
        len(starts) == len(keys) + 1
        and starts[0] == 0
        and starts[-1] == len(probs)
        and (np.diff(starts) > 0).all()
        and (keys[1:] > keys[:-1]).all()
        and np.isfinite(probs).all()
        and (probs >= 0).all()
        and np.allclose(np.add.reduceat(probs, starts[:-1]) if len(keys) else 1, 1)
    )
    if not sound:
        raise BadInput(f"{path} is damaged: its odds don't add up")
    return Strategy(game or load(name), keys, starts, probs)


def uniform_strategy(game: Game) -> Strategy:
    return Strategy(game, np.zeros(0, np.uint64), np.zeros(1, np.int64), np.zeros(0))


def normalised(game: Game, keys: np.ndarray, counts: np.ndarray, weights: np.ndarray) -> Strategy:
    """A strategy from weights that lie one infoset after the other; even where all are zero."""
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
    """The average strategy that a sampling search has gathered: cells are n regrets, then n weights."""
    slots = table.slots[table.slots["key"] != 0]
    counts = slots["width"].astype(np.int64) // 2
    ends = np.cumsum(counts)
    places = np.repeat(slots["at"].astype(np.int64) + counts - (ends - counts), counts) + np.arange(counts.sum())
    return normalised(game, slots["key"], counts, table.cells[places])


def mean_probs(side: Side, probs: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """One strategy that plays as a player does who draws one of several and keeps to it: [strategies, sequences].

    At each infoset they count by how likely each comes there by its own moves (Kuhn 1953); alike where none does.
    `weights`: how likely each is drawn, all alike if not given.
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
