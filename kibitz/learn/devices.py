"""Devices of torch that commands name: `cpu`, or `cuda` where there is a GPU."""

from ..core.names import BadInput, choose

DEVICES = ("cpu", "cuda")


def check_device(device: str) -> None:
    """Refuse a device that isn't known, and a GPU that isn't there."""
    import torch

    choose("device", device, DEVICES)
    if device == "cuda" and not torch.cuda.is_available():
        raise BadInput("--device cuda: torch finds no GPU here; --device cpu runs on processor cores")
