"""Policy and value networks in torch: perceptrons, plain or residual.

A residual network exports as a plain one that computes the same: its units are never negative, so that a ReLU passes
them on unchanged, and a block

    x <- relu(x + relu(x A + a) B + b)

is a layer [x, relu(x A + a)] with the weights [1, A], and one with the weights [1; B]. So search, players and exact
evaluation take both alike.
"""

from collections.abc import Sequence

import numpy as np
import torch

from ...nets.mlp import Layers, new_layers
from ...nets.torch_mlp import as_module, layers_of


class Residual(torch.nn.Module):
    """A first layer, blocks with a skip connection, and a linear last layer."""

    def __init__(self, layers: Layers) -> None:
        """Of layers in the order first, two per block, last."""
        super().__init__()
        self.parts = as_module(layers)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        first, *inner, last = [part for part in self.parts if isinstance(part, torch.nn.Linear)]
        x = first(x).relu()
        for into, out in zip(inner[::2], inner[1::2], strict=True):
            x = (x + out(into(x).relu())).relu()
        return last(x)


def new_network(
    kind: str, inputs: int, hidden: Sequence[int], outputs: int, generator: np.random.Generator
) -> torch.nn.Module:
    """An untrained network; the first hidden size is the width, each further one that of a block, but of an `mlp`."""
    if kind == "mlp":
        layers = new_layers([inputs, *hidden, outputs], generator)
    else:
        width = hidden[0]
        sizes = [(inputs, width), *(pair for size in hidden[1:] for pair in ((width, size), (size, width)))]
        layers = [new_layers(pair, generator)[0] for pair in (*sizes, (width, outputs))]
    weights, biases = layers[-1]
    weights *= 0.01  # the first policy is nearly uniform, the first values are nearly 0
    biases[:] = 0
    return as_module(layers) if kind == "mlp" else Residual(layers)


def exported(network: torch.nn.Module) -> Layers:
    """The layers of a plain perceptron that computes the same."""
    if isinstance(network, torch.nn.Sequential):
        return layers_of(network)
    assert isinstance(network, Residual)
    first, *inner, last = layers_of(network.parts)
    found, same = [first], np.eye(len(first[1]), dtype=np.float32)
    for (into, offset), (out, biases) in zip(inner[::2], inner[1::2], strict=True):
        found.append((np.hstack([same, into]), np.concatenate([np.zeros(len(same), np.float32), offset])))
        found.append((np.vstack([same, out]), biases))
    return [*found, last]
