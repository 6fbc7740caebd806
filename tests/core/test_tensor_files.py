"""Formats of tensor files: what they write, and that they read nothing but what they declare."""

import json

import numpy as np
import pytest
import safetensors.numpy

from kibitz.core.names import BadInput
from kibitz.core.tensor_files import DTYPES, Expected, Format

LAYERS = Format(
    "some layers 1",
    "network",
    {"weights.{i}": "float16|float32 width{i} width{i+1}", "biases.{i}": "float32 width{i+1}", "gates": "int8 4*units"},
    about={"game": str, "units": range(1, 10)},
    sealed=True,
)
SOUND = {
    "weights.0": np.ones((2, 3), np.float32),
    "weights.1": np.ones((3, 1), np.float16),
    "biases.0": np.ones(3, np.float32),
    "biases.1": np.ones(1, np.float32),
    "gates": np.ones(8, np.int8),
}


def refused(path, format=LAYERS, **given):
    with pytest.raises(BadInput) as caught:
        format.read(path, **given)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_files_are_those_of_safetensors(tmp_path):
    tensors = {f"{kind}_{name}": np.ones((2, 3), kind) for kind in DTYPES.values() for name in "ba"}
    tensors |= {"number": np.array(3, np.float32), "empty": np.zeros((0, 4), np.int16), "turned": np.eye(3)[:, ::-1].T}
    about = {"format": "some tensors 1", "made": 'by "hand"\n\\ é'}
    Format("some tensors 1", "thing").write(tmp_path / "x", tensors, made=about["made"])
    sound = {key: np.asarray(tensor, order="C") for key, tensor in tensors.items()}
    assert (tmp_path / "x").read_bytes() == safetensors.numpy.save(sound, {"about": json.dumps(about)})


@pytest.mark.parametrize("mapped", [False, True])
def test_what_was_written_is_read(mapped, tmp_path):
    LAYERS.write(tmp_path / "x", SOUND, game="kuhn", units=2)
    found, about = LAYERS.read(tmp_path / "x", game="kuhn", same={"units": 2}, mapped=mapped, whole=True, width0=2)
    assert (about["game"], about["units"]) == ("kuhn", 2)
    assert list(found) == ["weights.0", "weights.1", "biases.0", "biases.1", "gates"]
    assert all(np.array_equal(found[key], tensor) for key, tensor in SOUND.items())
    assert LAYERS.fits(tmp_path / "x")
    assert not Format("some layers 2", "network").fits(tmp_path / "x")


CHANGES = {
    "weights.1 has the shape [2, 1], not [3, 1]": {"weights.1": np.ones((2, 1), np.float32)},
    "biases.0 has the shape [3, 1], not [3]": {"biases.0": np.ones((3, 1), np.float32)},
    "gates has the shape [9], not [8]": {"gates": np.ones(9, np.int8)},
    "gates is of type int16, not int8": {"gates": np.ones(8, np.int16)},
    "weights.0 is of type float64, not float16 or float32": {"weights.0": np.ones((2, 3))},
    "weights.0 is empty": {"weights.0": np.ones((0, 3), np.float32)},
    "biases.0 has numbers that aren't finite": {"biases.0": np.full(3, np.nan, np.float32)},
    "weights.2 is missing": {"biases.2": np.ones(1, np.float32)},
    "other doesn't belong there": {"other": np.ones(1)},
}


@pytest.mark.parametrize("text", CHANGES)
def test_tensors_that_are_not_as_declared_are_refused(text, tmp_path):
    LAYERS.write(tmp_path / "x", SOUND | CHANGES[text], game="kuhn", units=2)
    assert text in refused(tmp_path / "x")


@pytest.mark.parametrize(
    ("about", "text"),
    [
        ({"game": 3, "units": 2}, "game is 3, which should be text"),
        ({"game": "kuhn"}, "units is missing"),
        ({"game": "kuhn", "units": 10}, "units is 10, which should be 1 to 9"),
        ({"game": "kuhn", "units": True}, "units is true, which should be 1 to 9"),
        ({"game": "kuhn", "units": 2.0}, "units is 2.0, which should be 1 to 9"),
        ({"game": "leduc", "units": 2}, "is a network for leduc, not for kuhn"),
    ],
)
def test_values_that_are_not_as_declared_are_refused(about, text, tmp_path):
    LAYERS.write(tmp_path / "x", SOUND, **about)
    assert text in refused(tmp_path / "x", game="kuhn")


def test_a_file_of_another_run_or_format_is_refused(tmp_path):
    LAYERS.write(tmp_path / "x", SOUND, game="kuhn", units=2)
    assert "is the state of another run" in refused(tmp_path / "x", same={"units": 3})
    assert "is no thing of Kibitz (its format is 'some layers 1')" in refused(
        tmp_path / "x", Format("thing 1", "thing")
    )


def test_changed_numbers_are_refused(tmp_path):
    LAYERS.write(tmp_path / "x", SOUND, game="kuhn", units=2)
    data = bytearray((tmp_path / "x").read_bytes())
    data[-1] ^= 2  # of gates, the last
    (tmp_path / "x").write_bytes(data)
    assert "its checksum is wrong" in refused(tmp_path / "x")
    assert LAYERS.read(tmp_path / "x", mapped=True)[0]["gates"][-1] == 3


def test_tensors_may_depend_on_what_the_file_says_and_on_who_reads(tmp_path):
    format = Format("rows 1", "thing", lambda about, shapes: {"rows": f"float64 {about['rows']} columns"})
    format.write(tmp_path / "x", {"rows": np.full((2, 5), np.inf)}, rows=2)
    assert "rows has numbers that aren't finite" in refused(tmp_path / "x", format)
    assert "not [2, 4]" in refused(tmp_path / "x", format, columns=4)
    anything = {"rows": Expected(("float64",), (None, None), finite=False)}
    assert format.read(tmp_path / "x", anything)[0]["rows"].shape == (2, 5)
