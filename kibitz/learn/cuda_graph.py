"""A step of learning as one launch: small networks are done on a GPU before Python has told it what comes next."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

WARM_UP = 3  # steps before it is recorded: what is allocated on first use must not be part of it


class Replayed:
    """`step()` of tensors whose shapes and places stay; after a few calls it is recorded, then replayed.

    What differs from step to step has to lie in tensors, and chance has to come from `generator`.
    """

    def __init__(self, step: Callable[[], torch.Tensor], generator: torch.Generator) -> None:
        self.step, self.generator, self.called = step, generator, 0
        self.graph: torch.cuda.CUDAGraph | None = None
        self.found: torch.Tensor | None = None
        self.stream = torch.cuda.Stream()

    def __call__(self) -> torch.Tensor:
        self.called += 1
        if self.called <= WARM_UP:
            self.stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self.stream):
                found = self.step()
            torch.cuda.current_stream().wait_stream(self.stream)
            return found
        if self.graph is None:
            self.graph = torch.cuda.CUDAGraph()
            self.graph.register_generator_state(self.generator)
            with _nothing_freed(), torch.cuda.graph(self.graph):
                self.found = self.step()
        self.graph.replay()
        assert self.found is not None
        return self.found


@contextmanager
def _nothing_freed() -> Iterator[None]:
    """An older recording that is thrown away while another is made spoils it."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
