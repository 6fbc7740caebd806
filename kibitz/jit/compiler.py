"""The interface to compilation: `kernel`, `helper`, `wrapping` and `rules`.

The same code runs compiled and, with NUMBA_DISABLE_JIT=1, as plain Python, with the same results from the same seeds.
Numba is imported when the first kernel is called (see `backend`): games load and play in plain Python without it.
Compiled kernels are cached on disk (see `cache`).
"""

import collections
import functools
import importlib
import inspect
import os
import sys
import threading
import weakref
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any, TypeVar

import numpy as np

from ..core.names import BadInput, FactTooSmall
from ..core.user_files import is_shipped

PLAIN = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")

F = TypeVar("F", bound=Callable[..., Any])

counting: list[str] = []  # names of compiled kernels that count references, as something allocates

# Called with a class whose rules don't compile; raises an error that says why, where that is known.
explain: Callable[[type], None] | None = None

_pending: list[Callable[[], None]] = []  # what Numba is told before the next compilation
_lock = threading.RLock()


def before_compiling(register: Callable[[], None]) -> None:
    """Call a function once, before the next kernel is called: it may import Numba."""
    if not PLAIN:
        _pending.append(register)


def _register_pending() -> None:
    with _lock:
        backend()  # registers what it compiles
        while _pending:
            _pending.pop(0)()


# ---------------------------------------------------------------- functions

OUTSIDE = (
    "reads or writes outside an array: is num_actions, max_chance_outcomes, encoding or notes too small? "
    "kibitz check says more"
)


# A function that kernels can call -> how it is compiled.
decorated: MutableMapping[Callable[..., Any], str] = weakref.WeakKeyDictionary()


def _register_helper(function: Any, compiled: Any, kind: str) -> None:
    """Of a helper from outside Kibitz every index is checked, so that a mistake there raises IndexError."""
    decorated[function] = kind
    inline, checked = kind != "long_helper", kind != "wrapping" and not is_shipped(function)
    before_compiling(lambda: backend().register_helper(function, compiled, inline=inline, checked=checked))


def helper(function: F) -> F:
    """Decorator of small functions for kernels and rules; plain Python when not compiled.

    Always inlined: a call would pass every array of a NamedTuple on the stack, which costs more than most helpers do.
    """
    _register_helper(function, function, "helper")
    return function


def long_helper(function: F) -> F:
    """Decorator of long helpers, which the compiler inlines or not.

    Else rules of a card game would take minutes to compile.
    """
    _register_helper(function, function, "long_helper")
    return function


def wrapping(function: F) -> F:
    """Decorator of a helper whose uint64 arithmetic wraps around on purpose, without NumPy's warning."""

    @functools.wraps(function)
    def plain(*arguments):
        with np.errstate(over="ignore"):
            return function(*arguments)

    _register_helper(plain, function, "wrapping")
    return plain  # type: ignore[return-value]


class Kernel:
    """A function that is compiled at its first call with arguments of these types, or loaded from the cache.

    It reports an index outside an array, in the rules of somebody's game, in one line. A game whose class says
    `in_python = True` has rules that can't be compiled: its kernels run as plain Python.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if arguments and getattr(arguments[0], "in_python", False):
            return self.py_func(*arguments, **named)
        if _pending:
            _register_pending()
        try:
            return self.dispatcher(*arguments, **named)
        except IndexError:
            raise BadInput(f"a rule of {_name(arguments[0])} {OUTSIDE}") from None
        except FactTooSmall as error:
            if not hasattr(arguments[0], "facts"):
                raise
            raise error.of_game(_name(arguments[0]), getattr(arguments[0].facts, error.fact)) from None

    @functools.cached_property
    def dispatcher(self) -> Any:
        """Numba's object for the function."""
        _register_pending()
        return backend().dispatcher(self.py_func)

    def __reduce__(self) -> str:
        return self.py_func.__qualname__


def _name(game: Any) -> str:
    return str(getattr(game, "name", "the game"))


def kernel(function: F) -> F:
    """Compile a top-level function that is generic over games, and cache the result on disk."""
    return function if PLAIN else Kernel(function)  # type: ignore[return-value]


def call_once(kernel: Any, *arguments: Any) -> Any:
    """Call a kernel for a single position: as plain Python while Numba isn't imported, which would take longer."""
    plain = isinstance(kernel, Kernel) and "numba" not in sys.modules
    return kernel.py_func(*arguments) if plain else kernel(*arguments)


def backend() -> Any:
    """The package that compiles, by its name: it imports the modules of this one, and Numba with them."""
    return importlib.import_module(f"{__package__}.backend")


# ---------------------------------------------------------------- rules

_signatures: dict[str, str] = {}  # rule -> its parameters, the same for every class
_fields: dict[str, str] = {}  # field -> a class that has it
_names: collections.Counter[str] = collections.Counter()  # number of classes of this name


def rules(signatures: Mapping[str, str]) -> Callable[[type], type]:
    """Class decorator that lets kernels call methods of a NamedTuple: `{"turn": "self, state", ...}`."""
    for name, parameters in signatures.items():
        if name in _fields:
            raise TypeError(f"the rule {name} has the name of a field of {_fields[name]}: call it something else")
        known = _signatures.get(name)
        if known not in (None, parameters):
            raise TypeError(f"the rule {name} takes ({known}) already, not ({parameters})")
        if known is None:
            _signatures[name] = parameters
            before_compiling(functools.partial(_register_rule, name, parameters))

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
        before_compiling(lambda: backend().register_class(cls, list(methods.values())))
        return cls

    return decorate


def _register_rule(name: str, parameters: str) -> None:
    backend().register_rule(name, parameters)
