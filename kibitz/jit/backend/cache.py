"""Compiled kernels on disk, in the files of Numba's cache, valid as long as the fingerprint of `jit.cache` is."""

import contextlib
import functools
import hashlib
import time
from typing import Any

from numba.core import caching, event

from ...core import progress
from .. import cache

KEEP_DAYS = 30  # older cache files are removed


@functools.cache
def _prune() -> None:
    for path in cache.cache_files():
        try:
            if path.stat().st_mtime < time.time() - KEEP_DAYS * 86400:
                path.unlink()
        except OSError:  # another process was faster
            pass


class _Locator(caching._CacheLocator):
    """Gives Numba the folder of a kernel's files and the fingerprint that makes them valid."""

    def __init__(self, function: Any, file: str) -> None:
        self._py_file = file
        self._stamp = cache.fingerprint(function)

    def get_cache_path(self) -> str:
        return str(cache.cache_folder())

    def get_source_stamp(self) -> str:
        return self._stamp

    def get_disambiguator(self) -> str:
        return self._stamp

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> "_Locator":
        return cls(py_func, py_file)


class _KernelCacheImpl(caching.CompileResultCacheImpl):
    _locator_classes = [_Locator]


class _SignatureCache(caching.FunctionCache):
    """Separate files for each signature of a kernel.

    Numba numbers them in one index: two processes that compile for two games at once may both take number 1, and the
    next process would run the code of the wrong game.
    """

    _impl_class = _KernelCacheImpl

    def __init__(self, function: Any, signature: Any) -> None:
        super().__init__(function)
        name = f"{self._impl.filename_base}-{hashlib.sha256(str(signature).encode()).hexdigest()[:16]}"
        self._cache_file = caching.IndexDataCacheFile(self.cache_path, name, self._impl.locator.get_source_stamp())


class KernelCache(caching.NullCache):
    """The cache of one kernel, opened at its first call, when everything that it reaches is defined."""

    def __init__(self, function: Any) -> None:
        self._files = functools.cache(functools.partial(_SignatureCache, function))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        files = self._files(sig)
        try:
            return files.load_overload(sig, target_context)
        except Exception:  # a damaged file (full disk, killed process): compile again and overwrite it
            with contextlib.suppress(OSError):
                files.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with contextlib.suppress(OSError):  # a full disk: the compiled code runs all the same
            _prune()
            self._files(sig).save_overload(sig, data)


class _Listener(event.Listener):
    """Records the kernels that this process compiles, and reports the outermost one."""

    depth = 0

    def on_start(self, event: Any) -> None:
        if self.depth == 0:
            name = event.data["dispatcher"].py_func.__qualname__
            cache.compiled.append(name)
            if progress.on_compile:
                progress.on_compile(name)
        self.depth += 1

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if self.depth == 0 and progress.on_compile:
            progress.on_compile(None)


event.register("numba:compile", _Listener())
