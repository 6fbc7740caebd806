"""A torch module and its optimizer in a tensor file, from which training resumes exactly."""

from pathlib import Path
from typing import Any

import torch

from ..core.files import Expected, Shapes, check_fits, read_tensors, write_tensors


def save_state(
    path: Path,
    format: str,
    module: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    extra: dict[str, Any],
    **about: Any,
) -> None:
    """Write the state of a module and its optimizer, with `extra` tensors or arrays and JSON values `about` them."""
    tensors = {f"network.{key}": value for key, value in module.state_dict().items()}
    for number, state in optimizer.state_dict()["state"].items():
        tensors |= {f"adam.{number}.{key}": value for key, value in state.items()}
    arrays = {key: value.detach().cpu().numpy() for key, value in tensors.items()}
    arrays |= {key: torch.as_tensor(value).cpu().numpy() for key, value in extra.items()}
    write_tensors(path, format, arrays, **about)


def restore_state(
    path: Path,
    format: str,
    module: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    extra_schema: dict[str, Expected],
    about_schema: dict[str, Any],
) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Read what `save_state` wrote into the module and optimizer; return extra tensors and values about them."""
    own = {f"network.{key}": value for key, value in module.state_dict().items()}
    parameters = [each for group in optimizer.param_groups for each in group["params"]]

    def schema(shapes: Shapes, about: dict[str, Any]) -> dict[str, Expected]:
        check_fits(about, about_schema)
        wanted = {key: _like(value) for key, value in own.items()} | extra_schema
        for key in shapes:
            kind, _, rest = key.partition(".")
            number, _, name = rest.partition(".")
            if kind == "adam":
                parameter = parameters[int(number)]
                wanted[key] = Expected("float32", ()) if name == "step" else _like(parameter)
        return wanted

    arrays, about = read_tensors(path, format, "checkpoint", schema)
    tensors = {key: torch.from_numpy(array) for key, array in arrays.items()}
    state, moments, extra = {}, dict[int, dict[str, Any]](), {}
    for key, value in tensors.items():
        kind, _, rest = key.partition(".")
        if kind == "network":
            state[rest] = value
        elif kind == "adam":
            number, _, name = rest.partition(".")
            moments.setdefault(int(number), {})[name] = value
        else:
            extra[key] = value
    module.load_state_dict(state)
    if moments:
        optimizer.load_state_dict(optimizer.state_dict() | {"state": moments})
    return extra, about


def _like(tensor: torch.Tensor) -> Expected:
    return Expected(str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape))
