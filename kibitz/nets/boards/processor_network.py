"""Residual networks of boards on a processor, in numpy: players start without torch, which takes seconds to import.

A convolution is a matrix product of gathered neighbours, which is several times as fast as torch's own for boards of
this size, and as fast in numpy as in torch.
"""

from typing import TYPE_CHECKING, Union

import numpy as np

from ...core.process_settings import one_blas_thread
from ...search.batched_puct import Batch
from .geometry import Geometry
from .networks import Shape, Weights

if TYPE_CHECKING:
    from .torch_network import GpuEvaluator


def evaluator(geometry: Geometry, shape: Shape, weights: Weights, device: str) -> Union["Evaluator", "GpuEvaluator"]:
    """The network on a device."""
    if not device.startswith("cuda"):
        return Evaluator(geometry, shape, weights)
    from .torch_network import GpuEvaluator

    return GpuEvaluator(geometry, shape, weights, device)


class Evaluator:
    """A network that answers batches, in single precision. Several threads may ask it at the same time."""

    on_gpu = False

    def __init__(self, geometry: Geometry, shape: Shape, weights: Weights) -> None:
        self.geometry, self.shape, self.weights = geometry, shape, weights
        self.neighbours = geometry.neighbours.reshape(-1)

    @one_blas_thread()
    def __call__(self, encodings: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Logits [rows, actions] and values [rows]."""
        geometry, n = self.geometry, len(encodings)
        given = np.zeros((n, geometry.cells + 1, geometry.planes + 1), np.float32)  # the last cell is beyond the edge
        given[:, :-1, :-1] = encodings.reshape(n, geometry.planes, geometry.cells).transpose(0, 2, 1)
        given[:, :-1, -1] = 1
        trunk, inner = np.zeros((2, n, geometry.cells + 1, self.shape.channels), np.float32)
        x = trunk[:, :-1]
        np.maximum(self._convolve("stem", given), 0, out=x)
        for i in range(self.shape.blocks):
            np.maximum(self._convolve(f"block.{i}.first", trunk), 0, out=inner[:, :-1])
            np.maximum(x + self._convolve(f"block.{i}.second", inner), 0, out=x)
        pooled = np.maximum(self._linear("pool", x), 0).reshape(n, -1)
        logits = []
        if geometry.by_cell:
            by_cell = self._linear("policy.second", np.maximum(self._linear("policy.first", x), 0))
            logits.append(by_cell.transpose(0, 2, 1).reshape(n, -1))
        if geometry.others:
            logits.append(self._linear("others", pooled))
        values = np.tanh(self._linear("value.second", np.maximum(self._linear("value.first", pooled), 0)))[:, 0]
        return np.concatenate(logits, axis=1), values

    def _convolve(self, layer: str, x: np.ndarray) -> np.ndarray:
        n, cells = len(x), self.geometry.cells
        around = x.take(self.neighbours, axis=1).reshape(n * cells, -1)
        return self._linear(layer, around).reshape(n, cells, -1)

    def _linear(self, layer: str, x: np.ndarray) -> np.ndarray:
        found: np.ndarray = x.reshape(-1, x.shape[-1]) @ self.weights[f"{layer}.weight"]
        found += self.weights[f"{layer}.bias"]
        return found.reshape(*x.shape[:-1], -1)

    def exchange(self, rows: int, number: int = 0) -> "Exchange":
        """The memory for a batch; its number matters on a GPU only."""
        return Exchange(self, rows)


class Exchange:
    """A batch and its answers: `ask` once encodings are written, `wait` before logits and values are read."""

    def __init__(self, evaluate: Evaluator, rows: int) -> None:
        geometry = evaluate.geometry
        shapes = (rows, geometry.planes * geometry.cells), (rows, geometry.frames.shape[1]), rows
        self.evaluate, self.batch = evaluate, Batch(*(np.zeros(shape, np.float32) for shape in shapes))

    def ask(self) -> None:
        self.batch.logits[:], self.batch.values[:] = self.evaluate(self.batch.encodings)

    def wait(self) -> None:
        pass
