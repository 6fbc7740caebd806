"""Best responses on the first street of a poker game, given what the boards after it are worth; all in float64.

The first street ends at its *ends*: folds, showdowns, and nodes at which cards are dealt. There a best response has a
value for each hand, summed over the other seat's hands by their reach. A response's value is linear in these, so the
answers to some boards can be valued on others.
"""

import numpy as np

from ...core.process_settings import one_blas_thread
from ...solve.regrets import matched
from .betting_tree import FOLD, SHOWDOWN, BettingTree
from .cards import Cards
from .strategy import TableStrategy


def first_street_probs(strategy: TableStrategy) -> np.ndarray:
    """[decisions, hands, most] f8: the strategy at the decisions of the first street, in the order of the tree."""
    tree, found = strategy.tree, []
    bucket = strategy.buckets.tables[0][0].astype(np.int64)
    for node in decisions_of(tree):
        n = int(tree.choices[node])
        probs = matched(strategy.probs[strategy.first[node] + bucket[:, None] * n + np.arange(n)].astype(float))
        found.append(np.pad(probs, ((0, 0), (0, tree.most - n))))
    return np.stack(found)


def decisions_of(tree: BettingTree) -> np.ndarray:
    """The decisions of the first street."""
    return np.flatnonzero((tree.street == 0) & (tree.choices > 0))


class FirstStreet:
    """The first street, with the strategy that is responded to."""

    @one_blas_thread()
    def __init__(self, tree: BettingTree, cards: Cards, probs: np.ndarray) -> None:
        self.tree, self.cards = tree, cards
        self.ends: list[int] = []  # nodes of the tree
        self.probs = dict(zip(decisions_of(tree).tolist(), probs, strict=True))
        self.reaches: list[np.ndarray] = []  # of each end: [seats, hands]
        every = np.ones(len(cards.hands))

        def visit(node: int, reach: tuple[np.ndarray, np.ndarray]) -> None:
            if node not in self.probs:
                self.ends.append(node)
                self.reaches.append(np.stack(reach))
                return
            for place, child in enumerate(tree.child[node, : tree.choices[node]].tolist()):
                after = reach[tree.seat[node]] * self.probs[node][:, place]
                visit(child, (after, reach[1]) if tree.seat[node] == 0 else (reach[0], after))

        visit(0, (every, every))
        self.place = {node: i for i, node in enumerate(self.ends)}
        meets = (cards.held[:, None] & cards.held == 0).astype(float)
        self.pairs = float(meets.sum())  # of hands that the two seats may hold
        # [seats, ends, hands]: values at folds and showdowns; 0 where cards are dealt, which others fill in.
        self.known = np.zeros((2, len(self.ends), len(cards.hands)))
        ranks = cards.values(np.zeros((1, 0), np.int64))[0] if cards.streets == 1 else np.zeros(len(cards.hands))
        for i, (node, reach) in enumerate(zip(self.ends, self.reaches, strict=True)):
            if tree.street[node] == 0:
                wins = meets if tree.seat[node] == FOLD else meets * np.sign(ranks[:, None] - ranks)
                sign = -1 if tree.seat[node] == FOLD else 1
                assert tree.seat[node] in (FOLD, SHOWDOWN)
                self.known[0, i] = wins @ reach[1] * tree.payoff[node]
                self.known[1, i] = wins @ reach[0] * tree.payoff[node] * sign

    def answers(self, values: np.ndarray) -> np.ndarray:
        """[seats, ends, hands]: 1 where a best response to values [seats, ends, hands] lets the hand reach the end.

        That is by its own actions, whatever the other seat does.
        """
        found = np.zeros_like(values)
        for seat in (0, 1):
            best: dict[int, np.ndarray] = {}

            def value(node: int, seat: int = seat, best: dict[int, np.ndarray] = best) -> np.ndarray:
                if node in self.place:
                    return values[seat, self.place[node]]
                each = np.stack([value(child) for child in self._children(node)])
                if self.tree.seat[node] != seat:
                    return each.sum(axis=0)
                best[node] = each.argmax(axis=0)
                return each.max(axis=0)

            def mark(node: int, own: np.ndarray, seat: int = seat, best: dict[int, np.ndarray] = best) -> None:
                if node in self.place:
                    found[seat, self.place[node]] = own
                    return
                for i, child in enumerate(self._children(node)):
                    mark(child, own * (best[node] == i) if node in best else own)

            value(0)
            mark(0, np.ones(values.shape[2]))
        return found

    def own_answers(self) -> np.ndarray:
        """[seats, ends, hands]: the answers of the strategy itself, as probabilities."""
        return np.stack(self.reaches, axis=1)

    def value(self, answers: np.ndarray, values: np.ndarray) -> np.ndarray:
        """[seats]: what these answers win per game."""
        return np.einsum("seh,seh->s", answers, values) / self.pairs

    def _children(self, node: int) -> list[int]:
        return self.tree.child[node, : self.tree.choices[node]].tolist()
