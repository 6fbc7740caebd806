"""Starting from a trained policy: its layers inside a network that is as large or larger and computes the same."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.names import BadInput
from ...core.tensor_files import tensor_file_format
from ...games import Game, full_name
from ...nets.mlp import Layers, compiled, new_layers, read_layers
from ...nets.model_files import NETWORKS, network_file


class Start(NamedTuple):
    """A policy from a file."""

    layers: Layers
    network: Any = None  # the `network_kind` of the file, where it is another than a perceptron

    @property
    def known(self) -> int:
        """Number of actions, from 0 on, that it has logits for; others may have none, such as announcements."""
        return len(self.layers[-1][1])

    def policy(self, layers: Layers) -> Any:
        """Layers as a policy for kernels, which plays as the file's player does."""
        return compiled(layers) if self.network is None else self.network.policy(layers)


def read_start(name: str, game: Game) -> Start:
    """The policy of a run, a network file or `models/NAME`: a perceptron, or one of the kinds of networks."""
    path = network_file(name)
    kind = tensor_file_format(path)
    if kind not in NETWORKS:
        return Start(read_layers(path, game)[0])
    network = NETWORKS[kind](path)
    if network.game != full_name(game):
        raise BadInput(f"start={name} is for {network.game}, not {full_name(game)}")
    return Start(network.layers, network)


def grown(layers: Layers, hidden: Sequence[int], outputs: int, generator: np.random.Generator) -> Layers:
    """Layers of larger sizes that compute the same: new units and outputs have no effect yet.

    Additional hidden layers pass the last hidden units on.
    """
    *inner, (weights, biases) = layers
    depth = len(weights)
    same = [(np.eye(depth, dtype=np.float32), np.zeros(depth, np.float32))] * (len(hidden) - len(inner))
    old = [*inner, *same, (weights, biases)]
    found = new_layers([len(layers[0][0]), *hidden, outputs], generator)
    for i, ((new_weights, new_biases), (weights, biases)) in enumerate(zip(found, old, strict=True)):
        inputs, width = weights.shape
        if i == len(old) - 1:
            new_weights[:], new_biases[:] = 0, 0
        new_weights[inputs:, :width] = 0
        new_weights[:inputs, :width], new_biases[:width] = weights, biases
    return found


def check_start(name: str, layers: Layers, network: str, hidden: Sequence[int]) -> None:
    """Refuse sizes that the layers don't fit into."""
    sizes = [len(biases) for _, biases in layers[:-1]]
    needed = sizes + sizes[-1:] * (len(hidden) - len(sizes))
    if network != "mlp" or len(needed) > len(hidden) or any(a > b for a, b in zip(needed, hidden, strict=True)):
        least = "-".join(map(str, sizes))
        raise BadInput(f"start={name} has layers of {least}: network should be mlp, and hidden {least} or larger")
