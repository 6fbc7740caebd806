"""The loss of mmd: its gradient is the numeric one, and its minimum is the step of mirror descent."""

import numpy as np
import pytest
import torch

from kibitz.train.mmd.loss import log_policy, policy_terms

ROWS, ACTIONS = 6, 4
ENTROPY, KL, CLIP = 0.3, 0.7, 0.2
TRUST = torch.tensor([1.0, 0.5, 1.0, 0.0, 0.25, 1.0], dtype=torch.float64)


def example(seed=1):
    """Logits, and the other arguments of the loss; some actions are illegal, some ratios are clipped."""
    generator = np.random.default_rng(seed)
    legal = generator.random((ROWS, ACTIONS)) < 0.7
    legal[:, 0] = True
    actions = np.array([generator.choice(np.flatnonzero(row)) for row in legal])
    logits, before = generator.normal(size=(2, ROWS, ACTIONS))
    gains, expected = generator.normal(size=ROWS), generator.normal(size=(ROWS, ACTIONS)) * legal
    legal = torch.from_numpy(legal)
    rest = (log_policy(torch.from_numpy(before), legal), legal, *map(torch.from_numpy, (actions, gains, expected)))
    return torch.from_numpy(logits), rest


def loss(logits, before, legal, actions, gains, expected, clip=CLIP, trust=TRUST):
    terms = policy_terms(log_policy(logits, legal), before, legal, actions, gains, expected, trust, clip)
    return terms.clipped - ENTROPY * terms.trusted + KL * terms.kl


def by_definition(logits, before, legal, actions, gains, expected):
    """The loss in plain Python, action by action."""
    total = 0.0
    for row in range(ROWS):
        here = [a for a in range(ACTIONS) if legal[row, a]]
        new = np.exp([float(logits[row, a]) for a in here])
        new, old = new / new.sum(), np.exp([float(before[row, a]) for a in here])
        for a, p, q in zip(here, new, old, strict=True):
            for weight, gain in ((q, float(expected[row, a])), (float(a == actions[row]), float(gains[row]))):
                total -= float(TRUST[row]) * weight * min(p / q * gain, min(max(p / q, 1 - CLIP), 1 + CLIP) * gain)
            total += float(TRUST[row]) * ENTROPY * p * np.log(p) + KL * p * np.log(p / q)
    return total / ROWS


@pytest.mark.parametrize("seed", range(3))
def test_the_loss_is_its_definition(seed):
    logits, rest = example(seed)
    assert float(loss(logits, *rest)) == pytest.approx(by_definition(logits, *rest), abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_its_gradient_is_the_numeric_one(seed):
    logits, rest = example(seed)
    logits.requires_grad_()
    (found,) = torch.autograd.grad(loss(logits, *rest), logits)
    numeric, step = torch.zeros_like(found), 1e-6
    with torch.no_grad():
        for row in range(ROWS):
            for action in range(ACTIONS):
                moved = torch.zeros_like(found)
                moved[row, action] = step
                numeric[row, action] = (loss(logits + moved, *rest) - loss(logits - moved, *rest)) / (2 * step)
    torch.testing.assert_close(found, numeric, atol=1e-8, rtol=1e-6)
    assert (found[~rest[1]] == 0).all()


def test_its_minimum_is_the_step_of_magnetic_mirror_descent():
    """policy ~ (old * exp(q / KL))^(1 / (1 + ENTROPY / KL)), where nothing is clipped."""
    logits, (before, legal, actions, gains, expected) = example()
    logits.requires_grad_()
    optimizer = torch.optim.LBFGS([logits], max_iter=500, tolerance_grad=1e-12, tolerance_change=1e-14)

    def closure():
        optimizer.zero_grad()
        found = loss(logits, before, legal, actions, 0 * gains, expected, clip=1e9, trust=torch.ones_like(TRUST))
        found.backward()
        return found

    optimizer.step(closure)
    wanted = log_policy((before + expected / KL) / (1 + ENTROPY / KL), legal).exp()
    torch.testing.assert_close(log_policy(logits.detach(), legal).exp(), wanted, atol=1e-6, rtol=1e-5)
