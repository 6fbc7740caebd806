"""Lines of text over TCP, as the protocol of the ACPC has them: each ends with a carriage return and a new line.

Nothing here waits without end: every line has a deadline and a largest length.
"""

import socket
import time
from typing import Self

VERSION = "VERSION:2.0.0"
COMMENTS = ("#", ";")
MAX_LINE = 1024  # bytes; a state of limit hold'em has about 80
CHUNK = 4096
SECONDS = (0.001, 86400.0)  # the least and the most that one may wait


class Lost(Exception):
    """The other side can't be talked to any more; the message says why, after its name."""


class Closed(Lost):
    """It has closed the connection."""


class Lines:
    """A connection that sends and receives lines."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection, self.rest = connection, b""
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def send(self, line: str, seconds: float) -> None:
        """Send a line; Lost where the other side has gone, or doesn't read."""
        self.connection.settimeout(max(seconds, 0.001))
        try:
            self.connection.sendall(f"{line}\r\n".encode("ascii"))
        except TimeoutError:
            raise Lost(f"didn't read for {round(seconds, 2):g} s") from None
        except OSError as error:
            raise Closed(f"has closed the connection ({error.strerror or error})") from None

    def receive(self, seconds: float) -> str:
        """The next line that is no comment, without its end; Lost after so many seconds, however slowly bytes come."""
        until = time.monotonic() + seconds
        while True:
            while b"\n" in self.rest:
                line, _, self.rest = self.rest.partition(b"\n")
                text = self._text(line)
                if not text.startswith(COMMENTS):
                    return text
            if len(self.rest) > MAX_LINE:
                raise Lost(f"sent a line longer than {MAX_LINE:,} bytes")
            self.rest += self._more(until, seconds)

    def _text(self, line: bytes) -> str:
        if len(line) > MAX_LINE:
            raise Lost(f"sent a line longer than {MAX_LINE:,} bytes")
        try:
            return line.decode("ascii").strip()
        except UnicodeDecodeError:
            raise Lost(f"sent {line[:40]!r}, which is no line of ASCII text") from None

    def _more(self, until: float, seconds: float) -> bytes:
        left = until - time.monotonic()
        try:
            if left <= 0:
                raise TimeoutError
            self.connection.settimeout(left)
            found = self.connection.recv(CHUNK)
        except TimeoutError:
            raise Lost(f"sent no line within {round(seconds, 2):g} s") from None
        except OSError as error:
            raise Closed(f"has closed the connection ({error.strerror or error})") from None
        if not found:
            raise Closed("has closed the connection")
        return found
