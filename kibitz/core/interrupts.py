"""Ctrl-C: in loops that save their work first, and where it has to wait."""

import _thread
import signal
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

PATIENCE = 10.0  # seconds for which an interrupt waits for the end of an iteration,
UNSAFE = 10.0  # and for the end of what would lose it


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, after all was saved."""

    def __init__(self, result: Any) -> None:
        super().__init__()
        self.result = result  # what was reached


class Postponed:
    """Sends a signal again a little later where an interrupt would be lost, or end the process."""

    def __init__(self) -> None:
        self.waited = 0.0

    def __call__(self, number: int, frame: Any) -> bool:
        """Whether the signal comes again, so that nothing should be raised now."""
        if self.waited >= UNSAFE or not hasattr(signal, "pthread_kill") or not _loses_interrupts(frame):
            return False
        self.waited += 0.1
        timer = threading.Timer(0.1, signal.pthread_kill, (threading.main_thread().ident, number))
        timer.daemon = True
        timer.start()
        return True


def _loses_interrupts(frame: Any) -> bool:
    """Whether one would be lost: an import of a module in C++ makes an error of its own of it, a destructor ignores it.

    So does LLVM where it asks for what is compiled already, and fails then.
    """
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith("<frozen importlib") or code.co_filename == weakref.__file__:
            return True
        if code.co_name == "__del__" or code.co_name.startswith("_raw_object_cache"):
            return True
        frame = frame.f_back
    return False


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
    postponed = Postponed()
    again = threading.Timer(PATIENCE, _thread.interrupt_main)
    again.daemon = True

    def handle(number: int, frame: Any) -> None:
        if not worth_saving() or (arrived and time.monotonic() - arrived[0] > 1):
            if not postponed(number, frame):
                raise KeyboardInterrupt
            return
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
