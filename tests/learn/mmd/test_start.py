"""Learning from a trained policy on: it is computed unchanged, the warm-up keeps it, and the magnet holds it."""

import numpy as np
import pytest
import torch

from kibitz.core.names import BadInput
from kibitz.core.progress import SILENT
from kibitz.games import load
from kibitz.nets.mlp import logits, new_layers, save_layers
from kibitz.train.mmd import learner as module
from kibitz.train.mmd.config import preset
from kibitz.train.mmd.learner import Mmd
from kibitz.train.mmd.loss import divergence, imitation_terms, log_policy
from kibitz.train.mmd.self_play import Part
from kibitz.train.mmd.start import grown
from kibitz.train.trainer import configured

KUHN = load("kuhn")
FAST = {"device": "cpu", "games": 64, "learning_rate": 0.01, "final_learning_rate": 1.0, "entropy": 0.0, "kl": 0.1}


@pytest.fixture
def trained(tmp_path):
    """A network for Kuhn poker whose policy is far from uniform."""
    layers = new_layers([KUHN.facts.encoding, 8, 6, 2], np.random.default_rng(1))
    layers[-1][0][:] *= 3
    save_layers(tmp_path / "network.safetensors", KUHN, layers)
    return tmp_path / "network.safetensors", layers


def learner(start, **values):
    config = configured("mmd", "kuhn", None, {**FAST, "start": str(start), "hidden": "16-12-9", **values})
    return Mmd(config, KUHN)


def learned(found, first, last):
    return [found.learn(iteration, None, SILENT) for iteration in range(first, last + 1)]


def probs(layers):
    found = np.exp(logits(layers, np.eye(KUHN.facts.encoding, dtype=np.float32)))
    return found / found.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(("hidden", "outputs"), [((4, 3), 2), ((8, 6), 5), ((8, 6, 7, 3), 2)])
def test_a_larger_network_computes_the_same(hidden, outputs):
    generator = np.random.default_rng(1)
    layers = new_layers([5, 4, 3, 2], generator)
    found, rows = grown(layers, hidden, outputs, generator), generator.normal(size=(20, 5)).astype(np.float32)
    assert [len(biases) for _, biases in found] == [*hidden, outputs]
    np.testing.assert_allclose(logits(found, rows)[:, :2], logits(layers, rows), atol=1e-5)
    assert not logits(found, rows)[:, 2:].any()


def test_a_run_starts_with_the_policy_and_is_matched_against_it(trained):
    path, layers = trained
    found = learner(path, evaluation_deals=2000)
    np.testing.assert_allclose(probs(found.network()), probs(layers), atol=1e-6)
    assert found.evaluate()["points"] == 0  # the same moves with the same random numbers
    learned(found, 1, 12)
    later = found.evaluate()
    assert later["points"] > 4 * later["points_error"]


def test_in_the_warm_up_the_policy_stays_and_the_values_are_learned(trained):
    path, layers = trained
    found = learner(path, warmup=10)
    metrics = learned(found, 1, 10)
    np.testing.assert_allclose(probs(found.network()), probs(layers), atol=0.01)
    assert metrics[-1]["value_loss"] < 0.8 * metrics[0]["value_loss"]
    learned(found, 11, 14)
    assert np.abs(probs(found.network()) - probs(layers)).max() > 0.05


def test_a_heavy_magnet_holds_the_policy(trained):
    path, layers = trained
    away = []
    for weight in (0.0, 100.0):
        found = learner(path, magnet=weight)
        learned(found, 1, 8)
        away.append(np.abs(probs(found.network()) - probs(layers)).max())
    assert away[1] < 0.1 * away[0]


def test_the_magnet_moves_after_the_warm_up_and_from_time_to_time(trained):
    found = learner(trained[0], magnet=0.1, magnet_every=2, warmup=1)
    moved = []
    for iteration in range(1, 7):
        before, policy = ([each.clone() for each in found.networks[name].parameters()] for name in ("magnet", "policy"))
        found.learn(iteration, None, SILENT)
        now = list(found.networks["magnet"].parameters())
        moved.append(any((a != b).any() for a, b in zip(before, now, strict=True)))
        if moved[-1]:
            assert all((a == b).all() for a, b in zip(policy, now, strict=True))
    assert moved == [False, True, False, True, False, True]


def test_a_resumed_run_equals_an_undisturbed_one(trained, tmp_path):
    values = {"magnet": 0.1, "magnet_every": 3, "warmup": 2}
    whole, first, second = (learner(trained[0], **values) for _ in range(3))
    learned(whole, 1, 6)
    learned(first, 1, 4)
    first.save(tmp_path)
    second.restore(tmp_path)
    learned(second, 5, 6)
    for name in ("policy", "magnet"):
        one, two = (each.networks[name].parameters() for each in (whole, second))
        assert all((a == b).all() for a, b in zip(one, two, strict=True))


@pytest.mark.parametrize("known", [0, 1])
def test_the_heuristic_plays_where_no_action_is_known(known):
    """In Kuhn poker action 0 is always legal."""
    streams = np.random.SeedSequence(1).generate_state(40, np.uint64).reshape(20, 2)
    part = Part(KUHN, 20, False, torch.device("cpu"))
    batch = part.play(streams, lambda _, legal: log_policy(torch.zeros(legal.shape), legal), known)
    chosen = batch.log_probs.gather(1, batch.actions[:, None])
    assert (chosen.exp() == (0.5 if known else 1.0)).all()
    assert {0, 1} == set(batch.actions.tolist())


def test_imitation_is_the_cross_entropy_less_a_constant():
    legal = torch.tensor([[True, True, False], [True, False, True]])
    played = torch.tensor([[0.0, -1e9, -1e9], [-0.5, -1e9, float(np.log1p(-np.exp(-0.5)))]])
    said = log_policy(torch.tensor([[1.0, 2.0, 3.0], [0.0, 5.0, 1.0]]), legal)
    terms = imitation_terms(said, played, legal)
    wanted = -float(said[0, 0]) + sum(float(played[1, a].exp() * (played[1, a] - said[1, a])) for a in (0, 2))
    assert float(terms.kl) == pytest.approx(wanted / 2, rel=1e-5)
    assert float(terms.clipped) == 0
    assert float(divergence(said, said, legal)) == 0
    p = said.exp().numpy()[[0, 0, 1, 1], [0, 1, 0, 2]]
    assert float(terms.entropy) == pytest.approx(-(p * np.log(p)).sum() / 2, rel=1e-5)


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({"hidden": "8"}, "has layers of 8-6: network should be mlp, and hidden 8-6 or larger"),
        ({"hidden": "8-5"}, "hidden 8-6 or larger"),
        ({"hidden": "8-6-5"}, "hidden 8-6 or larger"),
        ({"network": "residual"}, "network should be mlp"),
        ({"start": "models/leduc"}, "is a network for leduc, not for kuhn"),
        ({"start": "models/doppelkopf"}, "start=models/doppelkopf is for doppelkopf, not kuhn"),
    ],
)
def test_a_start_that_does_not_fit_is_refused(trained, values, error):
    with pytest.raises(BadInput, match=error):
        learner(trained[0], **values) if "start" not in values else learner(**values)


def test_games_with_many_inputs_are_played_in_more_parts(monkeypatch):
    for wide, parts in ((512, 1), (KUHN.facts.encoding, 2), (KUHN.facts.encoding // 2, 5)):  # parts of 64, 32 and 14
        monkeypatch.setattr(module, "WIDE", wide)
        monkeypatch.setattr(module, "PART", 64)
        found = Mmd(configured("mmd", "kuhn", None, {**FAST, "hidden": "4"}), KUHN)
        assert len(found.play(1).payoffs) == 64
        assert len(found.parts) == parts


def test_the_preset_for_doppelkopf_starts_from_the_model_of_the_package():
    found = preset(load("doppelkopf"), "best")
    assert found["start"] == "models/doppelkopf"
    assert 2_000_000 < found["iterations"] * found["games"] < 5_000_000
    assert 0 < found["warmup"] < found["magnet_every"] < found["iterations"]
