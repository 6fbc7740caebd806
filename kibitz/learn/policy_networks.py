"""Networks that are the policy of one game, whatever their architecture: layers of a perceptron, or attention."""

from pathlib import Path
from typing import Any

import numpy as np

from ..core.files import tensor_file_format
from ..games import Game
from . import attention, mlp
from .attention import AttentionWeights
from .mlp import Layers

PolicyNetwork = Layers | AttentionWeights


def read_network(path: Path, game: Game | None = None) -> PolicyNetwork:
    """Read a network file; BadInput where it is none, is damaged, or is for another game than `game`."""
    if path.is_file() and tensor_file_format(path) == attention.FORMAT:
        return attention.read_attention(path, game)[0]
    return mlp.read_layers(path, game)[0]


def save_network(path: Path, game: Game, network: PolicyNetwork, made: str = "") -> None:
    """Write a network file atomically; `made` describes its origin."""
    if isinstance(network, AttentionWeights):
        attention.save_attention(path, game, network, made)
    else:
        mlp.save_layers(path, game, network, made)


def compiled(network: PolicyNetwork) -> Any:
    """Compile a network into a policy. It has buffers of its own, so it serves one search at a time."""
    return attention.compiled_attention(network) if isinstance(network, AttentionWeights) else mlp.compiled(network)


def logits(network: PolicyNetwork, encodings: np.ndarray) -> np.ndarray:
    """Logits [rows, actions] of encodings [rows, inputs]."""
    if isinstance(network, AttentionWeights):
        return attention.attention_logits(network, encodings)
    return mlp.logits(network, encodings)


def action_probs(game: Game, network: PolicyNetwork, views: np.ndarray) -> np.ndarray:
    """The policy at many views of the seat to move: [views, num_actions], legal actions first, then zeros."""
    if isinstance(network, AttentionWeights):
        from ..search import policies

        return policies.action_probs(game, compiled(network), views)
    return mlp.action_probs(game, network, views)
