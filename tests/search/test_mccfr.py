"""Monte Carlo CFR: exact in expectation, convergent, and its tables grow as needed."""

import re

import numpy as np
import pytest

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.search.infoset_table import find, grow, new_table
from kibitz.solve import mccfr
from kibitz.solve.best_response import evaluate
from kibitz.solve.mccfr import SAMPLERS, ExternalSampling, OutcomeSampling
from kibitz.solve.sequence_form import unfold
from kibitz.solve.solvers import METHODS, new_solver

from .every_way import Scripted, every_way
from .exact import infosets, regrets_and_weights

EXPLORATION = 0.6


def plain(kernel):
    return getattr(kernel, "py_func", kernel)


def filled_table(game, seed):
    """A table of all infosets with random regrets, and where the cells of each begin."""
    table, places = new_table(1024, 4096), {}
    regrets = np.random.default_rng(seed)
    for key, (_, n) in infosets(game).items():
        at = find(table, np.uint64(key), 2 * n)
        table.cells[at : at + n] = regrets.normal(size=n)
        places[key] = (at, n)
    return table, places


def matched(cells, at, n):
    probs = np.empty(n)
    mccfr.match(cells, at, n, probs)
    return probs


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("method", ["outcome", "external"])
@pytest.mark.parametrize("name", ["kuhn", pytest.param("goofspiel:3", id="goofspiel")])
def test_the_expected_update_is_the_exact_counterfactual_regret(name, method, seat, monkeypatch):
    game = games.load(name)
    table, places = filled_table(game, seed=seat)
    before = table.cells.copy()
    path = mccfr.new_path(game)
    expected, total = np.zeros_like(before), 0.0

    def run(chooser):
        monkeypatch.setattr(mccfr, "choose", lambda probs, n, rng: chooser.choose(probs[:n]))
        monkeypatch.setattr(mccfr, "below", lambda rng, n: chooser.choose([1 / n] * n))
        monkeypatch.setattr(mccfr, "uniform", lambda rng: float(chooser.choose([EXPLORATION, 1 - EXPLORATION])))
        table.cells[:] = before
        path.cursor[:] = -1, seat
        scripted, root = Scripted(game, chooser), games.positions(game)
        if method == "outcome":
            assert plain(mccfr.sample_outcomes)(scripted, root, table, path, 1, EXPLORATION, None) == 1
        else:
            assert plain(mccfr.sample_external)(scripted, root, table, path, 1, None) == 1
        return table.cells - before

    for probability, change in every_way(run):
        expected += probability * change
        total += probability
    assert total == pytest.approx(1, abs=1e-12)
    regrets, weights = regrets_and_weights(game, lambda key, n: matched(before, *places[key]), seat)
    assert set(regrets) | set(weights) == set(places)
    for key, (at, n) in places.items():
        np.testing.assert_allclose(expected[at : at + n], regrets.get(key, np.zeros(n)), atol=1e-12)
        np.testing.assert_allclose(expected[at + n : at + 2 * n], weights.get(key, np.zeros(n)), atol=1e-12)


# NashConv after 1,000 and 10,000 iterations; ranges include those of OpenSpiel's C++ solvers on the same games.
ANCHORS = [
    ("leduc:distinct_suits=yes", "external", 1_000, 1.9, 3.2),
    ("leduc:distinct_suits=yes", "external", 10_000, 0.42, 0.75),
    ("leduc:distinct_suits=yes", "outcome", 1_000, 3.9, 5.1),
    ("leduc:distinct_suits=yes", "outcome", 10_000, 1.6, 2.7),
    ("leduc", "external", 10_000, 0.22, 0.42),
    ("leduc", "outcome", 10_000, 1.4, 2.2),
    ("kuhn", "external", 10_000, 0.0, 0.06),
    ("kuhn", "outcome", 10_000, 0.0, 0.12),
]


@pytest.mark.parametrize(("name", "method", "iterations", "low", "high"), ANCHORS)
def test_sampling_converges_as_fast_as_published(name, method, iterations, low, high):
    game = games.load(name)
    form = unfold(game)
    reached = []
    for seed in range(3):
        solver = SAMPLERS[method](game, seed)
        solver.run(iterations)
        reached.append(evaluate(form, solver.strategy()).nash_conv)
    assert low <= np.median(reached) <= high, reached


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("method", "iterations", "high"), [("external", 1_000_000, 0.06), ("outcome", 3_000_000, 0.12)]
)
def test_sampling_keeps_converging(method, iterations, high):
    game = games.load("leduc")
    solver = SAMPLERS[method](game, 1)
    solver.run(iterations)
    assert evaluate(unfold(game), solver.strategy()).nash_conv < high


@pytest.mark.parametrize("sampler", SAMPLERS.values())
def test_the_same_seed_gives_the_same_strategy_however_the_run_is_cut(sampler):
    game = games.load("leduc")
    whole, parts, other = sampler(game, 5), sampler(game, 5), sampler(game, 6)
    whole.run(300)
    other.run(300)
    for count in (1, 99, 200):
        parts.run(count)
    assert np.array_equal(whole.strategy().probs, parts.strategy().probs)
    assert not np.array_equal(whole.strategy().probs, other.strategy().probs)


@pytest.mark.parametrize("sampler", SAMPLERS.values())
def test_a_table_that_starts_tiny_gives_the_same_strategy(sampler):
    """Growing, in the middle of a traversal too, loses and repeats nothing."""
    game = games.load("liars_dice:faces=4")
    roomy, tiny = sampler(game, 3), sampler(game, 3)
    roomy.table, tiny.table = new_table(2**14, 2**17), new_table(2, 8)
    for solver in (roomy, tiny):
        solver.run(200)
    assert len(tiny.table.slots) < len(roomy.table.slots)
    assert np.array_equal(roomy.strategy().keys, tiny.strategy().keys)
    assert np.array_equal(roomy.strategy().probs, tiny.strategy().probs)


def test_growing_keeps_every_cell():
    table = new_table(2, 8)
    places = {}
    for key in range(1, 2000):
        while (at := find(table, np.uint64(key), 1 + key % 5)) < 0:
            table = grow(table, 1, 10)
        table.cells[at] = key
        places[key] = at
    assert all(find(table, np.uint64(key), 1 + key % 5) == at and table.cells[at] == key for key, at in places.items())
    assert table.used[0] == len(places)


def test_tables_of_goofspiel_6_stay_small():
    """60 MB is the bound for 10 million games (`heavy`); most infosets are met in the first 100,000."""
    solver = OutcomeSampling(games.load("goofspiel:6"), 1)
    solver.run(50_000)
    assert solver.bytes < 60e6


@pytest.mark.heavy
def test_ten_million_games_of_goofspiel_6_stay_below_60_mb():
    solver = OutcomeSampling(games.load("goofspiel:6"), 1)
    solver.run(5_000_000)
    assert solver.bytes < 60e6
    assert solver.table.used[0] <= 34_482


def test_each_kernel_has_one_signature_per_game():
    game = games.load("kuhn")
    solvers = [OutcomeSampling(game, 1), ExternalSampling(game, 1)]
    for solver in solvers:
        solver.run(10)
    before = [len(getattr(kernel, "signatures", ())) for kernel in (mccfr.sample_outcomes, mccfr.sample_external)]
    for solver in [OutcomeSampling(game, 2), ExternalSampling(game, 2), *solvers]:
        solver.run(1000)
    after = [len(getattr(kernel, "signatures", ())) for kernel in (mccfr.sample_outcomes, mccfr.sample_external)]
    assert before == after


@pytest.mark.parametrize("method", METHODS)
def test_a_solver_refuses_by_the_name_that_people_use(method):
    with pytest.raises(BadInput, match=rf"^{re.escape(method)} needs two seats, and doppelkopf has 4$"):
        new_solver(games.load("doppelkopf"), method)
