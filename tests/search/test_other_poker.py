"""A poker game that is written here: solvers on the public tree take it by its rules and the hook `public_cards`."""

from typing import NamedTuple

import numpy as np
import pytest

from kibitz.core.names import BadInput
from kibitz.games import CHANCE, OVER, game, load
from kibitz.games.public_cards import PublicCards
from kibitz.jit import below, copy_record, helper, record
from kibitz.poker.gpu.cfr_br import CfrBr
from kibitz.poker.gpu.public_best_response import PublicBestResponse
from kibitz.poker.solve.buckets import lossless
from kibitz.poker.solve.cards import cards_of
from kibitz.poker.solve.solver import PublicChanceCfr
from kibitz.poker.solve.strategy import TableStrategy
from kibitz.solve.best_response import evaluate
from kibitz.solve.cfr import Cfr
from kibitz.solve.sequence_form import unfold

SUITS = 2
STATE = record(
    ("line", "u8"),  # the moves so far, two bits each (action + 1)
    ("cards", "i1", (2,)),
    ("public", "i1", (2,)),
    ("dealt", "i1"),
    ("moved", "i1"),  # in this round
    ("bets", "i1"),  # that both seats have paid, or must pay to stay in
    ("to_move", "i1"),
)
CHECK, BET, FOLD = range(3)  # CHECK is also a call


@game(
    "two-public-cards",
    state=STATE,
    num_actions=3,
    max_chance_outcomes=lambda game: game.ranks * SUITS,
    max_game_length=13,
    payoffs=(-4, 4),
    listed=False,
)
class TwoPublicCards(NamedTuple):
    """One card in hand; a card on the board, then another; a bet in each round. The higher sum of ranks wins, where
    cards of the hand's suit count twice.
    """

    ranks: int = 3

    def start(self, state):
        state.line = 0
        state.cards[:] = -1
        state.public[:] = -1
        state.dealt = 0
        state.moved = 0
        state.bets = 1
        state.to_move = CHANCE

    def turn(self, state):
        return int(state.to_move)

    def actions(self, state, out):
        n = 0
        if state.to_move == CHANCE:
            for card in range(self.ranks * SUITS):
                if not ((state.cards == card).any() or (state.public == card).any()):
                    out[n] = card
                    n += 1
            return n
        faces_bet = state.moved > 0 and (int(state.line) & 3) - 1 == BET
        out[0] = CHECK
        out[1] = FOLD if faces_bet else BET
        return 2

    def chance_probs(self, state, actions, n, out):
        out[:n] = 1.0 / n

    def play(self, state, action):
        if state.to_move == CHANCE:
            if state.dealt < 2:
                state.cards[int(state.dealt)] = action
            else:
                state.public[int(state.dealt) - 2] = action
            state.dealt += 1
            state.moved = 0
            state.to_move = CHANCE if state.dealt == 1 else 0
            return
        faces_bet = state.moved > 0 and (int(state.line) & 3) - 1 == BET
        state.line = state.line << np.uint64(2) | np.uint64(action + 1)
        state.moved += 1
        state.bets = int(state.bets) + (action == BET)
        closes = faces_bet or (state.moved == 2 and action == CHECK)
        over = action == FOLD or state.dealt == 4
        state.to_move = (OVER if over else CHANCE) if closes else 1 - int(state.to_move)

    def payoff(self, state, seat):
        if (int(state.line) & 3) - 1 == FOLD:
            loser = (int(state.moved) - 1) & 1
            return float((int(state.bets) - 1) * (-1 if seat == loser else 1))
        mine, other = strength(self, state, seat), strength(self, state, 1 - seat)
        return float(int(state.bets) * ((mine > other) - (mine < other)))

    def infoset(self, state, seat):
        seen = (int(state.cards[seat]) + 1) * 256 + (int(state.public[0]) + 1) * 16 + int(state.public[1]) + 1
        return (state.line << np.uint64(12) | np.uint64(seen)) << np.uint64(1) | np.uint64(seat)

    def look(self, state, seat, out):
        copy_record(out, state)
        out.cards[1 - seat] = -1

    def determinize(self, view, seat, notes, rng, out):
        copy_record(out, view)
        if view.dealt > 1 - seat:
            card = below(rng, self.ranks * SUITS)
            while card == view.cards[seat] or card == view.public[0] or card == view.public[1]:
                card = below(rng, self.ranks * SUITS)
            out.cards[1 - seat] = card
        return True

    def public_cards(self):
        return TheirCards(self)


@helper
def strength(game, state, seat):
    mine = int(state.cards[seat])
    total = mine // SUITS + 1
    for i in range(2):
        card = int(state.public[i])
        total += (card // SUITS + 1) * (2 if card % SUITS == mine % SUITS else 1)
    return total


class TheirCards(PublicCards):
    hole, suits, dealt = 1, SUITS, (0, 1, 2)

    def __init__(self, game):
        self.game, self.ranks = game, game.ranks
        super().__init__()

    def values(self, boards):
        hands, boards = self.hands[:, 0], boards[:, None]  # [hands], [boards, 1, cards]
        same = boards % SUITS == hands[:, None] % SUITS
        found = hands // SUITS + 1 + ((boards // SUITS + 1) * (1 + same)).sum(axis=2)
        return np.where((boards == hands[:, None]).any(axis=2), -1, found)

    def read(self, views, seats):
        hand = views["cards"][np.arange(len(views)), seats].astype(np.int64)
        return hand, np.maximum(views["public"], 0).astype(np.int64)

    def write(self, views, seat, hands):
        views["cards"][:, seat] = hands

    def stake(self, state):
        return float(state.bets)

    def two_deals(self):
        low, high, *board = 0, self.deck - 1, 2, 3
        return [[low, high, *board], [high, low, *board]]


@pytest.fixture(scope="module")
def form():
    return unfold(TwoPublicCards())


@pytest.fixture(scope="module")
def solved(form):
    """By public chance sampling: the solver and its average strategy."""
    solver = PublicChanceCfr(form.game, lossless(cards_of(form.game)), threads=1)
    solver.run(2000)
    return solver, TableStrategy(form.game, solver.tree, solver.buckets, solver.tables.first, solver.probs())


def test_public_chance_sampling_finds_the_value_of_the_game(form, solved):
    exact = Cfr(form.game, "cfr+", form)
    exact.run(300)
    wanted, found = evaluate(form, exact.strategy()), evaluate(form, solved[1].on(form))
    assert wanted.nash_conv < 0.02
    assert found.nash_conv < 0.1
    assert found.value == pytest.approx(wanted.value, abs=0.05)


def test_best_responses_on_the_public_tree_are_those_on_the_sequence_form(form, solved):
    response = PublicBestResponse(solved[1])
    response.run()
    assert response.values() == pytest.approx(evaluate(form, solved[1].on(form)).best, abs=1e-5)


def test_cfr_br_learns_it(form, solved):
    solver = CfrBr(form.game, solved[0].buckets, boards=2)
    solver.run(150)
    table = TableStrategy(form.game, solver.tree, solver.buckets, solver.first, solver.probs())
    assert evaluate(form, table.on(form)).nash_conv < 0.4


def test_a_game_without_public_cards_is_refused():
    with pytest.raises(BadInput, match="kuhn isn't poker with a public betting tree: only holdem and leduc are"):
        cards_of(load("kuhn"))
