"""Locks on open files, which end with their process: `flock`, or what Windows has instead.

A file system in a network may keep such locks to each machine. So a file that is `held` also says by whom, and is
touched every few seconds: the sign of life that other machines see.
"""

import json
import os
import platform
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

fcntl: Any = None
msvcrt: Any = None
try:
    import fcntl
except ImportError:  # Windows
    import msvcrt


def lock(file: IO[bytes], shared: bool = False) -> None:
    """Lock a file without waiting.

    Args:
        file: An open file.
        shared: Whether others may hold a shared lock meanwhile. Windows has no such locks, and takes its usual one.

    Raises:
        BlockingIOError: Another open file holds a lock.
    """
    if fcntl is not None:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        return
    file.seek(0)
    try:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    except PermissionError as error:
        raise BlockingIOError(*error.args) from None


def unlock(file: IO[bytes]) -> None:
    """Release the lock. Closing the file does it too; on Windows that may take a moment."""
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_UN)
        return
    file.seek(0)
    msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)


# ---------------------------------------------------------------- owners

BEAT = 5.0  # seconds between two signs of life
LOST = 6 * BEAT  # seconds without one after which an owner on another machine counts as dead
SIZE = 400  # bytes of the record, so that the last change of it needs no room on the disk


class Owner(NamedTuple):
    """The process that holds a file, or held it last."""

    pid: int
    host: str
    held: bool  # as the process has noted; one that was killed couldn't

    @classmethod
    def here(cls, held: bool = True) -> "Owner":
        return cls(os.getpid(), platform.node()[:200], held)

    @property
    def is_here(self) -> bool:
        """Whether it is on this machine, where its lock tells whether it lives."""
        return self.host == platform.node()[:200]


def owner_of(file: IO[bytes]) -> Owner | None:
    """Who holds a file, or held it last, as far as it is known."""
    with suppress(OSError, ValueError, TypeError):
        file.seek(1)  # Windows locks the first byte
        found = Owner(**json.loads(file.read(SIZE)))
        if (type(found.pid), type(found.host), type(found.held)) == (int, str, bool):
            return found
    return None


def lives_elsewhere(file: IO[bytes]) -> bool:
    """Whether a process on another machine holds a file: it has shown a sign of life lately."""
    owner = owner_of(file)
    if owner is None or owner.is_here or not owner.held:
        return False
    return abs(time.time() - os.fstat(file.fileno()).st_mtime) < LOST


@contextmanager
def held(path: Path, file: IO[bytes]) -> Iterator[None]:
    """Note in a file that was locked that this process holds it, and show signs of life until the block ends."""
    ended = threading.Event()

    def note(held: bool) -> None:
        file.seek(0)
        file.truncate(SIZE)
        file.write(b" " + json.dumps(Owner.here(held)._asdict()).encode().ljust(SIZE - 1))
        file.flush()

    def live() -> None:
        while not ended.wait(BEAT):
            with suppress(OSError):
                os.utime(path)

    note(True)
    thread = threading.Thread(target=live, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        with suppress(OSError):
            note(False)
