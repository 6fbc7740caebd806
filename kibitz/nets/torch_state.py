"""A torch module and its optimizer in a tensor file, from which training resumes exactly."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from ..core.tensor_files import About, Declared, Expected, Format, Shapes, like


def save_state(
    path: Path,
    format: Format,
    module: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    extra: Mapping[str, Any] | None = None,
    **about: Any,
) -> None:
    """Write the state of a module and its optimizer, with `extra` tensors or arrays and JSON values `about` them."""
    tensors = {f"network.{key}": value for key, value in module.state_dict().items()}
    for number, state in optimizer.state_dict()["state"].items():
        tensors |= {f"adam.{number}.{key}": value for key, value in state.items()}
    arrays = {key: value.detach().cpu().numpy() for key, value in tensors.items()}
    arrays |= {key: torch.as_tensor(value).cpu().numpy() for key, value in (extra or {}).items()}
    format.write(path, arrays, **about)


def restore_state(
    path: Path,
    format: Format,
    module: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    extra: Declared | None = None,
) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Read what `save_state` wrote into the module and optimizer; return extra tensors and values about them."""
    own = {f"network.{key}": like(value) for key, value in module.state_dict().items()}
    parameters = [each for group in optimizer.param_groups for each in group["params"]]

    def declared(about: About, shapes: Shapes) -> Declared:
        wanted: dict[str, str | Expected] = {**own, **(extra or {})}
        for key in shapes:
            kind, _, rest = key.partition(".")
            number, _, name = rest.partition(".")
            if kind == "adam":
                wanted[key] = "float32" if name == "step" else like(parameters[int(number)])
        return wanted

    arrays, about = format.read(path, declared)
    tensors = {key: torch.from_numpy(array) for key, array in arrays.items()}
    state, moments, others = {}, dict[int, dict[str, Any]](), {}
    for key, value in tensors.items():
        kind, _, rest = key.partition(".")
        if kind == "network":
            state[rest] = value
        elif kind == "adam":
            number, _, name = rest.partition(".")
            moments.setdefault(int(number), {})[name] = value
        else:
            others[key] = value
    module.load_state_dict(state)
    if moments:
        optimizer.load_state_dict(optimizer.state_dict() | {"state": moments})
    return others, about
