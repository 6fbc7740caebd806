"""What the kibitzer sends with its advice: a label, a line, beliefs and patterns, in English and German."""

import json
from xml.etree import ElementTree

import pytest

from kibitz import games
from kibitz.app.web.desk import Desk, Request
from kibitz.app.web.tables import HUMAN, Table
from kibitz.play.players.defaults import default_player

from .conftest import LIVE, opened, settled


def answers(name, player, moves=(), language="en"):
    """Everything that a worker answers when it is asked for advice after some moves, by kind; the seat to move."""
    game = games.load(name)
    table = Table(game, [HUMAN] * game.facts.seats, [""] * game.facts.seats, seed=3)
    left = list(moves)
    while (action := table.automatic_action()) is not None or left:
        table.play(left.pop(0) if action is None else action)
    views = [view.tobytes() for view in table.views(table.turn)]
    found = list(Desk().answers(Request("advise", "table/0", name, player, table.turn, 1, views, language)))
    json.dumps(found, allow_nan=False)
    return [value for kind, value in found if kind == "advice"], [value for kind, value in found if kind == "insight"]


def test_advice_says_what_the_adviser_is_and_what_it_expects_next():
    advice, _ = answers("tic_tac_toe", "uct:200,prove=no", [4])
    assert advice[-1]["label"] == "search (uct), 3 s; its weakness was not measured"  # not 200 simulations
    assert len(advice[-1]["line"]) > 1
    assert advice[-1]["line"][0] == advice[-1]["moves"][0]["name"]
    assert not any("principal variation" in note for note in advice[-1]["notes"])
    best = advice[-1]["moves"][0]
    assert best["interval"][0] < best["value"] < best["interval"][1]
    german, _ = answers("leduc", "net:models/leduc", language="de")
    assert german[-1]["label"].startswith("Netz ohne Suche, 0,2 ms; eine beste Antwort gewinnt 0,114 Chips pro Spiel")


def test_beliefs_follow_the_first_advice_and_are_those_of_a_policy():
    _, insight = answers("leduc", "ismcts:100", [2])  # after a raise
    assert [list(each) for each in insight] == [["beliefs", "patterns"]]
    assert insight[0]["beliefs"]["basis"] == f"if the opponent plays like {default_player(games.load('leduc'))}"
    (table,) = insight[0]["beliefs"]["tables"]
    assert table["about"] == "card of seat 1"
    assert sum(each["prob"] for each in table["answers"]) == pytest.approx(1)
    assert insight[0]["patterns"] == []
    german = answers("leduc", "ismcts:100", [2], "de")[1][0]["beliefs"]
    assert german["basis"] == "wenn der Gegner wie net:models/leduc spielt"
    assert german["tables"][0]["about"] == "Karte von Platz 1"


def test_the_patterns_of_the_advised_moves_are_drawn():
    advice, insight = answers("connect_four", "features:models/connect_four", [3, 3])
    listed = [move["action"] for move in advice[-1]["moves"]]
    assert sorted(move["action"] for move in insight[-1]["patterns"]) == sorted(listed)
    drawn = [pattern for move in insight[-1]["patterns"] for pattern in move["patterns"]]
    assert drawn
    for pattern in drawn:
        assert ElementTree.fromstring(pattern["svg"]).tag.endswith("svg")
        assert pattern["weight"]
    assert insight[-1]["beliefs"] is None
    assert answers("tic_tac_toe", "uct:50")[1] == [{"beliefs": None, "patterns": []}]


def test_an_adviser_without_patterns_shows_those_that_ship():
    _, insight = answers("connect_four", "puct:16,net=models/connect_four-alphazero", [3, 3])
    assert any(move["patterns"] for move in insight[-1]["patterns"])


def test_a_session_counts_the_points_of_everybody_by_seat(client):
    (key,) = opened(client, "kuhn")
    one = settled(client, key)
    while one["phase"] == "yours":
        client.post(f"/api/tables/{key}/moves", json={"action": one["moves"][0]["action"], "turn": one["turn"]})
        one = settled(client, key)
    assert one["results"] == [one["totals"]]
    assert one["totals"] == [one["result"]["payoff"], -one["result"]["payoff"]]
    two = client.post(f"/api/tables/{key}/rematch").json()
    assert two["totals"] == one["totals"][::-1]  # the seats have rotated
    assert two["played"] == 1


def test_what_the_kibitzer_compiles_is_not_reported_as_a_player_s(client, monkeypatch):
    def slow(self, request):
        yield "compiling", 3
        yield "move" if request.kind == "move" else "advice", {"moves": [], "notes": [], "finished": True}

    (key,) = opened(client, "kuhn")
    settled(client, key)
    monkeypatch.setattr(Desk, "answers", slow)
    with client.websocket_connect(f"{LIVE}/api/tables/{key}/live") as socket:
        socket.receive_json()
        socket.send_json({"on": True, "player": "random"})
        assert socket.receive_json() == {"kind": "progress", "part": 3, "kibitzer": True}
