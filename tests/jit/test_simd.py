"""The inner loops of a network, compiled and plain, to the last bit; and kernels that count no references."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kibitz.jit import kernel
from kibitz.jit.simd import VECTOR, add_rows, pick_active

ROOT = Path(__file__).parents[2]
SPARE = 40  # unused numbers behind those in use
WIDTHS = [VECTOR, 32, 64, 112, 128, 144, 240, 272]  # blocks of 8, 4, 2 and 1 vectors, alone and one after the other


@kernel
def add(sums, rows, at, width, picks, factors, count):
    add_rows(sums, rows, at, width, picks, factors, count)


@kernel
def pick(numbers, count, signed, picks, factors):
    return pick_active(numbers, count, signed, picks, factors)


def numbers(generator, count):
    """Of all sizes, so that the order of a sum shows in its last bits."""
    return (generator.normal(size=count) * 10.0 ** generator.uniform(-4, 4, count)).astype(np.float32)


def task(width, count, at, height=30, seed=1):
    generator = np.random.default_rng([seed, width, count, at])
    sums, rows = numbers(generator, width + SPARE), numbers(generator, at + height * width + SPARE)
    picks, factors = generator.integers(0, height, count + 5, np.int32), numbers(generator, count + 5)
    return sums, rows, at, width, picks, factors, count


@pytest.mark.parametrize("at", [0, 1, 16, 37])
@pytest.mark.parametrize("count", [0, 1, 2, 150])
@pytest.mark.parametrize("width", WIDTHS)
def test_compiled_sums_of_rows_equal_plain_python_to_the_last_bit(width, count, at):
    given = task(width, count, at)
    plain, compiled = given[0].copy(), given[0].copy()
    with np.errstate(all="raise"):
        add_rows(plain, *given[1:])
    add(compiled, *given[1:])
    assert compiled.tobytes() == plain.tobytes()
    assert (count == 0) == (compiled.tobytes() == given[0].tobytes())


def test_plain_python_adds_rows_in_order_and_rounds_each_product():
    sums, rows, at, width, picks, factors, count = task(32, 20, 3)
    expected = [np.float32(number) for number in sums]
    for pick, factor in zip(picks[:count], factors, strict=False):
        for k in range(width):
            product = np.float32(np.float64(factor) * np.float64(rows[at + pick * width + k]))
            expected[k] = np.float32(np.float64(expected[k]) + np.float64(product))
    add_rows(sums, rows, at, width, picks, factors, count)
    assert sums.tolist() == [float(number) for number in expected]


def test_nothing_is_written_beyond_the_sums():
    for width in WIDTHS:
        given = task(width, 9, 5)
        before = [array.copy() for array in given if isinstance(array, np.ndarray)]
        add(*given)
        sums, *others = [array for array in given if isinstance(array, np.ndarray)]
        assert not np.array_equal(sums[:width], before[0][:width])
        np.testing.assert_array_equal(sums[width:], before[0][width:])
        for array, untouched in zip(others, before[1:], strict=True):
            np.testing.assert_array_equal(array, untouched)


def test_rows_that_are_not_picked_are_not_read():
    """They hold values that would spoil any sum."""
    sums, rows, at, width, picks, factors, count = task(144, 12, 7, height=20)
    picks[:] = np.random.default_rng(1).integers(5, 10, len(picks))
    factors[count:] = np.nan
    rows[: at + 5 * width] = np.nan
    rows[at + 10 * width :] = np.nan
    add(sums, rows, at, width, picks, factors, count)
    assert np.isfinite(sums).all()


def test_numbers_of_another_type_are_not_taken_for_f4():
    sums, rows, at, width, picks, factors, count = task(16, 3, 0)
    with pytest.raises(Exception, match="add_rows"):
        add(sums.astype(np.float64), rows, at, width, picks, factors, count)


SPECIAL = [0.0, -0.0, 1.0, -1.0, 1e-45, -1e-45, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("count", [0, VECTOR, 128, 272])
def test_active_numbers_are_the_same_compiled_and_plain(count, signed, share):
    generator = np.random.default_rng([count, int(10 * share)])
    given = np.where(generator.random(count + SPARE) < share, generator.choice(SPECIAL, count + SPARE), 0)
    given = given.astype(np.float32)
    results = []
    for function in (pick_active, pick):
        picks, factors = np.full(count + SPARE, -1, np.int32), np.full(count + SPARE, 7, np.float32)
        found = function(given, count, signed, picks, factors)
        assert (picks[count:] == -1).all()
        assert (factors[count:] == 7).all()
        results.append((found, picks[:found].tolist(), factors[:found].tolist()))
    assert results[0] == results[1]
    wanted = [i for i in range(count) if given[i] > 0 or (signed and given[i] < 0)]
    assert results[0] == (len(wanted), wanted, given[wanted].tolist())
    assert bool(wanted) == (count * share > 0)


# ---------------------------------------------------------------- references

COUNTING = """
import json
import numpy as np
from kibitz import games, jit
from kibitz.search.oos import Oos

@jit.kernel
def total(count):
    steps = np.zeros(count)
    for i in range(count):
        steps[i] = i
    return steps.sum()

game = games.load("kuhn")
Oos(game).run(50)
found = [jit.compiled[:], jit.counting[:]]
sums = [total(4), float(total(np.int32(5)))]
print(json.dumps([*found, sums, jit.compiled[len(found[0]):], jit.counting[len(found[1]):]]))
"""


def test_kernels_count_no_references_unless_something_allocates(tmp_path):
    """Kernels that allocate count references and work, also from the cache."""
    (tmp_path / "script.py").write_text(COUNTING)
    environment = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    environment |= {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}

    def run():
        done = subprocess.run(
            [sys.executable, "script.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        return json.loads(done.stdout)

    compiled, counting, sums, compiled_later, counting_later = run()
    assert compiled == ["simulate"]
    assert counting == []
    assert sums == [6.0, 10.0]
    assert compiled_later == counting_later == ["total", "total"]
    assert run() == [[], [], sums, [], []]
