"""Devices of torch that commands name, and torch's settings, which belong to the whole process, while work lasts."""

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..core.names import BadInput, choose
from ..core.process_settings import Setting, one_blas_thread

DEVICES = ("cpu", "cuda")  # where there is a GPU


def check_device(device: str) -> None:
    """Refuse a device that isn't known, and a GPU that isn't there."""
    import torch

    choose("device", device, DEVICES)
    if device == "cuda" and not torch.cuda.is_available():
        raise BadInput("--device cuda: torch finds no GPU here; --device cpu runs on processor cores")


# ---------------------------------------------------------------- threads


class _Own(threading.local):
    """Torch keeps the number of threads by thread. New ones begin with the number that any thread set last."""

    depth = 0  # blocks that this thread is in
    before = 0  # threads when it entered the first
    known = False  # whether it was in one before


_own, _lock = _Own(), threading.Lock()
_inside, _usual = 0, 0  # threads in a block; the number with which new ones began before


@contextmanager
def one_thread() -> Iterator[None]:
    """Torch and NumPy use one thread in the block: small matrices are slower on several, and sums are the same on
    every machine with one.

    Afterwards the thread has what it had before. Blocks of several threads may overlap. A thread of the user that
    calls torch for the first time meanwhile begins with one.
    """
    global _inside, _usual
    import torch

    with _lock:
        if not _own.depth:
            count = torch.get_num_threads()
            if not _inside:
                _usual = count
            elif count == 1 and not _own.known:  # it begins with what another one has set
                count = _usual
            _own.before, _own.known = count, True
            torch.set_num_threads(1)
            _inside += 1
        _own.depth += 1
    try:
        with one_blas_thread():
            yield
    finally:
        with _lock:
            _own.depth -= 1
            if not _own.depth:
                torch.set_num_threads(_own.before)
                _inside -= 1


# ---------------------------------------------------------------- precision

Precision = tuple[str, list[tuple[Any, str]]]  # the name for all devices, and that of each where torch has one


def _precision() -> Precision:
    import torch

    each = [(kind, kind.fp32_precision) for kind in _products() if hasattr(kind, "fp32_precision")]
    try:
        return torch.get_float32_matmul_precision(), each
    except RuntimeError:  # the user has set that of one device only
        try:
            allowed = torch.backends.cuda.matmul.allow_tf32
        except RuntimeError:
            allowed = torch.backends.cuda.matmul.fp32_precision != "tf32"
        names = {name for _, name in each}  # all are tf32 where the name for all devices is high
        return ("highest" if not allowed else "medium" if names == {"tf32"} else "high"), each


def _restore_precision(before: Precision) -> None:
    import torch

    torch.set_float32_matmul_precision(before[0])
    for kind, name in before[1]:
        if kind.fp32_precision != name:
            kind.fp32_precision = name


def _products() -> list[Any]:
    import torch

    return [torch.backends.cuda.matmul, getattr(torch.backends.mkldnn, "matmul", None)]


def _round(rounded: bool) -> None:
    import torch

    torch.set_float32_matmul_precision("high" if rounded else "highest")


_rounding = Setting(_precision, _round, _restore_precision)


def products(rounded: bool, device: str) -> contextlib.AbstractContextManager[None]:
    """Whether a GPU may round the factors of products of matrices in the block to 11 bits (TF32), which is several
    times faster. Where work that may and work that may not overlap, nothing is rounded."""
    return _rounding.at(rounded and device.startswith("cuda"))


def with_own_products(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a method of a solver: its products are rounded if it says so by `rounded`, on its `device`."""

    @functools.wraps(method)
    def called(self: Any, *arguments: Any, **options: Any) -> Any:
        with products(self.rounded, self.device):
            return method(self, *arguments, **options)

    return called


# ---------------------------------------------------------------- oneDNN


def _set_onednn(enabled: bool) -> None:
    import torch

    torch.backends.mkldnn.enabled = enabled  # type: ignore[assignment]


def _has_onednn() -> bool:
    import torch

    return bool(torch.backends.mkldnn.enabled)


_onednn = Setting(_has_onednn, _set_onednn, _set_onednn)


def without_onednn() -> contextlib.AbstractContextManager[None]:
    """Disable oneDNN, which takes up to ten times as long as BLAS for matrices as small as these on ARM processors."""
    return _onednn.at(False)
