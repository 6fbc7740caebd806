"""Exact best responses in small hold'em, on the public tree: all hands at once at each node, many boards side by side.

A node is what both seats see, so its values are vectors over hands. One walk computes, for each seat and each hand, the
value of a best response against the opponent's range (its possible hands, each weighted by the probability that its
moves lead to the node), and the value of seat 0's own strategy. (Johanson, Waugh, Bowling and Zinkevich 2011.)

A player that draws one of several strategies for each game, as SD-CFR does, is the mixture of these: reach
probabilities are kept for each of them, and what counts at a node is their sum.
"""

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from ..core.names import BadInput
from ..core.pool import Places, spread
from ..core.progress import SILENT, Reporter
from ..core.workers import START
from ..games import CHANCE, OVER, Game, full_name, legal_actions, positions
from ..games.public_cards import masks
from ..play.play import as_game, shared
from ..play.players import label, make_for
from ..solve.best_response import Exploitability
from .rules.ranges import all_hands, deck_of, hand_values, opposing_weight, showdown
from .rules.state import DEALT_BY, HIDDEN, HOLE

MAX_PAIRS = 30_000_000  # of a hand and a complete board; Flop Hold'em with all cards has 29 million
BATCH = 100_000  # such pairs at once

Sums = dict[int, np.ndarray]  # line -> values after the flop, summed over flops


class Boards:
    """Boards with the same number of cards, and the hands that are possible with each."""

    def __init__(self, hands: np.ndarray, boards: np.ndarray) -> None:
        self.hands, self.boards, self.cards = hands, boards, masks(boards)
        self.free = masks(hands) & self.cards[:, None] == 0  # [boards, hands]

    @cached_property
    def ranking(self) -> tuple[np.ndarray, np.ndarray]:
        """The rank of each hand, and the hands in that order."""
        values = np.zeros(self.free.shape, np.int64)
        hand_values(self.hands, masks(self.hands), self.boards, self.cards, values)
        return values, np.argsort(values, axis=1, kind="stable")


class Tree:
    def __init__(self, game: Any, player: Any, after_flop: Callable[[Any, np.ndarray], np.ndarray]) -> None:
        """`after_flop(state, reach)` returns the values, [3, 1, hands], of a node at which the flop is dealt."""
        self.game, self.player, self.after_flop = game, player, after_flop
        self.hands, self.deck = all_hands(game), deck_of(game)[::-1]
        self.by_card = np.zeros(52)
        self.draws = np.asarray(getattr(player, "draw_weights", [1.0]), float)  # probabilities of its strategies

    def values(self) -> np.ndarray:
        """Return [3, hands]: each seat's best-response value with each hand, and the value of seat 0's own strategy."""
        state = positions(self.game)[0]
        for card in self.deck[:HOLE]:
            self.game.play(state, card)
        state.hole[:] = HIDDEN
        here = Boards(self.hands, np.zeros((1, 0), np.int64))
        return self.walk(state, here, np.tile(self.draws[:, None, None], (2, 1, 1, len(self.hands))))[:, 0]

    def walk(self, state: Any, here: Boards, reach: np.ndarray) -> np.ndarray:
        """Return the values of a node, [3, boards, hands].

        Args:
            state: The position as both seats see it.
            here: The boards, and the hands that are possible with each.
            reach: [2, strategies, boards, hands]: the probability that a seat has drawn a strategy and plays to here.
        """
        turn = self.game.turn(state)
        if turn == OVER:
            return self.end(state, here, reach)
        if turn == CHANCE:
            return self.after_flop(state, reach) if state.street == 1 else self.deal(state, here, reach)
        probs = self.probs(state, here, turn, reach[turn])
        total = reach[0].sum(axis=0)
        found = np.zeros((3, *here.free.shape))
        found[turn] = -np.inf
        for place, action in enumerate(legal_actions(self.game, state)):
            after, on = state.copy(), reach.copy()
            self.game.play(after, action)
            on[turn] *= probs[:, place]
            below = self.walk(after, here, on)
            found[turn] = np.maximum(found[turn], below[turn])
            found[1 - turn] += below[1 - turn]
            if turn == 0:  # by the probability of the action in the mixture
                below[2] *= np.divide(on[0].sum(axis=0), total, out=np.zeros_like(total), where=total > 0)
            found[2] += below[2]
        return found

    def end(self, state: Any, here: Boards, reach: np.ndarray) -> np.ndarray:
        found = np.zeros((3, *here.free.shape))
        paid, reach = state.paid.astype(int), reach.sum(axis=1)
        stake = paid.min() / self.game.big_blind
        for seat in range(2):
            if paid[0] != paid[1]:  # somebody folded
                opposing_weight(self.hands, reach[1 - seat], self.by_card, found[seat])
                found[seat] *= stake if paid[seat] > paid[1 - seat] else -stake
            else:
                showdown(self.hands, *here.ranking, reach[1 - seat], self.by_card, found[seat])
                found[seat] *= stake
            found[seat] *= here.free
        found[2] = found[0]
        return found

    def probs(self, state: Any, here: Boards, seat: int, reach: np.ndarray) -> np.ndarray:
        """Return [strategies, actions, boards, hands]: the policies of the seat to move, where they reach the node."""
        strategy, board, hand = np.nonzero(here.free & (reach > 0))
        views = np.zeros(len(board), self.game.state)
        views[:] = state
        views["board"][:, : here.boards.shape[1]] = here.boards[board]
        views["hole"][:, seat] = self.hands[hand]
        n = len(legal_actions(self.game, state))
        drawn = (strategy,) if hasattr(self.player, "drawn") else ()
        probs = np.zeros((len(reach), n, *here.free.shape))
        if len(views):
            probs[strategy, :, board, hand] = self.player.action_probs(views, *drawn)[:, :n]
        return probs

    def deal(self, state: Any, here: Boards, reach: np.ndarray) -> np.ndarray:
        """Sum the values over all cards that may come on each board."""
        found = np.zeros((3, *here.free.shape))
        for b, board in enumerate(here.boards.tolist()):
            for part in parts([(*board, card) for card in self.deck if card not in board], reach[0, :, 0].size):
                found[:, b] += self.dealt(state, part, reach[:, :, b : b + 1])
        return found

    def dealt(self, state: Any, boards: np.ndarray, reach: np.ndarray) -> np.ndarray:
        """Return [3, hands]: the values summed over these boards of the next street, by their probability."""
        known = int(state.dealt) - HOLE
        after = state.copy()
        for card in boards[0, known:]:
            self.game.play(after, int(card))
        here = Boards(self.hands, boards)
        ways = comb(len(self.deck) - HOLE - known, boards.shape[1] - known)
        return self.walk(after, here, reach * here.free).sum(axis=1) / ways


def parts(boards: list[tuple[int, ...]], each: int) -> Iterator[np.ndarray]:
    """Split boards into batches; `each` is the number of hands of a board, by strategy."""
    size = max(1, BATCH // each)
    for start in range(0, len(boards), size):
        yield np.array(boards[start : start + size], np.int64)


def flops_of(game: Any) -> list[tuple[int, ...]]:
    return list(combinations(deck_of(game)[::-1], 3))


def walker(game: Any, player: Any) -> Callable[[tuple[int, int]], Sums]:
    """Return the function from a range of flops to the sums of values over them: the part of each worker process."""
    rules: Any = as_game(game)
    made, flops = make_for(player, rules), flops_of(rules)

    def of(part: tuple[int, int]) -> Sums:
        sums: Sums = {}

        def after_flop(state: Any, reach: np.ndarray) -> np.ndarray:
            found = tree.dealt(state, np.array(flops[slice(*part)], np.int64), reach)
            sums[int(state.line)] = found
            return np.zeros((3, 1, reach.shape[3]))  # unused

        tree = Tree(rules, made, after_flop)
        tree.values()
        return sums

    return of


def boards_of(game: Any) -> int:
    """The number of complete boards, of which the flop is a set and turn and river have an order."""
    cards, dealt = game.ranks * game.suits, int(DEALT_BY[game.streets - 1]) - HOLE
    found = comb(cards, min(dealt, 3))
    for more in range(3, dealt):
        found *= cards - more
    return found


def is_small(game: Any) -> bool:
    """Whether hold'em is small enough to ask a player about every hand on every board."""
    return boards_of(game) * len(all_hands(game)) <= MAX_PAIRS


def evaluate_hands(
    game: Game, player: Any, processes: Places | None = None, report: Reporter = SILENT, alone: float = START
) -> Exploitability:
    """Compute NashConv, in payoffs, of a player of hold'em that has `action_probs`, given by name or as an object."""
    made = make_for(player, game)
    if hasattr(made, "drawn") and not hasattr(made, "draw_weights"):
        raise BadInput(f"{label(player)} has `drawn` without `draw_weights`")
    rules: Any = game
    hands, cards = len(all_hands(rules)), rules.ranks * rules.suits
    dealt = int(DEALT_BY[rules.streets - 1]) - HOLE
    if not is_small(rules):
        raise BadInput(
            f"{full_name(game)} has {boards_of(rules):,} boards for {hands:,} hands, too many for an exact result; "
            "--with lbr gives a lower bound, and so does --flops 100 for a network"
        )
    flops = len(flops_of(rules)) if dealt else 0
    size = max(1, BATCH // (hands * len(getattr(made, "draw_weights", [1.0]))))
    tasks = [(start, min(start + size, flops)) for start in range(0, flops, size)]
    sums: Sums = {}
    given, processes = shared(game, [player], processes)
    with closing(spread(walker, (given, player), tasks, processes, report, alone)) as found:
        for done, part in enumerate(found):
            for line, values in part.items():
                sums[line] = sums.get(line, 0) + values
            report.progress(done + 1, len(tasks))
    made.begin(game, 0, 0)
    tree = Tree(rules, made, lambda state, reach: sums[int(state.line)][:, None])
    pairs = hands * comb(cards - 2, 2)
    best = [float(value) / pairs for value in tree.values().sum(axis=1)]
    return Exploitability(best[0] + best[1], best[2], (best[0], best[1]))
