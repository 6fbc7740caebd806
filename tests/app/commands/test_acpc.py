"""`kibitz poker dealer` and `kibitz poker client` from the command line."""

import json
import socket
import threading
import time
from contextlib import suppress

import pytest

from kibitz.core.names import BadInput
from kibitz.games.records import read_records
from kibitz.poker.acpc_client import Played, play_acpc
from kibitz.poker.acpc_dealer import Dealer, Limits

SOON = 30


@pytest.fixture
def port():
    """A port that is free now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def connect_to(port, player):
    """Play at a dealer that may not have started yet."""
    until = time.monotonic() + SOON
    while time.monotonic() < until:
        with suppress(BadInput):
            return play_acpc(f"127.0.0.1:{port}", player, wait=SOON)
        time.sleep(0.02)
    raise AssertionError("no dealer has started")


def test_a_match_is_dealt_logged_and_converted(kibitz, tmp_path, port):
    guests = [threading.Thread(target=connect_to, args=(port, name), daemon=True) for name in ("always:call",) * 2]
    for each in guests:
        each.start()
    arguments = ("--port", str(port), "--hands", "2", "--names", "one,two", "--log", "match.acpc", "--json", "r.json")
    code, out, err = kibitz("poker", "dealer", "holdem", *arguments)
    assert code == 0, err
    assert "4 hands of holdem, each deal from both seats, seed 1" in out
    assert "in mbb/g" in out
    assert f"waiting for two players: kibitz poker client localhost:{port}" in out
    measured = json.loads((tmp_path / "r.json").read_text())
    assert (measured["hands"], measured["players"], measured["chips"], measured["forfeit"]) == (
        4,
        ["one", "two"],
        [0, 0],
        "",
    )
    assert kibitz("convert", "match.acpc", "games.jsonl")[0] == 0
    records = read_records(tmp_path / "games.jsonl")
    assert [record.players for record in records] == [["one", "two"], ["two", "one"], ["two", "one"], ["one", "two"]]
    for record in records:
        record.verify()


def test_a_forfeit_is_said_and_is_exit_code_1(kibitz, tmp_path, port):
    def leave():
        until = time.monotonic() + SOON
        while time.monotonic() < until:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port)) as connection:
                connection.sendall(b"VERSION:2.0.0\r\n")
                return

    for _ in range(2):
        threading.Thread(target=leave, daemon=True).start()
    code, out, err = kibitz("poker", "dealer", "--port", str(port), "--hands", "2", "--log", "match.acpc")
    assert code == 1
    assert " forfeits: it has closed the connection" in err
    assert out.splitlines()[1:] == ["hands: match.acpc"]
    assert (tmp_path / "match.acpc").read_text().splitlines()[-1] == "SCORE:0|0:player 1|player 2"


def test_a_player_reports_what_it_won(kibitz, tmp_path):
    dealer = Dealer()
    limits = Limits(SOON, SOON, SOON)
    thread = threading.Thread(target=dealer.play, args=(1, 1, limits), daemon=True)
    other = threading.Thread(target=connect_to, args=(dealer.port, "always:fold"), daemon=True)
    thread.start()
    other.start()
    code, out, err = kibitz(
        "poker", "client", f"localhost:{dealer.port}", "--player", "always:raise", "--json", "r.json"
    )
    dealer.close()
    assert code == 0, err
    # always:fold loses the big blind of 10 and, as the dealer, the small one of 5.
    assert out == "always:raise: 2 hands, +15 chips, +750.0 mbb/g (95% interval -2,426.6 to +3,926.6)\n"
    assert json.loads((tmp_path / "r.json").read_text())["chips"] == 15


def test_a_match_that_breaks_off_is_exit_code_1(kibitz, monkeypatch):
    from kibitz.play.statistics import Estimate
    from kibitz.poker import acpc_client

    broken = Played(0, 0, Estimate(0.0, 0.0, 0.0), "the dealer has closed the connection, in hand 0")
    monkeypatch.setattr(acpc_client, "play_acpc", lambda *_: broken)
    code, out, err = kibitz("poker", "client", "localhost:1", "--player", "always:call")
    assert (code, out, err) == (1, "always:call: 0 hands, +0 chips\n", broken.broken + "\n")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("poker", "client", "localhost"), "'localhost' should be HOST:PORT"),
        (("poker", "client", "localhost:1", "--player", "style:wild"), "wild"),
        (
            ("poker", "client", "localhost:1", "--player", "always:call", "--rules", "leduc"),
            "the protocol of the ACPC is for holdem",
        ),
        (("poker", "dealer", "leduc"), "the protocol of the ACPC is for holdem"),
        (("poker", "dealer", "--names", "one"), "should be two names"),
        (("poker", "dealer", "--hands", "0"), "hands"),
        (("poker", "dealer", "--log", "no/where"), "can't write no/where: its folder does not exist"),
        (("poker", "dealer", "--connect-seconds", "0.1", "--log", "x"), "0 of 2 players have connected within 0.1 s"),
    ],
)
def test_mistakes_are_reported_in_one_line(kibitz, tmp_path, arguments, why):
    code, _, err = kibitz(*arguments)
    assert code == 2
    assert why in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
