"""Files that grow while they are read: whether one has changed, and what is new of it."""

import stat
from pathlib import Path

CHUNK = 4 << 20  # bytes of a file that are read at a time

Signature = tuple[int, int, int]


def signature(path: Path) -> Signature | None:
    """What changes whenever a file does; None where there is no plain file."""
    try:
        found = path.lstat()
    except (OSError, ValueError):
        return None
    return (found.st_ino, found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None


class Lines:
    """The new lines of a file that grows; all of them again after it was replaced."""

    def __init__(self, path: Path) -> None:
        self.path, self._node, self._at = path, -1, 0

    def new(self) -> tuple[bool, list[bytes]]:
        """Whether the file is another one now, and its next complete lines, as many as are read at a time."""
        found = signature(self.path)
        if found is None:
            again, self._node, self._at = self._node != -1, -1, 0
            return again, []
        again = found[0] != self._node or found[1] < self._at
        if again:
            self._node, self._at = found[0], 0
        if found[1] == self._at:
            return again, []
        try:
            with self.path.open("rb") as file:
                file.seek(self._at)
                data = file.read(CHUNK)
        except OSError:
            return again, []
        end = data.rfind(b"\n") + 1
        if end == 0 and len(data) == CHUNK:
            end = CHUNK  # a line without an end
        self._at += end
        return again, data[:end].splitlines()
