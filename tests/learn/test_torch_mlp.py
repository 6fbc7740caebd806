"""The apprentice: its loss is the right one, it learns, and goes on from a file as if nothing had been."""

import numpy as np
import pytest
import torch
from scipy.special import rel_entr, softmax

from kibitz import games
from kibitz.core.names import BadInput
from kibitz.learn import torch_mlp
from kibitz.learn.mlp import logits, new_layers, read_layers
from kibitz.learn.replay import Experience
from kibitz.learn.torch_mlp import Apprentice, as_module, batch_evaluator, divergence, one_thread, pick_device


def problem(rows=40, actions=5, seed=1):
    """Logits, policies with zeros in them, and what is legal: at least one action a row, not all mostly."""
    generator = np.random.default_rng(seed)
    legal = generator.random((rows, actions)) < 0.6
    legal[np.arange(rows), generator.integers(0, actions, rows)] = True
    policies = np.where(legal & (generator.random((rows, actions)) < 0.7), generator.random((rows, actions)), 0)
    policies[policies.sum(axis=1) == 0] = legal[policies.sum(axis=1) == 0]
    policies /= policies.sum(axis=1, keepdims=True)
    return generator.normal(size=(rows, actions)) * 3, policies, legal


def slowly(said, wanted, legal):
    """KL of one row, by SciPy."""
    return rel_entr(wanted[legal], softmax(said[legal])).sum()


def tensors(*arrays):
    return [torch.from_numpy(array) for array in arrays]


def test_the_divergence_is_that_of_scipy_row_by_row():
    rows = list(zip(*problem(), strict=True))
    found = [float(divergence(*tensors(*(part[None] for part in row)))) for row in rows]
    np.testing.assert_allclose(found, [slowly(*row) for row in rows], atol=1e-12)
    assert min(found) >= 0
    assert float(divergence(*tensors(*problem()))) == pytest.approx(np.mean(found), abs=1e-12)


def test_the_divergence_from_what_is_wanted_is_nothing():
    _, policies, legal = problem()
    sure = np.log(np.where(policies > 0, policies, 1e-300))
    assert float(divergence(*tensors(sure, policies, legal))) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_what_is_illegal_has_no_share_in_the_loss(kind):
    said, policies, legal = problem()
    losses = []
    for value in (-50, 0, 50):
        told = torch.from_numpy(np.where(legal, said, value).astype(kind)).requires_grad_()
        loss = divergence(told, torch.from_numpy(policies.astype(kind)), torch.from_numpy(legal))
        loss.backward()
        losses.append(float(loss.detach()))
        assert (told.grad[torch.from_numpy(~legal)] == 0).all()
        assert told.grad[torch.from_numpy(legal)].abs().max() > 0.001
    assert losses[0] == losses[1] == losses[2]


def test_gradients_are_those_of_finite_differences():
    said, policies, legal = problem(rows=12)
    told = torch.from_numpy(said).requires_grad_()
    divergence(told, *tensors(policies, legal)).backward()
    for place in np.ndindex(said.shape):
        losses = []
        for step in (1e-5, -1e-5):
            moved = said.copy()
            moved[place] += step
            losses.append(np.mean([slowly(*row) for row in zip(moved, policies, legal, strict=True)]))
        assert float(told.grad[place]) == pytest.approx((losses[0] - losses[1]) / 2e-5, abs=1e-8)


# ---------------------------------------------------------------- learning


def table(count=30, seed=2):
    """A policy for each of some random encodings of Leduc's size, as experience."""
    facts, generator = games.load("leduc").facts, np.random.default_rng(seed)
    encodings = np.unique(generator.random((count, facts.encoding)) < 0.3, axis=0).astype(np.float32)
    legal = np.ones((len(encodings), facts.num_actions), bool)
    legal[::3, 0] = False
    policies = np.where(legal, generator.dirichlet(np.ones(facts.num_actions), len(encodings)), 0)
    policies = (policies / policies.sum(axis=1, keepdims=True)).astype(np.float32)
    return {"encodings": encodings, "policies": policies, "legal": legal}


def new_apprentice(steps=50, seed=1, hidden=(32,), rows=100):
    game = games.load("leduc")
    experience = Experience(rows, game.facts.encoding, game.facts.num_actions)
    return Apprentice(game, experience, hidden, 1e-2, 32, steps, seed)


def test_it_learns_a_fixed_table_by_heart():
    student, rows = new_apprentice(), table()
    student.take(rows)
    losses = [student.learn()["loss"] for _ in range(12)]
    assert losses[0] > 0.05
    assert losses[-1] < 0.001
    assert student.learn()["rows"] == len(rows["legal"])
    said = np.where(rows["legal"], logits(student.knowledge(), rows["encodings"]), -np.inf)
    assert np.abs(softmax(said, axis=1) - rows["policies"]).max() < 0.05


def weights(student):
    return [array.tobytes() for layer in student.knowledge() for array in layer]


def test_the_same_seed_learns_the_same_and_another_does_not():
    found = []
    for seed in (1, 1, 2):
        student = new_apprentice(20, seed)
        student.take(table())
        found.append((student.learn(), weights(student)))
    assert found[0] == found[1]
    assert found[0][1] != found[2][1]


@pytest.mark.parametrize("learned", [0, 3])
def test_saved_and_restored_it_goes_on_as_if_nothing_had_been(tmp_path, learned):
    """Weights bit by bit, the optimizer's memory, the random state, and an experience that is full."""
    one, two = new_apprentice(20, rows=20), new_apprentice(20, seed=9, rows=20)
    one.take(table())
    for _ in range(learned):
        one.learn()
    one.save(tmp_path)
    two.restore(tmp_path)
    assert weights(one) == weights(two)
    for _ in range(3):
        for student in (one, two):
            student.take(table(10, seed=5))
        assert one.learn() == two.learn()
        assert weights(one) == weights(two)
    assert one.generator.bit_generator.state == two.generator.bit_generator.state
    for name in ("encodings", "policies", "legal", "seen"):
        np.testing.assert_array_equal(getattr(one.experience, name), getattr(two.experience, name))


def test_what_it_knows_is_a_copy():
    student = new_apprentice(5)
    student.take(table())
    known = student.knowledge()
    before = [array.copy() for layer in known for array in layer]
    student.learn()
    assert all(np.array_equal(a, b) for a, b in zip(before, [a for layer in known for a in layer], strict=True))
    assert [array.tobytes() for array in before] != weights(student)


def test_what_it_publishes_is_what_it_knows(tmp_path):
    student = new_apprentice()
    student.publish(tmp_path / "networks" / "n.safetensors", "a test")
    layers, about = read_layers(tmp_path / "networks" / "n.safetensors", student.game)
    assert [array.tobytes() for layer in layers for array in layer] == weights(student)
    assert about.made == "a test"


def test_learning_leaves_the_threads_of_torch_as_they_were(monkeypatch):
    student, seen = new_apprentice(2), []
    student.take(table())
    before = torch.get_num_threads()
    monkeypatch.setattr(
        torch_mlp, "divergence", lambda *given: (seen.append(torch.get_num_threads()), divergence(*given))[1]
    )
    try:
        torch.set_num_threads(3)
        student.learn()
        assert torch.get_num_threads() == 3
        with pytest.raises(KeyError), one_thread():
            raise KeyError
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
    assert seen == [1, 1]


def test_batches_are_evaluated_as_numpy_would():
    layers = new_layers([7, 12, 3], np.random.default_rng(1))
    encodings = np.random.default_rng(2).normal(size=(50, 7)).astype(np.float32)
    found = batch_evaluator(layers, "cpu")(encodings)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, logits(layers, encodings), atol=1e-5)
    assert [tuple(part.weight.shape) for part in as_module(layers) if hasattr(part, "weight")] == [(12, 7), (3, 12)]


# ---------------------------------------------------------------- devices


@pytest.mark.parametrize(
    ("name", "large", "there", "picked"),
    [
        ("cpu", True, True, "cpu"),
        ("cuda", False, True, "cuda"),
        ("auto", True, True, "cuda"),
        ("auto", False, True, "cpu"),
        ("auto", True, False, "cpu"),
        ("cpu", False, False, "cpu"),
    ],
)
def test_auto_is_cuda_where_it_is_there_and_gains_something(name, large, there, picked, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: there)
    assert pick_device(name, large) == picked


def test_a_device_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(BadInput, match="device=cuda: torch sees no CUDA device here; device=cpu would do"):
        pick_device("cuda", large=True)
