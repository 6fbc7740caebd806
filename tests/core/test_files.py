"""Atomic writes."""

import os
import threading

from kibitz.core.files import write_atomically


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
