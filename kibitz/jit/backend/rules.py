"""Numba's type of games and policies: named tuples whose methods kernels call."""

import collections
import functools
from typing import Any

from numba import types
from numba.core.datamodel import models
from numba.extending import overload_method, register_model, typeof_impl

from ...core.user_files import is_shipped
from ..cache import fingerprint
from .kernels import INSIDE

_classes: dict[tuple[str, str], type] = {}  # (name, fingerprint) -> the class


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


def register_rule(name: str, parameters: str) -> None:
    """Let kernels call a method of this name and these parameters on every class with rules."""
    scope: dict = {"name": name}
    exec(
        f"def {name}({parameters}): return getattr(self.rules, 'checked_' + name, None) or getattr(self.rules, name)",
        scope,
    )
    for kind, more in ((Rules, {}), (OutsideRules, {"boundscheck": True})):
        options: Any = {"forceinline": True, **INSIDE, **more}
        overload_method(kind, name, jit_options=options)(scope[name])  # type: ignore[call-arg]


def register_class(cls: Any, methods: list[Any]) -> None:
    """Give the objects of a class their type."""

    @functools.cache
    def stamp() -> str:  # at the first use, when helpers below the class are defined too
        mark = fingerprint(cls, *methods)
        _classes[cls.__qualname__, mark] = cls
        return mark

    @typeof_impl.register(cls)
    def _(value: Any, context: Any) -> Rules:
        kind = Rules if is_shipped(cls) else OutsideRules
        return kind(tuple(typeof_impl(field, context) for field in value), cls, stamp())
