"""A strategy as a table over betting tree, bucket and action: what a solver on the public tree finds."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...core.names import BadInput
from ...games import full_name
from ...search.strategy import Strategy
from ...solve.regrets import matched
from ...solve.sequence_form import SequenceForm, of_sequences
from .betting_tree import BettingTree
from .buckets import Buckets


@dataclass(frozen=True)
class TableStrategy:
    """A behaviour strategy of both seats of a poker game."""

    game: Any
    tree: BettingTree
    buckets: Buckets
    first: np.ndarray  # [nodes]: bucket b of a node with n actions begins at first + b * n
    probs: np.ndarray  # probabilities, or numbers in proportion to them

    @cached_property
    def _nodes(self) -> tuple[np.ndarray, np.ndarray]:
        """Decisions by their lines: the lines, ascending, and their nodes."""
        nodes = np.flatnonzero(self.tree.choices)
        order = np.argsort(self.tree.line[nodes])
        return self.tree.line[nodes][order], nodes[order]

    def places(self, views: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of views of the mover: their nodes, and the number of their first entry in the table."""
        lines, nodes = self._nodes
        node = nodes[np.searchsorted(lines, views["line"])]
        cards, seats, streets = self.buckets.cards, self.tree.seat[node].astype(np.int64), self.tree.street[node]
        hand, board = cards.read(views, seats)
        bucket = np.zeros(len(views), np.int64)
        for street in np.unique(streets):
            here = np.flatnonzero(streets == street)
            keys, order = cards.canonical(board[here, : cards.dealt[street]])
            rows = np.searchsorted(self.buckets.keys[street], keys) if cards.dealt[street] else np.zeros(len(here), int)
            table = self.buckets.tables[street]
            found = table[np.minimum(rows, len(table) - 1), cards.hand_orders[order, hand[here]]].astype(np.int64)
            if (found < 0).any() or (found >= self.buckets.counts[street]).any():
                raise BadInput(f"the card abstraction of {full_name(self.game)} is damaged on street {street + 1}")
            bucket[here] = found
        return node, self.first[node] + bucket * self.tree.choices[node]

    def action_probs(self, views: np.ndarray) -> np.ndarray:
        """Probabilities at views of the mover: [views, num_actions] f8, the legal actions in order, then zeros."""
        node, at = self.places(views)
        counts = self.tree.choices[node]
        found = np.zeros((len(views), self.tree.most))
        for place in range(self.tree.most):
            here = counts > place
            found[here, place] = self.probs[at[here] + place]
        return np.asarray(matched(found, (np.arange(self.tree.most) < counts[:, None]) / counts[:, None]))

    def on(self, form: SequenceForm) -> Strategy:
        """The same strategy by infoset, of a game that is small enough to enumerate."""
        counts = [np.diff(side.first) for side in form.sides]
        probs = [self.action_probs(views) for views in form.views]
        weights = [each[np.arange(self.tree.most) < n[:, None]] for each, n in zip(probs, counts, strict=True)]
        return of_sequences(form, [np.append(1.0, each) for each in weights])
