"""Atomic writes, and files of large tensors."""

import os
import threading

import numpy as np
import pytest

from kibitz.core.files import read_tensors, write_atomically, write_large_tensors


def test_a_pipe_or_device_is_written_to_and_not_replaced(tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_atomically(pipe, b"content")
    reader.join(10)
    assert read == [b"content"]
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


@pytest.mark.parametrize("mapped", [False, True])
def test_large_tensors_are_read_like_others(tmp_path, mapped):
    tensors = {"a": np.arange(3, dtype=np.uint8), "b": np.arange(6.0).reshape(2, 3), "c": np.uint16([[7], [8]])}
    write_large_tensors(tmp_path / "x", "some format 1", tensors, game="kuhn")
    found, about = read_tensors(tmp_path / "x", "some format 1", "thing", mapped=mapped)
    assert about == {"format": "some format 1", "game": "kuhn"}
    assert found.keys() == tensors.keys()
    assert all(np.array_equal(found[key], tensor) for key, tensor in tensors.items())
    assert list(tmp_path.iterdir()) == [tmp_path / "x"]
