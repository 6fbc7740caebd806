"""The one door to Numba: `kernel`, `helper`, `wrapping` and `rules`.

Code here runs twice: compiled, and as plain Python (set NUMBA_DISABLE_JIT=1) with the
same results from the same seeds. What was compiled is kept on disk for the next process.

How the cache stays true: Numba's own notices an edit only in the file of the kernel. Ours
gives each kernel, and each game, a stamp of all that it reaches: its bytecode and that of
every helper it calls, in whatever file, with the constants they use. A kernel finds the
rules of a game through the game's Numba type, whose stamp is part of the kernel's
signature: an edit of one game's rules compiles that game anew and nothing else.
"""

import collections
import contextlib
import functools
import hashlib
import inspect
import os
import sys
import tempfile
import time
import types as python
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba import types
from numba.core import caching, cgutils, event
from numba.core.datamodel import models
from numba.core.errors import NumbaError
from numba.extending import intrinsic, overload, overload_method, register_jitable, register_model, typeof_impl

PLAIN = bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]
KEEP_DAYS = 30  # files of the cache not written for so long are removed

F = TypeVar("F", bound=Callable[..., Any])

compiled: list[str] = []  # names of the kernels that this process had to compile
counting: list[str] = []  # those of them that count references, as something allocates
watcher: Callable[[str | None], None] | None = None  # told a kernel's name when compiling starts, None when it ends

INSIDE: Any = {"no_cfunc_wrapper": True}  # nobody calls it from outside: a wrapper for that takes time to compile

# A small function for kernels and rules; plain Python when not compiled. Always inlined: a call would push
# every array of a NamedTuple through the stack, which costs more than most helpers do.
helper = register_jitable(forceinline=True, **INSIDE)

# The same for long ones: the compiler inlines them or not. Rules of a card game would take minutes to compile else.
long_helper = register_jitable(**INSIDE)


def kernel(function: F) -> F:
    """Compile a top-level function, generic over games; keep the result on disk."""
    if PLAIN:
        return function
    options: Any = {"nogil": True, "error_model": "numpy", "_nrt": False}
    dispatcher: Any = numba.njit(**options)(function)
    dispatcher._compiler._compile_core = functools.partial(_compile, dispatcher._compiler)
    dispatcher._cache = _KernelCache(function)
    return dispatcher


def _compile(compiler: Any, arguments: Any, return_type: Any) -> Any:
    """Without Numba's run-time library (NRT), if that goes.

    With it each use of a field of a NamedTuple counts references, by atomic operations: a search takes up to three
    times as long. Without it nothing can be allocated, and no helper returns an array; a user's rules may.
    """
    core, options = type(compiler)._compile_core, compiler.targetoptions
    try:
        return core(compiler, arguments, return_type)
    except NumbaError as error:
        if "NRT required" not in str(error) and "returning of array" not in str(error):
            raise
    counting.append(compiler.py_func.__qualname__)
    options["_nrt"] = True
    try:
        return core(compiler, arguments, return_type)
    finally:
        options["_nrt"] = False


def wrapping(function: F) -> F:
    """A helper whose uint64 arithmetic wraps around, and means to: NumPy would warn of it."""

    @functools.wraps(function)
    def plain(*arguments):
        with np.errstate(over="ignore"):
            return function(*arguments)

    overload(plain, strict=False, jit_options={"forceinline": True, **INSIDE})(lambda *arguments: function)
    return plain  # type: ignore[return-value]


# ---------------------------------------------------------------- the cache


def cache_folder() -> Path:
    """Where kernels are kept: in NUMBA_CACHE_DIR, else the user's cache, else (read-only home) a temporary folder."""
    candidates = [Path(base) / "kibitz" for base in [os.environ.get("NUMBA_CACHE_DIR")] if base]
    if sys.platform == "win32":
        candidates.append(Path(os.environ.get("LOCALAPPDATA", "~")) / "kibitz" / "cache")
    elif sys.platform == "darwin":
        candidates.append(Path("~/Library/Caches/kibitz"))
    else:
        candidates.append(Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "kibitz")
    candidates.append(Path(tempfile.gettempdir()) / f"kibitz-{getattr(os, 'getuid', lambda: 0)()}")
    for candidate in candidates:
        try:
            folder = candidate.expanduser()
            # What is loaded from here is run: the folder is for its owner alone.
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            if hasattr(os, "getuid") and folder.stat().st_uid != os.getuid():
                continue
            tempfile.TemporaryFile(dir=folder).close()
            return folder
        except (OSError, RuntimeError):  # it can't be written to; the user has no home
            continue
    raise RuntimeError(f"no folder for compiled kernels is writable: tried {', '.join(map(str, candidates))}")


def cache_files() -> list[Path]:
    return sorted(path for path in cache_folder().glob("*.nb[ci]*") if path.is_file())


@functools.cache
def _prune() -> None:
    for path in cache_files():
        try:
            if path.stat().st_mtime < time.time() - KEEP_DAYS * 86400:
                path.unlink()
        except OSError:  # another process was faster
            pass


class _Locator(caching._CacheLocator):
    """Tells Numba where a kernel's files lie, and by which stamp they are true."""

    def __init__(self, function: Any, file: str) -> None:
        self._py_file = file
        self._stamp = fingerprint(function)

    def get_cache_path(self) -> str:
        return str(cache_folder())

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
    """Files of their own for each signature of a kernel.

    Numba numbers them in one index: two processes that compile for two games at once may
    both take number 1, and the next one would run the code of the wrong game.
    """

    _impl_class = _KernelCacheImpl

    def __init__(self, function: Any, signature: Any) -> None:
        super().__init__(function)
        name = f"{self._impl.filename_base}-{hashlib.sha256(str(signature).encode()).hexdigest()[:16]}"
        self._cache_file = caching.IndexDataCacheFile(self.cache_path, name, self._impl.locator.get_source_stamp())


class _KernelCache(caching.NullCache):
    """Opened at the first call, when all that the kernel reaches has been defined."""

    def __init__(self, function: Any) -> None:
        self._files = functools.cache(functools.partial(_SignatureCache, function))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        files = self._files(sig)
        try:
            return files.load_overload(sig, target_context)
        except Exception:  # a damaged file (full disk, killed process): compile anew, and overwrite it
            with contextlib.suppress(OSError):
                files.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with contextlib.suppress(OSError):  # a full disk: what was compiled runs all the same
            _prune()
            self._files(sig).save_overload(sig, data)


class _Listener(event.Listener):
    """Counts what this process compiles, and tells the watcher of the outermost kernel."""

    depth = 0

    def on_start(self, event: Any) -> None:
        if self.depth == 0:
            name = event.data["dispatcher"].py_func.__qualname__
            compiled.append(name)
            if watcher:
                watcher(name)
        self.depth += 1

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if self.depth == 0 and watcher:
            watcher(None)


event.register("numba:compile", _Listener())


# ---------------------------------------------------------------- stamps

_FLAGS = sorted((key, value) for key, value in os.environ.items() if key.startswith("NUMBA_") and "CACHE" not in key)
_SOURCES = [Path(__file__), Path(__file__).with_name("vectors.py")]  # what no bytecode of a kernel shows
_BASE = hashlib.sha256(
    b"".join(path.read_bytes() for path in _SOURCES) + repr((_FLAGS, np.__version__)).encode()
).digest()
_LIBRARIES = {"numpy", "math", "numba", "builtins", "typing"}


def fingerprint(*roots: Any) -> str:
    """A stamp of the functions given and of all that they reach: helpers and constants, in whatever file."""
    digest = hashlib.sha256(_BASE)
    seen: dict[int, int] = {}  # id of a function -> its number, in the order of their finding

    def put(*parts: Any) -> None:
        for part in parts:
            data = part if isinstance(part, bytes) else repr(part).encode()
            digest.update(b"%d:" % len(data) + data)  # with its length: 1, 23 isn't 12, 3

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
        elif hasattr(value, "py_func") or inspect.isfunction(value):
            function(getattr(value, "py_func", value))
        elif isinstance(value, python.ModuleType | python.BuiltinFunctionType):
            put(value.__name__)
        else:
            described = repr(value)
            put(type(value).__name__ if " at 0x" in described else described)

    def function(value: Any) -> None:
        found = id(value) in seen
        put(value.__qualname__, seen.setdefault(id(value), len(seen)))
        if not found:
            code(value.__code__, value.__globals__)
            add(value.__defaults__)
            add(value.__kwdefaults__)
            for cell in value.__closure__ or ():
                add(cell.cell_contents)

    def code(value: python.CodeType, scope: dict) -> None:
        put(value.co_code, value.co_exceptiontable, value.co_names, value.co_varnames)
        for constant in value.co_consts:
            if isinstance(constant, python.CodeType):
                code(constant, scope)
            else:
                add(constant)
        scopes = [scope]
        for scope in scopes:  # grows: `module.helper(...)`, `package.module.CONSTANT` are found inside the module
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


# ---------------------------------------------------------------- rules

_signatures: dict[str, str] = {}  # rule -> its parameters, the same for every class
_classes: dict[tuple[str, str], type] = {}  # (name, stamp) -> the class
_names: collections.Counter[str] = collections.Counter()  # how many classes are called so


class Rules(types.NamedTuple):
    """Numba's type of a named tuple with rules: its fields, and a stamp of its rules.

    Pickled by name and stamp, not by class: the index of a shared kernel lists every game
    that ever used it, and must load where that game's file is gone.
    """

    def __init__(self, field_types: tuple, cls: Any, stamp: str) -> None:
        super().__init__(field_types, cls)
        self.stamp = stamp
        self.name = f"{cls.__qualname__}#{stamp}({', '.join(map(str, field_types))})"

    @property
    def key(self) -> tuple:
        return self.instance_class.__qualname__, self.types, self.stamp

    @property
    def rules(self) -> type:
        # Numba keeps one object of equal types, and it may stem from an index read before the class was defined.
        return _classes[self.instance_class.__qualname__, self.stamp]

    def __bool__(self) -> bool:  # a game without parameters is an empty tuple, and still a receiver
        return True

    def __reduce__(self) -> tuple:
        return _rebuild, (self.instance_class.__qualname__, self.fields, self.types, self.stamp)


register_model(Rules)(models.TupleModel)


def _rebuild(name: str, fields: tuple, field_types: tuple, stamp: str) -> Rules:
    absent: Any = collections.namedtuple("Absent", fields)  # type: ignore[misc]
    absent.__qualname__ = name
    return Rules(field_types, _classes.get((name, stamp), absent), stamp)


def rules(signatures: Mapping[str, str]) -> Callable[[type], type]:
    """Class decorator: kernels may call these methods of a NamedTuple, `{"turn": "self, state", ...}`."""
    for name, parameters in signatures.items():
        if _signatures.setdefault(name, parameters) != parameters:
            raise TypeError(f"the rule {name} takes ({_signatures[name]}) already, not ({parameters})")
        if not hasattr(Rules, f"_{name}_known"):
            scope: dict = {"name": name}
            exec(f"def {name}({parameters}): return getattr(self.rules, name)", scope)
            overload_method(Rules, name, jit_options={"forceinline": True, **INSIDE})(  # type: ignore[call-arg]
                scope[name]
            )
            setattr(Rules, f"_{name}_known", True)

    def decorate(cls: type) -> type:
        methods = {name: getattr(cls, name) for name in signatures if hasattr(cls, name)}
        for name, method in methods.items():
            written = inspect.signature(method).parameters.values()
            parameters = ", ".join(str(each.replace(annotation=each.empty)) for each in written)
            if parameters != signatures[name]:
                raise TypeError(f"{cls.__name__}.{name} takes ({parameters}), it should take ({signatures[name]})")

        # Numba's dispatcher tells tuples apart by __name__: a cell of a notebook that is run again, or v2/game.py
        # after v1/game.py, would play by the old rules.
        _names[cls.__name__] += 1
        if _names[cls.__name__] > 1:
            cls.__name__ += f"_{_names[cls.__name__]}"

        @functools.cache
        def stamp() -> str:  # at the first use, when the helpers below the class are defined too
            mark = fingerprint(cls, *methods.values())
            _classes[cls.__qualname__, mark] = cls
            return mark

        @typeof_impl.register(cls)
        def _(value: Any, context: Any) -> Rules:
            return Rules(tuple(typeof_impl(field, context) for field in value), cls, stamp())

        return cls

    return decorate


# ---------------------------------------------------------------- records


def record(*fields: tuple) -> np.dtype:
    """The type of a position. (Aligning np.record directly is silently ignored.)"""
    return np.dtype((np.record, np.dtype(list(fields), align=True)))


@intrinsic
def _copy_record(context, target, source):
    def build(target_context, builder, signature, arguments):
        size = target_context.get_constant(types.intp, source.size)
        cgutils.raw_memcpy(builder, arguments[0], arguments[1], size, 1)
        return target_context.get_dummy_value()

    return types.void(target, source), build


def copy_record(target, source):
    """Copy one record over another inside a rule: `target[:] = source` doesn't compile."""
    for name in source.dtype.names:
        target[name] = source[name]


@overload(copy_record)
def _overload_copy_record(target, source):
    if target == source:  # else there would be bytes written outside the target
        return lambda target, source: _copy_record(target, source)
    return None


@intrinsic
def _word(context, source, index):
    """Eight bytes of a record; `_last_bytes` are those that are left after the last eight."""

    def build(target_context, builder, signature, arguments):
        start = builder.bitcast(arguments[0], cgutils.voidptr_t)
        where = builder.mul(arguments[1], target_context.get_constant(types.intp, 8))
        return builder.load(cgutils.pointer_add(builder, start, where, cgutils.ir.IntType(64).as_pointer()), align=1)

    return types.uint64(source, types.intp), build


@intrinsic
def _last_bytes(context, source):
    def build(target_context, builder, signature, arguments):
        start, word = builder.bitcast(arguments[0], cgutils.voidptr_t), cgutils.ir.IntType(64)
        key = word(0)
        for place, byte in enumerate(range(source.size // 8 * 8, source.size)):
            found = builder.load(cgutils.pointer_add(builder, start, cgutils.intp_t(byte), cgutils.voidptr_t))
            shift = 8 * (place if sys.byteorder == "little" else 7 - place)
            key = builder.or_(key, builder.shl(builder.zext(found, word), word(shift)))
        return key

    return types.uint64(source), build


@functools.cache
def _bits_used(dtype: np.dtype) -> np.ndarray:
    """Where a record's fields lie, in words of eight bytes. The gaps that align them may hold anything."""
    used = np.zeros(-(-dtype.itemsize // 8) * 8, np.uint8)
    for name in dtype.names:  # type: ignore[union-attr]
        field, offset, *_ = dtype.fields[name]  # type: ignore[index]
        used[offset : offset + field.itemsize] = 0xFF
    return used.view(np.uint64)


def hash_record(source):
    """A key of a whole record, never 0: what a seat knows where nothing is hidden."""
    used = _bits_used(source.dtype)
    key = np.uint64(1)
    for word in np.frombuffer(source.tobytes().ljust(used.nbytes), np.uint64) & used:
        key = mix(key, word)
    return key


@overload(hash_record)
def _overload_hash_record(source):
    used, words, rest = _bits_used(source.dtype), source.size // 8, source.size % 8

    def compiled(source):
        key = np.uint64(1)
        for index in range(words):
            key = mix(key, _word(source, index) & used[index])
        if rest:
            key = mix(key, _last_bytes(source) & used[words])
        return key

    return compiled


# ---------------------------------------------------------------- bits


def popcount(bits):
    """How many bits are set."""
    return int(bits).bit_count()


def lowest(bits):
    """The place of the lowest bit that is set; there must be one."""
    bits = int(bits)
    return (bits & -bits).bit_length() - 1


def _on_bits(function: Any, instruction: Callable) -> None:
    """Let compiled code use one instruction of the processor instead."""

    @intrinsic
    def build(context, bits):
        def code(target_context, builder, signature, arguments):
            return builder.zext(instruction(builder, arguments[0]), target_context.get_value_type(types.int64))

        return types.int64(bits), code

    overload(function)(lambda bits: lambda bits: build(bits))  # type: ignore[call-arg]


_on_bits(popcount, lambda builder, bits: builder.ctpop(bits))
_on_bits(lowest, lambda builder, bits: builder.cttz(bits, cgutils.true_bit))


# ---------------------------------------------------------------- hashing and chance

_GOLDEN, _A, _B = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@wrapping
def mix(key, value):
    """One more value (a whole number ≥ 0) in a uint64 key. Never 0."""
    z = (key ^ np.uint64(value)) + _GOLDEN
    z = (z ^ (z >> np.uint64(30))) * _A
    z = (z ^ (z >> np.uint64(27))) * _B
    return (z ^ (z >> np.uint64(31))) | np.uint64(1) << np.uint64(63)


@wrapping
def draw(rng):
    """64 random bits from `rng`, an array with two uint64 (splitmix64, one draw ahead).

    What is returned was made by the draw before: a processor that waits for a random
    branch then needn't wait for the multiplications too.
    """
    ready = rng[1]
    rng[0] += _GOLDEN
    z = rng[0]
    z = (z ^ (z >> np.uint64(30))) * _A
    z = (z ^ (z >> np.uint64(27))) * _B
    rng[1] = z ^ (z >> np.uint64(31))
    return ready


@helper
def below(rng, n):
    """A whole number in 0..n-1, n < 2**32."""
    return np.int64((draw(rng) >> np.uint64(32)) * np.uint64(n) >> np.uint64(32))


@helper
def uniform(rng):
    """A number in [0, 1)."""
    return float(draw(rng) >> np.uint64(11)) * 2.0**-53


def generators(seed: int, count: int) -> np.ndarray:
    """`count` independent generators, one a row: `rngs[i]` is what kernels take."""
    return np.random.SeedSequence(seed).generate_state(2 * count, np.uint64).reshape(count, 2)
