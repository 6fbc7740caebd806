"""Locks on open files, which end with their process: `flock`, or what Windows has instead."""

from typing import IO, Any

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
