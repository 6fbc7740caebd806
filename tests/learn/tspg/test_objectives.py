"""What is learned: gradients against differences and torch, values of what was never tried, steps of RMSProp."""

import numpy as np
import pytest
import torch

from kibitz.train.tspg.cases import Cases
from kibitz.train.tspg.objectives import OBJECTIVES, UNVISITED, Batch, gradient
from kibitz.train.tspg.rmsprop import RmsProp

LENGTHS = (3, 1, 7, 4, 2)


def some_batch(seed=1, patterns=12, lengths=LENGTHS, unvisited=0.3):
    """Positions with so many actions, some of them never tried."""
    generator = np.random.default_rng(seed)
    count = sum(lengths)
    active = (generator.random((count, patterns)) < 0.4).astype(np.float32)
    cases = Cases(active, np.arange(count), np.cumsum([0, *lengths])[:-1])
    visits = generator.integers(1, 50, count).astype(float)
    visits[generator.random(count) < unvisited] = 0
    visits[cases.first] = 7  # something is tried everywhere
    value = np.where(visits > 0, generator.uniform(-1, 1, count), np.nan)
    prior = np.concatenate([generator.dirichlet(np.ones(length)) for length in lengths])
    return Batch(cases, visits, value, prior, generator.uniform(-1, 1, len(lengths)))


def some_weights(batch, seed=2):
    return np.random.default_rng(seed).normal(size=batch.cases.active.shape[1])


def parts(batch, numbers):
    """Of each position its own."""
    return np.split(np.asarray(numbers), batch.cases.first[1:])


def softmax(logits):
    probs = np.exp(logits - np.max(logits))
    return probs / probs.sum()


# ---------------------------------------------------------------- cases


def test_cases_are_kept_apart_by_position():
    batch = some_batch()
    cases, numbers = batch.cases, np.random.default_rng(3).normal(size=sum(LENGTHS)) * 30
    assert cases.lengths.tolist() == list(LENGTHS)
    np.testing.assert_allclose(cases.summed(numbers), [part.sum() for part in parts(batch, numbers)])
    assert cases.spread(np.arange(5)).tolist() == [i for i, length in enumerate(LENGTHS) for _ in range(length)]
    np.testing.assert_allclose(
        cases.softmax(numbers), np.concatenate([softmax(part) for part in parts(batch, numbers)])
    )
    assert np.isfinite(cases.softmax(numbers * 1e4)).all()
    shares = parts(batch, batch.shares)
    assert [part.sum() for part in shares] == pytest.approx([1] * 5)
    assert shares[0].tolist() == (parts(batch, batch.visits)[0] / parts(batch, batch.visits)[0].sum()).tolist()


# ---------------------------------------------------------------- values of what was never tried


def test_what_was_never_tried_is_lost_or_as_its_parent_or_a_mix():
    cases = Cases(np.ones((7, 1), np.float32), np.arange(7), np.array([0, 4]))
    nan = np.nan
    batch = Batch(
        cases,
        visits=np.array([6.0, 2, 0, 0, 4, 0, 0]),
        value=np.array([0.5, -1.0, nan, nan, 0.25, nan, nan]),
        prior=np.array([0.2, 0.3, 0.4, 0.1, 0.5, 0.25, 0.25]),
        root=np.array([0.125, -0.75]),
    )
    known = {0: 0.5, 1: -1.0, 4: 0.25}
    first = (0.125 + 8 * (0.2 * 0.5 - 0.3 * 1.0) / 0.5) / 9
    second = (-0.75 + 4 * 0.25) / 5
    for unvisited, (one, other) in {"loss": (-1, -1), "parent": (0.125, -0.75), "mixed": (first, second)}.items():
        expected = [known.get(i, one if i < 4 else other) for i in range(7)]
        assert batch.values(unvisited).tolist() == pytest.approx(expected)
    assert set(UNVISITED) == {"loss", "parent", "mixed"}


def test_where_nothing_was_tried_all_is_as_the_parent():
    cases = Cases(np.ones((2, 1), np.float32), np.arange(2), np.array([0]))
    batch = Batch(cases, np.zeros(2), np.full(2, np.nan), np.array([0.5, 0.5]), np.array([0.3]))
    assert batch.values("mixed").tolist() == batch.values("parent").tolist() == [0.3, 0.3]
    assert batch.values("loss").tolist() == [-1, -1]


def test_where_all_was_tried_nothing_is_made_up():
    batch = some_batch(unvisited=0.0)
    for unvisited in UNVISITED:
        assert batch.values(unvisited).tolist() == batch.value.tolist()


# ---------------------------------------------------------------- gradients


def loss_of(batch, objective, unvisited):
    """The loss as a function of weights, position by position, in the words of the papers."""
    values, visits = parts(batch, batch.values(unvisited)), parts(batch, batch.visits)
    features = np.split(batch.cases.active.astype(float), batch.cases.first[1:])

    def loss(weights, log_softmax):
        found = 0.0
        for phi, q, n in zip(features, values, visits, strict=True):
            log_odds = log_softmax(phi, weights)
            if objective == "visits":
                found = found - (target_like(log_odds, n / n.sum()) * log_odds).sum()
            else:
                found = found - (target_like(log_odds, q) * exp_like(log_odds)).sum()
        return found / len(features)

    return loss


def target_like(example, numbers):
    return torch.tensor(numbers) if isinstance(example, torch.Tensor) else numbers


def exp_like(numbers):
    return torch.exp(numbers) if isinstance(numbers, torch.Tensor) else np.exp(numbers)


@pytest.mark.parametrize("unvisited", UNVISITED)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_gradients_are_those_of_the_loss(objective, unvisited):
    for seed in range(5):
        batch = some_batch(seed)
        weights, loss = some_weights(batch, seed), loss_of(batch, objective, unvisited)
        found, probs = gradient(batch, weights, objective, unvisited)
        logits = parts(batch, batch.cases.active @ weights)
        np.testing.assert_allclose(probs, np.concatenate([softmax(part) for part in logits]), rtol=1e-5)

        theta = torch.tensor(weights, requires_grad=True)
        loss(theta, lambda phi, w: torch.log_softmax(torch.tensor(phi) @ w, 0)).backward()
        np.testing.assert_allclose(found, theta.grad.numpy(), rtol=1e-4, atol=1e-6)

        def plain(moved, loss=loss):
            return loss(moved, lambda phi, w: np.log(softmax(phi @ w)))

        step = 1e-5
        slopes = [(plain(weights + step * e) - plain(weights - step * e)) / (2 * step) for e in np.eye(len(weights))]
        np.testing.assert_allclose(found, slopes, rtol=1e-4, atol=1e-6)
        assert np.abs(found).max() > 1e-3


def test_only_tspg_learns_from_values():
    batch = some_batch()
    other = Batch(batch.cases, batch.visits, -batch.value, batch.prior, -batch.root)
    weights = some_weights(batch)
    for objective in OBJECTIVES:
        one, two = (gradient(each, weights, objective, "parent")[0] for each in (batch, other))
        if objective == "visits":
            assert one.tolist() == two.tolist()
        else:
            np.testing.assert_allclose(one, -two, rtol=1e-4, atol=1e-7)


def test_a_policy_that_is_right_isnt_changed():
    batch = some_batch(patterns=sum(LENGTHS))
    cases = Cases(np.eye(sum(LENGTHS), dtype=np.float32), batch.cases.actions, batch.cases.first)
    visits = np.maximum(batch.visits, 1.0)
    batch = Batch(cases, visits, batch.value, batch.prior, batch.root)
    found, probs = gradient(batch, np.log(batch.shares), "visits", "loss")
    np.testing.assert_allclose(probs, batch.shares, rtol=1e-5)
    np.testing.assert_allclose(found, 0, atol=1e-7)
    alike = Batch(cases, visits, np.full(len(visits), 0.4), batch.prior, batch.root)
    np.testing.assert_allclose(gradient(alike, some_weights(alike), "tspg", "loss")[0], 0, atol=1e-7)


# ---------------------------------------------------------------- steps


def test_steps_are_those_of_torch():
    generator = np.random.default_rng(1)
    theta = torch.zeros(9, dtype=torch.float64, requires_grad=True)
    theirs = torch.optim.RMSprop([theta], lr=0.005, alpha=0.9, eps=1e-8, momentum=0.9, centered=True)
    ours, weights = RmsProp(0.005), np.zeros(9)
    for i in range(60):
        slope = generator.normal(size=9) * 10.0 ** generator.uniform(-3, 1, 9) + (i % 7 == 0)
        theta.grad = torch.tensor(slope)
        theirs.step()
        weights += ours.step(slope)
        np.testing.assert_allclose(weights, theta.detach().numpy(), rtol=1e-9, atol=1e-12)
    assert np.abs(weights).min() > 1e-4


def test_steps_go_down():
    ours, weights = RmsProp(), np.array([3.0, -2.0, 0.5])
    for _ in range(3000):
        weights += ours.step(2 * weights)
    assert np.abs(weights).max() < 0.1


def test_what_is_added_may_be_added_inside_the_root():
    """As in the public code: then a first, small gradient makes a small step."""
    slope = np.array([1e-6])
    outside, inside = RmsProp().step(slope), RmsProp(inside=True).step(slope)
    spread = np.sqrt(0.1 * 1e-12 - 0.01 * 1e-12)
    assert outside[0] == pytest.approx(-0.005 * 1e-6 / (spread + 1e-8))
    assert inside[0] == pytest.approx(-0.005 * 1e-6 / np.sqrt(spread**2 + 1e-8))


def test_a_gradient_that_never_varies_makes_no_nan():
    """Its variance is 0, and rounding may bring it below."""
    for slope in (0.1, 1 / 3, 1e-8, 0.0, 123.456):
        ours = RmsProp()
        for _ in range(400):
            step = ours.step(np.full(5, slope))
            assert np.isfinite(step).all()
            assert (step <= 0).all()


def test_a_new_weight_begins_as_all_did():
    """Those before it don't notice."""
    generator = np.random.default_rng(4)
    slopes = generator.normal(size=(20, 5))
    grown, older, newer = RmsProp(), RmsProp(), RmsProp()
    for i, slope in enumerate(slopes):
        if i < 8:
            assert grown.step(slope[:3]).tolist() == older.step(slope[:3]).tolist()
        else:
            assert grown.step(slope).tolist() == [*older.step(slope[:3]), *newer.step(slope[3:])]


def test_a_restored_optimizer_continues_as_the_saved_one():
    generator = np.random.default_rng(5)
    one, other = RmsProp(), RmsProp()
    for slope in generator.normal(size=(5, 4)):
        one.step(slope)
    other.set({key: array.copy() for key, array in one.arrays().items()})
    for slope in generator.normal(size=(5, 6)):
        assert one.step(slope).tolist() == other.step(slope).tolist()
