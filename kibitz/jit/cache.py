"""The folder of compiled kernels, and the fingerprints that make its files valid.

Numba's own cache notices edits only in the file of the kernel itself. This one gives each kernel and each game a
fingerprint of everything it reaches: its bytecode and that of every helper it calls, in any file, with their decorators
and the constants they use. A kernel gets the rules of a game through the game's Numba type, whose fingerprint is part
of the kernel's signature: editing the rules of one game recompiles the kernels of that game only.
"""

import functools
import hashlib
import inspect
import os
import types as python
from pathlib import Path
from typing import Any

import numpy as np

from ..core.user_files import is_shipped
from ..core.user_folders import cache_folder
from .compiler import decorated

compiled: list[str] = []  # names of the kernels that this process compiled


def cache_files() -> list[Path]:
    return sorted(path for path in cache_folder().glob("*.nb[ci]*") if path.is_file())


# ---------------------------------------------------------------- fingerprints

_LIBRARIES = {"numpy", "math", "numba", "builtins", "typing"}


@functools.cache
def _base() -> bytes:
    """Hash of what decides about all kernels: the code that compiles them, Numba's settings, and versions."""
    import llvmlite
    import numba

    sources = sorted(Path(__file__).parent.rglob("*.py"))
    flags = sorted((key, value) for key, value in os.environ.items() if key.startswith("NUMBA_") and "CACHE" not in key)
    versions = [package.__version__ for package in (numba, llvmlite, np)]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources) + repr((flags, versions)).encode()).digest()


def fingerprint(*roots: Any) -> str:
    """A hash of functions and of everything that they reach: helpers and constants in any file."""
    digest = hashlib.sha256(_base())
    seen: dict[int, int] = {}  # id of a function -> its number in the order of discovery

    def put(*parts: Any) -> None:
        for part in parts:
            data = part if isinstance(part, bytes) else repr(part).encode()
            digest.update(b"%d:" % len(data) + data)  # with its length: 1, 23 differs from 12, 3

    def add(value: Any) -> None:
        if isinstance(value, np.ndarray):
            put(value.dtype, value.shape, value.tobytes())
        elif isinstance(value, tuple | list):
            put(type(value).__qualname__, getattr(value, "_fields", ()), len(value))
            for item in value:
                add(item)
        elif isinstance(value, frozenset | set):
            add(sorted(value, key=repr))
        elif isinstance(value, dict):
            add(sorted(value.items(), key=repr))
        elif inspect.isclass(value):  # of an Enum with its members
            put(value.__qualname__, getattr(value, "_fields", ()), list(getattr(value, "__members__", {}).values()))
        elif hasattr(value, "py_func"):  # a kernel, or what Numba compiles itself
            put(type(value).__qualname__, sorted(getattr(value, "targetoptions", {}).items()))
            function(value.py_func)
        elif inspect.isfunction(value):
            function(value)
        elif isinstance(value, python.ModuleType | python.BuiltinFunctionType):
            put(value.__name__.rpartition(".")[2])  # not the folder of a user's file
        else:
            described = repr(value)
            put(type(value).__name__ if " at 0x" in described else described)

    def function(value: Any) -> None:
        found = id(value) in seen
        put(value.__qualname__, seen.setdefault(id(value), len(seen)), decorated.get(value), is_shipped(value))
        if not found:
            code(value.__code__, value.__globals__, value.__doc__)
            add(value.__defaults__)
            add(value.__kwdefaults__)
            for cell in value.__closure__ or ():
                add(cell.cell_contents)

    def code(value: python.CodeType, scope: dict, docstring: str | None = None) -> None:
        # Names of local variables and docstrings don't count: editing them recompiles nothing.
        arguments = value.co_varnames[: value.co_argcount + value.co_kwonlyargcount]
        put(value.co_code, value.co_exceptiontable, value.co_names, arguments)
        for constant in value.co_consts:
            if docstring is not None and constant is docstring:
                continue
            if isinstance(constant, python.CodeType):
                code(constant, scope)
            else:
                add(constant)
        scopes = [scope]
        for scope in scopes:  # grows: `module.helper(...)`, `package.module.CONSTANT` are looked up in the module
            for name in value.co_names:
                found = scope.get(name)
                if name in scope:
                    add(found)
                inside = isinstance(found, python.ModuleType) and found.__name__.partition(".")[0] not in _LIBRARIES
                if inside and not any(vars(found) is known for known in scopes):
                    scopes.append(vars(found))

    for root in roots:
        add(root)
    return digest.hexdigest()[:16]
