"""A real server over a real connection: hostile messages end their own connection only."""

import json

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from kibitz.app.web import connections
from kibitz.app.web import server as server_module

LARGE = 10_000_000


@pytest.fixture
def table(address):
    """The address of the live connection of a new table."""
    body = {"game": "tic_tac_toe", "seats": ["human", "human"]}
    key = httpx.post(f"{address}/api/tables", json=body).json()["links"][0]["key"]
    return f"{address.replace('http', 'ws')}/api/tables/{key}/live"


def send_and_wait(socket, text):
    socket.send(text)
    while True:
        socket.recv(timeout=10)


def test_a_huge_message_ends_its_connection_and_no_other(table):
    with connect(table) as other:
        with connect(table, max_size=None) as hostile:
            hostile.recv(timeout=10)
            with pytest.raises(ConnectionClosed):
                send_and_wait(hostile, "x" * LARGE)
        assert json.loads(other.recv(timeout=10))["phase"] == "yours"
        other.send('{"on": true, "player": "nobody"}')
        assert "no player" in json.loads(other.recv(timeout=10))["trouble"]


def test_connections_beyond_the_limit_are_refused(table, monkeypatch):
    with connect(table) as one:
        one.recv(timeout=10)
        monkeypatch.setattr(server_module, "MAX_LIVE", 1)
        with connect(table) as refused, pytest.raises(ConnectionClosed, match="too many connections"):
            refused.recv(timeout=10)
        monkeypatch.undo()
        with connect(table) as two:
            assert json.loads(two.recv(timeout=10))["kind"] == "table"


def test_a_page_of_another_site_gets_no_live_connection(table):
    with pytest.raises(Exception, match="403"):
        connect(table, origin="http://evil.example")


def test_as_many_files_may_be_open_as_there_may_be_connections():
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (600, before[1]))
        connections.allow_files()
        now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        assert now == min(connections.MAX_CONNECTIONS + connections.SPARE_FILES, most)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
