"""The streams of the process, and interrupts: a command whose output is full, closed or missing ends in one line."""

import errno
import io
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

from ..core.interrupts import Postponed

INTERRUPTED = 130  # exit code after Ctrl-C
ENDING = ("SIGINT", "SIGTERM", "SIGHUP")  # Ctrl-C; the end from Slurm, `timeout` or a container; a terminal that closes
AGAIN = 1.0  # seconds within which a signal that comes twice, to the process and to its group, counts as one
FAILED, UNREAD = 2, 1  # exit codes: the output can't be written; its reader has left (`kibitz games | head -1`)


class _Closed(io.TextIOBase):
    """Standard output of a process that was started without one: writing fails, as for any other command."""

    used = False

    def write(self, text: str) -> int:
        self.used = True
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))

    def flush(self) -> None:
        if self.used:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))


def open_missing() -> None:
    """Replace the streams that the process was started without, so that no file is opened in their place."""
    with suppress(OSError):
        while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
            pass
        os.close(number)
    if sys.stdin is None:
        sys.stdin = open(os.devnull)  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = _Closed()
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115


def replace_unprintable() -> None:
    """Print `?` for characters that the streams can't encode, as those of a pipe on Windows can't encode `♥`."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure") and not (stream.encoding or "").lower().startswith("utf"):
            stream.reconfigure(errors="replace")


@contextmanager
def guarded() -> Iterator[None]:
    """Run a command: an error of the system, such as a full disk behind standard output, is one line and an exit code.

    What is already on disk stays. A pipe whose reader has left ends the command in silence.
    """
    open_missing()
    replace_unprintable()
    try:
        try:
            yield
        finally:
            sys.stdout.flush()  # what was printed may be written only now
    except BrokenPipeError:
        _leave(UNREAD, "")
    except OSError as error:
        where = error.filename or "standard output"
        _leave(FAILED, f"kibitz: can't read or write {where}: {error.strerror or error}\n")


def _leave(code: int, message: str) -> NoReturn:
    """Exit without the interpreter's complaint that it can't flush its streams."""
    with suppress(OSError):
        sys.stderr.write(message)
        sys.stderr.flush()
    for name in ("stdout", "stderr"):
        try:
            getattr(sys, name).flush()
        except OSError:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
    sys.exit(code)


@contextmanager
def interrupts() -> Iterator[Callable[[], None]]:
    """Yield a function that raises KeyboardInterrupt if one arrived since, even where foreign code swallowed it."""
    arrived = []

    def handle(*signal_and_frame: Any) -> None:
        arrived.append(True)
        raise KeyboardInterrupt

    def check() -> None:
        if arrived:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Run a command that SIGTERM and SIGHUP end as Ctrl-C does, with the exit code 128 + signal, unless ignored.

    They reach whatever handles Ctrl-C at that moment.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    terminals = [number for number in (1, 2) if os.isatty(number)]
    arrived: list[int] = []
    last, postponed = -AGAIN, Postponed()

    def handle(number: int, frame: Any) -> None:
        nonlocal last
        if postponed(number, frame):
            return
        last, before = time.monotonic(), last
        if last - before < AGAIN:
            return
        arrived.append(number)
        if number != signal.SIGINT and signal.Signals(number).name == "SIGHUP":
            _forget(terminals)
        inner = signal.getsignal(signal.SIGINT)
        if callable(inner) and inner is not handle:
            inner(number, frame)
        else:
            raise KeyboardInterrupt

    known = [getattr(signal, name) for name in ENDING if hasattr(signal, name)]
    before = {each: signal.getsignal(each) for each in known}
    taken = [each for each in known if before[each] in (signal.SIG_DFL, signal.default_int_handler)]
    for each in taken:
        signal.signal(each, handle)
    try:
        yield
    except SystemExit as ended:
        if ended.code == INTERRUPTED and arrived:
            raise SystemExit(128 + arrived[0]) from None
        raise
    finally:
        for each in taken:
            signal.signal(each, before[each])


def _forget(terminals: list[int]) -> None:
    """Write to nowhere instead of to a terminal that has closed: what is still to be saved must not fail at it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in terminals:
        os.dup2(nowhere, number)
    os.close(nowhere)
