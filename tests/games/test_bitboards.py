"""Bitboards: fast ways to count and list cells against the obvious ones."""

import random

import numpy as np

from kibitz import jit
from kibitz.games.bitboards import bit, list_bits, mask, nth, nth_of_bytes, sum_of_bytes


def sets(count):
    rng = random.Random(5)
    found = [{0}, {63}, set(range(64)), set(range(0, 64, 8)), set(range(56, 64))]
    return [*found, *({rng.randrange(64) for _ in range(rng.randrange(1, 100))} for _ in range(count))]


@jit.kernel
def every_nth(bits, out):
    for n in range(len(out)):
        out[n] = nth(bits, n)


@jit.kernel
def listed(bits, out):
    return list_bits(bits, 1000, out, 1)


@jit.kernel
def every_nth_of_bytes(counts, out):
    for n in range(len(out)):
        out[n, 0], out[n, 1] = nth_of_bytes(counts, n)
    return sum_of_bytes(counts)


def test_the_nth_cell_is_the_nth_in_ascending_order():
    for cells in sets(300):
        out = np.zeros(len(cells), np.int64)
        every_nth(mask(cells), out)
        assert out.tolist() == sorted(cells)
    for cells in sets(20):  # and in plain Python
        assert [nth(mask(cells), n) for n in range(len(cells))] == sorted(cells)


def test_the_nth_item_of_eight_kinds_is_the_nth_of_the_sorted_list():
    rng = random.Random(6)
    cases = [[128] + [0] * 7, [0] * 7 + [128], [16] * 8, [1] * 8]
    cases += [[rng.choice((0, 0, 1, 3, 16)) for _ in range(8)] for _ in range(100)]
    for function in (every_nth_of_bytes, getattr(every_nth_of_bytes, "py_func", every_nth_of_bytes)):
        for counts in cases:
            row = [[kind, i] for kind, count in enumerate(counts) for i in range(count)]
            out = np.zeros((len(row), 2), np.int64)
            assert function(np.uint64(int.from_bytes(bytes(counts), "little")), out) == len(row)
            assert out.tolist() == row


def test_sums_of_bytes_go_up_to_255():
    assert sum_of_bytes(np.uint64(0xFF)) == sum_of_bytes(np.uint64(0xFF) << np.uint64(56)) == 255
    assert sum_of_bytes(np.uint64(0)) == 0


def test_cells_are_listed_in_ascending_order_from_an_index_on():
    for function in (listed, getattr(listed, "py_func", listed)):
        for cells in [set(), *sets(20)]:
            out = np.zeros(65, np.int64)
            end = function(mask(cells), out)
            assert out[1:end].tolist() == [1000 + cell for cell in sorted(cells)]


def test_a_mask_holds_the_bits_of_its_cells():
    for cells in sets(20):
        assert mask(cells) == np.bitwise_or.reduce([bit(cell) for cell in cells])
    assert mask([]) == 0
