"""The ACPC's protocol on loopback: our client at our dealer, and clients that do everything wrong."""

import contextlib
import re
import socket
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kibitz.core.names import BadInput
from kibitz.core.progress import Reporter
from kibitz.games import load
from kibitz.play.match import match
from kibitz.poker.acpc_client import address, play_acpc
from kibitz.poker.acpc_dealer import MAX_STALE, Dealer, Limits
from kibitz.poker.acpc_lines import MAX_LINE
from kibitz.poker.rules import acpc

SHORT = Limits(connect=20, move=5, hand=5)
SOON = 30  # seconds after which a test has failed, not hung
GAME = load("holdem")


class Kept(Reporter):
    """Keeps the messages."""

    def __init__(self):
        self.messages = []

    def message(self, text):
        self.messages.append(text)

    def wait_for(self, count):
        until = time.monotonic() + SOON
        while len(self.messages) < count:
            assert time.monotonic() < until, self.messages
            time.sleep(0.002)


def started(function, *arguments, **named):
    """Run a function in a thread; returns what waits for its result, or raises what it raised."""
    found = []

    def run():
        try:
            found.append((function(*arguments, **named), None))
        except BaseException as error:
            found.append((None, error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()

    def result():
        thread.join(SOON)
        assert found, f"{function} hangs"
        if found[0][1]:
            raise found[0][1]
        return found[0][0]

    return result


class Alone(NamedTuple):
    """A client that connects by itself."""

    function: Any


def play(alice, bob="always:call", hands=3, limits=SHORT, seed=1):
    """Deal to two clients: names of our players, functions of a connection that has been made, or `Alone`.

    Returns what the dealer found, its log, its messages, and what the clients returned.
    """
    dealer, report, log = Dealer(names=("alice", "bob")), Kept(), []
    results = []
    with contextlib.closing(dealer):
        dealt = started(dealer.play, hands, seed, limits, log.append, report)
        for number, client in enumerate((alice, bob)):
            where = f"localhost:{dealer.port}"
            if isinstance(client, str):
                results.append(started(play_acpc, where, client, wait=SOON))
            elif isinstance(client, Alone):
                results.append(started(client.function, dealer.port))
            else:
                results.append(started(raw, client, where))
            report.wait_for(number + 1)  # so that the order of players is known
        found = dealt()
        return found, "".join(log), report.messages, [result() for result in results]


def raw(client, where):
    """A client without our code. The dealer may close the connection at any time."""
    with socket.create_connection(address(where), SOON) as connection, contextlib.suppress(OSError):
        connection.sendall(b"VERSION:2.0.0\r\n")
        return client(connection)


def lines_of(connection):
    """The states that the dealer sends."""
    with connection.makefile("r", newline="\r\n") as file:
        for line in file:
            assert line.endswith("\r\n")
            yield line.removesuffix("\r\n")


def answers(*letters):
    """A client that answers with these letters where it is to move; the first hand is its own as the big blind."""

    def client(connection):
        left = list(letters)
        for line in lines_of(connection):
            seen = acpc.read_seen(GAME, line)
            if not seen.over and GAME.turn(seen.view) == seen.seat and left:
                connection.sendall(f"{line}:{left.pop(0)}\r\n".encode())

    return client


def sends(data):
    """A client that waits for its first turn, sends these bytes, and then only listens."""

    def client(connection):
        for line in lines_of(connection):
            if line.startswith("MATCHSTATE:0:0:c:"):
                connection.sendall(data(line) if callable(data) else data)

    return client


# ---------------------------------------------------------------- our client at our dealer


def test_a_match_at_the_dealer_is_that_of_kibitz_match():
    found, log, _, results = play("always:raise", "always:call", hands=10, seed=5)
    expected = match("holdem", ["always:raise", "always:call"], games=20, seed=5, processes=1).records
    assert found.forfeit == ""
    renamed = {"always:raise": "alice", "always:call": "bob"}
    by_number = sorted(found.records, key=lambda record: record.number)
    assert [(each.number, each.actions, each.payoffs, each.players) for each in by_number] == [
        (each.number, each.actions, each.payoffs, [renamed[name] for name in each.players]) for each in expected
    ]
    # Both sides agree on the chips, and so does the log.
    assert [each.chips for each in results] == found.chips
    assert [each.hands for each in results] == [20, 20]
    assert [each.broken for each in results] == ["", ""]
    assert log.splitlines()[0] == "# name/game/hands/seed kibitz holdem 20 5"
    assert log.splitlines()[-1] == f"SCORE:{found.chips[0]}|{found.chips[1]}:alice|bob"
    hands = list(acpc.read_acpc_log(GAME, log))
    assert [hand.number for hand in hands] == list(range(20))
    assert [hand.payoffs for hand in hands] == [record.payoffs for record in found.records]
    assert sum(hand.payoffs[hand.names.index("alice")] for hand in hands) * 10 == found.chips[0]


def test_each_deal_is_played_from_both_seats_and_the_button_passes_on():
    _, log, _, _ = play("always:call", "always:call", hands=3)
    hands = list(acpc.read_acpc_log(GAME, log))
    cards = [line.split(":")[3] for line in log.splitlines() if line.startswith("STATE")]
    assert cards[:3] == cards[3:]
    assert len(set(cards)) == 3
    assert [hand.names[0] for hand in hands] == ["alice", "bob", "alice", "bob", "alice", "bob"]


def test_a_player_of_the_dealer_sees_no_hidden_cards():
    seen = []

    def client(connection):
        for line in lines_of(connection):
            seen.append(line)
            state = acpc.read_seen(GAME, line)
            if not state.over and GAME.turn(state.view) == state.seat:
                connection.sendall(f"{line}:c\r\n".encode())

    play(client, hands=2)
    shown = [line for line in seen if not acpc.read_seen(GAME, line).over]
    assert shown
    assert all("" in line.split(":")[4].split("/")[0].split("|") for line in shown)
    over = [line for line in seen if acpc.read_seen(GAME, line).over]
    assert len(over) == 4
    assert all(len(line.split(":")[4].split("/")[0]) == 9 for line in over)  # all called: showdowns


# ---------------------------------------------------------------- forfeits

WRONG = {
    "illegal": (answers("f"), "alice forfeits: it answered 'f', legal is c or r, in hand 0"),
    "no-limit": (answers("r20"), "it answered 'r20', legal is c or r, in hand 0"),
    "letter": (answers("x"), "it answered 'x', legal is c or r"),
    "nothing": (answers(""), "it answered '', legal is c or r"),
    "garbage": (sends(b"hello\r\n"), "it answered 'hello', which is no state with a move, in hand 0"),
    "binary": (sends(b"\xff\xfe\x00\r\n"), "which is no line of ASCII text"),
    "long": (sends(b"x" * 10 * MAX_LINE), f"it sent a line longer than {MAX_LINE:,} bytes"),
    "long with an end": (sends(b"x" * 2 * MAX_LINE + b"\n"), f"it sent a line longer than {MAX_LINE:,} bytes"),
    "stale": (sends(lambda line: f"{line}0:c\r\n".encode() * (MAX_STALE + 1)), f"it sent {MAX_STALE} lines that don't"),
    "gone": (lambda connection: None, "it has closed the connection"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_client_forfeits_and_the_other_is_told(name):
    client, why = WRONG[name]
    found, log, _, (_, bob) = play(client)
    assert why in found.forfeit
    assert found.forfeit.startswith("alice forfeits: ")
    assert "in hand 0" in found.forfeit
    assert found.records == []
    assert f"# {found.forfeit}\nSCORE:0|0:alice|bob\n" in log
    assert bob.hands == 0
    assert bob.broken == "the dealer has closed the connection, in hand 0"


def test_a_slow_client_forfeits():
    def drips(connection):
        """Never a whole line, but never silent either."""
        for line in lines_of(connection):
            if line.startswith("MATCHSTATE:0:0:c:"):
                for letter in f"{line}:c":
                    connection.sendall(letter.encode())
                    time.sleep(0.2)

    began = time.monotonic()
    found, *_ = play(drips, limits=SHORT._replace(move=1))
    assert "alice forfeits: it sent no line within 1 s" in found.forfeit
    assert time.monotonic() < began + 10


def test_time_is_limited_on_average_over_the_match():
    def late(connection):
        for line in lines_of(connection):
            seen = acpc.read_seen(GAME, line)
            if not seen.over and GAME.turn(seen.view) == seen.seat:
                time.sleep(0.2)
                connection.sendall(f"{line}:c\r\n".encode())

    found, *_ = play(late, hands=2, limits=SHORT._replace(hand=0.4))
    assert "(its time, 0.4 s per hand on average, is used up)" in found.forfeit
    assert 0 < len(found.records) < 4


def test_hands_before_a_forfeit_count():
    found, log, _, (_, bob) = play(answers("c", "c", "c", "c", "x"))
    assert "in hand 1" in found.forfeit
    assert len(found.records) == bob.hands == 1
    assert found.chips[1] == bob.chips
    assert log.count("STATE:") == 1


def test_comments_and_answers_to_earlier_states_are_passed_over():
    def client(connection):
        for line in lines_of(connection):
            seen = acpc.read_seen(GAME, line)
            if not seen.over:  # also where the other is to move, as careless clients do
                connection.sendall(f"# thinking\r\n; more\r\n{line}:c\r\n".encode())

    found, *_ = play(client, hands=2)
    assert found.forfeit == ""
    assert len(found.records) == 4


# ---------------------------------------------------------------- connections


def test_a_connection_that_is_no_client_is_refused_and_the_match_goes_on():
    dealer, report = Dealer(names=("alice", "bob")), Kept()
    with contextlib.closing(dealer):
        dealt = started(dealer.play, 1, 1, SHORT, report=report)
        for number, data in enumerate((b"GET / HTTP/1.1\r\n", b"VERSION:1.0.0\r\n", b"")):
            with socket.create_connection(("127.0.0.1", dealer.port), SOON) as connection:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
                report.wait_for(number + 1)
                assert connection.recv(100) == b""
        players = [started(play_acpc, f"127.0.0.1:{dealer.port}", "always:call", wait=SOON) for _ in range(2)]
        assert len(dealt().records) == 2
        assert [player().hands for player in players] == [2, 2]
    assert report.messages[:3] == [
        "refused a connection: it sent 'GET / HTTP/1.1' instead of VERSION:2.0.0",
        "refused a connection: it sent 'VERSION:1.0.0' instead of VERSION:2.0.0",
        "refused a connection: it has closed the connection",
    ]


def test_a_dealer_does_not_wait_for_ever():
    dealer = Dealer()
    with contextlib.closing(dealer), socket.create_connection(("127.0.0.1", dealer.port)) as silent:
        with pytest.raises(BadInput, match=r"0 of 2 players have connected within 0.2 s"):
            dealer.play(1, limits=Limits(connect=0.2))
        assert silent.recv(10) == b""


def test_a_client_does_not_wait_for_ever():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert play_acpc(f"127.0.0.1:{port}", "always:call", wait=0.2).broken == "the dealer sent no line within 0.2 s"
    with pytest.raises(BadInput, match=f"can't connect to 127.0.0.1:{port}: "):
        play_acpc(f"127.0.0.1:{port}", "always:call")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"MATCHSTATE:0:0::AhKx|\r\n", "sent a line that can't be read: hand 0: 'Kx' is no card of the deck"),
        (b"HTTP/1.1 400 Bad Request\r\n", "should have the form MATCHSTATE:seat:hand:moves:cards"),
    ],
)
def test_a_wrong_dealer_is_reported_in_one_line(line, why):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        played = started(play_acpc, f"127.0.0.1:{port}", "always:call", wait=SOON)
        with listener.accept()[0] as connection:
            assert connection.recv(100) == b"VERSION:2.0.0\r\n"
            connection.sendall(line)
            with pytest.raises(BadInput) as raised:
                played()
    assert why in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_long_line_of_a_dealer_ends_the_match():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        played = started(play_acpc, f"127.0.0.1:{listener.getsockname()[1]}", "always:call", wait=SOON)
        with listener.accept()[0] as connection:
            connection.sendall(b"x" * 4 * MAX_LINE)
            assert played().broken == f"the dealer sent a line longer than {MAX_LINE:,} bytes"


@pytest.mark.parametrize(
    "text", ["localhost", "localhost:", ":1", "localhost:0", "localhost:65536", "localhost:x", "a:²"]
)
def test_an_address_is_host_and_port(text):
    with pytest.raises(BadInput, match="should be HOST:PORT, such as localhost:18791"):
        address(text)


def test_addresses():
    assert address("localhost:18791") == ("localhost", 18791)
    assert address("[::1]:18791") == ("::1", 18791)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"game": "leduc"}, "leduc can't be played here: the protocol of the ACPC is for holdem"),
        ({"names": ("a|b", "c")}, "should be two names without | in them"),
        ({"names": ("a",)}, "should be two names"),
        ({"names": ("a", "a")}, "the names of the players should differ, both are 'a'"),
        ({"port": 70000}, "port"),
    ],
)
def test_a_dealer_refuses_what_it_can_not_deal(arguments, why):
    with pytest.raises(BadInput) as raised:
        Dealer(**arguments)
    assert why in str(raised.value)


def test_a_port_that_is_taken_is_reported():
    dealer = Dealer()
    with contextlib.closing(dealer), pytest.raises(BadInput, match=f"can't listen on port {dealer.port}: "):
        Dealer(port=dealer.port)


def test_the_client_of_the_page_plays_and_its_other_code_runs():
    page = (Path(__file__).parents[2] / "docs" / "acpc.md").read_text()
    client, dealer = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    found = {}
    exec(client, found)
    always_call = found["always_call"]
    dealt, _, _, _ = play("always:raise", Alone(always_call), hands=2)
    assert dealt.forfeit == ""
    assert len(dealt.records) == 4
    exec(dealer, found)
    found["dealer"].close()
