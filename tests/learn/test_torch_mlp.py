"""Perceptrons in torch: the loss and its gradient, evaluation in batches, devices."""

import numpy as np
import pytest
import torch
from scipy.special import rel_entr, softmax

from kibitz.core.names import BadInput
from kibitz.nets.mlp import logits, new_layers
from kibitz.nets.torch_mlp import as_module, batch_evaluator, divergence, pick_device


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
    with pytest.raises(BadInput, match="device=cuda: no CUDA device is available; use device=cpu"):
        pick_device("cuda", large=True)
