"""Lower bounds from a sample of flops: unbiased, exactly where that can be enumerated."""

from itertools import permutations

import numpy as np
import pytest

from kibitz.games import load
from kibitz.poker.flop_sample import FlopValues, des_raj, draw_orders, drawn_by, visits
from kibitz.poker.gpu.public_best_response import PublicBestResponse
from kibitz.poker.solve.buckets import lossless
from kibitz.poker.solve.cards import cards_of
from kibitz.poker.solve.first_street import FirstStreet
from kibitz.poker.solve.solver import PublicChanceCfr
from kibitz.poker.solve.strategy import TableStrategy

WEIGHTS = np.array([4, 12, 12, 24])


def chance_of(order, weights):
    """The probability that these are drawn one after the other, in proportion to their weights."""
    left, found = float(weights.sum()), 1.0
    for each in order:
        found *= weights[each] / left
        left -= weights[each]
    return found


def test_classes_are_drawn_in_proportion_to_their_weights():
    drawn = [tuple(draw_orders(WEIGHTS, seed)[half]) for seed in range(3000) for half in (0, 1)]
    for order in permutations(range(4)):
        expected = chance_of(order, WEIGHTS)
        spread = (expected * (1 - expected) / len(drawn)) ** 0.5
        assert drawn.count(order) / len(drawn) == pytest.approx(expected, abs=4.5 * spread)


def test_estimate_and_variance_are_unbiased_over_all_orders():
    values, shares = np.array([3.0, -1.0, 10.0, 4.0]), WEIGHTS / WEIGHTS.sum()
    means, variances, chances = [], [], []
    for order in permutations(range(4), 3):
        each = des_raj(values[list(order)], shares[list(order)])
        means.append(each.mean())
        variances.append(each.var(ddof=1) / 3)
        chances.append(chance_of(order, WEIGHTS))
    mean = np.dot(chances, means)
    assert sum(chances) == pytest.approx(1)
    assert mean == pytest.approx(values.sum())
    assert np.dot(chances, variances) == pytest.approx(np.dot(chances, (np.array(means) - mean) ** 2))


def test_both_halves_are_visited_in_turn_and_each_class_once():
    orders = np.array([[2, 0, 3, 1], [2, 3, 1, 0]])
    assert visits(orders, 4).tolist() == [2, 0, 3]
    assert visits(orders, 8).tolist() == [2, 0, 3, 1]
    assert [drawn_by(orders, np.array(each)) for each in ([], [2], [2, 0], [2, 0, 3], [2, 0, 3, 1])] == [0, 1, 1, 2, 4]


@pytest.fixture(scope="module")
def values():
    """A strategy that is far from equilibrium, in a game of 22 classes of flops."""
    game = load("holdem:flop,ranks=4,suits=2,raises=1,preflop_raises=1")
    solver = PublicChanceCfr(game, lossless(cards_of(game)), threads=1)
    solver.run(30)
    response = PublicBestResponse(TableStrategy(game, solver.tree, solver.buckets, solver.tables.first, solver.probs()))
    flops = np.stack([response.visit(i) for i in range(len(response.flops))])
    street = FirstStreet(solver.tree, response.cards, response.first_street_probs())
    ends = np.array([street.place[node] for node in response.ends.tolist()])
    weights = np.array([len(flop.images) for flop in response.flops])
    response.run()
    found = FlopValues(street, street.known, ends, flops, np.arange(len(flops)), weights, 4.0)  # of 4 cards left, 3
    return found, response.values()


def test_all_flops_in_any_order_are_the_best_response(values):
    found, exact = values
    assert found.best() == pytest.approx(exact, rel=1e-12)
    assert found.split(draw_orders(found.weights, 1)).drawn == len(found.weights)


def test_answers_chosen_on_one_half_are_valued_without_bias_on_the_other(values):
    found, exact = values
    orders = [draw_orders(found.weights, seed) for seed in range(400)]
    errors, bounds, covered = [], [], []
    for one, other in orders:
        answers = found.chosen_on(one[:4])
        true = found.street.value(answers, found._filled(found.flops.sum(axis=0, dtype=float)))
        assert (true <= np.array(exact) + 1e-9).all()  # any answers win no more than the best
        errors.append(found.estimates(answers, other[:4]).mean(axis=0) - true)
        some = visits(np.stack([one, other]), 8)
        part = FlopValues(found.street, found.known, found.ends, found.flops[some], some, found.weights, found.chance)
        split = part.split(np.stack([one, other]))
        bounds.append(split.best)
        covered.append(split.nash_conv.low <= sum(exact))
    errors, bounds = np.array(errors), np.array(bounds)
    assert (abs(errors.mean(axis=0)) < 4 * errors.std(axis=0) / 20).all()
    assert (bounds.mean(axis=0) < np.array(exact)).all()
    assert np.mean(covered) > 0.95  # the lower end is below the truth


def test_few_flops_choose_the_strategys_own_play_and_all_of_them_the_best(values):
    found, _ = values
    own, every = found.street.own_answers(), np.arange(len(found.weights))
    few = [found.chosen_on(draw_orders(found.weights, seed)[0][:4]) for seed in range(20)]
    assert np.mean([np.array_equal(each, own) for each in few]) > 0.5
    assert np.array_equal(found.chosen_on(every), found.best_on(every))
    assert np.array_equal(found.chosen_on(every[:1]), own)  # on one flop nothing can be left out


def test_a_response_that_plays_as_the_strategy_before_the_flop_wins_and_depends_less_on_the_flop(values):
    found, exact = values
    own, every = found.street.own_answers(), np.arange(len(found.weights))
    wins = found.street.value(own, found._filled(found.flops.sum(axis=0, dtype=float)))
    assert 0 < wins.sum() < sum(exact)  # after the flop it is the best response
    assert found.street.value(own, found.known).sum() == pytest.approx(0, abs=1e-12)  # folds: the same on both sides
    assert found._each(own, every).std() < 0.7 * found._each(found.best_on(every), every).std()
