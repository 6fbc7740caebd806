"""Other programs that are talked to in lines of text, over their standard input and output.

Nothing here waits without end, and no program outlives the one that has started it: it is ended when its `Program` is
closed or no longer used, and on Linux also where this process is killed.
"""

import contextlib
import os
import queue
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import deque
from typing import IO, Any

from .names import BadInput, as_path

MAX_LINE = 65536  # bytes
MAX_WAITING = 10_000  # lines that were not asked for yet; a program that writes more has to wait
PATIENCE = 1.0  # seconds in which a program may end by itself
GAMES = "/usr/games"  # where Debian has programs that play; it is often not searched
# Run in place of the program: asks the kernel to kill it together with its parent, then becomes the program.
LAUNCHER = (
    "import ctypes, os, signal, sys; ctypes.CDLL(None).prctl(1, signal.SIGKILL); "
    "os.getppid() == int(sys.argv[1]) or sys.exit(1); os.execv(sys.argv[2], sys.argv[2:])"
)


class Lost(Exception):
    """The program can't be talked to any more; the message says why, after its name."""


class Late(Lost):
    """It didn't answer in time."""


def command_of(text: str) -> list[str]:
    """The words of a command: the path of a program, which may hold spaces, or a program and its arguments.

    Raises:
        BadInput: There is no such program.
    """
    try:
        words = [text] if os.path.isfile(os.path.expanduser(text)) else shlex.split(text)
    except ValueError as error:
        raise BadInput(f"the command {text!r} can't be read: {error}") from None
    if not words:
        raise BadInput("the path of the program is empty")
    path = str(as_path(words[0]))
    found = shutil.which(path) or (shutil.which(path, path=GAMES) if os.sep not in path else None)
    if found is None:
        there = " that may be run" if os.path.exists(path) else ""
        raise BadInput(f"{words[0]!r} is no program{there}: name one that is installed, or its path")
    return [os.path.abspath(found), *words[1:]]


class Program:
    """A program that was started, with its lines."""

    def __init__(self, command: list[str], farewell: str, folder: str = "") -> None:
        """
        Args:
            command: The path of the program and its arguments.
            farewell: The line that asks it to end.
            folder: Where it runs; empty: in the current folder.

        Raises:
            BadInput: It can't be started.
        """
        tied = sys.platform == "linux" and threading.current_thread() is threading.main_thread()  # to its thread
        launcher = [sys.executable, "-ISc", LAUNCHER, str(os.getpid())] if tied else []
        pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        try:
            self._process = subprocess.Popen([*launcher, *command], cwd=folder or None, **pipes, start_new_session=True)
        except OSError as error:
            where = f" in {folder}" if folder else ""
            raise BadInput(f"can't start {command[0]}{where}: {error.strerror or error}") from None
        self._lines: queue.Queue[bytes | None] = queue.Queue(MAX_WAITING)
        self._complaint: deque[bytes] = deque(maxlen=1)
        self._readers = [
            threading.Thread(target=_read_lines, args=(self._process.stdout, self._lines), daemon=True),
            threading.Thread(target=_read_complaints, args=(self._process.stderr, self._complaint), daemon=True),
        ]
        for each in self._readers:
            each.start()
        self._end = weakref.finalize(self, _end, self._process, self._lines, farewell)

    def send(self, *lines: str) -> None:
        """Send lines. They are few, and answered before more are sent: they fit into the pipe."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write("".join(f"{line}\n" for line in lines).encode())
            self._process.stdin.flush()
        except (OSError, ValueError):  # ValueError: it is closed
            raise Lost(self._ended()) from None

    def receive(self, until: float, seconds: float) -> str:
        """The next line, without its end; Lost if there is none before `until` (`time.monotonic`), `seconds` after
        it was asked for."""
        try:
            left = until - time.monotonic()
            if left <= 0:  # however many lines wait
                raise queue.Empty
            line = self._lines.get(timeout=left)
        except queue.Empty:
            raise Late(f"didn't answer within {round(seconds, 2):g} s") from None
        if line is None:
            self._lines.put(None)
            raise Lost(self._ended())
        if len(line) > MAX_LINE:
            raise Lost(f"sent a line longer than {MAX_LINE:,} bytes")
        return line.decode(errors="replace").strip()

    def close(self) -> None:
        """End the program: ask it to, then kill it and what it has started."""
        self._end()

    def _ended(self) -> str:
        """How it has ended, in words."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(PATIENCE)
        self._readers[1].join(PATIENCE)
        said = self._complaint[0].decode(errors="replace").strip() if self._complaint else ""
        code = self._process.returncode
        how = "closed its output" if code is None else f"ended with exit code {code}"
        if code is not None and code < 0:
            how = f"was ended by the signal {signal.Signals(-code).name}"
        return f"{how}{f' ({said[:200]})' if said else ''}"


def _read_lines(stream: IO[bytes], lines: queue.Queue) -> None:
    """Read lines until the stream ends, then add None. A line that is too long comes in parts."""
    with contextlib.suppress(OSError, ValueError), stream:
        while line := stream.readline(MAX_LINE + 1):
            lines.put(line)
    lines.put(None)


def _read_complaints(stream: IO[bytes], complaint: deque[bytes]) -> None:
    """Read standard error until it ends, and keep the last line."""
    with contextlib.suppress(OSError, ValueError), stream:
        while line := stream.readline(MAX_LINE):
            if line.strip():
                complaint.append(line)


def _end(process: subprocess.Popen, lines: queue.Queue, farewell: str) -> None:
    """End a process and its process group."""
    assert process.stdin is not None
    with contextlib.suppress(OSError, ValueError):
        process.stdin.write(f"{farewell}\n".encode())
        process.stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(PATIENCE)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill()
    process.wait()
    with contextlib.suppress(queue.Empty):
        while lines.get(timeout=PATIENCE) is not None:  # its reader may wait for room
            pass
    lines.put(None)
