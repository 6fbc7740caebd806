"""Rows of zeros and ones as bits: an encoding is 32 times smaller on its way to a device.

A row of 8 * n numbers becomes n bytes, and number i is bit i // n of byte i % n: neighbours are in neighbouring bytes,
so that the compiler packs several at once.
"""

from typing import TYPE_CHECKING

from ...jit import helper

if TYPE_CHECKING:
    import torch


def packed_size(count: int) -> int:
    """Number of bytes into which `count` bits are packed."""
    return -(-count // 8)


@helper
def pack(numbers, out):
    """Write 8 times as many numbers as bits; return whether all of them are 0 or 1."""
    width, others = len(out), False
    for i in range(width):
        byte = 0
        for bit in range(8):
            number = numbers[bit * width + i]
            byte |= int(number != 0) << bit
            others |= (number != 0) & (number != 1)
        out[i] = byte
    return not others


def unpack(packed: "torch.Tensor", count: int) -> "torch.Tensor":
    """The first `count` numbers of each row of bytes, as [rows, count] u1."""
    import torch

    shifts = torch.arange(8, dtype=torch.uint8, device=packed.device)[:, None]
    return (packed[:, None] >> shifts & 1).flatten(1)[:, :count]
