"""Kernels and helpers as Numba's dispatchers."""

import functools
import gc
from collections.abc import Callable
from typing import Any

import numba
from numba import types
from numba.core.codegen import JITCodeLibrary
from numba.core.errors import NumbaError
from numba.core.registry import cpu_target
from numba.core.targetconfig import ConfigStack
from numba.extending import overload, typeof_impl

from .. import compiler as front
from ..compiler import Kernel, counting
from .cache import KernelCache

# Of a function that isn't called from Python: wrappers for that take time to compile.
INSIDE: Any = {"no_cfunc_wrapper": True, "no_cpython_wrapper": True}


def register_helper(
    function: Callable[..., Any], compiled: Callable[..., Any], inline: bool, checked: bool = False
) -> None:
    """Let kernels call a function; `compiled` is what is compiled in its place, `checked` with all its indices."""
    options: Any = {**INSIDE, **({"forceinline": True} if inline else {}), **({"boundscheck": True} if checked else {})}
    overload(function, strict=False, jit_options=options)(lambda *arguments, **named: compiled)  # type: ignore[call-arg]


def dispatcher(function: Callable[..., Any]) -> Any:
    """Numba's dispatcher of a kernel, with a cache on disk."""
    options: Any = {"nogil": True, "error_model": "numpy", "_nrt": False}
    made: Any = numba.njit(**options)(function)
    made._compiler._compile_core = functools.partial(_compile, made._compiler)
    made._cache = KernelCache(function)
    return made


@typeof_impl.register(Kernel)
def _(value: Kernel, context: Any) -> types.Dispatcher:
    """A kernel that another kernel calls."""
    return types.Dispatcher(value.dispatcher)


def _compile(compiler: Any, arguments: Any, return_type: Any) -> Any:
    try:
        return _compile_lean(compiler, arguments, return_type)
    except Exception:
        for each in arguments:
            if hasattr(each, "rules") and front.explain is not None:
                front.explain(each.rules)
        raise


def _compile_lean(compiler: Any, arguments: Any, return_type: Any) -> Any:
    """Compile without Numba's run-time library (NRT) if possible.

    With NRT each use of a field of a NamedTuple counts references by atomic operations, and a search takes up to three
    times as long. Without it nothing can be allocated and no helper returns an array, which a user's rules may do.
    """
    core, options = type(compiler)._compile_core, compiler.targetoptions
    collects = gc.isenabled()
    gc.disable()  # compiling makes millions of small objects and hardly any garbage
    try:
        try:
            return core(compiler, arguments, return_type)
        except NumbaError:  # maybe for want of NRT: else it is raised again
            options["_nrt"] = True
        try:
            made = core(compiler, arguments, return_type)
        finally:
            options["_nrt"] = False
        counting.append(compiler.py_func.__qualname__)
        return made
    finally:
        if collects:
            gc.enable()


class _Library(JITCodeLibrary):
    """Code of one function. That of a helper is only linked into kernels, so it isn't made into machine code itself.

    Numba optimises and assembles every function that it meets, which for helpers is a fifth of the time of compiling.
    """

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        flags = ConfigStack.top_or_none()
        self._inside = bool(flags) and flags.no_cfunc_wrapper and flags.no_cpython_wrapper

    @property
    def codegen(self) -> Any:
        return _WithoutEnvironments(self._codegen) if self._inside else self._codegen

    def _optimize_final_module(self) -> None:
        if not self._inside:
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        if not self._inside:
            super()._finalize_final_module()
            return
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        if not self._inside:
            return int(super().get_pointer_to_function(name))
        self._ensure_finalized()
        return 0


class _WithoutEnvironments:
    """Numba's code generator for a function without machine code, whose environment has no address."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def set_env(self, name: str, environment: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)


cpu_target.target_context.codegen()._library_class = _Library
