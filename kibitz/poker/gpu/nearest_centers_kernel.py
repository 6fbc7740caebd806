"""The nearest center of each point, as a Triton kernel: running minimum over blocks of centers."""

import torch
import triton
import triton.language as tl

POINTS, CENTERS = 64, 128  # of a block


@triton.jit
def _nearest(
    points, columns, out, number, COUNT: tl.constexpr, SIZE: tl.constexpr, L1: tl.constexpr, POINTS: tl.constexpr,
    CENTERS: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * POINTS + tl.arange(0, POINTS)
    live = rows < number
    best = tl.full([POINTS], float("inf"), tl.float32)
    which = tl.zeros([POINTS], tl.int32)
    for start in range(0, COUNT, CENTERS):
        center = start + tl.arange(0, CENTERS)
        total = tl.zeros([POINTS, CENTERS], tl.float32)
        for d in range(SIZE):
            value = tl.load(points + rows * SIZE + d, live, 0.0)
            gap = value[:, None] - tl.load(columns + d * COUNT + center, center < COUNT, 0.0)[None, :]
            if L1:
                total += tl.abs(gap)
            else:
                total += gap * gap
        total = tl.where((center < COUNT)[None, :], total, float("inf"))
        least = tl.min(total, 1)
        nearer = least < best
        which = tl.where(nearer, start + tl.argmin(total, 1), which)
        best = tl.where(nearer, least, best)
    tl.store(out + rows, which, live)


def nearest(points: torch.Tensor, columns: torch.Tensor, l1: bool) -> torch.Tensor:
    """[points] i4: the nearest of the centers, which are columns [dimensions, centers]."""
    number, size = points.shape
    out = torch.zeros(number, dtype=torch.int32, device=points.device)
    grid = (triton.cdiv(number, POINTS),)
    _nearest[grid](
        points, columns, out, number, COUNT=columns.shape[1], SIZE=size, L1=l1, POINTS=POINTS, CENTERS=CENTERS
    )
    return out
