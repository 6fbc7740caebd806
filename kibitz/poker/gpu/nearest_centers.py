"""The nearest of many centers on a GPU, for card abstractions: by sums of differences or of their squares."""

from collections.abc import Callable

import numpy as np
import torch

from ...nets.devices import check_device

AT_ONCE = 1 << 22  # points on the GPU

Nearest = Callable[[np.ndarray, np.ndarray, bool], np.ndarray]


def on_gpu() -> Nearest:
    """A function of points, centers and whether differences are added, or else their squares.

    It returns the number of the nearest center of each point; of equally near ones the first.

    Raises:
        BadInput: Torch finds no GPU.
    """
    check_device("cuda")
    from .nearest_centers_kernel import nearest

    def found(points: np.ndarray, centers: np.ndarray, l1: bool) -> np.ndarray:
        columns = torch.from_numpy(np.ascontiguousarray(centers.T, np.float32)).cuda()
        out = np.zeros(len(points), np.int32)
        for start in range(0, len(points), AT_ONCE):
            part = torch.from_numpy(np.ascontiguousarray(points[start : start + AT_ONCE], np.float32)).cuda()
            out[start : start + AT_ONCE] = nearest(part, columns, l1).cpu().numpy()
        return out

    return found
