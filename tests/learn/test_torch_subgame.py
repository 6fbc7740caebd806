"""Subgames in torch equal those on a core where nothing is sampled, and else come to the same."""

import numpy as np
import pytest
import torch

from kibitz.core.names import BadInput
from kibitz.games import load
from kibitz.poker.gpu.torch_subgame import TorchSubgame
from kibitz.poker.solve.buckets import lossless
from kibitz.poker.solve.cards import cards_of
from kibitz.poker.solve.resolve import Resolver, Subgame
from kibitz.poker.solve.solver import PublicChanceCfr
from kibitz.poker.solve.strategy import TableStrategy

from ..search.test_resolve import BOARD, GAME, street_begins

SYMMETRIC = np.array([0, 1, 2])  # a card of each of three suits, of one rank


def solved(name):
    game = load(name)
    solver = PublicChanceCfr(game, lossless(cards_of(game)), threads=1)
    solver.run(300)
    return TableStrategy(game, solver.tree, solver.buckets, solver.tables.first, solver.probs())


@pytest.fixture(scope="module")
def blueprint():
    return solved(GAME)


@pytest.fixture(scope="module")
def three_suits():
    return solved("holdem:streets=3,ranks=3,suits=3")


@pytest.mark.parametrize("seat", [None, 0, 1])
def test_on_the_last_street_it_is_the_same_step_by_step(blueprint, seat):
    root = street_begins(blueprint.tree, 2)[3]
    reach = Resolver(blueprint, 1)._reach(root, BOARD, 0)
    one, two = Subgame(blueprint, root, BOARD, reach, seat), TorchSubgame(blueprint, root, BOARD, reach, seat, "cpu")
    if seat is not None:
        assert two.refused.numpy() == pytest.approx(one._refused[two.hands], rel=1e-4, abs=1e-4)
    one.run(60)
    two.run(60)
    free = blueprint.buckets.cards.free(BOARD)
    for node in (root, int(blueprint.tree.child[root, 0])):
        assert two.probs(node)[free] == pytest.approx(one.probs(node)[free], abs=2e-3)
        assert two.probs(node).sum(axis=1) == pytest.approx(1, abs=1e-12)  # else an action can't be drawn


@pytest.mark.parametrize(("given", "board"), [("blueprint", BOARD[:3]), ("three_suits", SYMMETRIC)])
@pytest.mark.parametrize("seat", [0, 1])
def test_before_the_last_card_it_comes_to_the_same(given, board, seat, request):
    """The limits of the gadget are the same; and so is the value of the subgame without it, as it converges."""
    table = request.getfixturevalue(given)
    root = street_begins(table.tree, 1)[0]
    reach = Resolver(table, 1)._reach(root, board, 0)
    safe = TorchSubgame(table, root, board, reach, seat, "cpu")
    assert len(safe.levels.orders[0]) == (1 if given == "blueprint" else 6)
    wanted = Subgame(table, root, board, reach, seat)._refused
    assert safe.refused.numpy() == pytest.approx(wanted[safe.hands], rel=1e-4, abs=1e-4)
    one, two = Subgame(table, root, board, reach), TorchSubgame(table, root, board, reach, None, "cpu")
    mine, own = reach[seat], torch.from_numpy(reach[seat][two.hands])
    sampled = visited = weights = 0.0
    for weight in map(float, range(1, 4001)):
        hands = one.hands[int(one._random.integers(len(one.boards)))]
        values = one._walk(hands, reach.copy(), one.tables, weight)[seat]
        sampled += weight * one._scale * float(values @ mine[hands.buckets[0]])
        weights += weight
    for weight in map(float, range(1, 201)):
        values = two._walk(two.root, two._down(two.reach), two.lower, weight, weight)[seat]
        visited += weight * float(two._up(values) @ own)
    size = reach.sum(axis=1).prod()
    assert visited / (200 * 201 / 2) / size == pytest.approx(sampled / weights / size, abs=0.03)


@pytest.mark.parametrize("seat", [0, 1])
def test_before_the_last_card_both_are_as_good(blueprint, seat):
    """By exact best responses: no hand gains, and the opponent's range wins the same against both."""
    root, board = street_begins(blueprint.tree, 1)[0], BOARD[:3]
    reach = Resolver(blueprint, 1)._reach(root, board, 0)
    size = reach.sum(axis=1).prod()
    sampling = Subgame(blueprint, root, board, reach, seat)
    limits = sampling.most_against_blueprint(1 - seat)
    visiting = TorchSubgame(blueprint, root, board, reach, seat, "cpu")
    sampling.run(3000)
    visiting.run(100)
    found = [subgame.most_against_average(1 - seat) for subgame in (sampling, visiting)]
    for most in found:
        assert (most - limits).max() < 0.03 * np.abs(limits).max()
    against_range = [most @ reach[1 - seat] / size for most in found]  # in big blinds
    assert against_range[1] == pytest.approx(against_range[0], abs=0.03)
    assert max(against_range) < limits @ reach[1 - seat] / size - 0.2


def test_with_the_gadget_no_hand_gains_over_the_blueprint(blueprint):
    root = street_begins(blueprint.tree, 1)[0]
    reach = Resolver(blueprint, 1)._reach(root, BOARD[:3], 0)
    safe = TorchSubgame(blueprint, root, BOARD[:3], reach, 1, "cpu")
    safe.run(400)
    won = torch.zeros(len(safe.hands))
    reached = safe.reach.clone()
    reached[0] = 1.0
    for _ in range(400):  # what all hands of the opponent win while they learn on
        won += safe._up(safe._walk(safe.root, safe._down(reached), safe.lower, 0.0, 0.0)[0]) / 400
        safe.run(1)
    scale = float(safe.refused.abs().max())
    assert float((won - safe.refused).max()) < 0.05 * scale


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("seat", [None, 0])
@pytest.mark.parametrize("shown", [3, 4])
def test_replayed_on_a_gpu_it_does_the_same(blueprint, shown, seat):
    """On the last street hand by hand. Before it, a rounding error decides between actions that are equally good, and
    moves the values of single hands by some percent, but not what the range wins."""
    root, board = street_begins(blueprint.tree, shown - 2)[0], BOARD[:shown]
    reach = Resolver(blueprint, 1)._reach(root, board, 0)
    one, two = (TorchSubgame(blueprint, root, board, reach, seat, device) for device in ("cpu", "cuda"))
    for subgame in (one, two):
        subgame.run(60)
    wanted, found = one.most_against_average(1), two.most_against_average(1)
    assert found == pytest.approx(wanted, abs=(0.1 if shown == 3 else 0.001) * np.abs(wanted).max())
    assert (found - wanted) @ reach[1] / reach.sum(axis=1).prod() == pytest.approx(0, abs=0.01)  # in big blinds


def test_early_streets_are_refused(blueprint):
    with pytest.raises(BadInput, match="street 1 of 3 can't be re-solved"):
        TorchSubgame(blueprint, 0, BOARD[:0], np.ones((2, 28), np.float32), None, "cpu")
