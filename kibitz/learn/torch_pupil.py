"""What networks that learn from recorded games have in common: their loss so far, and how they are kept."""

import math
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch

from ..core.files import write_atomically
from ..core.names import BadInput
from .checkpoints import Changed
from .torch_state import packed, unpack


class TorchPupil:
    """A `Pupil` of `lessons` but for what it learns, judges and publishes."""

    def __init__(self, config: Any, source: str, module: torch.nn.Module, device: torch.device) -> None:
        self.config, self.source, self.device = config, source, device
        self.optimizer = torch.optim.Adam(module.parameters(), lr=config.rate, fused=True)
        self.module: Any = module
        self.total = torch.zeros((), dtype=torch.float64, device=device)  # of losses in this pass
        self.done = 0  # minibatches in it

    def count(self, loss: torch.Tensor, step: int) -> None:
        """One more minibatch, of this number in the pass."""
        if step == 0:
            self.total.zero_()
            self.done = 0
        self.total += loss
        self.done += 1

    def loss(self) -> float:
        return float(self.total) / max(self.done, 1)

    def refuse_nonsense(self, loss: float) -> None:
        """Before it is kept: a network that has run away would stay so."""
        if not math.isfinite(loss):
            raise BadInput(f"the network's loss is {loss}: rate={self.config.rate} is too high")

    @property
    def bytes(self) -> int:
        """Of the network."""
        return sum(each.nbytes for each in self.module.parameters())

    def save(self, folder: Path) -> None:
        tensors = packed(self.module, self.optimizer)
        tensors |= {"total": self.total.cpu(), "done": torch.tensor(self.done)}
        write_atomically(folder / "pupil.safetensors", safetensors.torch.save(tensors, {"source": self.source}))

    def restore(self, folder: Path) -> None:
        with safetensors.safe_open(folder / "pupil.safetensors", "pt") as file:  # type: ignore[no-untyped-call]
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
            source = file.metadata()["source"]
        if source != self.source:
            raise Changed(f"{self.config.data} holds other games now than when the run was begun")
        self.total, self.done = tensors.pop("total").to(self.device), int(tensors.pop("done"))
        unpack(tensors, self.module, self.optimizer)
