"""OOS: every expected update is exact, on target and off it; convergence, advice, bounded memory."""

from typing import NamedTuple

import numpy as np
import pytest

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.games import CHANCE, OVER
from kibitz.search import oos_simulation as oos
from kibitz.search.infoset_table import find, new_table
from kibitz.search.oos import Oos, bytes_per_infoset
from kibitz.search.policies import policy
from kibitz.solve.best_response import evaluate
from kibitz.solve.regrets import match
from kibitz.solve.sequence_form import unfold

from .counting import Counting
from .every_way import Scripted, every_way
from .exact import infosets, regrets_and_weights


def plain(kernel):
    return getattr(kernel, "py_func", kernel)


def decisions(game):
    """A position with its mover, one for each infoset of a small game."""
    met = {}

    def walk(state):
        turn = game.turn(state)
        if turn == OVER:
            return
        if turn != CHANCE:
            met.setdefault(int(game.infoset(state, turn)), (turn, state))
        for action in games.legal_actions(game, state):
            copy = np.array([state], game.state)
            game.play(copy[0], action)
            walk(copy[0])

    walk(games.positions(game)[0])
    return met


def view_of(game, state, seat):
    view = np.zeros(1, game.state)[0]
    game.look(state, seat, view)
    return view


def expected_update(search, table, updating, view, seat, monkeypatch, targeted=None):
    """The mean change of every cell over all that one simulation can do, each by its probability.

    `targeted` is the share of targeted simulations, if another than the search weights them by.
    """
    before = table.cells.copy()
    settings = search.settings
    total, expected = 0.0, np.zeros_like(before)

    def run(chooser):
        share = settings.targeting if targeted is None else targeted
        monkeypatch.setattr(oos, "uniform", lambda rng: float(chooser.choose([share, 1 - share])))
        monkeypatch.setattr(oos, "choose", lambda probs, n, rng: chooser.choose(probs[:n]))
        monkeypatch.setattr(
            oos, "explore", lambda probs, n, share, rng: chooser.choose(share / n + (1 - share) * probs[:n])
        )
        monkeypatch.setattr(
            oos, "choose_kept", lambda probs, keep, n, mass, rng: chooser.choose(probs[:n] * keep[:n] / mass)
        )
        table.cells[:] = before
        search.scratch.updating[0] = updating
        search.scratch.average[0] = average
        done = plain(oos.simulate)(
            Scripted(search.game, chooser), search.root, search.view, table, search.scratch, search.focus, settings,
            search.policy, 1, None,
        )  # fmt: skip
        assert done == 1
        return table.cells - before

    average = 0.4
    search.table = table
    search.target(view, seat)
    settings = search.settings
    for probability, change in every_way(run):
        total += probability
        expected += probability * change
    table.cells[:] = before
    assert total == pytest.approx(1, abs=1e-9)
    return expected * (1 - settings.targeting + settings.targeting * average)


def filled_table(game, seed=1):
    """A table of all infosets with random regrets, and where the cells of each begin."""
    generator = np.random.default_rng(seed)
    table, places = new_table(2048, 8192), {}
    for key, (_, n) in infosets(game).items():
        at = find(table, np.uint64(key), 2 * n)
        table.cells[at : at + n] = generator.normal(size=n)  # some negative, so that some probabilities are 0
        places[key] = (at, n)
    return table, places


def check_exactness(game, target, delta, gamma, targets, monkeypatch, seed=1):
    table, places = filled_table(game, seed)

    def strategy(key, n):
        probs = np.empty(n)
        match(table.cells, places[key][0], n, probs)
        return gamma / n + (1 - gamma) * probs

    for updating in (0, 1):
        regrets, weights = regrets_and_weights(game, strategy, updating)
        for seat, state in targets:
            search = Oos(game, 1, target=target, delta=delta, gamma=gamma)
            found = expected_update(search, table, updating, view_of(game, state, seat), seat, monkeypatch)
            for key, (at, n) in places.items():
                np.testing.assert_allclose(found[at : at + n], regrets.get(key, np.zeros(n)), atol=1e-10)
                np.testing.assert_allclose(found[at + n : at + 2 * n], weights.get(key, np.zeros(n)), atol=1e-10)


@pytest.mark.parametrize("gamma", [0.0, 0.01])
@pytest.mark.parametrize("delta", [0.0, 0.9])
@pytest.mark.parametrize("target", ["pst", "ist"])
def test_on_kuhn_every_expected_update_is_exact_targeted_at_each_infoset(target, delta, gamma, monkeypatch):
    game = games.load("kuhn")
    check_exactness(game, target, delta, gamma, decisions(game).values(), monkeypatch)


def test_where_every_simulation_is_targeted_nothing_off_target_is_learned(monkeypatch):
    """As in the program of ExIt-OOS, which weights samples as if the share 1 - δ were not targeted."""
    game = games.load("kuhn")
    table, places = filled_table(game)
    seat, state = next(each for each in decisions(game).values() if each[0] == 0)
    search = Oos(game, 1, target="ist", delta=0.9, gamma=0.01)
    for targeted in (1.0, 0.9):
        found = expected_update(search, table, 0, view_of(game, state, seat), seat, monkeypatch, targeted=targeted)
        cards = {
            int(each.cards[0])
            for who, each in decisions(game).values()
            if who == 0 and changed(game, each, found, places)
        }
        assert cards == ({int(state.cards[0])} if targeted == 1.0 else {0, 1, 2})


def changed(game, state, found, places):
    """Whether the regrets of seat 1 change at the infoset of a position."""
    at, n = places[int(game.infoset(state, 0))]
    return bool(np.abs(found[at : at + n]).max() > 1e-12)


def test_where_no_action_is_on_target_both_schemes_are_the_same(monkeypatch):
    """An opponent that never makes the moves of the target: with s1 = 0 there the expected updates are wrong."""
    game, aimed = games.load("kuhn"), oos.aimed

    def zero_where_none_is_on_target(game, state, view, settings, scratch, sampling, n, targeted, ratio, rng):
        kept = game.target(state, view, settings.seat, settings.mode, scratch.actions, n, scratch.keep)
        none = kept < n and not (sampling[:n] * scratch.keep[:n]).sum() > 0
        i, ratio, on_way = plain(aimed)(game, state, view, settings, scratch, sampling, n, targeted, ratio, rng)
        return i, 0.0 if none else ratio, on_way

    check_exactness(game, "pst", 0.9, 0.0, decisions(game).values(), monkeypatch)
    monkeypatch.setattr(oos, "aimed", zero_where_none_is_on_target)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        check_exactness(game, "pst", 0.9, 0.0, decisions(game).values(), monkeypatch)


def one_simulation(game, before, linear, monkeypatch):
    """All cells after one simulation that takes the first of all choices and weighs `before`, and the search."""
    seat, state = list(decisions(game).values())[5]
    table = new_table(2048, 8192)
    for key, (_, n) in infosets(game).items():
        find(table, np.uint64(key), 2 * n)
    search = Oos(game, 1, linear=linear)
    monkeypatch.setattr(oos, "uniform", lambda rng: 0.95)
    monkeypatch.setattr(oos, "choose", lambda probs, n, rng: 0)
    monkeypatch.setattr(oos, "explore", lambda probs, n, share, rng: 0)
    search.table = table
    search.target(view_of(game, state, seat), seat)
    search.scratch.weight[0] = before
    plain(oos.simulate)(
        Scripted(game, First()), search.root, search.view, table, search.scratch, search.focus, search.settings,
        search.policy, 1, None,
    )  # fmt: skip
    return table.cells.copy(), search


def test_linear_weighs_the_regrets_and_the_average_of_the_tth_simulation_by_t(monkeypatch):
    game, found = games.load("kuhn"), {}
    for linear, before in ((False, 1.0), (True, 1.0), (True, 7.0)):
        found[linear, before], search = one_simulation(game, before, linear, monkeypatch)
        assert search.scratch.weight[0] == before + linear
        regrets = [found[linear, before][at : at + n] for at, n in cells_of_infosets(search)]
        assert any(each.any() for each in regrets)
    np.testing.assert_array_equal(found[True, 1.0], found[False, 1.0])
    np.testing.assert_allclose(found[True, 7.0], 7 * found[False, 1.0])


def cells_of_infosets(search):
    """Where the cells of each stored infoset begin, and its number of actions."""
    slots = search.table.slots[search.table.slots["key"] != 0]
    return [(int(slot["at"]), int(slot["width"]) // 2) for slot in slots]


def test_linear_is_less_exploitable_than_equal_weights():
    """NashConv in Leduc after 300,000 simulations, four seeds; where only the average is weighted it is higher."""
    equal, linear = (np.mean(nash_convs(games.load("leduc"), 300_000, 4, delta=0.0, linear=x)) for x in (False, True))
    assert linear < equal


# ---------------------------------------------------------------- the playout policy as a prior


@policy
class Lopsided(NamedTuple):
    """The last action three times as often as each other one."""

    def weigh(self, game, state, actions, n, probs):
        for j in range(n):
            probs[j] = (3.0 if j == n - 1 else 1.0) / (n + 2)


def test_the_first_strategy_at_a_new_infoset_is_the_prior_mixed_with_uniform_play():
    """One simulation of Kuhn: its regrets are the prior, and what the outcome adds."""
    game = games.load("kuhn")
    for weight, gamma, first in ((0.0, 0.0, 0.5), (5.0, 0.0, 0.25), (5.0, 0.2, 0.3)):
        search = Oos(game, 1, policy=Lopsided(), prior_weight=weight, gamma=gamma)
        search.run(1)
        [slot] = search.table.slots[search.table.slots["key"] != 0]
        regrets, chosen = search.table.cells[slot["at"] : slot["at"] + 2], int(search.scratch.chosen[0, 0])
        strategy = np.array([first, 1 - first])
        assert search.scratch.chance[0, 0] == pytest.approx(strategy[chosen])
        added = regrets - weight * np.array([0.25, 0.75])
        payoff = (added[chosen] - added[1 - chosen]) * (0.2 + 0.6 * strategy[chosen])
        assert abs(payoff) == pytest.approx(1) or abs(payoff) == pytest.approx(2)


def test_without_a_prior_weight_the_playout_policy_is_no_prior_and_the_stream_stays():
    game, found = games.load("kuhn"), []
    for settings in ({}, {"prior_weight": 0.0}, {"prior_weight": 1.0}):
        search = Oos(game, 3, policy=Lopsided(), **settings)
        search.run(200)
        found.append(search.table.cells.tobytes())
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize(("weight", "first"), [(0.0, 0.5), (5.0, 0.25)])
def test_where_a_view_was_never_visited_the_prior_is_the_advice(weight, first):
    game = games.load("kuhn")
    view, search = games.positions(game)[0], Oos(game, 1, policy=Lopsided(), prior_weight=weight)
    for move in (0, 1, 0):
        game.play(view, move)
    search.target(view, 1)
    assert search.advice(view, 0).policy == pytest.approx([first, 1 - first])


def test_with_a_prior_it_still_converges():
    game = games.load("kuhn")
    search = Oos(game, 1, policy=Lopsided(), prior_weight=1.0)
    search.run(300_000)
    assert evaluate(unfold(game), search.strategy()).nash_conv < 0.05


class First:
    """Takes the first of all choices."""

    def choose(self, probs):
        return 0


def leduc_targets(game, count, seed):
    """Some infosets, half of them with the public card, where private cards can block the target."""
    met = list(decisions(game).values())
    late = [(seat, state) for seat, state in met if state.dealt == 3]
    early = [(seat, state) for seat, state in met if state.dealt == 2]
    generator = np.random.default_rng(seed)
    return [part[generator.integers(len(part))] for part in [late, early] * count][:count]


@pytest.mark.parametrize(("target", "gamma"), [("pst", 0.01), ("ist", 0.0)])
def test_on_leduc_every_expected_update_is_exact(target, gamma, monkeypatch):
    game = games.load("leduc")
    check_exactness(game, target, 0.9, gamma, leduc_targets(game, 2, seed=3), monkeypatch)


SAMPLES = [
    (name, target, delta, gamma, count)
    for name, targets, count in (
        ("leduc", ("pst", "ist"), 3),
        ("goofspiel:3", ("ist",), 8),
        ("liars_dice:faces=3", ("pst", "ist"), 3),
    )
    for target in targets
    for delta in (0.0, 0.9)
    for gamma in (0.0, 0.01)
] + [("leduc:distinct_suits=yes", "pst", 0.9, 0.0, 1), ("leduc:distinct_suits=yes", "ist", 0.9, 0.01, 1)]


@pytest.mark.heavy
@pytest.mark.parametrize(("name", "target", "delta", "gamma", "count"), SAMPLES)
def test_every_expected_update_is_exact_at_a_sample_of_targets(name, target, delta, gamma, count, monkeypatch):
    game = games.load(name)
    if game.name == "leduc":
        targets = leduc_targets(game, count, seed=5)
    else:
        met = list(decisions(game).values())
        targets = [met[i] for i in np.random.default_rng(5).integers(len(met), size=count)]
    check_exactness(game, target, delta, gamma, targets, monkeypatch)


def facing_a_raise(game):
    """Leduc: the second player, who was raised at once."""
    state = games.positions(game)[0]
    for action in (0, 2, 2):
        game.play(state, action)
    return view_of(game, state, 1)


def nash_convs(game, simulations, seeds, **settings):
    form, found = unfold(game), []
    for seed in range(seeds):
        search = Oos(game, seed, **settings)
        if settings.get("delta", 0.9) > 0:
            search.target(facing_a_raise(game), 1)
        search.run(simulations)
        found.append(evaluate(form, search.strategy()).nash_conv)
    return found


def test_untargeted_it_converges_on_leduc():
    """NashConv ≤ 0.5 after 300,000 iterations of two simulations, the median of five seeds."""
    assert np.median(nash_convs(games.load("leduc"), 600_000, 5, delta=0.0)) <= 0.5


@pytest.mark.parametrize("target", ["pst", "ist"])
def test_targeted_it_keeps_improving_outside_its_target(target):
    game = games.load("leduc")
    early, late = nash_convs(game, 60_000, 3, target=target), nash_convs(game, 600_000, 3, target=target)
    assert np.median(late) < 1.5
    assert np.median(late) < 0.7 * np.median(early)


def test_the_moving_average_falls_as_the_game_proceeds():
    game = games.load("goofspiel:6")
    search, state = Oos(game, 1), games.positions(game)[0]
    averages = []
    for action in (2, 1, 4, 5, 0, 2):
        if game.turn(state) == 0:
            search.advise(view_of(game, state, 0), 0, 3000)
            averages.append(float(search.scratch.average[0]))
        game.play(state, action)
    assert 1 >= averages[0] > averages[1] > averages[2] > 0


def test_advice_nears_the_equilibrium_value_and_names_every_action():
    game = games.load("leduc")
    view = facing_a_raise(game)  # with the best card
    search = Oos(game, 3)
    seen = []
    advice = search.advise(view, 1, 200_000, report=Counting(seen))
    assert advice.actions.tolist() == games.legal_actions(game, view)
    assert advice.policy.sum() == pytest.approx(1)
    assert advice.policy[0] < 0.02  # nobody folds a king
    assert advice.value[0] == pytest.approx(-1)
    assert advice.value[1:].min() > 0.5
    assert advice.visits.sum() > 1000
    assert advice.simulations == 200_000 == seen[-1]
    assert len(seen) > 5


def test_an_unvisited_infoset_gets_a_uniform_policy():
    game = games.load("goofspiel:13")
    state = games.positions(game)[0]
    for action in range(12):
        game.play(state, action)
    advice = Oos(game, 1).advise(view_of(game, state, 0), 0, 1)
    assert advice.policy.tolist() == [1 / len(advice.policy)] * len(advice.policy)


def test_the_tree_lives_through_a_game_and_begin_forgets_it():
    game = games.load("leduc")
    view = facing_a_raise(game)
    search = Oos(game, 4)
    first = search.advise(view, 1, 500)
    known = search.table.used[0]
    search.advise(view, 1, 500)
    assert search.table.used[0] > known > 0
    search.begin(4)
    again = search.advise(view, 1, 500)
    assert again.policy.tolist() == first.policy.tolist()
    assert np.array_equal(again.value, first.value, equal_nan=True)


def test_a_time_budget_is_kept():
    game = games.load("leduc")
    search = Oos(game, 1)
    search.run(10)
    advice = search.advise(facing_a_raise(game), 1, seconds=0.2)
    assert advice.simulations > 1000
    assert 0.2 <= advice.seconds < 5


def test_a_stored_infoset_needs_no_more_bytes_than_promised():
    for name in ("leduc", "goofspiel:13", "liars_dice:2"):
        game = games.load(name)
        search = Oos(game, 1, delta=0.0)
        search.run(30_000)
        used = int(search.table.used[0])
        assert search.bytes <= max(used * bytes_per_infoset(game), 100_000)


def test_a_budget_that_would_not_fit_is_refused_before_it_starts():
    game = games.load("goofspiel:13")
    search = Oos(game, 1, memory=1e9)
    with pytest.raises(BadInput, match=r"100,000,000 simulations of goofspiel:cards=13 may need 48\.00 GB of memory"):
        search.advise(view_of(game, games.positions(game)[0], 0), 0, 100_000_000)
    assert search.simulations == 0


def test_an_impossible_target_is_refused():
    with pytest.raises(BadInput, match="target=pst is not possible in goofspiel, it should be ist"):
        Oos(games.load("goofspiel"), target="pst")


@policy
class Highest(__import__("typing").NamedTuple):
    """Always the last of the legal actions."""

    def weigh(self, game, state, actions, n, probs):
        for i in range(n):
            probs[i] = 1.0 if i == n - 1 else 0.0


def test_any_compiled_policy_can_take_the_place_of_uniform_playouts():
    """One simulation stores the opening; its playout, in which both bid high, is a tie and pays 0."""
    game = games.load("goofspiel:4")
    state = games.positions(game)[0]
    search = Oos(game, 1, policy=Highest())
    search.target(view_of(game, state, 0), 0)
    search.run(1)
    assert search.table.used[0] == 1
    advice = Oos(game, 2, policy=Highest()).advise(view_of(game, state, 0), 0, 4000)
    uniform = Oos(game, 2).advise(view_of(game, state, 0), 0, 4000)
    assert not np.array_equal(advice.policy, uniform.policy)
