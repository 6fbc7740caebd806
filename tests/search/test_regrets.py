"""Regret matching and discounts are the same for numbers in kernels, in NumPy and in torch."""

import numpy as np
import pytest
import torch

from kibitz.solve.regrets import VARIANTS, discount, discounted, match, matched, rates, scale_and_rest, tensor_rates

REGRETS = np.array([[3.0, 1.0, -2.0], [-1.0, -2.0, 0.0], [1e-300, 0.0, 3e-300]])
EXPECTED = [[0.75, 0.25, 0.0], [1 / 3] * 3, [0.25, 0.0, 0.75]]


def test_regret_matching_in_all_forms():
    np.testing.assert_allclose(matched(REGRETS), EXPECTED)
    np.testing.assert_allclose(matched(torch.tensor(REGRETS)).numpy(), EXPECTED)
    for row, expected in zip(REGRETS, EXPECTED, strict=True):
        probs, positive = np.zeros(3), np.maximum(row, 0)
        match(np.append(7.0, row), 1, 3, probs)
        np.testing.assert_allclose(probs, expected)
        scale, rest = scale_and_rest(positive.sum(), 1 / 3, 0.0, 1.0, np.finfo(float).tiny)
        np.testing.assert_allclose(positive * scale + rest, expected)


def test_where_nothing_is_positive_it_is_what_is_asked_for():
    first = np.array([1.0, 0.0, 0.0])
    assert matched(REGRETS, first)[1].tolist() == [1.0, 0.0, 0.0]
    assert matched(torch.tensor(REGRETS), torch.tensor(first))[1].tolist() == [1.0, 0.0, 0.0]
    assert matched(REGRETS.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("method", VARIANTS)
def test_discounts_of_tensors_are_those_of_numbers(method):
    _, gain, loss = rates(VARIANTS[method], 7)
    tensor = torch.tensor(REGRETS)
    discount(tensor, *tensor_rates(VARIANTS[method], 7, tensor)[1:])
    assert tensor.tolist() == [[discounted(regret, gain, loss) for regret in row] for row in REGRETS.tolist()]


def test_rates_are_those_of_the_papers():
    assert rates(VARIANTS["cfr"], 4) == (1.0, 1.0, 1.0)
    assert rates(VARIANTS["cfr+"], 4) == (4.0, 1.0, 0.0)
    assert rates(VARIANTS["linear"], 4) == (4.0, 0.8, 0.8)
    assert rates(VARIANTS["dcfr"], 4) == (16.0, 8 / 9, 0.5)
