"""Floods, huge messages and slow readers against a real server, while another person plays on at a table."""

import contextlib
import json
import logging
import socket
import threading
import time
from types import SimpleNamespace
from urllib.parse import urlsplit

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from kibitz.app.web import connections, security
from kibitz.app.web import live as live_module
from kibitz.app.web import server as server_module

LARGE = 10_000_000
PATIENCE = 60  # seconds


class Person:
    """Plays games against a random player, one after the other, with a live connection as a browser has it."""

    def __init__(self, address):
        self.web = httpx.Client(base_url=address, timeout=PATIENCE)
        self.key = self._post("tables", {"game": "tic_tac_toe", "seats": ["human", "random"]})["links"][0]["key"]
        self.live = f"{address.replace('http', 'ws')}/api/tables/{self.key}/live"
        self.moves, self.wrong, self._leave = 0, [], False
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _post(self, path, body):
        answer = self.web.post(f"/api/{path}", json=body)
        assert answer.is_success, answer.text
        return answer.json()

    def _run(self):
        try:
            with connect(self.live) as live:
                while not self._leave:
                    table = json.loads(live.recv(timeout=PATIENCE))
                    if table["kind"] != "table":
                        continue
                    assert not table["trouble"]
                    if table["phase"] == "yours":
                        move = {"action": table["moves"][0]["action"], "turn": table["turn"]}
                        self._post(f"tables/{self.key}/moves", move)
                        self.moves += 1
                    elif table["phase"] == "over":
                        self._post(f"tables/{self.key}/rematch", {})
        except Exception as error:
            self.wrong.append(error)

    def plays_on(self, moves=5):
        """Wait until some more moves were made."""
        before, until = self.moves, time.monotonic() + PATIENCE
        while self.moves < before + moves and time.monotonic() < until:
            assert not self.wrong
            time.sleep(0.01)
        assert self.moves >= before + moves

    def leave(self):
        self._leave = True
        self._thread.join(PATIENCE)
        self.web.close()
        assert not self.wrong


@pytest.fixture
def person(address, monkeypatch):
    monkeypatch.setattr(security, "RATE", 10_000.0)  # all are one address here
    monkeypatch.setattr(security, "BURST", 10_000.0)
    found = Person(address)
    found.plays_on()
    yield found
    found.leave()


def endpoint(address):
    parts = urlsplit(address)
    return parts.hostname, parts.port


def test_a_flood_of_idle_connections_shuts_nobody_out(address, person, monkeypatch):
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 30)
    with contextlib.ExitStack() as open_ones:
        flood = [open_ones.enter_context(socket.create_connection(endpoint(address))) for _ in range(200)]
        person.plays_on()
        assert httpx.get(f"{address}/api/games").status_code == 200  # another browser comes in
        flood[0].settimeout(PATIENCE)
        with contextlib.suppress(ConnectionResetError):
            assert flood[0].recv(1) == b""  # the oldest was closed
    person.plays_on()


def test_a_flood_of_live_connections_is_told_to_come_later(person, monkeypatch):
    monkeypatch.setattr(server_module, "MAX_LIVE", 3)
    with connect(person.live), connect(person.live):
        for _ in range(20):
            with connect(person.live) as refused, pytest.raises(ConnectionClosed) as closed:
                refused.recv(timeout=PATIENCE)
            assert closed.value.rcvd.reason == "too many connections: try again later"
        person.plays_on()


def test_a_flood_of_requests_is_told_to_wait(address, person, monkeypatch):
    monkeypatch.setattr(security, "RATE", 20.0)
    monkeypatch.setattr(security, "BURST", 30.0)
    with httpx.Client(base_url=address) as web:
        answers = [web.get("/static/icon.svg") for _ in range(60)]
    refused = [answer for answer in answers if answer.status_code == 429]
    assert refused
    assert refused[0].json() == {"detail": "too many requests: wait a moment"}
    monkeypatch.undo()
    person.wrong.clear()  # it came from the same address and was told to wait, too


def test_a_huge_request_is_refused_with_a_sentence(address, person):
    for _ in range(5):
        answer = httpx.post(f"{address}/api/tables", content=b"x" * LARGE, timeout=PATIENCE)
        assert answer.status_code == 413
        assert answer.json() == {"detail": "a request has at most 65536 bytes"}
    person.plays_on()


def test_a_huge_request_of_unknown_length_is_refused(address, person):
    def parts():
        for _ in range(200):
            yield b"x" * (LARGE // 200)

    with contextlib.suppress(httpx.WriteError):  # the connection may be closed before all is sent
        answer = httpx.post(f"{address}/api/tables", content=parts(), timeout=PATIENCE)
        assert 400 <= answer.status_code < 500
    person.plays_on()


def test_a_huge_message_ends_its_own_connection(person):
    def send_and_read():
        hostile.send("x" * LARGE)
        while True:
            hostile.recv(timeout=PATIENCE)

    with connect(person.live, max_size=None) as hostile, pytest.raises(ConnectionClosed) as closed:
        send_and_read()
    assert closed.value.rcvd is None or closed.value.rcvd.code == 1009
    person.plays_on()


def test_text_that_is_no_utf_8_ends_its_own_connection_without_a_traceback_in_the_log(person):
    def send_and_read():
        hostile.send(b"\xff\xfe", text=True)
        while True:
            hostile.recv(timeout=PATIENCE)

    told = []
    handler = logging.Handler()
    handler.emit = lambda record: told.append(logging.Formatter().format(record))
    logging.getLogger("uvicorn.error").addHandler(handler)
    try:
        with connect(person.live) as hostile, pytest.raises(ConnectionClosed) as closed:
            send_and_read()
    finally:
        logging.getLogger("uvicorn.error").removeHandler(handler)
    assert closed.value.rcvd.code == 1007
    assert told == ["Invalid UTF-8 sequence received from client."]
    person.plays_on()


def test_a_slow_reader_is_disconnected(address, person, monkeypatch):
    """It doesn't read what it is sent, while the table changes until no buffer holds more."""
    monkeypatch.setattr(live_module, "SLOW", 0.3)
    body = {"game": "hex", "seats": ["human", "human"]}
    with httpx.Client(base_url=address, timeout=PATIENCE) as web, socket.socket() as slow:
        key = web.post("/api/tables", json=body).json()["links"][0]["key"]
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect(endpoint(address))
        head = f"GET /api/tables/{key}/live HTTP/1.1\r\nhost: {urlsplit(address).netloc}\r\nupgrade: websocket\r\n"
        head += (
            "connection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        )
        slow.sendall(head.encode())
        assert slow.recv(12) == b"HTTP/1.1 101"
        application, until = address.state, time.monotonic() + PATIENCE
        while application.live < 2 and time.monotonic() < until:
            time.sleep(0.01)
        while application.live == 2 and time.monotonic() < until:
            assert web.post(f"/api/tables/{key}/rematch").status_code == 200
        assert application.live == 1
        assert web.get(f"/api/tables/{key}").status_code == 200  # its table is still there
        person.plays_on()


def test_a_connection_that_has_asked_is_kept_before_newer_idle_ones():
    asked, idle, newer = (
        SimpleNamespace(asked=asked, heard=heard) for asked, heard in ((True, 1), (False, 2), (False, 3))
    )
    assert min([asked, newer, idle], key=connections.usefulness) is idle
    assert min([asked, SimpleNamespace(asked=True, heard=0.5)], key=connections.usefulness) is not asked
