"""Settings of the whole process, such as the threads of linear algebra: changed while work lasts, then as before."""

import ctypes
import functools
import importlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np


class Setting:
    """A setting of the process that work changes for a while.

    Where work of several threads overlaps, the smallest value holds for all, and the last to leave restores what the
    user had set before the first came.
    """

    def __init__(self, read: Callable[[], Any], write: Callable[[Any], None], restore: Callable[[Any], None]) -> None:
        """
        Args:
            read: Returns what the user has set.
            write: Sets a value that work needs.
            restore: Sets what `read` has returned.
        """
        self._read, self._write, self._restore = read, write, restore
        self._lock, self._wanted, self._before = threading.Lock(), list[Any](), None

    @contextmanager
    def at(self, value: Any) -> Iterator[None]:
        """The setting has this value in the block, or a smaller one."""
        with self._lock:
            if not self._wanted:
                self._before = self._read()
            self._wanted.append(value)
            self._write(min(self._wanted))
        try:
            yield
        finally:
            with self._lock:
                self._wanted.remove(value)
                if self._wanted:
                    self._write(min(self._wanted))
                else:
                    self._restore(self._before)


@functools.cache
def _openblas() -> tuple[Callable[[], int], Callable[[int], None]]:
    """The functions of NumPy's OpenBLAS that read and set its threads; where it uses another library, they do nothing.

    Its extension module knows the functions of the libraries that it has loaded, except on Windows.
    """
    own = importlib.import_module("numpy._core._multiarray_umath").__file__
    folder = Path(np.__file__).parent.with_name("numpy.libs")
    for path in (own, *map(str, folder.glob("*openblas*.dll"))):
        library = ctypes.CDLL(path)
        for name in ("scipy_openblas_{}_num_threads64_", "openblas_{}_num_threads64_", "openblas_{}_num_threads"):
            if hasattr(library, name.format("set")):
                return getattr(library, name.format("get")), getattr(library, name.format("set"))
    return lambda: 1, lambda count: None


_blas = Setting(lambda: _openblas()[0](), lambda count: _openblas()[1](count), lambda count: _openblas()[1](count))


def blas_threads() -> int:
    """Number of threads that NumPy uses for products of matrices at the moment; 1 where it can't be set."""
    return int(_openblas()[0]())


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """NumPy uses one thread for products of matrices in the block, or the function that this decorates.

    Networks are small: threads would take longer to wake than to multiply, and there is one process per core.
    """
    with _blas.at(1):
        yield
