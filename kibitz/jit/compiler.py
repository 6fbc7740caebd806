"""The interface to Numba: `kernel`, `helper`, `wrapping` and `rules`.

The same code runs compiled and, with NUMBA_DISABLE_JIT=1, as plain Python, with the same results from the same seeds.
Compiled kernels are cached on disk (see `cache`).
"""

import collections
import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numba
import numpy as np
from numba import types
from numba.core.datamodel import models
from numba.core.errors import NumbaError
from numba.core.registry import CPUDispatcher
from numba.extending import overload, overload_method, register_jitable, register_model, typeof_impl

from ..core.names import BadInput
from .cache import KernelCache, fingerprint

PLAIN = bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]

F = TypeVar("F", bound=Callable[..., Any])

counting: list[str] = []  # names of compiled kernels that count references, as something allocates

INSIDE: Any = {"no_cfunc_wrapper": True}  # it isn't called from Python: a wrapper for that takes time to compile

# Called with a class whose rules don't compile; raises an error that says why, where that is known.
explain: Callable[[type], None] | None = None


def _bounds(code: Any) -> dict[str, Any]:
    """Options that check every index in code from outside Kibitz, so that a mistake there raises IndexError."""
    package = __name__.partition(".")[0]
    return {} if str(code.__module__).startswith(f"{package}.") else {"boundscheck": True}


def helper(function: F) -> F:
    """Decorator of small functions for kernels and rules; plain Python when not compiled.

    Always inlined: a call would pass every array of a NamedTuple on the stack, which costs more than most helpers do.
    """
    return register_jitable(forceinline=True, **INSIDE, **_bounds(function))(function)


def long_helper(function: F) -> F:
    """Decorator of long helpers, which the compiler inlines or not.

    Else rules of a card game would take minutes to compile.
    """
    return register_jitable(**INSIDE, **_bounds(function))(function)


def kernel(function: F) -> F:
    """Compile a top-level function that is generic over games, and cache the result on disk."""
    if PLAIN:
        return function
    options: Any = {"nogil": True, "error_model": "numpy", "_nrt": False}
    dispatcher: Any = numba.njit(**options)(function)
    dispatcher.__class__ = _Kernel
    dispatcher._compiler._compile_core = functools.partial(_compile, dispatcher._compiler)
    dispatcher._cache = KernelCache(function)
    return dispatcher


class _Kernel(CPUDispatcher):
    """A compiled function that reports an index outside an array, in the rules of somebody's game, in one line."""

    def __call__(self, *arguments: Any) -> Any:
        try:
            return super().__call__(*arguments)
        except IndexError:
            raise BadInput(f"a rule of {_name(arguments[0])} {OUTSIDE}") from None
        except BadInput as error:  # what a kernel raises is a constant: the value of the fact is added here
            fact = str(error).partition(" ")[0]
            value = getattr(getattr(arguments[0], "facts", None), fact, None)
            if value is None:
                raise
            told = str(error).replace(f"{fact} is", f"{fact} = {value} is", 1)
            raise BadInput(f"{_name(arguments[0])}: {told}") from None


OUTSIDE = (
    "reads or writes outside an array: is num_actions, max_chance_outcomes, encoding or notes too small? "
    "kibitz check says more"
)


def _name(game: Any) -> str:
    return str(getattr(game, "name", "the game"))


def _compile(compiler: Any, arguments: Any, return_type: Any) -> Any:
    try:
        return _compile_lean(compiler, arguments, return_type)
    except Exception:
        for each in arguments:
            if isinstance(each, Rules) and explain is not None:
                explain(each.rules)
        raise


def _compile_lean(compiler: Any, arguments: Any, return_type: Any) -> Any:
    """Compile without Numba's run-time library (NRT) if possible.

    With NRT each use of a field of a NamedTuple counts references by atomic operations, and a search takes up to three
    times as long. Without it nothing can be allocated and no helper returns an array, which a user's rules may do.
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
    """Decorator of a helper whose uint64 arithmetic wraps around on purpose, without NumPy's warning."""

    @functools.wraps(function)
    def plain(*arguments):
        with np.errstate(over="ignore"):
            return function(*arguments)

    overload(plain, strict=False, jit_options={"forceinline": True, **INSIDE})(lambda *arguments: function)
    return plain  # type: ignore[return-value]


_signatures: dict[str, str] = {}  # rule -> its parameters, the same for every class
_fields: dict[str, str] = {}  # field -> a class that has it
_classes: dict[tuple[str, str], type] = {}  # (name, fingerprint) -> the class
_names: collections.Counter[str] = collections.Counter()  # number of classes of this name


class Rules(types.NamedTuple):
    """Numba's type of a named tuple with rules: its fields, and a fingerprint of its rules.

    Pickled by name and fingerprint, not by class: the index of a shared kernel lists every game that ever used it, and
    must load even if that game's file is gone.
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
        # Numba keeps one object of equal types, which may come from an index read before the class was defined.
        return _classes[self.instance_class.__qualname__, self.stamp]

    def __bool__(self) -> bool:  # a game without parameters is an empty tuple, and still a receiver
        return True

    def __reduce__(self) -> tuple:
        return _rebuild, (type(self), self.instance_class.__qualname__, self.fields, self.types, self.stamp)


class OutsideRules(Rules):
    """The same of a class from outside Kibitz, whose rules are compiled with bounds checks."""


register_model(Rules)(models.TupleModel)
register_model(OutsideRules)(models.TupleModel)


def _rebuild(kind: type[Rules], name: str, fields: tuple, field_types: tuple, stamp: str) -> Rules:
    absent: Any = collections.namedtuple("Absent", fields)  # type: ignore[misc]
    absent.__qualname__ = name
    return kind(field_types, _classes.get((name, stamp), absent), stamp)


def rules(signatures: Mapping[str, str]) -> Callable[[type], type]:
    """Class decorator that lets kernels call methods of a NamedTuple: `{"turn": "self, state", ...}`."""
    for name, parameters in signatures.items():
        if name in _fields:
            raise TypeError(f"the rule {name} has the name of a field of {_fields[name]}: call it something else")
        if _signatures.setdefault(name, parameters) != parameters:
            raise TypeError(f"the rule {name} takes ({_signatures[name]}) already, not ({parameters})")
        if not hasattr(Rules, f"_{name}_known"):
            scope: dict = {"name": name}
            exec(f"def {name}({parameters}): return getattr(self.rules, 'checked_' + name, None) or "
                 "getattr(self.rules, name)", scope)  # fmt: skip
            for kind, more in ((Rules, {}), (OutsideRules, {"boundscheck": True})):
                options: Any = {"forceinline": True, **INSIDE, **more}
                overload_method(kind, name, jit_options=options)(scope[name])  # type: ignore[call-arg]
            setattr(Rules, f"_{name}_known", True)

    def decorate(cls: Any) -> Any:
        for field in cls._fields:
            if field in _signatures:  # compiled code would find the rule where the field is meant
                raise TypeError(f"{cls.__name__}: the field {field} has the name of a rule: call it something else")
        _fields.update(dict.fromkeys(cls._fields, cls.__name__))
        methods = {name: getattr(cls, name) for name in signatures if hasattr(cls, name)}
        for name, method in methods.items():
            written = inspect.signature(method).parameters.values()
            parameters = ", ".join(str(each.replace(annotation=each.empty)) for each in written)
            if parameters != signatures[name]:
                raise TypeError(f"{cls.__name__}.{name} takes ({parameters}), it should take ({signatures[name]})")

        # Numba's dispatcher distinguishes tuples by __name__: a notebook cell that is run again, or v2/game.py after
        # v1/game.py, would play by the old rules.
        _names[cls.__name__] += 1
        if _names[cls.__name__] > 1:
            cls.__name__ += f"_{_names[cls.__name__]}"

        @functools.cache
        def stamp() -> str:  # at the first use, when helpers below the class are defined too
            mark = fingerprint(cls, *methods.values())
            _classes[cls.__qualname__, mark] = cls
            return mark

        @typeof_impl.register(cls)
        def _(value: Any, context: Any) -> Rules:
            kind = OutsideRules if _bounds(cls) else Rules
            return kind(tuple(typeof_impl(field, context) for field in value), cls, stamp())

        return cls

    return decorate
