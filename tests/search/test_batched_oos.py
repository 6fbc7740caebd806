"""OOS with many simulations in flight: the statistics are those of `oos`, and no simulation is mixed up or lost."""

from typing import NamedTuple

import numpy as np
import pytest

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.games import view_of
from kibitz.jit import helper, kernel
from kibitz.search import batched_oos
from kibitz.search import oos as sequential
from kibitz.search import oos_simulation as oos
from kibitz.search.batched_oos import BatchedOos, new_batch
from kibitz.search.infoset_table import Table, find, new_table
from kibitz.search.oos import Oos
from kibitz.search.policies import policy, softmax
from kibitz.solve.best_response import evaluate
from kibitz.solve.regrets import match
from kibitz.solve.sequence_form import unfold

from .every_way import Scripted, every_way
from .exact import infosets, regrets_and_weights
from .test_oos import decisions, facing_a_raise, plain

AVERAGE = 0.4  # m


def even(encodings):
    return np.zeros((len(encodings), 1), np.float32)


def work(search, batch, evaluate=even):
    """Run a search until its budget is used up; return the number of rows of each batch."""
    rows = []
    while waiting := search.advance(batch, 0):
        batch.logits[:waiting] = evaluate(batch.encodings[:waiting])
        rows.append(waiting)
    return rows


def opening(game, seat=0):
    return view_of(game, games.positions(game)[0], seat)


def cells_of(table):
    """The regrets, then the weights, of each infoset."""
    slots = table.slots[table.slots["key"] != 0]
    return {int(slot["key"]): table.cells[slot["at"] : slot["at"] + slot["width"]].copy() for slot in slots}


def searched(game, simulations, in_flight=20, seed=7, evaluate=even, table=None, **settings):
    search = BatchedOos(game, seed, in_flight, **settings)
    search.table = table or search.table
    search.search(opening(game), 0, simulations)
    work(search, new_batch(game, in_flight), evaluate)
    return search


# ---------------------------------------------------------------- every way that it can go


@pytest.fixture
def laws(monkeypatch):
    """A function from a search, its budget and a view to all possible outcomes: (probability, cells)."""

    def way(search, stored, updating, simulations, view, seat, evaluate=even):
        rules = search.game
        batch = new_batch(rules, len(search.scratch.states))

        def run(chooser):
            def even_odds(rng, n):
                return chooser.choose([1 / n] * n)

            def explored(probs, n, share, rng):
                return chooser.choose(share / n + (1 - share) * probs[:n])

            def kept(probs, keep, n, mass, rng):
                return chooser.choose(probs[:n] * keep[:n] / mass)

            delta = search.settings.targeting
            for module in (oos, batched_oos):
                monkeypatch.setattr(module, "choose", lambda probs, n, rng: chooser.choose(probs[:n]))
            monkeypatch.setattr(oos, "uniform", lambda rng: float(chooser.choose([delta, 1 - delta])))
            monkeypatch.setattr(oos, "below", even_odds)
            monkeypatch.setattr(oos, "explore", explored)
            monkeypatch.setattr(oos, "choose_kept", kept)
            search.begin(1)
            search.table = Table(*(array.copy() for array in stored))
            search.scratch.updating[0], search.scratch.average[0] = updating, AVERAGE
            if isinstance(search, BatchedOos):
                search.search(view, seat, simulations)
            else:
                search.target(view, seat)
            search.game = Scripted(rules, chooser)
            if isinstance(search, BatchedOos):
                work(search, batch, evaluate)
            else:
                search.run(simulations)
            search.game = rules
            return cells_of(search.table)

        return every_way(run)

    for module, name in ((sequential, "simulate"), (batched_oos, "advance")):
        monkeypatch.setattr(module, name, plain(getattr(module, name)))
    monkeypatch.setattr(oos, "DECAY", 1.0)  # m is constant, so that all samples have the same weight
    return way


def expected_change(ways, stored, targeting):
    total, before, expected = 0.0, cells_of(stored), {}
    for probability, cells in ways:
        total += probability
        for key, now in cells.items():
            expected[key] = expected.get(key, 0) + probability * (now - before.get(key, 0))
    assert total == pytest.approx(1, abs=1e-9)
    return {key: change * (1 - targeting + targeting * AVERAGE) for key, change in expected.items()}


def stored_at_random(kept):
    """A table of infosets, key -> number of actions, with regrets some of which are negative."""
    generator, table = np.random.default_rng(3), new_table(64, 256)
    for key, n in kept.items():
        at = find(table, np.uint64(key), 2 * n)
        table.cells[at : at + n] = generator.normal(size=n)
    return table


def matched(stored, mistake, others=lambda key, n: np.full(n, 1 / n)):
    """A strategy: regret matching at stored infosets, another strategy elsewhere."""
    known = cells_of(stored)

    def strategy(key, n):
        if key not in known:
            return others(key, n)
        probs = np.empty(n)
        match(known[key], 0, n, probs)
        return mistake / n + (1 - mistake) * probs

    return strategy


@pytest.mark.parametrize("delta", [0.0, 0.9])
@pytest.mark.parametrize("target", ["pst", "ist"])
def test_on_kuhn_every_expected_update_is_exact(target, delta, laws):
    """With all infosets stored, targeted at some of either seat."""
    game = games.load("kuhn")
    stored = stored_at_random({key: n for key, (_, n) in infosets(game).items()})
    search = BatchedOos(game, 1, 1, delta=delta, target=target)
    for updating in (0, 1):
        regrets, weights = regrets_and_weights(game, matched(stored, 0.01), updating)
        for seat, state in list(decisions(game).values())[::5]:
            ways = laws(search, stored, updating, 1, view_of(game, state, seat), seat)
            found = expected_change(ways, stored, delta)
            assert len(found) == 12
            for key, cells in found.items():
                n = len(cells) // 2
                np.testing.assert_allclose(cells[:n], regrets.get(key, np.zeros(n)), atol=1e-10)
                np.testing.assert_allclose(cells[n:], weights.get(key, np.zeros(n)), atol=1e-10)


@pytest.mark.parametrize(("delta", "network"), [(0.0, False), (0.9, True)])
def test_with_two_in_flight_the_sum_of_both_expected_updates_is_exact(delta, network, laws):
    """Goofspiel with three cards, the first bids stored: both simulations descend before either updates.

    The first updates seat 0 and the second seat 1, each by the strategies of the table as it was. Behind the first
    infoset that is new the network bids: only for seat 1, as the third cards are forced.
    """
    game = games.load("goofspiel:3")
    known, first = decisions(game), games.positions(game)[0]
    first_bids = [int(game.infoset(first, 0))]
    game.play(first, 0)
    first_bids.append(int(game.infoset(first, 1)))
    stored = stored_at_random(dict.fromkeys(first_bids, 3))
    weights_of_network = np.random.default_rng(5).normal(size=(game.facts.encoding, 3)).astype(np.float32)

    def evaluate(encodings):
        return encodings @ weights_of_network if network else even(encodings)

    def second_bid(key, n):
        turn, state = known[key]
        encodings, probs = np.zeros((1, game.facts.encoding), np.float32), np.full(n, 1 / n)
        if turn == 1:
            game.observe(state, 1, encodings[0])
            actions, logits = np.array(games.legal_actions(game, state)), np.zeros(3, np.float32)
            logits[:] = evaluate(encodings)[0]
            softmax(logits, actions, n, probs)
        return probs

    search = BatchedOos(game, 1, 2, delta=delta)
    seat, state = known[next(key for key, (turn, _) in known.items() if turn == 0 and key not in first_bids)]
    found = expected_change(laws(search, stored, 0, 2, view_of(game, state, seat), seat, evaluate), stored, delta)
    exact = [regrets_and_weights(game, matched(stored, 0.01, second_bid), updating) for updating in (0, 1)]
    checked = 0
    for key, cells in found.items():
        owner, n = known[key][0], len(cells) // 2
        if owner == 1 and key not in first_bids:
            continue  # reached only where the other simulation has just stored the one before
        np.testing.assert_allclose(cells[n:], exact[1 - owner][1][key], atol=1e-10)
        if owner == 0 or not network:  # seat 1's second bid is new, so uniform, where the other simulation came first
            np.testing.assert_allclose(cells[:n], exact[owner][0][key], atol=1e-10)
        checked += 1
    assert checked == 2 + sum(turn == 0 for turn, _ in known.values()) - 1


def test_from_an_empty_tree_playouts_in_batches_have_the_distribution_of_those_inside_the_search(laws):
    """All possible results of two simulations of Kuhn poker, each with its probability."""
    game = games.load("kuhn")
    view, found = opening(game), []
    for search in (Oos(game, delta=0.0), BatchedOos(game, in_flight=1, delta=0.0)):
        law = {}
        for probability, cells in laws(search, new_table(64, 256), 0, 2, view, 0):
            left = tuple(sorted((key, *np.round(cells[key], 9).tolist()) for key in cells))
            law[left] = law.get(left, 0) + probability
        found.append(law)
    assert len(found[0]) > 100
    assert found[0].keys() == found[1].keys()
    for left, probability in found[0].items():
        assert probability == pytest.approx(found[1][left])


# ---------------------------------------------------------------- compiled


@policy
class Linear(NamedTuple):
    """The smallest network there is."""

    matrix: np.ndarray  # [encoding, actions] f4
    encoding: np.ndarray  # [encoding] f4
    logits: np.ndarray  # [actions] f4

    def weigh(self, game, state, actions, n, probs):
        game.observe(state, game.turn(state), self.encoding)
        multiply(self.encoding, self.matrix, self.logits)
        softmax(self.logits, actions, n, probs)


@helper
def multiply(encoding, matrix, logits):
    logits[:] = 0
    for i in range(len(encoding)):
        for j in range(len(logits)):
            logits[j] += encoding[i] * matrix[i, j]


@kernel
def multiply_all(encodings, matrix, logits):
    for row in range(len(encodings)):
        multiply(encodings[row], matrix, logits[row])


def random_network(game):
    """A network as a policy for the kernel, and as a function for batches."""
    shape = game.facts.encoding, game.facts.num_actions
    matrix = np.random.default_rng(4).normal(size=shape).astype(np.float32)

    def evaluate(encodings):
        logits = np.zeros((len(encodings), shape[1]), np.float32)
        multiply_all(encodings, matrix, logits)
        return logits

    return Linear(matrix, np.zeros(shape[0], np.float32), np.zeros(shape[1], np.float32)), evaluate


@pytest.mark.parametrize(
    ("name", "linear", "prior"),
    [("leduc", False, 0.0), ("goofspiel:6", True, 0.0), ("liars_dice", False, 0.0), ("leduc", False, 3.0)],
)
def test_with_one_in_flight_it_is_the_sequential_search_to_the_last_bit(name, linear, prior):
    """The same network, compiled into the kernel and in batches of one; the table grows meanwhile."""
    game = games.load(name)
    net, evaluate = random_network(game)
    alone = Oos(game, 5, policy=net, linear=linear, prior_weight=prior)
    search = BatchedOos(game, 5, in_flight=1, linear=linear, prior_weight=prior, policy=net if prior else None)
    batch, asked = new_batch(game, 1), 0
    for simulations in (3000, 1001):
        advice = alone.advise(opening(game), 0, simulations)
        search.search(opening(game), 0, simulations)
        asked += sum(work(search, batch, evaluate))
        assert search.advice(opening(game), simulations, 0.0).policy.tolist() == advice.policy.tolist()
    assert asked > 100
    used = alone.table.used.tolist()
    assert search.table.used.tolist() == used
    assert search.table.slots.tobytes() == alone.table.slots.tobytes()
    assert search.table.cells[: used[1]].tobytes() == alone.table.cells[: used[1]].tobytes()
    assert search.simulations == alone.simulations == 4001


def test_a_prior_without_the_compiled_network_is_refused():
    with pytest.raises(BadInput, match="prior_weight in batches needs the compiled network"):
        BatchedOos(games.load("kuhn"), prior_weight=1.0)


def test_many_in_flight_learn_leduc_as_well_as_one_after_the_other():
    """NashConv after 200,000 simulations, five seeds each; the same infosets are found."""
    game, sequential, batched = games.load("leduc"), [], []
    form = unfold(game)
    for seed in range(5):
        alone = Oos(game, seed, delta=0.0)
        alone.run(200_000)
        search = searched(game, 200_000, 20, seed, delta=0.0)
        assert search.simulations == alone.simulations == 200_000
        assert 285 <= search.table.used[0] <= 288
        assert 285 <= alone.table.used[0] <= 288
        sequential.append(evaluate(form, alone.strategy()).nash_conv)
        batched.append(evaluate(form, search.strategy()).nash_conv)
    assert np.mean(batched) == pytest.approx(np.mean(sequential), rel=0.2)
    assert max(batched) < 1.2


def test_a_growing_tree_stores_one_infoset_per_simulation_as_in_sequence():
    game = games.load("goofspiel:13")
    search = searched(game, 5000)
    assert 4500 < search.table.used[0] <= 5000
    alone = Oos(game, 7)
    alone.advise(opening(game), 0, 5000)
    assert int(search.table.used[0]) == pytest.approx(int(alone.table.used[0]), rel=0.02)


@pytest.mark.parametrize("simulations", [1, 2, 19, 20, 21, 1000])
def test_exactly_the_simulations_asked_for_are_done(simulations):
    """Every other one updates seat 0, and each of those goes through the opening."""
    game = games.load("goofspiel:6")
    search = BatchedOos(game, 1, in_flight=20)
    batch = new_batch(game, 20)
    search.search(opening(game), 0, simulations)
    rows = work(search, batch)
    assert rows[0] == min(simulations, 20)
    assert search.focus.visits.sum() == (simulations + 1) // 2
    assert search.simulations == simulations
    assert search.left[0] == 0
    assert not search.machines["busy"].any()
    before = search.table.cells.copy(), search.rng.copy()
    assert search.advance(batch, 0) == 0
    assert np.array_equal(before[0], search.table.cells)
    assert np.array_equal(before[1], search.rng)
    search.search(opening(game), 0, 30)
    work(search, batch)
    assert search.focus.visits.sum() == 15
    assert search.simulations == simulations + 30


def test_no_machine_idles_while_there_is_something_to_begin():
    game = games.load("goofspiel:6")
    search, batch = BatchedOos(game, 1, in_flight=8), new_batch(game, 8)
    search.search(opening(game), 0, 500)
    while waiting := search.advance(batch, 0):
        assert waiting == search.machines["busy"].sum()
        assert waiting == 8 or search.left[0] == 0


@pytest.mark.parametrize("in_flight", [1, 7, 20])
def test_how_large_the_table_is_to_begin_with_makes_no_difference(in_flight):
    game = games.load("goofspiel:6")
    _, evaluate = random_network(game)
    small, large = (
        searched(game, 3000, in_flight, evaluate=evaluate, table=new_table(slots, cells))
        for slots, cells in ((2, 16), (2**15, 2**18))
    )
    assert len(large.table.slots) == 2**15 > len(small.table.slots) > 1024
    used = small.table.used.tolist()
    assert used == large.table.used.tolist()
    assert small.table.cells[: used[1]].tobytes() == large.table.cells[: used[1]].tobytes()
    assert small.rng.tolist() == large.rng.tolist()


def test_searches_side_by_side_in_one_batch_do_not_disturb_each_other():
    """One of Leduc's opening, one of a later view, with a network that tells all rows apart."""
    game = games.load("leduc")
    _, evaluate = random_network(game)
    views = [(opening(game), 0, 700), (facing_a_raise(game), 1, 900)]
    batch, alone, together = new_batch(game, 12), [], []
    for found in (alone, together):
        for seed, (view, seat, simulations) in enumerate(views):
            found.append(BatchedOos(game, seed, in_flight=6))
            found[-1].search(view, seat, simulations)
    for search in alone:
        work(search, batch, evaluate)
    batch.encodings[:], batch.logits[:] = 0, 0
    while waiting := together[0].advance(batch, 0):
        marked = batch.encodings[:waiting].copy()
        batch.encodings[waiting:] = np.nan
        waiting += together[1].advance(batch, waiting)
        assert np.array_equal(batch.encodings[: len(marked)], marked)
        assert np.isnan(batch.encodings[waiting:]).all()
        batch.logits[:waiting] = evaluate(batch.encodings[:waiting])
    work(together[1], batch, evaluate)
    for one, other in zip(alone, together, strict=True):
        assert one.table.used[0] > 50
        assert one.table.cells.tobytes() == other.table.cells.tobytes()
        assert one.table.slots.tobytes() == other.table.slots.tobytes()
        assert one.rng.tolist() == other.rng.tolist()


def test_begin_forgets_what_was_in_flight():
    game = games.load("leduc")
    search, batch = BatchedOos(game, 3, in_flight=5), new_batch(game, 5)
    search.search(opening(game), 0, 100)
    search.advance(batch, 0)
    assert search.machines["busy"].all()
    search.begin(7)
    assert search.advance(batch, 0) == 0
    search.search(opening(game), 0, 100)
    work(search, batch)
    assert cells_of(search.table).keys() == (fresh := cells_of(searched(game, 100, 5).table)).keys()
    assert all(np.array_equal(cells, fresh[key]) for key, cells in cells_of(search.table).items())
