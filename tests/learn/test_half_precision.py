"""On the last street a GPU computes in half precision, with rows scaled: the same as in single, up to rounding.

Here by the steps in plain torch; tests/learn/test_triton_kernels.py compares these with the kernels.
"""

import numpy as np
import pytest
import torch

from kibitz.games import load
from kibitz.poker.gpu.cfr_br import CfrBr
from kibitz.poker.gpu.public_best_response import PublicBestResponse
from kibitz.poker.gpu.public_chance import TorchPublicChanceCfr
from kibitz.poker.gpu.public_streets import halved, packed, unpacked
from kibitz.poker.solve.buckets import lossless
from kibitz.poker.solve.cards import cards_of
from kibitz.poker.solve.strategy import TableStrategy

GAMES = ["holdem:streets=3,ranks=4,suits=2", "holdem:streets=3,ranks=4,suits=2,stack=40"]  # the second with all-ins


def made(kind, name, half, **options):
    game = load(name)
    solver = kind(game, lossless(cards_of(game)), **options)
    solver.half = half
    return solver


def close(one, other, share=0.0):
    """All but a share of the entries."""
    assert ((one - other).abs() > 3e-3 * other.abs().max()).float().mean() <= share


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("kind", [TorchPublicChanceCfr, CfrBr])
def test_solvers(kind, name):
    half, single = (made(kind, name, each, boards=3) for each in (True, False))
    for solver in (half, single):
        solver.run(1)
    close(half.regrets, single.regrets, 1e-2)  # CFR-BR: where two actions are equally good, its opponents take either
    close(half.sums, single.sums)
    assert half.total == pytest.approx(float(single.total), rel=3e-3, abs=1e-2)
    assert not torch.equal(half.regrets, single.regrets)


@pytest.mark.parametrize("name", GAMES)
def test_best_response(name):
    solver = made(TorchPublicChanceCfr, name, False)
    solver.run(20)
    found = []
    for half in (True, False):
        strategy = TableStrategy(solver.game, solver.tree, solver.buckets, solver.first, solver.probs())
        response = PublicBestResponse(strategy)
        response.half = half
        response.run()
        found.append(response.values())
    assert found[0] == pytest.approx(found[1], abs=2e-4)
    assert found[0] != found[1]


def test_small_reaches_keep_their_digits():
    reach = torch.rand(2, 3, 50) * 1e-20
    (half, _), (scale, _) = halved((reach, reach))
    assert half.dtype == torch.float16
    close(half.float() * scale[..., None], reach)
    assert (halved((reach * 0, reach))[0][0] == 0).all()


@pytest.mark.parametrize("n", [2, 3])
def test_packed_probabilities(n):
    probs = torch.rand(1000, n)
    probs[:3] = torch.eye(3)[:, :n]
    probs[:, -1] += 1e-6
    probs /= probs.sum(1, keepdim=True)
    found = unpacked(packed(probs), n)
    assert np.allclose(found, probs, atol=3e-5)
    assert (found >= -1e-7).all()
    assert torch.allclose(found.sum(1), torch.ones(1000))
