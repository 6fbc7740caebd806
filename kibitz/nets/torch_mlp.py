"""Perceptrons in torch: conversion, the loss of policies, evaluation in batches."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

from ..core.names import BadInput
from .devices import one_thread
from .mlp import Layers

BANNED = -1e9  # logit of an illegal action


def as_module(layers: Layers) -> torch.nn.Sequential:
    parts: list[torch.nn.Module] = []
    for weights, biases in layers:
        part = torch.nn.Linear(*weights.shape)
        with torch.no_grad():
            part.weight.copy_(torch.from_numpy(weights.T.copy()))
            part.bias.copy_(torch.from_numpy(biases))
        parts += [part, torch.nn.ReLU()]
    return torch.nn.Sequential(*parts[:-1])


def layers_of(module: torch.nn.Sequential) -> Layers:
    """The layers of a module: the inverse of `as_module`."""
    linear = [part for part in module if isinstance(part, torch.nn.Linear)]
    return [(part.weight.detach().cpu().numpy().T.copy(), part.bias.detach().cpu().numpy().copy()) for part in linear]


def divergence(logits: torch.Tensor, policies: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    """Mean over the rows of KL(policies || softmax of the logits over legal actions)."""
    said = torch.log_softmax(torch.where(legal, logits, BANNED), dim=1)
    wanted = torch.where(policies > 0, policies, 1.0).log()
    return (policies * (wanted - said)).sum(dim=1).mean()


def minimize(
    optimizer: torch.optim.Optimizer,
    loss: torch.Tensor,
    clipped: Iterable[torch.nn.Parameter | torch.Tensor] = (),
    max_norm: float = 0.0,
) -> torch.Tensor:
    """One gradient step; returns the loss. With `max_norm` the gradients of `clipped` are clipped to it first."""
    optimizer.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    if max_norm:
        torch.nn.utils.clip_grad_norm_(clipped, max_norm)
    optimizer.step()
    return loss.detach()


def batch_evaluator(layers: Layers, device: str) -> Any:
    """Return the function from encodings to logits, both NumPy arrays [rows, ...] f4."""
    network = as_module(layers).to(device).eval()

    def evaluate(encodings: np.ndarray) -> np.ndarray:
        with one_thread(), torch.inference_mode():
            return network(torch.from_numpy(encodings).to(device)).cpu().numpy()

    return evaluate


def pick_device(name: str, large: bool) -> str:
    """The device of a name; `auto` is CUDA where it is available and the network is large enough to gain by it."""
    if name == "cuda" and not torch.cuda.is_available():
        raise BadInput("device=cuda: no CUDA device is available; use device=cpu")
    return ("cuda" if large and torch.cuda.is_available() else "cpu") if name == "auto" else name
