"""Counting and finding bits; compiled, each is a single processor instruction."""


def popcount(bits):
    """Number of set bits."""
    return int(bits).bit_count()


def lowest(bits):
    """Index of the lowest set bit; there must be one."""
    bits = int(bits)
    return (bits & -bits).bit_length() - 1
