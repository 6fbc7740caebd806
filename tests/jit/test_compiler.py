"""The compiler within one process: cache folders, fingerprints, rules, records, hashing and random numbers."""

import itertools
import os
from typing import NamedTuple

import numpy as np
import pytest
from numba.core.errors import NumbaError
from scipy import stats

from kibitz import jit
from kibitz.games import game, load
from kibitz.jit import (
    below,
    cache,
    copy_record,
    draw,
    generators,
    hash_record,
    kernel,
    lowest,
    mix,
    popcount,
    record,
    uniform,
    xor_mix,
)
from kibitz.jit.cache import fingerprint

# ---------------------------------------------------------------- folders of the cache


def test_without_a_writable_folder_the_next_one_is_used(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "given"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home" / ".cache"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert jit.cache_folder() == tmp_path / "given" / "kibitz"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "given"))
    assert jit.cache_folder().is_relative_to(tmp_path / "home")
    assert jit.cache_folder().stat().st_mode & 0o777 == 0o700
    for variable in ("XDG_CACHE_HOME", "HOME"):
        monkeypatch.setenv(variable, str(tmp_path / "file" / "home"))
    assert jit.cache_folder().parent == tmp_path
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "file"))
    with pytest.raises(RuntimeError, match="no folder for a cache"):
        jit.cache_folder()


def test_a_user_without_a_home_gets_a_temporary_folder(tmp_path, monkeypatch):
    for variable in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # what it does where nobody knows the user
    assert jit.cache_folder().parent == tmp_path


def test_a_folder_of_another_user_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert jit.cache_folder() == tmp_path / "kibitz"
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.raises(RuntimeError, match="no folder for a cache"):
        jit.cache_folder()


# ---------------------------------------------------------------- fingerprints


def stamp(body, before="", defaults=""):
    """Of `f`, after what is defined before it."""
    scope: dict = {}
    exec(f"{before}\ndef f(x{defaults}):\n    return {body}\ndef g(x):\n    return f(x)", scope)
    return fingerprint(scope["g"])


PAIR = "from collections import namedtuple\nPAIR = namedtuple('Pair', '{}')(1, 2)"
ENUM = "from enum import IntEnum\nclass Color(IntEnum):\n    RED = {}"
DECORATED = "from kibitz import jit\nfrom numba import njit\n{}\ndef h(x):\n    return x"
DECORATORS = "", "@jit.helper", "@jit.long_helper", "@jit.wrapping", "@jit.kernel", "@njit", "@njit(fastmath=True)"
WRAPPER = "from functools import wraps\nfrom kibitz import jit\n@jit.helper\ndef i(x):\n    return x\n{}\n@wraps(i)\n"
WRAPPER += "def h(x):\n    return x"
TWINS = "a = lambda x: x\nb = lambda x: x + 1\nc, d, e = {}"
INNER = (
    "import types\nouter = types.ModuleType('outer')\nouter.inner = types.ModuleType('outer.inner')\nouter.inner.N = "
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(("x * 1 + 23",), ("x * 12 + 3",), id="1, 23 and 12, 3"),
        pytest.param(("x", "", ", y=1"), ("x", "", ", y=2"), id="a default"),
        pytest.param(("x", "", ", *, y=1"), ("x", "", ", *, y=2"), id="a default of a keyword"),
        pytest.param(("PAIR.a", PAIR.format("a b")), ("PAIR.a", PAIR.format("b a")), id="the order of fields"),
        pytest.param(("Color.RED", ENUM.format(1)), ("Color.RED", ENUM.format(2)), id="a member of an Enum"),
        pytest.param(("outer.inner.N", f"{INNER}1"), ("outer.inner.N", f"{INNER}2"), id="a module in a module"),
        pytest.param(
            ("c(d(e(x)))", TWINS.format("a, b, a")), ("c(d(e(x)))", TWINS.format("a, b, b")), id="functions of one name"
        ),
        pytest.param(("h(x)", WRAPPER.format("")), ("h(x)", WRAPPER.format("@jit.helper")), id="a wrapper of a helper"),
        *(
            pytest.param(("h(x)", DECORATED.format(one)), ("h(x)", DECORATED.format(other)), id=f"{one} and {other}")
            for one, other in itertools.combinations(DECORATORS, 2)
        ),
    ],
)
def test_different_code_has_different_fingerprints(one, other):
    assert stamp(*one) == stamp(*one)
    assert stamp(*one) != stamp(*other)


@pytest.mark.parametrize("package", ["numba", "llvmlite", "numpy"])
def test_another_version_of_a_package_that_compiles_has_other_fingerprints(monkeypatch, package):
    before = stamp("x")
    monkeypatch.setattr(f"{package}.__version__", "9.9.9")
    cache._base.cache_clear()
    after = stamp("x")
    monkeypatch.undo()
    cache._base.cache_clear()
    assert after != before
    assert stamp("x") == before


# ---------------------------------------------------------------- rules


@kernel
def worth_of(coin):
    return coin.coined(10)


def test_a_class_that_is_defined_again_has_its_new_rules():
    """As when a cell of a notebook is run again, or v1/game.py and v2/game.py are compared."""
    found = []
    for amount in (1, 2):

        @jit.rules({"coined": "self, count"})
        class Coin(NamedTuple):
            def coined(self, count):
                return amount * count  # noqa: B023  (it is called at once)

        found.append(worth_of(Coin()))
    assert found == [10, 20]


def test_a_rule_with_other_parameters_is_refused_by_name():
    for wrong in ("self, position", "self, state, seat", "self, state=None", "self, *state"):
        scope: dict = {}
        exec(f"def start({wrong}): pass", scope)
        with pytest.raises(TypeError) as error:
            jit.rules({"start": "self, state"})(type("Wrong", (NamedTuple("Empty", []),), scope))
        assert str(error.value) == f"Wrong.start takes ({wrong}), it should take (self, state)"


def test_a_field_and_a_rule_of_one_name_are_refused():
    """Compiled code would find the rule where the field is meant, in any class with rules."""
    jit.rules({"never_a_field": "self"})
    with pytest.raises(TypeError, match="Named: the field never_a_field has the name of a rule"):
        jit.rules({})(NamedTuple("Named", [("never_a_field", int)]))
    jit.rules({})(NamedTuple("Plain", [("never_a_rule", int)]))
    with pytest.raises(TypeError, match="the rule never_a_rule has the name of a field of Plain"):
        jit.rules({"never_a_rule": "self"})


def test_a_game_without_a_required_rule_is_refused():
    with pytest.raises(TypeError, match="Lacking lacks the rules start, turn, actions, play, payoff"):
        game("lacking", state=RECORD, num_actions=1, max_game_length=1, payoffs=(0.0, 0.0))(NamedTuple("Lacking", []))


# ---------------------------------------------------------------- records, bits, hashing, random numbers: plain too

RECORD = record(("a", "i1"), ("b", "u8"), ("c", "i2", (3,)), ("d", "f4"))  # with gaps


@kernel
def key_of(state):
    return hash_record(state)


@kernel
def copy(target, source):
    copy_record(target, source)


@kernel
def numbers(rng, faces, bits, rolls, shares):
    for i in range(len(bits)):
        bits[i] = mix(draw(rng), i)
        rolls[i] = below(rng, faces)
        shares[i] = uniform(rng)


def plainly(function):
    return getattr(function, "py_func", function)


def drawn(function, count):
    bits, rolls, shares = np.empty(count, np.uint64), np.empty(count, np.int64), np.empty(count)
    function(generators(5, 1)[0], 6, bits, rolls, shares)
    return bits, rolls, shares


def test_random_numbers_are_the_same_in_plain_python():
    for plain, compiled in zip(drawn(plainly(numbers), 200), drawn(numbers, 200), strict=True):
        np.testing.assert_array_equal(plain, compiled)


def test_random_numbers_are_uniform():
    bits, rolls, shares = drawn(numbers, 60_000)
    assert stats.chisquare(np.bincount(rolls, minlength=6)).pvalue > 0.001
    assert stats.chisquare(np.histogram(shares, 100, (0, 1))[0]).pvalue > 0.001
    assert stats.chisquare(np.bincount(bits % np.uint64(256))).pvalue > 0.001
    assert len(set(bits.tolist())) == len(bits)


def test_generators_differ_from_each_other_and_by_seed():
    first, second = generators(1, 1000), generators(2, 1000)
    assert len({row.tobytes() for row in (*first, *second)}) == 2000
    np.testing.assert_array_equal(first, generators(1, 1000))


def filled(gap):
    """Two records, of which the first is written; what lies between the fields is `gap`."""
    states = np.frombuffer(bytearray([gap]) * (2 * RECORD.itemsize), RECORD).view(np.recarray)
    states[0].a, states[0].b, states[0].d = -3, 2**63 + 5, 0.5
    states[0].c[:] = 1, -2, 3
    return states


def test_the_key_of_a_record_is_that_of_its_fields_in_plain_python_too():
    keys = {int(function(filled(gap)[0])) for function in (key_of, plainly(key_of)) for gap in (0, 255)}
    assert len(keys) == 1
    other = filled(0)
    other[0].c[2] = 4
    assert int(key_of(other[0])) not in keys


SMALL = record(("a", "i1", (3,)))  # less than a word
LONG = record(("a", "i1"), ("b", "i2"), ("c", "i4", (3,)), ("d", "i1", (2,)))  # two words and a half


@pytest.mark.parametrize("kind", [RECORD, SMALL, LONG], ids=["gaps", "small", "long"])
def test_every_byte_of_a_field_and_no_other_counts_in_a_key(kind):
    fields = [kind.fields[name] for name in kind.names]
    used = {byte for field, offset, *_ in fields for byte in range(offset, offset + field.itemsize)}
    assert used < set(range(kind.itemsize)) or kind is SMALL
    keys = {0}
    for byte in (None, *range(kind.itemsize)):
        for change in (0,) if byte is None else (1, 128, 255):
            data = bytearray(range(1, kind.itemsize + 1))
            if byte is not None:
                data[byte] ^= change
            state = np.frombuffer(data, kind).view(np.recarray)[0]
            key = int(key_of(state))
            assert key == int(plainly(key_of)(state))
            assert (key not in keys) == (byte is None or byte in used)
            keys.add(key)


def test_a_record_is_copied_the_same_way_in_plain_python():
    for function in (copy, plainly(copy)):
        states = filled(7)
        assert states[1] != states[0]
        function(states[1], states[0])
        assert states[1] == states[0]


def test_a_record_is_not_copied_over_one_of_another_type():
    other = np.zeros(1, record(("a", "i1")))
    with pytest.raises((NumbaError, ValueError)):
        copy(other[0], filled(0)[0])


@kernel
def bits_of(bits):
    return popcount(bits), lowest(bits)


def test_bits_are_counted_the_same_way_in_plain_python():
    for bits, expected in ((1, (1, 0)), (0b1011000, (3, 3)), (2**63, (1, 63)), (2**64 - 1, (64, 0))):
        assert bits_of(np.uint64(bits)) == plainly(bits_of)(np.uint64(bits)) == expected


@kernel
def mixed(keys, values, out):
    for i in range(len(keys)):
        for j in range(len(values)):
            out[i, j] = mix(keys[i], values[j])


def test_mix_gives_different_pairs_of_small_numbers_different_keys():
    keys, values, out = np.arange(400, dtype=np.uint64), np.arange(400), np.zeros((400, 400), np.uint64)
    mixed(keys, values, out)
    assert len(np.unique(out)) == out.size  # (1, 4) and (2, 7) among them
    assert out.min() > 0
    assert out[1, 4] == mix(np.uint64(1), 4) != mix(np.uint64(2), 7)
    assert mix(mix(np.uint64(1), 2), 3) != mix(mix(np.uint64(1), 3), 2)


def test_keys_of_shipped_games_stay_those_of_stored_strategies():
    assert int(xor_mix(np.uint64(1), 4)) == 16357983197009134426
    dice = load("liars_dice:faces=3")
    state = dice.initial()
    for face in (1, 0):
        dice.play(state.record, face)
    assert int(dice.infoset(state.record, 0)) == 16458488740677387444
