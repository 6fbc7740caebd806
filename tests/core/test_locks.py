"""Locks on files, by `flock` and as Windows makes them."""

import pytest

from kibitz.core import locks

POSIX = locks.fcntl


class Windows:
    """The module msvcrt, as far as it is used: a lock on bytes of a file, refused with PermissionError."""

    LK_NBLCK, LK_UNLCK = 2, 0

    @staticmethod
    def locking(descriptor, mode, count):
        assert count == 1
        kind = POSIX.LOCK_UN if mode == Windows.LK_UNLCK else POSIX.LOCK_EX | POSIX.LOCK_NB
        try:
            POSIX.flock(descriptor, kind)
        except BlockingIOError:
            raise PermissionError(13, "Permission denied") from None


@pytest.fixture(params=["flock", "msvcrt"])
def _system(request, monkeypatch):
    if request.param == "flock" and POSIX is None:
        pytest.skip("this is Windows")
    if request.param == "msvcrt" and POSIX is not None:
        monkeypatch.setattr(locks, "fcntl", None)
        monkeypatch.setattr(locks, "msvcrt", Windows)


@pytest.mark.usefixtures("_system")
def test_one_at_a_time(tmp_path):
    path = tmp_path / "lock"
    with path.open("a+b") as first, path.open("a+b") as second:
        locks.lock(first)
        with pytest.raises(BlockingIOError):
            locks.lock(second)
        locks.unlock(first)
        locks.lock(second)
        with pytest.raises(BlockingIOError):
            locks.lock(first, shared=True)


@pytest.mark.usefixtures("_system")
def test_closing_the_file_releases_its_lock(tmp_path):
    path = tmp_path / "lock"
    with path.open("a+b") as first:
        locks.lock(first)
    with path.open("rb") as second:
        locks.lock(second, shared=True)
