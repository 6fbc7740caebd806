"""Connections of browsers: how many there may be, and which is closed when there are more."""

import contextlib
import logging
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_CONNECTIONS = 1500  # more than the live connections that are allowed at once
SPARE_FILES = 200  # that the server opens beside its connections
PATIENCE = 75  # seconds that an idle connection is kept


class Connection(H11Protocol):
    """Requests over one connection. Where there are too many, one is closed: the oldest that never asked for anything,
    else the one that was silent for longest. So a flood of idle connections shuts nobody out."""

    asked, heard = False, 0.0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.heard = self.loop.time()
        if len(self.connections) > MAX_CONNECTIONS:
            others = [each for each in self.connections if each is not self and evictable(each)]
            if others:
                min(others, key=usefulness).transport.abort()

    def data_received(self, data: bytes) -> None:
        self.asked, self.heard = True, self.loop.time()
        super().data_received(data)


def in_one_line(record: logging.LogRecord) -> bool:
    """A filter of the log: what a browser has sent wrong is logged without a traceback."""
    if record.exc_info and isinstance(record.exc_info[1], UnicodeDecodeError):
        record.exc_info = record.exc_text = None
    return True


def usefulness(connection: Any) -> tuple[bool, float]:
    """Whether a connection has asked for anything, and when it was last heard."""
    return getattr(connection, "asked", False), getattr(connection, "heard", 0.0)


def evictable(connection: Any) -> bool:
    """Whether a connection carries requests, or is a live one that was closed and isn't read."""
    return isinstance(connection, Connection) or connection.transport.is_closing()


def allow_files() -> None:
    """Allow this process to have as many files open as there may be connections, where the system lets it."""
    try:
        import resource
    except ImportError:  # Windows
        return
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_CONNECTIONS + SPARE_FILES
    allowed = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    if resource.getrlimit(resource.RLIMIT_NOFILE)[0] < allowed:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, most))
