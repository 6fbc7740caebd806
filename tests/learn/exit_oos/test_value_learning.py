"""The value network of ExIt-OOS: what it learns from, that it learns it, and that a run with it resumes exactly."""

import numpy as np
import pytest

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.games import CHANCE, OVER
from kibitz.nets.mlp import compiled, logits, new_layers, sizes_of
from kibitz.train import trainer
from kibitz.train.exit_oos.config import ExItOosConfig
from kibitz.train.exit_oos.critic import compiled_critic, policy_games
from kibitz.train.exit_oos.learner import ExItOos
from kibitz.train.exit_oos.self_play import Networks
from kibitz.train.exit_oos.value_learning import ValueLearner

from ..contract import check_learner

CONFIG = ExItOosConfig(
    "kuhn", hidden="8", leaf="value", prior_weight=10.0, value_hidden="32", value_games=3000, learning_rate=0.01
)


def uniform_layers(game):
    return [(0 * weights, 0 * biases) for weights, biases in new_layers(sizes_of(game, [4]), np.random.default_rng(1))]


def values_of_uniform_play(game):
    """What both seats see at a position, as bytes -> the payoff that seat 0 can expect if both play uniformly."""
    found = {}

    def walk(state):
        if (turn := game.turn(state)) == OVER:
            return game.payoff(state, 0)
        after = [state.copy() for _ in games.legal_actions(game, state)]
        for copy, action in zip(after, games.legal_actions(game, state), strict=True):
            game.play(copy, action)
        value = float(np.mean([walk(copy) for copy in after]))  # chance is uniform in Kuhn, too
        if turn != CHANCE:
            found[both(game, state).tobytes()] = value
        return value

    walk(games.positions(game)[0])
    return found


def both(game, state):
    views = np.zeros((2, game.facts.encoding), np.float32)
    for seat in range(2):
        game.observe(state, seat, views[seat])
    return views.ravel()


def test_it_learns_the_values_of_the_policys_own_games():
    game = games.load("kuhn")
    wanted, policy = values_of_uniform_play(game), uniform_layers(game)
    rows, payoffs = policy_games(game, compiled(policy), 2000, 1)
    assert {row.tobytes() for row in rows} == wanted.keys()
    assert set(np.unique(payoffs)) <= {-2, -1, 1, 2}
    assert abs(np.mean(payoffs - [wanted[row.tobytes()] for row in rows])) < 0.1
    learner = ValueLearner(CONFIG, game, np.random.default_rng(1), "cpu")
    losses = [learner.learn(policy) for _ in range(8)]
    assert losses[-1] < losses[0]
    inputs = np.array([np.frombuffer(key, np.float32) for key in wanted])
    said = logits(learner.layers(), inputs)[:, 0]
    assert np.abs(said - list(wanted.values())).max() < 0.35


def test_the_compiled_critic_is_the_network_within_the_bounds_of_payoffs():
    game, generator = games.load("kuhn"), np.random.default_rng(2)
    layers = new_layers([2 * game.facts.encoding, 8, 1], generator)
    state = games.positions(game)[0]
    for outcome in (0, 1):
        game.play(state, games.legal_actions(game, state)[outcome])
    said = float(logits(layers, both(game, state)[None])[0, 0])
    assert compiled_critic(game, layers).history_value(game, state) == pytest.approx(said, abs=1e-5)
    high = [*layers[:-1], (layers[-1][0], layers[-1][1] + 100)]
    assert compiled_critic(game, high).history_value(game, state) == game.facts.payoffs[1]


def test_the_first_iteration_is_played_out_and_the_next_ones_use_the_value_network():
    game = games.load("kuhn")
    learner = ExItOos(CONFIG, game)
    assert not isinstance(learner.shared(), Networks)
    play = ExItOos.worker(CONFIG)
    [(_, samples)] = play((0,), learner.shared())
    assert learner.update(samples)["value_loss"] > 0
    shared = learner.shared()
    assert isinstance(shared, Networks)
    [(_, samples)] = play((1,), shared)
    np.testing.assert_allclose(samples["policies"].sum(axis=1), 1, rtol=1e-6)


def test_a_run_with_a_value_network_keeps_the_contract_of_learners(tmp_path):
    values = {
        "iterations": 3, "games": 2, "simulations": 20, "hidden": "4", "steps": 2, "batch_size": 4,
        "leaf": "value", "prior_weight": 10.0, "value_hidden": "4", "value_games": 5,
        "evaluate_every": 1, "keep_every": 1,
    }  # fmt: skip
    check_learner("exit-oos", "kuhn", values, tmp_path)


def test_in_batches_values_are_not_possible():
    with pytest.raises(BadInput, match="leaf=value needs the compiled network: use playouts=compiled, not batched"):
        trainer.configured("exit-oos", "kuhn", None, {"playouts": "batched", "leaf": "value"})


@pytest.mark.parametrize("given", [{"leaf": "value"}, {"prior_weight": 5.0}])
def test_values_and_priors_are_not_in_batches_by_default(given):
    assert not ExItOosConfig("kuhn", hidden="2000-2000", **given).in_batches(games.load("kuhn"))


def test_in_batches_the_prior_is_that_of_the_present_network():
    game, rng = games.load("kuhn"), np.random.default_rng(3)
    config = ExItOosConfig("kuhn", hidden="4", simulations=40, playouts="batched", prior_weight=1e6)
    trainer.configured("exit-oos", "kuhn", None, {"playouts": "batched", "prior_weight": 5.0})  # isn't refused
    play = ExItOos.worker(config)
    for _ in range(2):
        layers = [(10 * weights, biases) for weights, biases in new_layers(sizes_of(game, [4]), rng)]
        [(_, samples)] = play((0,), layers)
        scores = np.where(samples["legal"], logits(layers, samples["encodings"]), -1e9)
        probs = np.exp(scores - scores.max(axis=1, keepdims=True))
        np.testing.assert_allclose(samples["policies"], probs / probs.sum(axis=1, keepdims=True), atol=0.02)


def test_sizes_of_the_value_network_that_are_none_are_refused():
    with pytest.raises(BadInput, match="value_hidden=64-x should be sizes of layers"):
        trainer.configured("exit-oos", "kuhn", None, {"value_hidden": "64-x"})
