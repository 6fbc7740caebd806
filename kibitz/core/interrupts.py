"""Ctrl-C in loops that save their work first."""

import _thread
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

PATIENCE = 10.0  # seconds for which an interrupt waits for the end of an iteration


@contextmanager
def deferred_interrupts(worth_saving: Callable[[], bool] = lambda: True) -> Iterator[Callable[[], bool]]:
    """Yield a function that tells whether Ctrl-C was pressed. It raises nothing, until it is pressed once more.

    Where the function isn't called for some seconds after Ctrl-C, as an iteration takes longer, KeyboardInterrupt is
    raised too: what was done since the last checkpoint is lost then.

    Some programs send the signal to a process and to its group, so that it comes twice: that counts as one.

    Args:
        worth_saving: Whether anything would be lost: else Ctrl-C is raised at once. A first iteration may compile.
    """
    arrived: list[float] = []
    again = threading.Timer(PATIENCE, _thread.interrupt_main)
    again.daemon = True

    def handle(number: int, frame: Any) -> None:
        if not worth_saving() or (arrived and time.monotonic() - arrived[0] > 1):
            raise KeyboardInterrupt
        if not arrived:
            again.start()
        arrived.append(time.monotonic())

    def interrupted() -> bool:
        if arrived:
            again.cancel()
        return bool(arrived)

    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = signal.signal(signal.SIGINT, handle)
    try:
        yield interrupted
    finally:
        again.cancel()
        signal.signal(signal.SIGINT, before)
