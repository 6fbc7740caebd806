"""Sets of patterns as bit vectors: test at once which of many patterns match around a cell."""

import functools
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from .simd import _I4, _I8, _LANES, VECTOR

WORDS = (4, 8)  # words of 64 bits per vector: patterns take one vector of 4, or any number of vectors of 8
CODES = 16  # values of a ray: two places, two bits each


def matcher(images: np.ndarray) -> tuple[Any, Any]:
    """Make two functions that find the patterns that fit around a cell, all patterns at once (see learn/tspg).

    `images[s, r]` is the ray of the board onto which symmetry s maps ray r of a pattern. The functions `fit` and
    `match` take

        rows    [anchors * rays * 16, words] u8: bit f of row (anchor, ray, code): whether pattern f fits this code
        codes   [cells, rays] u1: the contents of the rays around each cell
        cell, anchor    the cell, and the anchor of the patterns that is on it
        out     of `fit`, [symmetries, words] u8: the patterns that fit, per symmetry;
                of `match`, [words] u8: those of the patterns in it that fit under any symmetry

    The images are compiled into the code: each step needs one address, of which only the code is variable, and one AND.
    """
    symmetries, rays = images.shape
    inverse = np.argsort(images, axis=1)  # [symmetry, ray of the board] -> ray of the pattern

    def fit(rows, codes, cell, anchor, out):
        out[:] = ~np.uint64(0)
        for symmetry in range(symmetries):
            for ray in range(rays):
                out[symmetry] &= rows[(anchor * rays + inverse[symmetry, ray]) * CODES + codes[cell, ray]]

    def match(rows, codes, cell, anchor, out):
        fits = np.zeros((symmetries, len(out)), np.uint64)
        fit(rows, codes, cell, anchor, fits)
        out &= np.bitwise_or.reduce(fits, axis=0)

    def built(joined: bool) -> Any:
        @intrinsic
        def build_fit(context, rows, codes, cell, anchor, out):
            def build(target: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
                arrays, words = _arrays(target, builder, signature, arguments)
                rows_at, codes_at, out_at = (array.data for array in arrays)
                first_code = builder.mul(arguments[2], _I8(rays))
                per_ray = builder.mul(words, _I8(CODES))
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
                    if joined:
                        found = functools.reduce(builder.or_, fits)
                        found = builder.and_(found, builder.load(vector(out_at, w), align=8))
                        builder.store(found, vector(out_at, w), align=8)
                    else:
                        for s in range(symmetries):
                            place = builder.add(w, builder.mul(words, _I8(s)))
                            builder.store(fits[s], vector(out_at, place), align=8)

                _by_vectors(builder, words, some_words)
                return target.get_dummy_value()

            return types.void(rows, codes, types.int64, types.int64, out), build

        return build_fit

    build_fit, build_match = built(joined=False), built(joined=True)

    @overload(fit)
    def overload_fit(rows, codes, cell, anchor, out):
        return lambda rows, codes, cell, anchor, out: build_fit(rows, codes, np.int64(cell), np.int64(anchor), out)

    @overload(match)
    def overload_match(rows, codes, cell, anchor, out):
        return lambda rows, codes, cell, anchor, out: build_match(rows, codes, np.int64(cell), np.int64(anchor), out)

    return fit, match


def any_of_both(first, second, held, out):
    """out = held & (first[0] & second[0] | first[1] & second[1] | ...): arrays [symmetries, words], and [words]."""
    out[:] = held & np.bitwise_or.reduce(first & second, axis=0)


@overload(any_of_both)
def _overload_any_of_both(first, second, held, out):
    def compiled(first, second, held, out):
        _any_of_both(first, second, held, out)

    return compiled


@intrinsic
def _any_of_both(context, first, second, held, out):
    def build(target: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        arrays, words = _arrays(target, builder, signature, arguments)
        symmetries = builder.extract_value(arrays[0].shape, 0)

        def some_words(w: Any, vector: Any) -> None:
            one, other, held_at, out_at = (array.data for array in arrays)
            found = cgutils.alloca_once_value(builder, ir.Constant(vector(held_at, w).type.pointee, None))
            with cgutils.for_range(builder, symmetries) as loop:
                place = builder.add(w, builder.mul(loop.index, words))
                both = builder.and_(
                    builder.load(vector(one, place), align=8), builder.load(vector(other, place), align=8)
                )
                builder.store(builder.or_(builder.load(found), both), found)
            whole = builder.and_(builder.load(found), builder.load(vector(held_at, w), align=8))
            builder.store(whole, vector(out_at, w), align=8)

        _by_vectors(builder, words, some_words)
        return target.get_dummy_value()

    return types.void(first, second, held, out), build


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


def sum_of_bits(numbers, bits):
    """The sum of the f4 numbers whose bit is set, in the same order on every machine."""
    chosen = np.unpackbits(bits.view(np.uint8), bitorder="little").astype(bool)
    lanes = np.where(chosen, numbers, np.float32(0)).reshape(len(bits), 64 // VECTOR, VECTOR)
    parts = np.zeros((64 // VECTOR, VECTOR), np.float32)
    for word in lanes:
        parts += word
    sums = (parts[0] + parts[1]) + (parts[2] + parts[3])
    while len(sums) > 1:
        sums = sums[: len(sums) // 2] + sums[len(sums) // 2 :]
    return float(sums[0])


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
