"""Traversals: their samples are regrets in expectation, exactly; each defect of the thesis does what it says."""

from collections import defaultdict

import numpy as np
import pytest

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.games import CHANCE, OVER
from kibitz.jit import generators
from kibitz.train.deep_cfr import traversal
from kibitz.train.deep_cfr.networks import matched
from kibitz.train.deep_cfr.thesis_defects import Payoff, WholePot
from kibitz.train.deep_cfr.traits import packing_of
from kibitz.train.deep_cfr.traversal import Settings, Traverser

PLAIN = Settings(shared_chance=True, flipped_signs=False, uniform=False)


def made(name, settings=PLAIN, value_rule=None):
    game = games.load(name)
    return Traverser(game, packing_of(game), settings, value_rule)


def network(game, seed):
    """Something fixed that says something else of every view."""
    matrix = np.random.default_rng(seed).normal(size=(game.facts.encoding, game.facts.num_actions)).astype(np.float32)
    return lambda encodings: encodings @ matrix


def run(traverser, seat=0, count=200, asks=(None, None), seed=1, chance=None):
    streams = generators(seed, 2 * count)
    return traverser.run(seat, streams[:count] if chance is None else chance, streams[count:].copy(), asks)


# ---------------------------------------------------------------- against enumeration


def exact_regrets(game, seat, asks):
    """View -> counterfactual regrets, by walking the whole game."""
    found = defaultdict(lambda: np.zeros(game.facts.num_actions))
    packing = packing_of(game)

    def odds_at(state, turn):
        encodings, legal = np.zeros((1, game.facts.encoding), np.float32), np.zeros((1, game.facts.num_actions), bool)
        game.observe(state, turn, encodings[0])
        legal[0, games.legal_actions(game, state)] = True
        states = np.array([state], game.state)
        return matched(asks[turn](encodings), legal)[0], packing.pack(states, turn, encodings).rows.tobytes()

    def value(state, reach):
        """Of a position to the seat; `reach` is how likely chance and the other seat come there."""
        turn = game.turn(state)
        if turn == OVER:
            return game.payoff(state, seat)
        if turn == CHANCE:
            chances = games.chance_outcomes(game, state)
        else:
            probs, view = odds_at(state, turn)
            chances = [(action, probs[action]) for action in games.legal_actions(game, state)]
        values = []
        for action, chance in chances:
            after = state.copy()
            game.play(after, action)
            values.append(value(after, reach if turn == seat else reach * chance))
        mean = sum(chance * each for (_, chance), each in zip(chances, values, strict=True))
        if turn == seat:
            for (action, _), each in zip(chances, values, strict=True):
                found[view][action] += reach * (each - mean)
        return mean

    value(games.positions(game)[0], 1.0)
    return found


@pytest.mark.parametrize("seat", [0, 1])
def test_the_expected_samples_are_the_counterfactual_regrets_exactly(seat):
    """All that can come of a traversal of Kuhn poker is met, and counted by how likely it is, not by how often."""
    traverser = made("kuhn")
    game = traverser.game
    asks = [network(game, 5), network(game, 6)]
    expected, met = defaultdict(lambda: np.zeros(2)), {}
    for number in range(1500):
        found = run(traverser, seat, 1, asks, number)
        nodes, chance, way = traverser.nodes, 1 / 6, []
        for i in range(found.nodes):
            if nodes.n[i] and nodes.turn[i] != seat:
                chosen = int(nodes.states[nodes.first[i]].line) & 1
                chance *= nodes.probs[i, chosen]
                way.append((int(nodes.states[i].line), chosen))
        cards = tuple(nodes.states[0].cards.tolist())
        if (cards, tuple(way)) in met:
            continue
        met[cards, tuple(way)] = chance
        for view, values in zip(found.advantages.views.rows, found.advantages.values, strict=True):
            expected[view.tobytes()] += chance * values.astype(float)
    assert sum(met.values()) == pytest.approx(1, abs=1e-12)
    wanted = exact_regrets(game, seat, asks)
    assert expected.keys() == wanted.keys()
    for view, regrets in wanted.items():
        assert expected[view] == pytest.approx(regrets, abs=1e-6)


def test_strategies_are_those_of_the_other_seat_by_regret_matching():
    traverser = made("leduc")
    asks = [network(traverser.game, 1), network(traverser.game, 2)]
    found = run(traverser, 0, 300, asks)
    encodings = traverser.packing.unpack(found.strategies.views)
    legal = ~np.isnan(found.strategies.values)
    wanted = matched(asks[1](encodings), legal)
    assert found.strategies.values[legal] == pytest.approx(wanted[legal], abs=1e-6)
    assert (legal.sum(axis=1) >= 2).all()


def test_the_expected_advantage_is_zero_and_illegal_actions_have_none():
    traverser = made("leduc")
    asks = [network(traverser.game, 1), network(traverser.game, 2)]
    found = run(traverser, 1, 300, asks)
    encodings, values = traverser.packing.unpack(found.advantages.views), found.advantages.values
    legal = ~np.isnan(values)
    probs = matched(asks[1](encodings), legal)
    assert np.nansum(probs * values, axis=1) == pytest.approx(np.zeros(len(values)), abs=1e-4)
    # Before any raise nobody may fold; after the second nobody may raise.
    assert {tuple(row) for row in legal.tolist()} == {(False, True, True), (True, True, True), (True, True, False)}


def test_where_no_regret_is_positive_the_highest_gets_all_or_all_are_alike():
    game = games.load("kuhn")

    def gloomy(encodings):
        return np.tile(np.array([-2, -1], np.float32), (len(encodings), 1))

    for uniform, wanted in ((False, [0, 1]), (True, [0.5, 0.5])):
        found = run(made("kuhn", PLAIN._replace(uniform=uniform)), 0, 20, [gloomy, gloomy])
        assert (found.strategies.values == wanted).all()
        legal = np.ones((1, 2), bool)
        assert matched(gloomy(np.zeros((1, 1))), legal, "uniform" if uniform else "argmax")[0].tolist() == wanted
    assert matched(np.array([[5.0, -2, -1]]), np.array([[False, True, True]]))[0].tolist() == [0, 0, 1]
    assert (run(made("kuhn"), 0, 20).strategies.values == 0.5).all()  # before anything was learned
    assert game.facts.num_actions == 2


def test_one_part_comes_out_the_same_every_time_and_traversals_differ():
    traverser = made("leduc")
    one, two = run(traverser, 0, 50), run(traverser, 0, 50)
    assert one.nodes == two.nodes
    assert one.advantages.values.tobytes() == two.advantages.values.tobytes()
    assert run(traverser, 0, 50, seed=2).advantages.values.tobytes() != one.advantages.values.tobytes()


def test_branches_get_the_same_cards_with_shared_chance():
    for shared in (True, False):
        traverser = made("leduc", PLAIN._replace(shared_chance=shared))
        for seed in range(20):
            found = run(traverser, 0, 1, seed=seed)
            public = {int(state.public) for state in traverser.nodes.states[: found.nodes] if state.public >= 0}
            if len(public) > 1:
                break
        assert (len(public) > 1) == (not shared)


def test_too_many_positions_at_once_are_refused(monkeypatch):
    monkeypatch.setattr(traversal, "MAX_NODES", 100)
    with pytest.raises(BadInput, match="more than 100 positions at once: use a lower in_flight"):
        run(made("leduc"), 0, 500)


# ---------------------------------------------------------------- defects of the thesis


def test_flipped_signs_are_right_only_where_turns_alternate():
    flipped = PLAIN._replace(flipped_signs=True)
    for name, alternates in (("kuhn", True), ("leduc", False)):
        for seat in range(2):
            good, bad = (run(made(name, settings), seat, 300).advantages.values for settings in (PLAIN, flipped))
            assert good.shape == bad.shape
            assert np.array_equal(good, bad, equal_nan=True) == alternates


def test_the_whole_pot_is_paid_by_who_folds_too():
    game = games.load("holdem:thesis")
    state = games.positions(game)[0]
    while game.turn(state) == CHANCE:
        game.play(state, games.legal_actions(game, state)[0])
    game.play(state, 0)  # the dealer folds his small blind of half a big one
    assert [Payoff().payout(game, state, seat) for seat in range(2)] == [0.5, -0.5]
    assert [WholePot().payout(game, state, seat) for seat in range(2)] == [1.5, -1.5]


def test_one_deal_is_the_same_cards_in_all_traversals():
    traverser = made("leduc")
    for same in (True, False):
        chance = np.repeat(generators(9, 1), 40, axis=0) if same else generators(9, 40)
        run(traverser, 0, 40, chance=chance)
        assert (len(np.unique(traverser.nodes.states["cards"][:40], axis=0)) == 1) == same


def test_steps_count_the_moves_of_both_seats():
    found = run(made("kuhn"), 0, 50)
    assert set(found.advantages.steps.tolist()) == {1, 3}
    assert set(found.strategies.steps.tolist()) == {2}
