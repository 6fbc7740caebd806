"""The apprentice of ExIt-OOS: it learns, and resumes exactly."""

import numpy as np
import pytest
import torch
from scipy.special import softmax

from kibitz import games
from kibitz.nets import torch_mlp
from kibitz.nets.devices import one_thread
from kibitz.nets.mlp import logits, read_layers
from kibitz.nets.torch_mlp import divergence
from kibitz.train.exit_oos import ExItOos
from kibitz.train.exit_oos.config import ExItOosConfig
from kibitz.train.exit_oos.learner import empty_samples
from kibitz.train.packing import Packed
from kibitz.train.replay import ReplayBuffer


def table(count=30, seed=2):
    """Samples with a policy for each of some random encodings of Leduc's size."""
    facts, generator = games.load("leduc").facts, np.random.default_rng(seed)
    encodings = np.unique(generator.random((count, facts.encoding)) < 0.3, axis=0).astype(np.float32)
    legal = np.ones((len(encodings), facts.num_actions), bool)
    legal[::3, 0] = False
    policies = np.where(legal, generator.dirichlet(np.ones(facts.num_actions), len(encodings)), 0)
    policies = (policies / policies.sum(axis=1, keepdims=True)).astype(np.float32)
    return {"encodings": encodings, "policies": policies, "legal": legal}


NOTHING = {key: array[:0] for key, array in table().items()}


def new_learner(steps=50, seed=1, hidden="32", rows=100):
    game = games.load("leduc")
    config = ExItOosConfig("leduc", hidden=hidden, learning_rate=1e-2, batch_size=32, steps=steps, seed=seed)
    found = ExItOos(config, game)
    found.replay = ReplayBuffer(rows, empty_samples(game), "exponential")
    return found


def test_it_memorizes_a_fixed_table():
    learner, rows = new_learner(), table()
    losses = [learner.update(rows if first == 0 else NOTHING)["loss"] for first in range(12)]
    assert losses[0] > 0.05
    assert losses[-1] < 0.001
    assert learner.update(NOTHING)["rows"] == len(rows["legal"])
    said = np.where(rows["legal"], logits(learner.shared(), rows["encodings"]), -np.inf)
    assert np.abs(softmax(said, axis=1) - rows["policies"]).max() < 0.05


def weights(learner):
    return [array.tobytes() for layer in learner.shared() for array in layer]


def test_the_same_seed_learns_the_same_and_another_does_not():
    found = []
    for seed in (1, 1, 2):
        learner = new_learner(20, seed)
        found.append((learner.update(table()), weights(learner)))
    assert found[0] == found[1]
    assert found[0][1] != found[2][1]


@pytest.mark.parametrize("learned", [1, 3])
def test_a_restored_learner_continues_as_the_saved_one(tmp_path, learned):
    """Weights, moments of the optimizer, random state, and a full replay buffer are the same to the bit."""
    one, two = new_learner(20, rows=20), new_learner(20, seed=9, rows=20)
    for number in range(learned):
        one.update(table() if number == 0 else NOTHING)
    one.save(tmp_path)
    two.restore(tmp_path)
    assert weights(one) == weights(two)
    for _ in range(3):
        more = table(10, seed=5)
        assert one.update(more) == two.update(more)
        assert weights(one) == weights(two)
    assert one.generator.bit_generator.state == two.generator.bit_generator.state
    for name, array in one.replay.all().items():
        other = two.replay.all()[name]
        for part in ("rows", "columns") if isinstance(array, Packed) else ():
            np.testing.assert_array_equal(getattr(array, part), getattr(other, part))
        if not isinstance(array, Packed):
            np.testing.assert_array_equal(array, other)
    assert one.replay.added == two.replay.added


def test_the_shared_layers_are_a_copy():
    learner = new_learner(5)
    learner.update(table())
    known = learner.shared()
    before = [array.copy() for layer in known for array in layer]
    learner.update(NOTHING)
    assert all(np.array_equal(a, b) for a, b in zip(before, [a for layer in known for a in layer], strict=True))
    assert [array.tobytes() for array in before] != weights(learner)


def test_the_exported_file_has_the_shared_layers(tmp_path):
    learner = new_learner()
    learner.export(tmp_path / "n.safetensors", "a test")
    layers, about = read_layers(tmp_path / "n.safetensors", learner.game)
    assert [array.tobytes() for layer in layers for array in layer] == weights(learner)
    assert about.made == "a test"


def test_learning_leaves_the_threads_of_torch_as_they_were(monkeypatch):
    learner, seen = new_learner(2), []
    before = torch.get_num_threads()
    monkeypatch.setattr(
        torch_mlp, "divergence", lambda *given: (seen.append(torch.get_num_threads()), divergence(*given))[1]
    )
    try:
        torch.set_num_threads(3)
        learner.update(table())
        assert torch.get_num_threads() == 3
        with pytest.raises(KeyError), one_thread():
            raise KeyError
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
    assert seen == [1, 1]


def test_policies_of_the_buffer_are_rounded_by_at_most_2_to_the_minus_11_of_each():
    game, random = games.load("leduc"), np.random.default_rng(1)
    policies = random.dirichlet(np.full(game.facts.num_actions, 0.05), 5000).astype(np.float32)
    encodings = np.zeros((len(policies), game.facts.encoding), np.float32)
    buffer = ReplayBuffer(len(policies), empty_samples(game), "latest")
    buffer.add({"encodings": encodings, "policies": policies, "legal": policies > 0}, random)
    kept = buffer.all()["policies"].astype(np.float32)
    assert (np.abs(kept - policies) <= np.maximum(2.0**-11 * policies, 2.0**-25)).all()
    assert (kept != policies).any()
