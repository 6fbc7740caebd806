"""Who may ask the server, from which page, how much and how often."""

import pytest
from starlette.websockets import WebSocketDisconnect

from kibitz.app.web import security
from kibitz.app.web.security import is_loopback

from .conftest import LIVE, opened

TOKEN = "a-token-of-tests"


def test_pages_load_nothing_from_elsewhere(client):
    for page in ("/", "/api/docs", "/static/app.js", "/api/games", "/nothing"):
        headers = client.get(page).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
        assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "http://localhost:1234", "null", "https://localhost.evil", "http://[", "http://]"]
)
def test_requests_from_other_pages_are_refused(client, origin):
    headers = {"origin": origin}
    answer = client.post("/api/tables", json={"game": "kuhn", "seats": ["human", "random"]}, headers=headers)
    assert answer.status_code == 403
    (key,) = opened(client)
    with pytest.raises(WebSocketDisconnect), client.websocket_connect(f"{LIVE}/api/tables/{key}/live", headers=headers):
        pass
    assert client.get("/api/games", headers={"origin": "http://localhost"}).status_code == 200


def test_a_local_server_answers_to_its_own_name_only(client, server):
    assert client.get("/", headers={"host": "evil.example"}).status_code == 421
    assert client.get("/", headers={"host": "127.0.0.1:8600"}).status_code == 200
    assert client.get("/", headers={"host": "[::1]:8600"}).status_code == 200
    assert (
        server(local=False, token=TOKEN)
        .get("/", headers={"host": "my.host", "authorization": f"Bearer {TOKEN}"})
        .is_success
    )


def test_a_token_is_needed_where_there_is_one(server):
    client = server(token=TOKEN, local=False)
    for page in ("/", "/api/games", "/static/app.js", "/?token=wrong"):
        assert client.get(page).status_code == 401
    with pytest.raises(WebSocketDisconnect), client.websocket_connect(f"{LIVE}/api/tables/x/live"):
        pass
    assert client.get("/api/games", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
    welcome = client.get(f"/?token={TOKEN}", follow_redirects=False)
    assert welcome.status_code == 303
    assert "HttpOnly; SameSite=Strict" in welcome.headers["set-cookie"]
    page = client.get("/")  # by the cookie
    assert page.status_code == 200
    assert TOKEN not in page.text
    client.cookies.clear()
    assert client.get("/", headers={"cookie": "kibitz-token=expired"}).status_code == 401


def test_large_requests_are_refused(client):
    answer = client.post("/api/tables", content=b"x" * 10_000_000)
    assert answer.status_code == 413

    def without_length():
        for _ in range(200):
            yield b"x" * 1000

    assert client.post("/api/tables", content=without_length()).status_code in (400, 413, 422)
    assert client.get("/api/games").status_code == 200


def test_a_flood_of_requests_is_slowed_down(client, monkeypatch):
    monkeypatch.setattr(security, "RATE", 0.0)
    monkeypatch.setattr(security, "BURST", 5.0)
    statuses = [client.get("/static/icon.svg").status_code for _ in range(8)]
    assert statuses == [200] * 5 + [429] * 3


def test_hosts_of_this_machine():
    assert all(map(is_loopback, ["localhost", "127.0.0.1", "127.1.2.3", "::1", "[::1]"]))
    assert not any(map(is_loopback, ["0.0.0.0", "::", "192.168.0.1", "example.com", "localhost.evil", ""]))
