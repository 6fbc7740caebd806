"""The Numba side of compilation, imported when the first kernel is called: the only package that imports Numba."""

from . import bits, bitsets, records, simd  # noqa: F401  (they register themselves)
from .bitsets import register_matcher
from .kernels import dispatcher, register_helper
from .rules import register_class, register_rule

__all__ = ["dispatcher", "register_class", "register_helper", "register_matcher", "register_rule"]
