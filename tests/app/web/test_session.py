"""A session of Doppelkopf at a table: compulsory solos, its end, a restart in the middle."""

import json
import sqlite3

import pytest

from kibitz import games
from kibitz.app.web.session import NOBODY
from kibitz.app.web.tables import HUMAN, Table
from kibitz.games import OVER, legal_actions

from .conftest import finished, moved, opened, seen, settled

OTHERS = ["heuristic"] * 3


def session(client, length, rules="doppelkopf"):
    """Open a table for a session; return the key of its person."""
    answer = client.post("/api/tables", json={"game": rules, "seats": ["human", *OTHERS], "games": length})
    assert answer.status_code == 201, answer.text
    return answer.json()["links"][0]["key"]


def play_on(table):
    """Play the first legal action, that is healthy and in silence, until the game is over."""
    while table.turn != OVER:
        action = table.automatic_action()
        table.play(legal_actions(table.game, table.states[-1])[0] if action is None else action)


def test_a_session_is_played_to_its_end_and_every_solo_is_forced(client):
    key, totals = session(client, 4), [0.0] * 4
    for number in range(4):
        table = settled(client, key)
        assert table["session"]["forced"] == number + 1  # after a compulsory solo the same dealer deals again
        assert table["session"]["owes"] == [seat >= number for seat in range(4)]
        assert table["session"]["dealer"] == 4
        assert [seat["you"] for seat in table["seats"]] == [True, False, False, False]
        if number == 0:
            assert "♣ solo" in [move["name"] for move in table["moves"]]
            assert "healthy" not in [move["name"] for move in table["moves"]]
        table = finished(client, key)
        totals = [total + payoff for total, payoff in zip(totals, table["results"][-1], strict=True)]
        assert table["totals"] == totals
        assert table["session"]["solos"] == [seat + 1 for seat in range(number + 1)]
        assert table["session"]["over"] == (number == 3)
        again = client.post(f"/api/tables/{key}/rematch")
        assert again.status_code == 200
    begun = again.json()
    assert begun["session"] == table["session"] | {
        "played": 0, "owes": [True] * 4, "solos": [], "forced": 1, "over": False
    }  # fmt: skip
    assert begun["results"] == []
    assert begun["totals"] == [0.0] * 4
    assert "no game finished" in begun["score"]


def test_the_dealer_moves_on_and_solos_are_forced_at_the_end():
    table = Table(games.load("doppelkopf"), [HUMAN] * 4, [""] * 4, seed=3, games=6)
    found = []
    for _ in range(6):
        shown = table.message(0).session
        found.append((shown.dealer, table.participant_at(3), table.seat_of(0), shown.forced, sum(shown.owes)))
        play_on(table)
        table.rematch()
    # Two games that nobody announces, then all four solos, in the order of the seats and with the same dealer.
    assert found == [
        (4, 3, 0, 0, 4),
        (4, 0, 3, 0, 4),
        (4, 1, 2, 1, 4),
        (4, 1, 2, 2, 3),
        (4, 1, 2, 3, 2),
        (4, 1, 2, 4, 1),
    ]
    assert table.session.standing == (0, 1, 15)  # a new session, and the deal goes on


def test_without_solos_none_is_owed():
    table = Table(games.load("doppelkopf:solos=no"), [HUMAN] * 4, [""] * 4, seed=3, games=2)
    play_on(table)
    shown = table.message(0).session
    assert (shown.owes, shown.solos, shown.over) == ([False] * 4, [0], False)
    table.rematch()
    play_on(table)
    assert table.message(0).session.over
    assert table.session.solos == [NOBODY] * 2


def test_a_session_survives_a_restart_in_the_middle(server):
    client = server()
    key = session(client, 4)
    finished(client, key)
    again = server()
    over = seen(again, key)
    assert over == seen(client, key)
    assert over["session"]["played"] == 1
    again.post(f"/api/tables/{key}/rematch")
    table = settled(again, key)
    assert not table["can_undo"]
    moved(again, key, table)
    table = settled(again, key)
    last = server()
    assert settled(last, key) == table
    assert table["session"]["forced"] == 2
    assert finished(last, key)["session"]["played"] == 2


def test_a_game_of_a_session_is_played_to_its_end(client):
    key = session(client, 24)
    settled(client, key)
    answer = client.post(f"/api/tables/{key}/rematch")
    assert answer.status_code == 409
    assert answer.json() == {"detail": "a game of a session is played to its end"}
    table, _ = client.lobby.find(key)
    table.trouble = "a player has failed"
    before = table.session.standing
    assert client.post(f"/api/tables/{key}/rematch").status_code == 200
    assert table.session.standing == before


@pytest.mark.parametrize(
    ("game", "length", "words"),
    [
        ("kuhn", 24, "kuhn has no sessions: only doppelkopf has"),
        ("doppelkopf", 3, "games should be at least 4, not 3"),
        ("doppelkopf:owed=3", 8, "leave out owed and forced"),
        ("doppelkopf", 49, "48"),
    ],
)
def test_sessions_that_are_refused(client, game, length, words):
    seats = ["human"] + ["random"] * (games.load(game).facts.seats - 1)
    answer = client.post("/api/tables", json={"game": game, "seats": seats, "games": length})
    assert answer.status_code in (409, 422)
    assert words in answer.json()["detail"]


def test_only_doppelkopf_has_sessions(client):
    assert [game["name"] for game in client.get("/api/games").json() if game["sessions"]] == ["doppelkopf"]
    (key,) = opened(client, "doppelkopf", ["human", *OTHERS])
    assert seen(client, key)["session"] is None


@pytest.mark.parametrize(
    "change",
    [{"owed": 16}, {"dealer": 4}, {"played": 3}, {"games": 3}, {"solos": [7]}, {"solos": [0]}, {"dealer": "1"}],
)
def test_a_session_that_was_changed_by_hand_is_refused(server, tmp_path, change):
    client = server()
    key = session(client, 4)
    settled(client, key)
    with sqlite3.connect(tmp_path / "data" / "tables.sqlite") as file:
        ((content,),) = file.execute("SELECT content FROM tables")
        content = json.loads(content)
        content["session"] |= change
        file.execute("UPDATE tables SET content = ?", (json.dumps(content),))
    answer = server().get(f"/api/tables/{key}")
    assert answer.status_code == 409
    assert "can't be read" in answer.json()["detail"] or change == {"games": 3}
