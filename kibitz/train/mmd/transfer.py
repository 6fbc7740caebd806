"""Rows on their way between the cores and the device of the network."""

from collections.abc import Sequence

import numpy as np
import torch


class Transfer:
    """Copies of up to `rows` rows, to the device or back.

    To and from a GPU they go through page-locked memory, which it reads and writes while the cores do other things.
    There is one such buffer: the next copy may begin when the GPU has done what follows from this one.
    """

    def __init__(self, device: torch.device, rows: int, width: int, dtype: torch.dtype) -> None:
        self.device, self.buffer = device, torch.empty(0)
        self.on_gpu = device.type == "cuda"
        if self.on_gpu:
            self.buffer = torch.empty((rows, width), dtype=dtype, pin_memory=True)
            self.done = torch.cuda.Event()

    def send(self, parts: Sequence[np.ndarray]) -> torch.Tensor:
        """The rows of all parts, as a new tensor on the device."""
        if not self.on_gpu:
            return torch.from_numpy(np.concatenate(parts)).to(self.device)
        used = self.buffer[: sum(map(len, parts))]
        np.concatenate(parts, out=used.numpy())
        return used.to(self.device, non_blocking=True)

    def fetch(self, rows: torch.Tensor) -> np.ndarray:
        """Rows of the device as an array, on a GPU until the next call; other threads' work there isn't waited for."""
        if not self.on_gpu:
            return rows.cpu().numpy()
        used = self.buffer[: len(rows)]
        used.copy_(rows, non_blocking=True)
        self.done.record()
        self.done.synchronize()
        return used.numpy()
