"""Compilation: the only room that knows Numba; it imports `core` alone. The others import these names from here."""

from .bits import lowest, popcount
from .cache import cache_files, cache_folder, compiled
from .compiler import PLAIN, Kernel, call_once, counting, helper, kernel, long_helper, rules, wrapping
from .random import below, draw, generators, mix, uniform, xor_mix
from .records import copy_record, hash_record, record

__all__ = [
    "PLAIN",
    "Kernel",
    "below",
    "cache_files",
    "cache_folder",
    "call_once",
    "compiled",
    "copy_record",
    "counting",
    "draw",
    "generators",
    "hash_record",
    "helper",
    "kernel",
    "long_helper",
    "lowest",
    "mix",
    "popcount",
    "record",
    "rules",
    "uniform",
    "wrapping",
    "xor_mix",
]
