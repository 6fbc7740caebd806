"""What stands between the network and the server: who may ask, from which page, how much and how often."""

import hmac
import ipaddress
import time
from collections import OrderedDict
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

MAX_BODY = 64 * 1024  # bytes of a request, and of a message on a live connection
RATE, BURST = 100.0, 400.0  # requests per second from one address, and how many at once
ADDRESSES = 10_000  # that are remembered
COOKIE = "kibitz-token"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]


def is_loopback(host: str) -> bool:
    """Whether a host can be reached from this machine only."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class Guard:
    """ASGI middleware that refuses what it shouldn't serve, in one sentence of plain text or JSON."""

    def __init__(self, app: Any, token: str = "", local: bool = True) -> None:
        """
        Args:
            app: The application behind it.
            token: What a browser or program must show; empty: nothing.
            local: Whether the server is for this machine only: then it refuses to be reached by any other name, so
                that no page of the web can pretend to be on the same host.
        """
        self.app, self.token, self.local = app, token, local
        self._allowance: OrderedDict[str, tuple[float, float]] = OrderedDict()  # address -> requests left, at time

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in scope["headers"]}
        asked = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        if scope["type"] == "http" and self.token and scope["path"] == "/" and self._fits(asked.get("token", [""])[0]):
            await self._welcome(send)
            return
        refused = self._refused(scope, headers)
        if refused and scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": refused[1]})
        elif refused:
            await _answer(send, *refused)
        elif scope["type"] == "websocket":
            await self.app(scope, receive, send)
        else:
            await self.app(scope, _bounded(receive), _with_headers(send))

    def _refused(self, scope: Any, headers: dict[str, str]) -> tuple[int, str] | None:
        """Status and reason, if the request is refused."""
        host = headers.get("host", "")
        if self.local and not is_loopback(_hostname(host)):
            return 421, "this server answers to localhost only"
        origin = headers.get("origin")
        changing = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD", "OPTIONS")
        if origin is not None and changing and _place(origin) != host.lower():
            return 403, "requests from other pages are refused"
        if not self._may_ask(str((scope.get("client") or [""])[0])):
            return 429, "too many requests: wait a moment"
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MAX_BODY:
            return 413, f"a request has at most {MAX_BODY} bytes"
        if self.token and not self._fits(_shown_token(headers)):
            return 401, "a token is needed: open the address that kibitz serve has printed"
        return None

    def _fits(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self.token.encode())

    def _may_ask(self, address: str) -> bool:
        now = time.monotonic()
        left, at = self._allowance.pop(address, (BURST, now))
        left = min(BURST, left + RATE * (now - at))
        self._allowance[address] = (max(left - 1, 0), now)
        while len(self._allowance) > ADDRESSES:
            self._allowance.popitem(last=False)
        return left >= 1

    async def _welcome(self, send: Any) -> None:
        """Keep the token in a cookie that scripts can't read, and drop it from the address."""
        cookie = f"{COOKIE}={self.token}; Path=/; HttpOnly; SameSite=Strict"
        head = [(b"location", b"/"), (b"set-cookie", cookie.encode()), *HEADERS]
        await send({"type": "http.response.start", "status": 303, "headers": head})
        await send({"type": "http.response.body", "body": b""})


def _place(origin: str) -> str:
    """Host and port of an origin such as http://localhost:8000; empty: it is none."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _hostname(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _shown_token(headers: dict[str, str]) -> str:
    kind, _, token = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return token.strip()
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return cookie.value if cookie else ""


def _bounded(receive: Any) -> Any:
    """A `receive` that ends the request after too many bytes."""
    taken = 0

    async def bounded() -> Any:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        return {"type": "http.disconnect"} if taken > MAX_BODY else message

    return bounded


def _with_headers(send: Any) -> Any:
    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start":
            message = message | {"headers": [*message.get("headers", []), *HEADERS]}
        await send(message)

    return sending


async def _answer(send: Any, status: int, text: str) -> None:
    body = f'{{"detail":"{text}"}}'.encode()
    head = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": body})
