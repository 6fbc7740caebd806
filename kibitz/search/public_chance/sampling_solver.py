"""Public chance sampling as a solver of `kibitz.solve`."""

import math
from typing import Any

from ..sequence_form import SequenceForm, measurable_form
from ..solvers import MEASURABLE
from ..strategy import Strategy
from .betting_tree import BettingTree
from .buckets import Buckets
from .cards import Cards
from .solver import PublicChanceCfr
from .strategy import TableStrategy


def poker_form(game: Any, tree: BettingTree, cards: Cards) -> SequenceForm | None:
    """As `measurable_form`, for poker, where the number of leaves is known without enumerating them."""
    ends = tree.street[tree.choices == 0].tolist()
    if sum(math.perm(cards.deck, 2 * cards.hole + cards.dealt[street]) for street in ends) > 20 * MEASURABLE:
        return None
    return measurable_form(game, MEASURABLE)


class PublicChanceSolver(PublicChanceCfr):
    """Public chance sampling, with the average strategy as the loop below takes it."""

    def __init__(self, game: Any, buckets: Buckets, seed: int) -> None:
        super().__init__(game, buckets, seed)
        self.form = poker_form(game, self.tree, buckets.cards)

    def strategy(self) -> Strategy | TableStrategy:
        """The average strategy: by infoset in a small game, else by bucket."""
        table = TableStrategy(self.game, self.tree, self.buckets, self.tables.first, self.probs())
        return table if self.form is None else table.on(self.form)
