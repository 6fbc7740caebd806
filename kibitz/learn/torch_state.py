"""A network and its optimizer as named tensors, to be kept in a file and learned on with exactly."""

from collections.abc import Mapping
from typing import Any

import torch


def packed(network: torch.nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    tensors = {f"network.{key}": value for key, value in network.state_dict().items()}
    for number, state in optimizer.state_dict()["state"].items():
        tensors |= {f"adam.{number}.{key}": value for key, value in state.items()}
    return {key: value.detach().cpu().contiguous() for key, value in tensors.items()}


def unpack(tensors: Mapping[str, torch.Tensor], network: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    kept = {key.removeprefix("network."): value for key, value in tensors.items() if key.startswith("network.")}
    network.load_state_dict(kept)
    states: dict[int, dict[str, Any]] = {}
    for key, value in tensors.items():
        kind, _, rest = key.partition(".")
        if kind == "adam":
            number, _, name = rest.partition(".")
            states.setdefault(int(number), {})[name] = value
    if states:
        optimizer.load_state_dict(optimizer.state_dict() | {"state": states})
