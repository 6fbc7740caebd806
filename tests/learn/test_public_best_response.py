"""Best responses on the public tree: equal to other exact ones, on every kind of board and betting."""

import numpy as np
import pytest

import kibitz
from kibitz.arena.holdem_best_response import evaluate_hands
from kibitz.core.names import BadInput
from kibitz.games import load
from kibitz.learn import public_streets
from kibitz.learn.public_best_response import PublicBestResponse, next_boards
from kibitz.learn.public_tree_cfr import PublicTreeCfr
from kibitz.search.public_chance.buckets import lossless
from kibitz.search.public_chance.cards import cards_of
from kibitz.search.public_chance.solver import PublicChanceCfr
from kibitz.search.public_chance.strategy import TableStrategy


def solved(name, iterations=20):
    game = load(name)
    solver = PublicChanceCfr(game, lossless(cards_of(game)), threads=1)
    solver.run(iterations)
    return TableStrategy(game, solver.tree, solver.buckets, solver.tables.first, solver.probs())


def test_leduc_as_by_the_sequence_form():
    strategy = solved("leduc")
    response = PublicBestResponse(strategy)
    response.run()
    assert response.nash_conv() == pytest.approx(kibitz.exploit(strategy.game, strategy).nash_conv, rel=1e-5)


@pytest.mark.parametrize(
    "name",
    [
        "holdem:flop,ranks=4,suits=2",
        "holdem:streets=3,ranks=4,suits=2,stack=40",  # all in before the flop: no bets on two streets
        "holdem:streets=1,ranks=3,suits=2",
    ],
)
def test_small_hold_em_as_by_all_hands_and_boards(name):
    strategy = solved(name)
    response = PublicBestResponse(strategy)
    response.run(5)  # in two parts
    response.run()
    assert response.nash_conv() == pytest.approx(evaluate_hands(strategy.game, strategy, 1).nash_conv, rel=1e-5)


def test_ends_settled_one_by_one_or_at_once(monkeypatch):
    strategy, found = solved("holdem:streets=3,ranks=4,suits=2", 5), []
    for few in (0, 1000):
        monkeypatch.setattr(public_streets, "FEW", few)
        response = PublicBestResponse(strategy)
        response.run()
        found.append(response.values())
    assert found[0] == pytest.approx(found[1], rel=1e-5)


def test_boards_up_to_suits_stand_for_all_boards():
    cards = cards_of(load("holdem"))
    flops = next_boards(cards, np.zeros(0, np.int64), tuple(range(24)), 3)
    assert len(flops) == 1755  # as published
    assert sum(len(flop.images) for flop in flops) == 22100
    turns = [turn for flop in flops for turn in next_boards(cards, flop.board, flop.orders, 1)]
    assert len(turns) == 63193  # of a flop and a card after it, as published
    assert (
        sum(len(turn.images) for flop in flops[:50] for turn in next_boards(cards, flop.board, flop.orders, 1)) == 2450
    )


def test_discounted_cfr_on_all_boards_converges_to_the_value_of_leduc():
    game = load("leduc")
    solver = PublicTreeCfr(game, lossless(cards_of(game)))
    solver.run(150)
    response = PublicBestResponse(TableStrategy(game, solver.tree, solver.buckets, solver.first, solver.probs()))
    response.run()
    first, second = response.values()
    assert first + second < 0.12
    assert -second < -0.0856 < first  # the known value of the game to the first seat


def test_all_boards_of_a_long_game_are_refused():
    game = load("holdem:streets=3,ranks=4,suits=2")
    with pytest.raises(BadInput, match="3 streets"):
        PublicTreeCfr(game, lossless(cards_of(game)))
