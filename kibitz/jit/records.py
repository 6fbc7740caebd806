"""Positions as NumPy records: their type, and copying and hashing them."""

import functools

import numpy as np

from .random import xor_mix


def record(*fields: tuple) -> np.dtype:
    """The type of a position with these fields: name, type, and the shape of an array.

    (np.record silently ignores `align`, so the aligned type is made first.)
    """
    return np.dtype((np.record, np.dtype(list(fields), align=True)))


def copy_record(target, source):
    """Copy a record into another inside a rule, where `target[:] = source` doesn't compile."""
    for name in source.dtype.names:
        target[name] = source[name]


@functools.cache
def bits_used(dtype: np.dtype) -> np.ndarray:
    """Mask of the bytes of a record that belong to fields, in words of eight bytes. Gaps may hold anything."""
    used = np.zeros(-(-dtype.itemsize // 8) * 8, np.uint8)
    for name in dtype.names:  # type: ignore[union-attr]
        field, offset, *_ = dtype.fields[name]  # type: ignore[index]
        used[offset : offset + field.itemsize] = 0xFF
    return used.view(np.uint64)


def hash_record(source):
    """A key of a whole record, never 0: the infoset of a game without hidden information."""
    used = bits_used(source.dtype)
    key = np.uint64(1)
    for word in np.frombuffer(source.tobytes().ljust(used.nbytes), np.uint64) & used:
        key = xor_mix(key, word)
    return key
