"""`kibitz serve` refuses what it can't do in one line, before it starts."""

import socket
import sys

import pytest

pytest.importorskip("fastapi")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--host", "0.0.0.0"], "--host 0.0.0.0 lets others in: add --token new"),
        (["--host", "0.0.0.0", "--token", ""], "--host 0.0.0.0 lets others in"),
        (["--token", "short"], "--token should be 8 to 200 letters"),
        (["--token", "semicolons; in it"], "--token should be 8 to 200 letters"),
        (["--host", "no.such.host.invalid", "--token", "new"], "can't listen on no.such.host.invalid"),
        (["--host", "a..b", "--token", "new"], "can't listen on a..b"),
        (["nothing.py:Game"], "nothing.py"),
        (["--port", "0", "--data", "/dev/null/x"], "can't keep tables in /dev/null/x"),
    ],
)
def test_refusals(kibitz, arguments, words):
    code, _, error = kibitz("serve", "--no-open", "--port", "0", *arguments)
    assert code == 2
    assert words in error
    assert error.count("\n") == 1


def test_a_port_that_is_taken(kibitz):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        code, _, error = kibitz("serve", "--no-open", "--port", str(taken.getsockname()[1]))
    assert code == 2
    assert "try --port 0" in error


def test_without_the_extra_it_says_what_to_install(kibitz, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    code, _, error = kibitz("serve")
    assert code == 2
    assert "uvicorn is missing: install it with pip install 'kibitz[web]'" in error
