"""Policy and value networks in torch: perceptrons, plain or residual, and attention (see `learn.attention`).

A residual network exports as a plain one that computes the same: its units are never negative, so that a ReLU passes
them on unchanged, and a block

    x <- relu(x + relu(x A + a) B + b)

is a layer [x, relu(x A + a)] with the weights [1, A], and one with the weights [1; B]. So search, players and exact
evaluation take both alike.
"""

from collections.abc import Sequence

import numpy as np
import torch

from ..attention import HEAD, TINY, AttentionWeights, new_attention
from ..mlp import Layers, new_layers
from ..policy_networks import PolicyNetwork
from ..torch_mlp import as_module, layers_of


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


class Attention(torch.nn.Module):
    """A network of `learn.attention` whose tensors are parameters."""

    def __init__(self, network: AttentionWeights) -> None:
        super().__init__()
        self.blocks = network.blocks
        self.tensors = torch.nn.ParameterDict(
            {name.replace(".", "_"): torch.from_numpy(array) for name, array in network.tensors.items()}
        )
        self.names = list(network.tensors)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        given = self.tensors
        count = max(1, int((x != 0).sum(dim=1).max()))  # the most tokens of a row
        used, which = (x != 0).float().topk(count, dim=1)
        ones = torch.ones(len(x), 1, device=x.device)
        used = torch.cat([ones, used], dim=1).bool()
        tokens = x.gather(1, which)[:, :, None] * given["embedding"][which]
        tokens = torch.cat([given["answer"].expand(len(x), 1, -1), tokens], dim=1)
        for block in range(self.blocks):
            seen = _norm(tokens)
            if block == self.blocks - 1:
                tokens = tokens[:, :1]
            query, key, value = (
                _heads(each @ given[f"{block}_{name}"])
                for each, name in ((seen[:, : tokens.shape[1]], "query"), (seen, "key"), (seen, "value"))
            )
            mixed = torch.nn.functional.scaled_dot_product_attention(query, key, value, used[:, None, None, :])
            tokens = tokens + mixed.transpose(1, 2).reshape(tokens.shape) @ given[f"{block}_out"]
            inner = (_norm(tokens) @ given[f"{block}_up"] + given[f"{block}_up_bias"]).relu()
            tokens = tokens + inner @ given[f"{block}_down"] + given[f"{block}_down_bias"]
        return _norm(tokens[:, 0]) @ given["last"] + given["last_bias"]

    def weights(self) -> AttentionWeights:
        """Its tensors as arrays."""
        arrays = {name: self.tensors[name.replace(".", "_")].detach().cpu().numpy().copy() for name in self.names}
        return AttentionWeights(arrays)


def _norm(x: torch.Tensor) -> torch.Tensor:
    return x * torch.rsqrt((x * x).mean(dim=-1, keepdim=True) + TINY)


def _heads(x: torch.Tensor) -> torch.Tensor:
    """[rows, tokens, width] -> [rows, heads, tokens, HEAD]."""
    return x.reshape(*x.shape[:2], -1, HEAD).transpose(1, 2)


def new_network(
    kind: str, inputs: int, hidden: Sequence[int], outputs: int, generator: np.random.Generator
) -> torch.nn.Module:
    """An untrained network; the first hidden size is the width, each further one that of a block, but of an `mlp`."""
    if kind == "attention":
        network = new_attention(inputs, hidden[0], hidden[1:], outputs, generator)
        network.tensors["last"][:] *= 0.01
        return Attention(network)
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


def exported(network: torch.nn.Module) -> PolicyNetwork:
    """A network that computes the same as data: a plain perceptron, or attention."""
    if isinstance(network, Attention):
        return network.weights()
    if isinstance(network, torch.nn.Sequential):
        return layers_of(network)
    assert isinstance(network, Residual)
    first, *inner, last = layers_of(network.parts)
    found, same = [first], np.eye(len(first[1]), dtype=np.float32)
    for (into, offset), (out, biases) in zip(inner[::2], inner[1::2], strict=True):
        found.append((np.hstack([same, into]), np.concatenate([np.zeros(len(same), np.float32), offset])))
        found.append((np.vstack([same, out]), biases))
    return [*found, last]
