"""Networks in torch: what is exported computes the same, as data and compiled."""

import numpy as np
import pytest
import torch

from kibitz.nets.mlp import logits
from kibitz.train.mmd.networks import exported, new_network


def example(kind, inputs=7, outputs=4):
    """A network with random weights, inputs of which some are 0, and its outputs."""
    generator = np.random.default_rng(1)
    network = new_network(kind, inputs, (32, 5, 9), outputs, generator)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(torch.from_numpy(generator.normal(size=parameter.shape)))
        x = (generator.normal(size=(30, inputs)) * (generator.random((30, inputs)) < 0.6)).astype(np.float32)
        x[0] = 0
        return network, x, network(torch.from_numpy(x)).numpy()


@pytest.mark.parametrize("kind", ["mlp", "residual"])
def test_the_exported_network_computes_the_same(kind):
    network, x, wanted = example(kind)
    np.testing.assert_allclose(logits(exported(network), x), wanted, rtol=1e-3, atol=1e-3)


def test_a_residual_network_has_skip_connections():
    """With blocks of zeros it is its first and its last layer."""
    network = new_network("residual", 3, (8, 8), 2, np.random.default_rng(1))
    with torch.no_grad():
        for part in network.parts[2:-1]:
            for parameter in part.parameters():
                parameter.zero_()
        x = torch.randn(5, 3, generator=torch.Generator().manual_seed(1))
        torch.testing.assert_close(network(x), network.parts[-1](network.parts[0](x).relu()))


def test_the_first_policy_is_nearly_uniform():
    network = new_network("residual", 3, (8, 8), 4, np.random.default_rng(1))
    with torch.no_grad():
        assert network(torch.ones(1, 3)).abs().max() < 0.1
