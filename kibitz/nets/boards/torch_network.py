"""Residual networks of boards in torch: training with batch normalization, and evaluation on a GPU without it.

A convolution is a matrix product of gathered neighbours on a processor, where it is several times as fast as torch's
own for boards of this size, and torch's convolution on a GPU. Both compute the same.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from ...search.batched_puct import Batch
from .geometry import Geometry
from .networks import Shape, Weights, layer_sizes

EPSILON = 1e-5
MOMENTUM = 0.05  # of running statistics

Normalize = Callable[[str, torch.Tensor], torch.Tensor]


class Places:
    """The geometry of a board as tensors on a device."""

    def __init__(self, geometry: Geometry, device: str) -> None:
        self.geometry, self.device, self.on_grid = geometry, torch.device(device), str(device).startswith("cuda")
        self.neighbours = torch.from_numpy(geometry.neighbours.reshape(-1)).to(device)
        self.grid = torch.from_numpy(geometry.grid).to(device)
        self.kernel = torch.tensor([3 * (r + 1) + c + 1 for r, c in geometry.taps], device=device)
        whole = torch.zeros(geometry.rows * geometry.columns, device=device)
        whole[self.grid] = 1
        self.mask = whole.view(1, 1, geometry.rows, geometry.columns)
        self.has_gaps = geometry.cells < len(whole)

    def start(self, encodings: torch.Tensor) -> torch.Tensor:
        """Encodings [n, planes * cells] -> [n, cells, planes + 1], or [n, planes + 1, rows, columns] on a grid."""
        geometry, n = self.geometry, len(encodings)
        planes = F.pad(encodings.view(n, geometry.planes, geometry.cells), (0, 0, 0, 1), value=1.0)
        if not self.on_grid:
            return planes.transpose(1, 2)
        whole = planes.new_zeros(n, geometry.planes + 1, geometry.rows * geometry.columns)
        whole[:, :, self.grid] = planes
        return whole.view(n, -1, geometry.rows, geometry.columns).contiguous(memory_format=torch.channels_last)

    def convolve(self, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        if self.on_grid:
            return F.conv2d(x, weight if weight.dim() == 4 else self.square(weight), bias, padding=1)
        taps, outputs = len(self.geometry.taps), weight.shape[1]
        n, cells, inputs = x.shape
        around = F.pad(x, (0, 0, 0, 1)).index_select(1, self.neighbours).view(n * cells, taps * inputs)
        found = around @ weight if bias is None else torch.addmm(bias, around, weight)
        return found.view(n, cells, outputs)

    def square(self, weight: torch.Tensor) -> torch.Tensor:
        """The matrix of a convolution [taps * inputs, outputs] as [outputs, inputs, 3, 3], zero where no tap is."""
        taps, outputs = len(self.geometry.taps), weight.shape[1]
        whole = weight.new_zeros(outputs, weight.shape[0] // taps, 9)
        whole[:, :, self.kernel] = weight.view(taps, -1, outputs).permute(2, 1, 0)
        return whole.view(outputs, -1, 3, 3)

    def inside(self, x: torch.Tensor) -> torch.Tensor:
        """Zero where the grid has no cell."""
        return x * self.mask.to(x.dtype) if self.on_grid and self.has_gaps else x

    def cells(self, x: torch.Tensor) -> torch.Tensor:
        """[n, cells, channels] of a trunk in either layout."""
        return x.flatten(2)[:, :, self.grid].transpose(1, 2) if self.on_grid else x


def forward(
    places: Places, shape: Shape, weights: dict[str, torch.Tensor], encodings: torch.Tensor, normalize: Normalize | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits [n, actions] and values [n]; `normalize(layer, x)` takes the place of the trunk's biases."""

    def trunk(layer: str, x: torch.Tensor) -> torch.Tensor:
        if normalize is None:
            return places.convolve(x, weights[f"{layer}.weight"], weights[f"{layer}.bias"])
        return normalize(layer, places.convolve(x, weights[f"{layer}.weight"], None))

    def linear(layer: str, x: torch.Tensor) -> torch.Tensor:
        return x @ weights[f"{layer}.weight"] + weights[f"{layer}.bias"]

    x = places.inside(F.relu(trunk("stem", places.start(encodings))))
    for i in range(shape.blocks):
        inner = places.inside(F.relu(trunk(f"block.{i}.first", x)))
        x = places.inside(F.relu(x + trunk(f"block.{i}.second", inner)))
    x, n, logits = places.cells(x), len(encodings), []
    pooled = F.relu(linear("pool", x)).reshape(n, -1)
    if places.geometry.by_cell:
        by_cell = linear("policy.second", F.relu(linear("policy.first", x)))
        logits.append(by_cell.transpose(1, 2).reshape(n, -1))
    if places.geometry.others:
        logits.append(linear("others", pooled))
    values = torch.tanh(linear("value.second", F.relu(linear("value.first", pooled))))[:, 0]
    return torch.cat(logits, dim=1), values


class BoardNetwork(torch.nn.Module):
    """A network that learns, with batch normalization in its trunk."""

    def __init__(self, geometry: Geometry, shape: Shape, generator: np.random.Generator, device: str) -> None:
        super().__init__()
        self.shape, self.places = shape, Places(geometry, device)
        for layer, (inputs, outputs) in layer_sizes(geometry, shape).items():
            last = layer in ("policy.second", "value.second", "others")
            spread = (0.1 if last else 1.0) * (2 / inputs) ** 0.5
            weight = generator.normal(0, spread, (inputs, outputs)).astype(np.float32)
            self._add(f"{layer}.weight", torch.from_numpy(weight))
            self._add(f"{layer}.bias", torch.zeros(outputs))
            if _normalized(layer):
                second = layer.endswith("second")  # a block is the identity at first
                self._add(f"{layer}.gain", torch.zeros(outputs) if second else torch.ones(outputs))
                self.register_buffer(_flat(f"{layer}.mean"), torch.zeros(outputs))
                self.register_buffer(_flat(f"{layer}.variance"), torch.ones(outputs))
        self.to(device)

    def _add(self, name: str, value: torch.Tensor) -> None:
        self.register_parameter(_flat(name), torch.nn.Parameter(value))

    def _get(self, name: str) -> Any:
        return getattr(self, _flat(name))

    def forward(self, encodings: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        weights: dict[str, torch.Tensor] = {_name(key): value for key, value in self.named_parameters()}
        return forward(self.places, self.shape, weights, encodings, self._normalize)

    def _normalize(self, layer: str, x: torch.Tensor) -> torch.Tensor:
        flat = x if self.places.on_grid else x.reshape(-1, x.shape[2])
        found = F.batch_norm(
            flat, self._get(f"{layer}.mean"), self._get(f"{layer}.variance"), self._get(f"{layer}.gain"),
            self._get(f"{layer}.bias"), True, MOMENTUM, EPSILON,
        )  # fmt: skip
        return found.view(x.shape)

    def folded(self) -> Weights:
        """The weights for evaluation, with the running statistics of batch normalization multiplied in."""
        found: Weights = {}
        for layer in layer_sizes(self.places.geometry, self.shape):
            weight, bias = self._get(f"{layer}.weight").detach(), self._get(f"{layer}.bias").detach()
            if _normalized(layer):
                scale = self._get(f"{layer}.gain").detach() * (self._get(f"{layer}.variance") + EPSILON) ** -0.5
                weight, bias = weight * scale, bias - self._get(f"{layer}.mean") * scale
            found |= {f"{layer}.weight": weight.cpu().numpy().copy(), f"{layer}.bias": bias.cpu().numpy().copy()}
        return found


def _normalized(layer: str) -> bool:
    return layer == "stem" or layer.startswith("block.")


def _flat(name: str) -> str:
    return name.replace(".", "_")  # torch allows no dots


def _name(flat: str) -> str:
    return flat.replace("_", ".")


class GpuEvaluator:
    """A network that answers batches on a GPU, in half precision, by CUDA graphs."""

    on_gpu = True

    def __init__(self, geometry: Geometry, shape: Shape, weights: Weights, device: str) -> None:
        self.places, self.shape, self.device = Places(geometry, device), shape, device
        self.weights = {name: torch.from_numpy(array).to(device, torch.float16) for name, array in weights.items()}
        for layer in filter(_normalized, layer_sizes(geometry, shape)):
            square = self.places.square(self.weights[f"{layer}.weight"])
            self.weights[f"{layer}.weight"] = square.contiguous(memory_format=torch.channels_last)
        self.known: dict[tuple[int, int], GpuExchange] = {}

    def __call__(self, encodings: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Logits [rows, actions] and values [rows]; the next call with as many rows overwrites them."""
        exchange = self.exchange(len(encodings))
        np.copyto(exchange.batch.encodings, encodings)
        exchange.ask()
        exchange.wait()
        return exchange.batch.logits, exchange.batch.values

    def forward(self, encodings: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return forward(self.places, self.shape, self.weights, encodings.half(), None)

    def exchange(self, rows: int, number: int = 0) -> "GpuExchange":
        """The memory for a batch: one per number, so that several batches can be on their way."""
        if (rows, number) not in self.known:
            self.known[rows, number] = GpuExchange(self, rows)
        return self.known[rows, number]


class GpuExchange:
    """A batch and its answers: `ask` returns at once. Pinned memory is copied to and from a recorded CUDA graph."""

    def __init__(self, evaluator: GpuEvaluator, rows: int) -> None:
        geometry = evaluator.places.geometry
        width, actions = geometry.planes * geometry.cells, geometry.frames.shape[1]
        self.given = torch.zeros(rows, width, device=evaluator.device)
        self.graph, self.answer = self._recorded(evaluator)
        self.sent, self.received = torch.zeros(rows, width).pin_memory(), torch.zeros(len(self.answer)).pin_memory()
        logits, values = self.received[: rows * actions], self.received[rows * actions :]
        self.batch = Batch(self.sent.numpy(), logits.view(rows, actions).numpy(), values.numpy())
        self.answered = torch.cuda.Event()

    def ask(self) -> None:
        self.given.copy_(self.sent, non_blocking=True)
        self.graph.replay()
        self.received.copy_(self.answer, non_blocking=True)
        self.answered.record()

    def wait(self) -> None:
        self.answered.synchronize()

    def _recorded(self, evaluator: GpuEvaluator) -> tuple[torch.cuda.CUDAGraph, torch.Tensor]:
        """Record the forward pass; its answer is all logits, row by row, then all values."""

        def once() -> torch.Tensor:
            logits, values = evaluator.forward(self.given)
            return torch.cat([logits.flatten(), values]).float()

        with torch.inference_mode():
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                for _ in range(3):
                    once()
            torch.cuda.current_stream().wait_stream(stream)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                answer = once()
        return graph, answer
