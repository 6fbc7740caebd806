"""Public chance sampling: boards per second, against the same algorithm in plain torch on the same device.

On processor cores the compiled solver is measured, on a GPU the one with fused kernels. The peer walks the tree street
by street, in tensors over boards, ways to reach the street, and hands. Buckets are drawn at random: as many as in a
real abstraction, which takes minutes to compute.
"""

from functools import cache, partial

import numpy as np

from kibitz.games import load
from kibitz.poker.solve.buckets import Buckets
from kibitz.poker.solve.cards import cards_of
from kibitz.poker.solve.solver import PublicChanceCfr

from .measuring import Row, Work

BOARDS = 16, 64  # per iteration on a GPU, of both sides


def has_gpu() -> bool:
    try:
        import torch
    except ImportError:
        return False
    return bool(torch.cuda.is_available())


@cache
def random_buckets(name: str, count: int) -> Buckets:
    """So many buckets on each street after the first."""
    cards = cards_of(load(name))
    keys = tuple(cards.classes(shown)[0] for shown in cards.dealt)
    random = np.random.default_rng(1)
    drawn = [random.integers(0, count, (len(each), len(cards.hands)), np.int16) for each in keys[1:]]
    first = cards.lossless(0)
    return Buckets(cards, keys, (first, *drawn), (int(first.max()) + 1, *[count] * len(drawn)))


def on_cores(name: str, count: int) -> Work:
    """The compiled solver, on all cores."""
    return PublicChanceCfr(load(name), random_buckets(name, count)).run


def in_torch(name: str, count: int, boards: int, device: str, fused: bool) -> Work:
    """The solver in torch, whose steps at a node are fused kernels or plain torch."""
    import torch

    from kibitz.poker.gpu.public_chance import TorchPublicChanceCfr
    from kibitz.poker.gpu.public_streets import plain

    solver = TorchPublicChanceCfr(load(name), random_buckets(name, count), 1, boards, device)
    if not fused:
        solver.steps = plain

    def work(iterations: int) -> None:
        solver.run(iterations)
        if device == "cuda":
            torch.cuda.synchronize()

    return work


def on_gpu(boards: int) -> Row:
    """Fused kernels against plain torch, with the same number of boards per iteration."""
    ours, peer = (partial(in_torch, "holdem", 9000, boards, "cuda", fused) for fused in (True, False))
    return Row(f"pcs-holdem-cuda-{boards}", "boards/s", 3, ours, peer, boards)


ROWS = [
    Row(f"pcs-{name}", "boards/s", 2, partial(on_cores, game, count), partial(in_torch, game, count, 1, "cpu", False))
    for name, game, count in (("holdem-flop", "holdem:flop", 2000), ("holdem", "holdem", 200))
]
if has_gpu():
    ROWS += [on_gpu(boards) for boards in BOARDS]
