"""Best responses on the public tree: equal to other exact ones, on every kind of board and betting."""

import numpy as np
import pytest

import kibitz
from kibitz.core.names import BadInput
from kibitz.games import load
from kibitz.poker.best_response import evaluate_hands
from kibitz.poker.gpu import public_streets
from kibitz.poker.gpu.public_best_response import PublicBestResponse, next_boards
from kibitz.poker.gpu.public_tree_cfr import PublicTreeCfr
from kibitz.poker.solve.buckets import lossless
from kibitz.poker.solve.cards import cards_of
from kibitz.poker.solve.solver import PublicChanceCfr
from kibitz.poker.solve.strategy import TableStrategy


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


@pytest.mark.parametrize(
    "name",
    [
        "leduc",
        "leduc:ranks=4,distinct_suits=yes",
        "holdem:flop,ranks=3,suits=3",
        "holdem:flop,ranks=4,suits=2,stack=20",
    ],
)
def test_all_boards_at_once_as_board_by_board(name):
    game = load(name)
    solver = PublicTreeCfr(game, lossless(cards_of(game)))
    solver.run(7)
    response = PublicBestResponse(TableStrategy(game, solver.tree, solver.buckets, solver.first, solver.probs()))
    response.run()
    assert solver.best_responses() == pytest.approx(response.values(), abs=1e-5)


def test_the_value_of_all_boards_is_the_mean_over_iterations():
    game = load("leduc")
    solver = PublicTreeCfr(game, lossless(cards_of(game)))
    values, weights = [], np.arange(1, 8) ** 2.0
    for _ in weights:
        before = float(solver.total)
        solver.run(1)
        t = solver.iterations
        values.append((float(solver.total) / (t / (t + 1)) ** 2 - before) / solver.levels.pairs)
    assert solver.value() == pytest.approx(np.average(values, weights=weights), rel=1e-9)
    assert values[0] == pytest.approx(-0.078125)  # of two players who choose at random


def test_all_boards_of_a_long_game_are_refused():
    game = load("holdem:streets=3,ranks=4,suits=2")
    with pytest.raises(BadInput, match="3 streets"):
        PublicTreeCfr(game, lossless(cards_of(game)))


def test_small_numbers_are_not_lost_in_large_sums():
    game = load("holdem:flop,ranks=4,suits=2")
    fresh, late = (PublicTreeCfr(game, lossless(cards_of(game))) for _ in range(2))
    large = 2.0**24  # from which on single precision knows even numbers only; a hand adds less than 1
    late.sums.fill_(large)
    for solver in (fresh, late):
        solver.step(solver.levels.lower, 1.0)
    first = fresh.root.nodes[0].table  # before the flop, where the hands of all boards are added up
    assert fresh.sums[first].min() > 3
    assert (late.sums[first] - large).numpy() == pytest.approx(fresh.sums[first].numpy(), abs=2)
