"""Expert iteration with IS-MCTS: what the network learns from visits, and that it learns it."""

import numpy as np
import pytest

from kibitz.games import load
from kibitz.search.advice import greedy_advice
from kibitz.train.exit_oos.ismcts import ExItIsMcts, ExItIsMctsConfig
from kibitz.train.exit_oos.self_play import self_play


@pytest.mark.parametrize(
    ("target", "expected"),
    [("visits", [0.25, 0.5, 0.25]), ("visits-cubed", [0.1, 0.8, 0.1]), ("most-visited", [0, 1, 0])],
)
def test_the_policy_to_learn_is_made_of_the_visits(target, expected):
    visits = np.array([100, 200, 100])
    advice = greedy_advice(np.arange(3), visits, np.zeros(3), visits, 400)
    np.testing.assert_allclose(ExItIsMctsConfig("kuhn", policy_target=target).to_learn(advice), expected)


def test_equally_visited_moves_share_and_a_single_move_is_certain():
    config = ExItIsMctsConfig("kuhn")
    for visits, expected in (([7, 3, 7], [0.5, 0, 0.5]), ([0], [1])):  # a single legal move isn't searched
        visits, n = np.array(visits), len(visits)
        assert config.to_learn(greedy_advice(np.arange(n), visits, np.zeros(n), visits, 17)).tolist() == expected


def test_samples_hold_the_policy_to_learn_and_the_network_is_the_playout_policy():
    game, config = load("kuhn"), ExItIsMctsConfig("kuhn", simulations=30, hidden="4", policy_target="visits", seed=3)
    layers = ExItIsMcts(config, game).shared()
    play = self_play(config)
    one, two = (play(tuple(range(20)), each) for each in (layers, [(50 * w, b) for w, b in layers]))
    policies = np.concatenate([samples["policies"] for _, samples in one])
    np.testing.assert_allclose(policies.sum(axis=1), 1, rtol=1e-6)
    assert np.isin(np.round(policies * 30), np.arange(31)).all()
    np.testing.assert_allclose(policies * 30, np.round(policies * 30), atol=1e-4)
    assert ((policies > 0) & (policies < 1)).any()
    assert any(
        (a["policies"] != b["policies"][: len(a["policies"])]).any()
        for (_, a), (_, b) in zip(one, two, strict=True)
        if len(a["policies"]) <= len(b["policies"])
    )
