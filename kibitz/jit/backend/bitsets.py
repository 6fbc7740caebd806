"""`jit.bitsets` by vector instructions."""

import functools
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from ..bitsets import ROWS, WORDS, any_of_three, sum_of_bits
from ..simd import VECTOR
from .simd import _I4, _I8, _LANES


def register_matcher(fit: Any, match: Any, inverse: np.ndarray) -> None:
    """Compile the two functions of `jit.bitsets.matcher`; `inverse[symmetry, ray of the board]` is a pattern's ray."""
    symmetries, rays = inverse.shape

    def rows_that_fit(target: Any, builder: ir.IRBuilder, signature: Any, arguments: Any, store: Any) -> Any:
        """Call `store(first word, address function, arrays after codes, fits by symmetry)` for each vector."""
        arrays, words = _arrays(target, builder, signature, arguments)
        rows_at, codes_at, *others = (array.data for array in arrays)
        first_code = builder.mul(arguments[2], _I8(rays))
        per_ray = builder.mul(words, _I8(ROWS))
        first_row = builder.mul(arguments[3], builder.mul(per_ray, _I8(rays)))

        def some_words(w: Any, vector: Any) -> None:
            first = builder.add(w, first_row)
            bases = [builder.add(first, builder.mul(per_ray, _I8(ray))) for ray in range(rays)]
            fits: list[Any] = [None] * symmetries
            for ray in range(rays):
                at = builder.gep(codes_at, [builder.add(first_code, _I8(ray))])
                offset = builder.mul(builder.zext(builder.load(at), _I8), words)
                for s in range(symmetries):
                    row = vector(rows_at, builder.add(offset, bases[int(inverse[s, ray])]))
                    held = builder.load(row, align=8)
                    fits[s] = held if ray == 0 else builder.and_(fits[s], held)
            store(w, words, vector, others, fits)

        _by_vectors(builder, words, some_words)
        return target.get_dummy_value()

    @intrinsic
    def build_fit(context, rows, codes, cell, anchor, out):
        def build(target: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
            def store(w: Any, words: Any, vector: Any, others: Any, fits: Any) -> None:
                for s in range(symmetries):
                    place = builder.add(w, builder.mul(words, _I8(s)))
                    builder.store(fits[s], vector(others[0], place), align=8)

            return rows_that_fit(target, builder, signature, arguments, store)

        return types.void(rows, codes, types.int64, types.int64, out), build

    @intrinsic
    def build_match(context, rows, codes, cell, anchor, one, other, out):
        def build(target: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
            def store(w: Any, words: Any, vector: Any, others: Any, fits: Any) -> None:
                found = functools.reduce(builder.or_, fits)
                for each in others[:2]:
                    found = builder.and_(found, builder.load(vector(each, w), align=8))
                builder.store(found, vector(others[2], w), align=8)

            return rows_that_fit(target, builder, signature, arguments, store)

        return types.void(rows, codes, types.int64, types.int64, one, other, out), build

    @overload(fit)
    def overload_fit(rows, codes, cell, anchor, out):
        return lambda rows, codes, cell, anchor, out: build_fit(rows, codes, np.int64(cell), np.int64(anchor), out)

    @overload(match)
    def overload_match(rows, codes, cell, anchor, one, other, out):
        def compiled(rows, codes, cell, anchor, one, other, out):
            build_match(rows, codes, np.int64(cell), np.int64(anchor), one, other, out)

        return compiled


@overload(any_of_three)
def _overload_any_of_three(first, second, third, one, other, out):
    def compiled(first, second, third, one, other, out):
        _any_of_three(first, second, third, one, other, out)

    return compiled


@intrinsic
def _any_of_three(context, first, second, third, one, other, out):
    def build(target: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        arrays, words = _arrays(target, builder, signature, arguments)
        symmetries = builder.extract_value(arrays[0].shape, 0)
        by_symmetry, others, out_at = arrays[:3], arrays[3:5], arrays[5].data
        many = ir.VectorType(_I8, WORDS[1])

        def some_words(w: Any, vector: Any) -> None:
            kind = vector(out_at, w).type.pointee
            both = WORDS[1] // kind.count  # symmetries in a large vector: 2 where the words of each are few
            found = cgutils.alloca_once_value(builder, ir.Constant(many, None))
            with cgutils.for_range_slice(builder, _I8(0), symmetries, _I8(both), inc=True) as (s, _):
                place = builder.add(w, builder.mul(s, words))
                rows = [
                    builder.load(builder.bitcast(builder.gep(array.data, [place]), many.as_pointer()), align=8)
                    for array in by_symmetry
                ]
                builder.store(builder.or_(builder.load(found), functools.reduce(builder.and_, rows)), found)
            whole = builder.load(found)
            if both > 1:
                halves = [
                    ir.Constant(ir.VectorType(_I4, kind.count), list(range(first, first + kind.count)))
                    for first in (0, kind.count)
                ]
                whole = functools.reduce(builder.or_, [builder.shuffle_vector(whole, whole, half) for half in halves])
            for each in others:
                whole = builder.and_(whole, builder.load(vector(each.data, w), align=8))
            builder.store(whole, vector(out_at, w), align=8)

        _by_vectors(builder, words, some_words)
        return target.get_dummy_value()

    return types.void(first, second, third, one, other, out), build


def _arrays(target: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> tuple[list[Any], Any]:
    """The arguments that are arrays, and the number of words per row of the first."""
    arrays = [
        target.make_array(kind)(target, builder, value)
        for kind, value in zip(signature.args, arguments, strict=True)
        if isinstance(kind, types.Array)
    ]
    return arrays, builder.extract_value(arrays[0].shape, 1)


def _by_vectors(builder: ir.IRBuilder, words: Any, some_words: Any) -> None:
    """Loop over one vector of 4 words, or vectors of 8; the body is `some_words(first word, address function)`."""

    def by(width: int) -> None:
        kind = ir.VectorType(_I8, width).as_pointer()
        with cgutils.for_range_slice(builder, _I8(0), words, _I8(width), inc=True) as (w, _):
            some_words(w, lambda base, offset: builder.bitcast(builder.gep(base, [offset]), kind))

    few, many = WORDS
    with builder.if_else(builder.icmp_signed("==", words, _I8(few))) as (then, otherwise):
        with then:
            by(few)
        with otherwise:
            by(many)


@overload(sum_of_bits)
def _overload_sum_of_bits(numbers, bits):
    def compiled(numbers, bits):
        return np.float64(_sum_of_bits(numbers, bits))

    return compiled


@intrinsic
def _sum_of_bits(context, numbers, bits):
    def build(target: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        arrays = [
            target.make_array(kind)(target, builder, value)
            for kind, value in zip(signature.args, arguments, strict=True)
        ]
        numbers_at, bits_at = (array.data for array in arrays)
        zeros = ir.Constant(_LANES, [0.0] * VECTOR)
        parts = [cgutils.alloca_once_value(builder, zeros) for _ in range(64 // VECTOR)]
        with cgutils.for_range(builder, builder.extract_value(arrays[1].shape, 0)) as loop:
            word = builder.load(builder.gep(bits_at, [loop.index]))
            for j, part in enumerate(parts):
                mask = builder.trunc(builder.lshr(word, _I8(VECTOR * j)), ir.IntType(VECTOR))
                chosen = builder.bitcast(mask, ir.VectorType(ir.IntType(1), VECTOR))
                at = builder.add(builder.mul(loop.index, _I8(64)), _I8(VECTOR * j))
                row = builder.bitcast(builder.gep(numbers_at, [at]), _LANES.as_pointer())
                more = builder.select(chosen, builder.load(row, align=4), zeros)
                builder.store(builder.fadd(builder.load(part), more), part)
        sums = builder.fadd(
            builder.fadd(builder.load(parts[0]), builder.load(parts[1])),
            builder.fadd(builder.load(parts[2]), builder.load(parts[3])),
        )
        width = VECTOR
        while width > 1:
            width //= 2
            low, high = (ir.Constant(ir.VectorType(_I4, width), list(range(k, k + width))) for k in (0, width))
            sums = builder.fadd(builder.shuffle_vector(sums, sums, low), builder.shuffle_vector(sums, sums, high))
        return builder.extract_element(sums, _I4(0))

    return types.float32(numbers, bits), build
