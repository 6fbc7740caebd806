"""Supervised learning from recorded games: an iteration is an epoch, a step is a minibatch.

Which games a minibatch contains follows from the seed and its number alone, so that a run that was killed in the middle
of an epoch resumes exactly from its last checkpoint.
"""

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.names import BadInput
from ..core.progress import Reporter
from ..core.tensor_files import Format
from .checkpoints import Changed
from .learner import Learner, Metrics, Samples

if TYPE_CHECKING:
    import torch

NOTE_SECONDS = 0.5  # between two reports of the loss, as reading it waits for the device
FORMAT = Format("kibitz supervised 1", "checkpoint", about={"source": str})
EXTRA = {"total": "float32|float64", "done": "int64"}  # in a checkpoint


class Supervised(Learner):
    """Base class: a subclass sets `steps`, calls `start`, and has `minibatch`, `evaluate` and `export`."""

    def start(self, source: str, module: "torch.nn.Module") -> None:
        """Set up Adam for a module. `source` identifies the recorded games: a run resumes with the same ones only."""
        import torch

        self.source = source
        self.module: Any = module
        self.device = next(module.parameters()).device
        self.optimizer = torch.optim.Adam(module.parameters(), lr=self.config.learning_rate, fused=True)
        self.total = torch.zeros((), dtype=torch.float64, device=self.device)  # losses of this epoch

    def minibatch(self, epoch: int, step: int) -> "torch.Tensor":
        """Learn from one minibatch, both numbers from 0, and return its loss."""
        raise NotImplementedError

    def learn(self, iteration: int, samples: Samples | None, report: Reporter) -> Metrics:
        if self.step == self.steps:  # the epoch before is complete
            self.step = 0
        began = noted = time.perf_counter()
        first, all_steps, note = self.step, self.config.iterations * self.steps, ""
        while self.step < self.steps:
            if self.step > first:
                self.pause()
            if self.step == 0:
                self.total.zero_()
            self.total += self.minibatch(iteration - 1, self.step)
            self.step += 1
            now = time.perf_counter()
            if now - noted > NOTE_SECONDS:
                noted, note = now, f"loss {self.loss():.4f}  {(self.step - first) / (now - began):,.1f} steps/s"
            report.progress((iteration - 1) * self.steps + self.step, all_steps, note)
        return {"loss": self.loss()}

    def loss(self) -> float:
        """Mean loss of this epoch so far."""
        return float(self.total) / max(self.step, 1)

    def refuse_divergence(self, loss: float) -> None:
        """Raise BadInput where the validation loss is not finite: such a network must not be kept."""
        if not math.isfinite(loss):
            raise BadInput(f"the network's loss is {loss}: learning_rate={self.config.learning_rate} is too high")

    def save(self, folder: Path) -> None:
        from ..nets.torch_state import save_state

        extra = {"total": self.total, "done": self.step}
        save_state(folder / "pupil.safetensors", FORMAT, self.module, self.optimizer, extra, source=self.source)

    def restore(self, folder: Path) -> None:
        from ..nets.torch_state import restore_state

        extra, about = restore_state(folder / "pupil.safetensors", FORMAT, self.module, self.optimizer, EXTRA)
        if about["source"] != self.source:
            raise Changed(f"{self.config.data} holds other games now than when the run was begun")
        self.total, self.step = extra["total"].to(self.device), int(extra["done"])
