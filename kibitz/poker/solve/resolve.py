"""Re-solving of the last two streets while playing: a subgame without card abstraction, instead of the blueprint.

A subgame begins with a street, on its board, with the reaches of both seats. With the gadget (Burch, Johanson and
Bowling 2014) the opponent may refuse the subgame with each of its hands, and take what it can win against the blueprint
there; so the new strategy can't be exploited more than the blueprint is. Where the blueprint is weak, many strategies
are as good as that: the opponent soon refuses with all hands, and what the seat does in the subgame is left to chance.
So it can't refuse always: in a small share of cases it enters with the hands that the blueprint would bring here. That
decides among the safe strategies, and costs at most that share of what it gains against those hands. Without the gadget
the subgame is solved for the reaches as they are: stronger against an opponent who has just these, and unsafe against
others.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.names import BadInput
from ...solve.public_tree.walk import BOTH, DOWN, ORIGIN, UP, Rates
from ...solve.regrets import matched
from .betting_tree import BettingTree, after_subtree, parents, street_roots
from .cards import Cards
from .hands import CardHands, card_hands
from .solver import Tables, first_entries, walker_for
from .strategy import TableStrategy

NOWHERE = np.zeros(0, np.int64)  # no subtrees
FORCED = 0.1  # share of the cases in which the opponent can't refuse, with the hand that is the most likely here
WARM = 0.03  # the regrets to begin with, as a part of what an iteration may add: little, so they are soon forgotten
KEPT = 8  # subgames in memory; one of the turn of hold'em takes 70 MB


@dataclass
class Subgame:
    """`run(n)` does n iterations of linear CFR; each samples the last card where there is one to come.

    Where a card is sampled, the blueprint is the strategy to begin with.
    """

    strategy: TableStrategy  # the blueprint
    root: int  # node of the betting tree with which the street begins
    board: np.ndarray
    reach: np.ndarray  # [2, hands]: of both seats at the root
    safe_for: int | None = None  # the seat that plays the new strategy: the other one gets the gadget
    seed: int = 1
    iterations: int = 0

    def __post_init__(self) -> None:
        cards = self.strategy.buckets.cards
        self.tree, self.street = subtree(self.strategy.tree, self.root), int(self.strategy.tree.street[self.root])
        self._ahead = cards.streets - 1 - self.street  # streets to come
        check_street(self.street, cards)
        rest = np.setdiff1d(np.arange(cards.deck), self.board)
        boards = np.column_stack([np.tile(self.board, (len(rest), 1)), rest]) if self._ahead else self.board[None]
        everyone = len(cards.hands)
        self._counts = (everyone, everyone * len(boards))[: self._ahead + 1]  # each hand on each board is a bucket
        self.boards, self.hands = boards, ranked(self.tree, cards, boards, self._counts)
        first, size = first_entries(self.tree, self._counts)
        self.tables = Tables(first, np.zeros(size, np.float32), np.zeros(size, np.float32))
        self._walker = walker_for(self.tree, first, NOWHERE, len(self.hands[0].cards), cards.deck)
        # a sampled card is one of those that are not on the board; for two known hands it is one of fewer
        self._scale = len(boards) / (len(boards) - 2 * cards.hole) if self._ahead else 1.0
        self._random = np.random.default_rng([self.seed, self.root, *self.board.tolist()])
        self._gadget = np.zeros((2, everyone))  # the opponent's regrets of entering and of refusing, by hand
        if self._ahead or self.safe_for is not None:
            blueprint = self._blueprint_tables()
        if self.safe_for is not None:
            self._refused = self._most_against(1 - self.safe_for, blueprint)
            self._forced = forced(self.reach[1 - self.safe_for])
        if self._ahead:
            self._start_from(blueprint.regrets)

    def most_against_blueprint(self, seat: int) -> np.ndarray:
        """[hands]: what a best response to the blueprint wins with a seat's hands here, times the other's reach."""
        return self._most_against(seat, self._blueprint_tables())

    def most_against_average(self, seat: int) -> np.ndarray:
        """The same against the average strategy so far."""
        return self._most_against(seat, self.tables._replace(regrets=self.tables.sums))

    def _most_against(self, seat: int, tables: Tables) -> np.ndarray:
        """The same against a strategy, given as regrets that are matched to it."""
        if not self._ahead:
            found = np.zeros(self.reach.shape[1])
            found[self.hands[0].buckets[0]] = self._walk(self.hands[0], self.reach, tables, 0.0, seat)[seat]
            return found
        cards = self.strategy.buckets.cards
        free, rates = np.flatnonzero(cards.free(self.board)), Rates.of(np.float32)
        shown = card_hands(self.tree, cards.hands[free], free[None], np.arange(len(free)), self._counts)
        walker = walker_for(self.tree, tables.first, street_roots(self.tree, 1), len(free), cards.deck)
        walker.trunk(DOWN, shown, tables, rates, seat, True, reach=self.reach[:, free])
        arrived, returned = walker.vectors.copy(), np.zeros_like(walker.vectors)
        for hands in self.hands:
            here = np.searchsorted(free, hands.buckets[0])
            for i, start in enumerate(walker.parts.start):
                found = self._walk(hands, arrived[i], tables, 0.0, seat, here, start)
                returned[i][:, here] += found * np.float32(self._scale / len(self.boards))
        walker.vectors[:] = returned
        values = np.zeros(self.reach.shape[1])
        values[free] = walker.trunk(UP, shown, tables, rates, seat, True, reach=self.reach[:, free])[seat]
        return values

    def _blueprint_tables(self) -> Tables:
        """The blueprint's probabilities in the order of the subgame, as regrets that are matched to them."""
        given, everyone = self.strategy, self.reach.shape[1]
        tables = Tables(self.tables.first, np.zeros_like(self.tables.regrets), np.zeros_like(self.tables.sums))
        cards = given.buckets.cards
        for number, board in enumerate(self.boards):
            buckets = [given.buckets.on(board, self.street + i).astype(np.int64) for i in range(self._ahead + 1)]
            free = [cards.free(board[: cards.dealt[self.street + i]]) for i in range(self._ahead + 1)]
            for node in np.flatnonzero(self.tree.choices):
                street, n = int(self.tree.street[node]), int(self.tree.choices[node])
                hand = np.flatnonzero(free[street])
                at = given.first[self.root + node] + buckets[street][hand] * n
                to = tables.first[node] + (hand + (everyone * number if street else 0)) * n
                for place in range(n):
                    tables.regrets[to + place] = given.probs[at + place]
        return tables

    def _start_from(self, given: np.ndarray) -> None:
        """Begin with the blueprint, not with equal probabilities: each last card comes up in a few iterations only."""
        stakes = np.abs(self.tree.payoff).mean()
        self.tables.regrets[:] = given * np.float32(WARM * stakes * self.reach.sum(axis=1).min())
        self.tables.sums[:] = given

    def run(self, iterations: int) -> None:
        """Do some iterations."""
        reach = self.reach.copy()
        for _ in range(iterations):
            self.iterations += 1
            weight = float(self.iterations)
            hands = self.hands[int(self._random.integers(len(self.boards)))]
            if self.safe_for is None:
                self._walk(hands, reach, self.tables, weight)
                continue
            other, enters = 1 - self.safe_for, matched(self._gadget.T)[:, 0]
            reach[other] = self._forced + (1 - self._forced) * enters
            entered = np.zeros(reach.shape[1])
            entered[hands.buckets[0]] = self._walk(hands, reach, self.tables, weight)[other] * self._scale
            value = enters * entered + (1 - enters) * self._refused
            self._gadget += weight * (np.stack([entered, self._refused]) - value)

    def _walk(
        self, hands: CardHands, reach: np.ndarray, tables: Tables, weight: float, best: int | None = None,
        where: np.ndarray | None = None, start: np.ndarray = ORIGIN,
    ) -> np.ndarray:  # fmt: skip
        """Both seats' values of the possible hands, or of `best` those of a best response.

        Their reaches are found at `where`, by default by hand.
        """
        inside, rates = reach[:, hands.buckets[0] if where is None else where], Rates.of(np.float32, weight)
        if best is None:
            return self._walker.walk(hands, tables, rates, BOTH, False, inside, start)
        return self._walker.walk(hands, tables, rates, best, True, inside, start)

    def probs(self, node: int) -> np.ndarray:
        """[hands, actions]: the average strategy at a node of the betting tree on the subgame's first street."""
        n, first = int(self.tree.choices[node - self.root]), self.tables.first[node - self.root]
        sums = self.tables.sums[first : first + self.reach.shape[1] * n].reshape(-1, n)
        return np.asarray(matched(sums.astype(np.float64)))


def forced(reach: np.ndarray) -> np.ndarray:
    """[hands]: how often each hand of the opponent can't refuse the subgame, given its reaches."""
    return FORCED * reach / max(float(reach.max()), 1e-30)


def can_resolve(street: int, cards: Cards) -> bool:
    """Whether a street's subgames can be solved: the last one, and the one before it if a single card follows."""
    left = cards.streets - 1 - street
    return left == 0 or (left == 1 and cards.dealt[-1] - cards.dealt[-2] == 1)


def check_street(street: int, cards: Cards) -> None:
    """Refuse a street that can't be re-solved.

    Raises:
        BadInput: More than one street or card follows.
    """
    if not can_resolve(street, cards):
        raise BadInput(
            f"street {street + 1} of {cards.streets} can't be re-solved: the last one can, and the one before it if a "
            "single card follows"
        )


def subtree(tree: BettingTree, root: int) -> BettingTree:
    """The betting from a node on; its street is number 0."""
    found = BettingTree(*(field[root : after_subtree(tree, root)] for field in tree))
    street, depth = found.street - tree.street[root], found.depth - tree.depth[root]
    return found._replace(street=street, child=found.child - root, depth=depth)


def ranked(tree: BettingTree, cards: Cards, boards: np.ndarray, counts: tuple[int, ...]) -> list[CardHands]:
    """The possible hands of complete boards; each hand is a bucket, on the last street one for each board."""
    found = []
    for number, values in enumerate(cards.values(boards)):
        order = np.argsort(values, kind="stable")
        order = order[np.searchsorted(values[order], 0) :]
        buckets = np.stack([order, number * len(values) + order][: len(counts)])
        found.append(card_hands(tree, cards.hands[order], buckets, values[order], counts))
    return found


class Resolver:
    """Answers for views of one seat: on the last two streets by subgames, before them by the blueprint.

    Subgames are kept, so a street is solved once; on the last street the reaches follow the street before it as it was
    re-solved.
    """

    def __init__(
        self, strategy: TableStrategy, iterations: int, safe: bool = True, streets: int = 2, make: Any = Subgame
    ) -> None:
        self.strategy, self.iterations, self.safe, self.streets, self.make = strategy, iterations, safe, streets, make
        self._parent = parents(strategy.tree)
        self._kept: dict[tuple, Any] = {}

    def probs(self, node: int, board: np.ndarray, seat: int) -> np.ndarray:
        """[hands, actions] at a node, for a seat that plays by subgames."""
        street = int(self.strategy.tree.street[node])
        cards = self.strategy.buckets.cards
        if street < cards.streets - self.streets or not can_resolve(street, cards):
            return self._blueprint(node, board)
        return self.subgame(node, board, seat).probs(node)

    def subgame(self, node: int, board: np.ndarray, seat: int) -> Any:
        """The subgame of a node's street, solved: a `Subgame`, or what else `make` makes."""
        street = int(self.strategy.tree.street[node])
        root = node
        while self._parent[root] >= 0 and self.strategy.tree.street[self._parent[root]] == street:
            root = int(self._parent[root])
        shown = board[: self.strategy.buckets.cards.dealt[street]]
        key = root, seat, tuple(shown.tolist())
        if key not in self._kept:
            reach = self._reach(root, shown, seat)
            self._kept[key] = self.make(self.strategy, root, shown, reach, seat if self.safe else None)
            self._kept[key].run(self.iterations)
            while len(self._kept) > KEPT:
                del self._kept[next(iter(self._kept))]
        return self._kept[key]

    def _blueprint(self, node: int, board: np.ndarray) -> np.ndarray:
        given = self.strategy
        n, street = int(given.tree.choices[node]), int(given.tree.street[node])
        free = given.buckets.cards.free(board[: given.buckets.cards.dealt[street]])
        bucket = np.where(free, given.buckets.on(board, street).astype(np.int64), 0)
        at = given.first[node] + bucket[:, None] * n + np.arange(n)
        return np.asarray(matched(given.probs[at].astype(np.float64)))

    def _reach(self, node: int, board: np.ndarray, seat: int) -> np.ndarray:
        """[2, hands]: the probability of each seat's moves up to a node, by hand."""
        tree, cards = self.strategy.tree, self.strategy.buckets.cards
        reach = np.tile(cards.free(board).astype(np.float32), (2, 1))
        while self._parent[node] >= 0:
            before = int(self._parent[node])
            place = tree.child[before, : tree.choices[before]].tolist().index(node)
            reach[tree.seat[before]] *= self.probs(before, board, seat)[:, place]
            node = before
        return reach
