"""`jit.records` in compiled code."""

import sys

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from ..random import xor_mix
from ..records import bits_used, copy_record, hash_record


@intrinsic
def _copy_record(context, target, source):
    def build(target_context, builder, signature, arguments):
        size = target_context.get_constant(types.intp, source.size)
        cgutils.raw_memcpy(builder, arguments[0], arguments[1], size, 1)
        return target_context.get_dummy_value()

    return types.void(target, source), build


@overload(copy_record)
def _overload_copy_record(target, source):
    if target == source:  # else bytes outside the target would be written
        return lambda target, source: _copy_record(target, source)
    return None


@intrinsic
def _word(context, source, index):
    """Eight bytes of a record; `_last_bytes` are the rest after the last eight."""

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


@overload(hash_record)
def _overload_hash_record(source):
    used, words, rest = bits_used(source.dtype), source.size // 8, source.size % 8

    def compiled(source):
        key = np.uint64(1)
        for index in range(words):
            key = xor_mix(key, _word(source, index) & used[index])
        if rest:
            key = xor_mix(key, _last_bytes(source) & used[words])
        return key

    return compiled
