"""A step as one CUDA graph: where kernels are small, launching them from Python takes longer than they do."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

WARM_UP = 3  # steps before recording: allocations of the first use must not be part of the graph


class Replayed:
    """Calls `step()` a few times, then records it as a CUDA graph and replays that.

    Shapes and addresses of tensors must not change. Values that differ from step to step have to be in tensors, and
    random numbers, if there are any, have to come from `generator`.
    """

    def __init__(self, step: Callable[[], Any], generator: torch.Generator | None = None) -> None:
        self.step, self.generator, self.called = step, generator, 0
        self.graph: torch.cuda.CUDAGraph | None = None
        self.found: Any = None
        self.stream = torch.cuda.Stream()

    def __call__(self) -> Any:
        self.called += 1
        if self.called <= WARM_UP:
            self.stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self.stream):
                found = self.step()
            torch.cuda.current_stream().wait_stream(self.stream)
            return found
        if self.graph is None:
            self.graph = torch.cuda.CUDAGraph()
            if self.generator is not None:
                self.graph.register_generator_state(self.generator)
            with _nothing_freed(), torch.cuda.graph(self.graph):
                self.found = self.step()
        self.graph.replay()
        return self.found


@contextmanager
def _nothing_freed() -> Iterator[None]:
    """Disable garbage collection: freeing an older graph during a recording would corrupt it."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
