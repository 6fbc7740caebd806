"""`jit.bits` as single processor instructions."""

from collections.abc import Callable
from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from ..bits import lowest, popcount


def _on_bits(function: Any, instruction: Callable) -> None:
    """Compile a function to one processor instruction."""

    @intrinsic
    def build(context, bits):
        def code(target_context, builder, signature, arguments):
            return builder.zext(instruction(builder, arguments[0]), target_context.get_value_type(types.int64))

        return types.int64(bits), code

    overload(function)(lambda bits: lambda bits: build(bits))  # type: ignore[call-arg]


_on_bits(popcount, lambda builder, bits: builder.ctpop(bits))
_on_bits(lowest, lambda builder, bits: builder.cttz(bits, cgutils.true_bit))
