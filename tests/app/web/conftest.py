"""A server in this process. Its players move in this process, too, unless a test asks for real workers."""

import threading
import time
import warnings

import pytest

pytest.importorskip("fastapi")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Starlette prefers a successor of httpx
    from starlette.testclient import TestClient

from kibitz.app.commands.serve import _listen, _server
from kibitz.app.web.desk import Desk
from kibitz.app.web.server import build

ADDRESS, LIVE = "http://localhost", "ws://localhost"


class Direct:
    """Answers requests at once, in the event loop."""

    def __init__(self):
        self.desk = Desk()

    def warm(self):
        pass

    def close(self):
        pass

    async def answers(self, request):
        for answer in self.desk.answers(request):
            yield answer


@pytest.fixture
def server(tmp_path):
    """A function that starts a server on the same data folder, with the arguments of `build`."""
    clients = []

    def start(**arguments):
        arguments = {"folder": tmp_path / "data", "pool": Direct(), "pause": 0} | arguments
        client = TestClient(build(**arguments), base_url=ADDRESS)
        client.lobby = client.app.state.lobby
        clients.append(client)
        return client.__enter__()

    yield start
    for client in clients:
        client.__exit__(None, None, None)


@pytest.fixture
def client(server):
    return server()


class Address(str):
    """The address of a running server."""

    state = None  # of its application


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A server on a free port of this machine, with worker processes."""
    listening = _listen("127.0.0.1", 0)
    server = _server(tmp_path_factory.mktemp("data"), [], "", True)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    while not server.started:
        time.sleep(0.02)
    found = Address(f"http://127.0.0.1:{listening.getsockname()[1]}")
    found.state = server.config.app.state
    yield found
    server.should_exit = True
    thread.join(20)
    listening.close()
    assert not thread.is_alive()


def opened(client, game="kuhn", seats=("human", "random")):
    """Open a table; return the keys of its people."""
    answer = client.post("/api/tables", json={"game": game, "seats": list(seats)})
    assert answer.status_code == 201, answer.text
    return [link["key"] for link in answer.json()["links"]]


def seen(client, key, language="en"):
    while (answer := client.get(f"/api/tables/{key}", params={"language": language})).status_code == 429:
        time.sleep(0.5)
    return answer.json()


def settled(client, key, seconds=20):
    """The table once it is the person's turn, or over."""
    for _ in range(int(seconds / 0.02)):
        table = seen(client, key)
        if table["phase"] != "others" or table["trouble"]:
            return table
        time.sleep(0.02)
    raise AssertionError(f"nobody moves: {table}")


def moved(client, key, table, action=None):
    """Play an action, the first of the legal ones by default; return the answer."""
    body = {"action": table["moves"][0]["action"] if action is None else action, "turn": table["turn"]}
    return client.post(f"/api/tables/{key}/moves", json=body)


def finished(client, key, action=None):
    """Play to the end."""
    table = settled(client, key)
    while table["phase"] == "yours":
        assert moved(client, key, table).status_code == 200
        table = settled(client, key)
    return table
