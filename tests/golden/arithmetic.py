"""Which arithmetic this machine has: NumPy and torch add in an order of their own on each kind of processor."""

import hashlib

import numpy as np
import torch


def arithmetic() -> str:
    """A digest of sums, products and exponentials: where it is the same, the same seed gives the same bits."""
    rng = np.random.default_rng(1)
    doubles, images = rng.normal(size=(33, 77)), rng.normal(size=(5, 6, 7, 7)).astype(np.float32)
    floats, filters = doubles.astype(np.float32), rng.normal(size=(4, 6, 3, 3)).astype(np.float32)
    found = [f(each) for each in (doubles, floats) for f in (np.exp, np.tanh, np.sum, lambda rows: rows @ rows.T)]
    tensors = torch.from_numpy(floats), torch.from_numpy(images), torch.from_numpy(filters)
    found += [
        each.numpy()
        for each in (
            torch.nn.functional.linear(tensors[0], tensors[0]),
            torch.nn.functional.conv2d(tensors[1], tensors[2]),
            torch.log_softmax(tensors[0], dim=1),
            torch.nn.functional.layer_norm(tensors[0], (77,)),
            torch.tanh(tensors[0]),
            tensors[0].sum(),
        )
    ]
    return hashlib.sha256(b"".join(np.asarray(each).tobytes() for each in found)).hexdigest()
