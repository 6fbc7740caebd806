"""The life of a table over the JSON interface."""

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest
from starlette.websockets import WebSocketDisconnect

from kibitz import games
from kibitz.app.web import live as live_module
from kibitz.app.web import lobby
from kibitz.app.web.store import Store
from kibitz.app.web.tables import HUMAN, Table
from kibitz.games.game import is_shipped

from .conftest import LIVE, finished, moved, opened, seen, settled

EXAMPLE = Path(__file__).parents[3] / "examples" / "von_neumann_poker.py"
JSON = {"content-type": "application/json"}


def test_a_game_is_played_to_its_end(client):
    (key,) = opened(client)
    table = settled(client, key)
    assert table["phase"] == "yours"
    assert [move["name"] for move in table["moves"]] == ["pass", "bet"]
    assert table["events"] == [f"chance: {table['text'][14]}"]  # only the own card
    table = finished(client, key)
    assert table["phase"] == "over"
    assert table["result"]["payoff"] in (-2, -1, 1, 2)
    assert "1 game" in table["score"]
    assert "?" not in table["text"]
    assert moved(client, key, table, 0).json() == {"detail": "the game is over"}


def test_seats_rotate_and_the_score_runs_on(client):
    (key,) = opened(client)
    first = finished(client, key)
    assert [seat["you"] for seat in first["seats"]] == [True, False]
    client.post(f"/api/tables/{key}/rematch")
    second = finished(client, key)
    assert [seat["you"] for seat in second["seats"]] == [False, True]
    assert second["number"] == 2
    total = first["result"]["payoff"] + second["result"]["payoff"]
    assert f"score: {total:+g} after 2 games" in second["score"]


def test_a_new_deal_before_the_end_does_not_count(client):
    (key,) = opened(client)
    settled(client, key)
    assert "no game finished" in client.post(f"/api/tables/{key}/rematch").json()["score"]


def test_the_words_are_german(client):
    (key,) = opened(client)
    settled(client, key)
    assert seen(client, key, "de")["events"][0].startswith("Zufall")
    assert seen(client, key, "de")["score"] == "Stand: noch kein Spiel beendet"
    assert client.get(f"/api/tables/{key}?language=fr").status_code == 422


def test_refusals_say_what_is_wrong(client):
    (key,) = opened(client, "tic_tac_toe")
    table = settled(client, key)
    cases = [
        (moved(client, key, table, 9), 409, "not legal"),
        (moved(client, key, table | {"turn": 5}), 409, "position has changed"),
        (moved(client, "unknown", table), 404, "no such table"),
        (client.get("/api/tables/unknown"), 404, "no such table"),
        (client.post(f"/api/tables/{key}/undo"), 409, "nothing that you may fairly take back"),
        (client.post(f"/api/tables/{key}/moves", json={"action": -1, "turn": 0}), 422, "action: "),
        (client.post(f"/api/tables/{key}/moves", content=b"{", headers=JSON), 422, "JSON"),
        (client.post("/api/tables", json={"game": "chess", "seats": ["human"]}), 404, "no game is called 'chess'"),
        (client.post("/api/tables", json={"game": "kuhn", "seats": ["human"]}), 409, "has 2 seats, not 1"),
        (client.post("/api/tables", json={"game": "kuhn", "seats": ["random"] * 2}), 409, "should be human"),
        (client.post("/api/tables", json={"game": "kuhn", "seats": ["human", "stockfish"]}), 404, "no player"),
        (client.post("/api/tables", json={"game": "kuhn", "seats": ["human", "uct:10"]}), 409, "can't play kuhn"),
    ]
    for answer, status, words in cases:
        assert answer.status_code == status, answer.text
        assert words in answer.json()["detail"]


@pytest.mark.parametrize(
    ("player", "words"),
    [
        ("net:/etc/passwd", "only files in models/"),
        ("net:models/../../secret", "only files in models/"),
        ("net:~/secret", "only files in models/"),
        ("evil.py:Player", "no player is called"),
        ("ismcts:seconds=3600", "thinks too long"),
        ("ismcts:2000000", "thinks too long"),
    ],
)
def test_a_browser_may_not_name_any_file_or_budget(client, player, words):
    answer = client.post("/api/tables", json={"game": "leduc", "seats": ["human", player]})
    assert answer.status_code in (404, 409)
    assert words in answer.json()["detail"]


def test_a_game_in_a_file_is_offered_only_if_it_was_named(server, tmp_path):
    name = f"{shutil.copy(EXAMPLE, tmp_path)}:VonNeumannPoker"
    assert server().post("/api/tables", json={"game": name, "seats": ["human", "random"]}).status_code == 404
    client = server(games=[games.load(name)])
    assert name in [game["name"] for game in client.get("/api/games").json()]
    (key,) = opened(client, name)
    assert settled(client, key)["phase"] == "yours"


def test_a_move_is_taken_back_where_that_is_fair(client):
    (key,) = opened(client, "tic_tac_toe")
    before = settled(client, key)
    moved(client, key, before)
    after = settled(client, key)
    assert after["can_undo"]
    assert client.post(f"/api/tables/{key}/undo").json()["text"] == before["text"]
    assert seen(client, key)["events"] == []
    (key,) = opened(client, "leduc")
    moved(client, key, settled(client, key))
    assert not settled(client, key)["can_undo"]  # another card or a move was seen since


def test_a_move_that_showed_something_hidden_is_not_taken_back():
    """The second bid of a round of Goofspiel shows who won it; the first one nothing."""
    table = Table(games.load("goofspiel:5"), ["random", HUMAN], ["", ""], seed=1)
    while table.automatic_action() is not None:
        table.play(table.automatic_action())
    table.play(2)
    table.play(0)
    assert table.turn == 0
    assert table.last_decision(1) is None
    table = Table(games.load("goofspiel:5"), [HUMAN, "random"], ["", ""], seed=1)
    while table.automatic_action() is not None:
        table.play(table.automatic_action())
    table.play(2)
    assert table.turn == 1
    assert table.last_decision(0) is not None


def test_taking_back_lets_a_player_that_failed_try_again():
    table = Table(games.load("tic_tac_toe"), [HUMAN, "random"], ["", ""], seed=1)
    table.play(4)
    table.trouble = "its process ended"
    table.undo(0)
    assert table.trouble == ""


def test_a_move_may_be_added_while_another_thread_describes_the_table():
    table = Table(games.load("kuhn"), [HUMAN, "random"], ["", ""], seed=1)
    while table.automatic_action() is not None:
        table.play(table.automatic_action())

    class Moving(list):
        def __iter__(self):
            if table.actions is self:  # the first time that it is copied
                table.actions = list(super().__iter__())
                table.play(1)
                return iter(table.actions)
            return super().__iter__()

    table.actions = Moving(table.actions)
    table.describe(0, "en")
    assert len(table.actions) == len(table.states) - 1 == 3


def test_two_people_who_ask_for_the_next_game_begin_one(client):
    one, two = opened(client, "kuhn", ["human", "human"])
    while (table := seen(client, one))["phase"] != "over":
        key = one if table["phase"] == "yours" else two
        moved(client, key, seen(client, key))
    assert client.post(f"/api/tables/{one}/rematch", params={"game": table["number"]}).json()["number"] == 2
    again = client.post(f"/api/tables/{two}/rematch", params={"game": table["number"]})
    assert (again.status_code, again.json()["detail"]) == (409, "the next game has begun already")
    assert seen(client, two)["number"] == 2


def test_a_table_leaves_the_memory_with_all_its_keys(client, monkeypatch):
    monkeypatch.setattr(lobby, "IN_MEMORY", 4)
    one, two = opened(client, "tic_tac_toe", ["human", "human"])
    opened(client, "tic_tac_toe", ["human", "human"])
    seen(client, two)
    opened(client, "tic_tac_toe", ["human", "human"])
    assert client.lobby.find(one)[0] is client.lobby.find(two)[0]


def test_resigning_loses(client):
    (key,) = opened(client, "tic_tac_toe")
    settled(client, key)
    table = client.post(f"/api/tables/{key}/resign").json()
    assert table["phase"] == "over"
    assert table["result"] == {"payoff": -1.0, "text": "you resigned"}
    (key,) = opened(client, "leduc")
    settled(client, key)
    assert client.post(f"/api/tables/{key}/resign").status_code == 409


def test_it_is_not_your_turn(client):
    one, two = opened(client, "tic_tac_toe", ["human", "human"])
    table = settled(client, one)
    assert moved(client, two, table).json() == {"detail": "it is not your turn"}
    assert moved(client, one, table).status_code == 200
    assert seen(client, two)["phase"] == "yours"
    assert not seen(client, one)["can_undo"]  # there is another person


def test_a_table_survives_a_restart(server):
    client = server()
    (key,) = opened(client, "leduc", ["human", "random"])
    table = settled(client, key)
    moved(client, key, table)
    table = settled(client, key)
    again = server()
    assert settled(again, key) == table
    assert finished(again, key)["phase"] == "over"
    assert "1 game" in settled(server(), key)["score"]


def test_a_full_disk_is_reported_and_the_game_goes_on(client, monkeypatch):
    (key,) = opened(client, "tic_tac_toe")
    table = settled(client, key)
    monkeypatch.setattr(Store, "save", lambda *_: "database or disk is full")
    moved(client, key, table)
    assert "not saved: database or disk is full" in settled(client, key)["trouble"]
    monkeypatch.undo()
    table = settled(client, key)
    moved(client, key, table)
    assert settled(client, key)["trouble"] == ""


def test_announcements_and_cards_of_doppelkopf(client):
    (key,) = opened(client, "doppelkopf", ["human", "heuristic", "heuristic", "heuristic"])
    planned = 0
    table = settled(client, key)
    while table["phase"] == "yours":
        move = table["moves"][-1]
        planned += move["planned"]
        body = {"action": move["action"], "turn": table["turn"], "planned": move["planned"]}
        assert client.post(f"/api/tables/{key}/moves", json=body).status_code == 200
        table = settled(client, key)
    assert planned
    assert table["phase"] == "over", table["trouble"]
    assert "Re (" in table["text"]


def test_a_card_is_played_by_one_click_whoever_is_asked_for_an_announcement_after_it(client):
    """A click on a card is silence, and then the card; others may be asked between the two."""
    new = Table(games.load("doppelkopf"), ["human", "heuristic", "heuristic", "heuristic"], [""] * 4, seed=1)
    (key,) = new.keys
    client.portal.call(client.lobby.add, new)
    table, between = settled(client, key), 0
    while table["phase"] == "yours":
        move, state = table["moves"][-1], new.states[-1]
        body = {"action": move["action"], "turn": table["turn"], "planned": move["planned"]}
        assert client.post(f"/api/tables/{key}/moves", json=body).status_code == 200
        between += bool(move["planned"] and state.waiting)
        table = settled(client, key)
        asked_again = any(each["planned"] for each in table["moves"])  # as somebody has announced
        if move["planned"] and not asked_again:
            assert new.states[-1].count > state.count
    assert table["phase"] == "over", table["trouble"]
    assert between


# ---------------------------------------------------------------- live connections


def test_two_browsers_on_one_seat_see_the_same(client):
    (key,) = opened(client, "tic_tac_toe")
    table = settled(client, key)
    with (
        client.websocket_connect(f"{LIVE}/api/tables/{key}/live") as one,
        client.websocket_connect(f"{LIVE}/api/tables/{key}/live?language=de") as two,
    ):
        assert one.receive_json() == table
        assert two.receive_json()["score"].startswith("Stand")
        moved(client, key, table)
        assert moved(client, key, table).status_code == 409  # the other window was faster
        while one.receive_json()["turn"] == 0:
            pass
        assert two.receive_json()["events"][0].startswith("du spielst")


def next_advice(socket):
    while (message := socket.receive_json())["kind"] != "advice":
        pass
    return message


def test_advice_is_sent_and_grows(client):
    (key,) = opened(client, "kuhn")
    table = settled(client, key)
    with client.websocket_connect(f"{LIVE}/api/tables/{key}/live") as socket:
        socket.receive_json()
        socket.send_json({"on": True, "player": "ismcts:640"})
        found = []
        while not found or not found[-1]["finished"]:
            found.append(next_advice(socket))
        last = found[-1]
        assert last["turn"] == table["turn"]
        assert last["number"] == table["number"]
        assert {move["name"] for move in last["moves"]} == {"pass", "bet"}
        assert sum(move["policy"] for move in last["moves"]) == pytest.approx(1)
        assert sum(move["visits"] for move in last["moves"]) > 300
        socket.send_json({"on": True, "player": "no such player"})
        assert "no player is called" in next_advice(socket)["trouble"]
        socket.send_text("{")
        assert "isn't understood" in next_advice(socket)["trouble"]


def test_unknown_tables_and_too_many_messages_close_a_connection(client):
    with pytest.raises(WebSocketDisconnect), client.websocket_connect(f"{LIVE}/api/tables/unknown/live") as socket:
        socket.receive_json()
    (key,) = opened(client, "kuhn")
    with client.websocket_connect(f"{LIVE}/api/tables/{key}/live") as socket:
        for _ in range(live_module.TOO_MUCH + 1):
            socket.send_text("{}")
        with pytest.raises(WebSocketDisconnect):
            list(iter(socket.receive_json, None))


def test_the_description_names_every_message(client):
    schema = client.get("/api/openapi.json").json()
    assert "/api/tables/{key}/moves" in schema["paths"]
    assert json.dumps(schema).count("TableView") > 4
    for page in ("/", "/api/docs", "/static/app.js", "/favicon.ico"):
        assert client.get(page).status_code == 200


def test_a_player_is_prepared_before_its_table_is_opened(client):
    for _ in range(2):
        assert client.post("/api/prepare", json={"game": "kuhn", "strength": "quick"}).status_code == 202
    opened(client)
    assert next(iter(client.lobby.pool.desk._prepared)) == ("kuhn", "ismcts:100")
    assert client.post("/api/prepare", json={"game": "chess"}).status_code == 404
    assert client.post("/api/prepare", json={"game": "kuhn", "strength": "uct:1000000"}).status_code == 422


def test_every_game_has_a_small_picture(client):
    for game in client.get("/api/games").json():
        answer = client.get("/api/picture", params={"game": game["name"]})
        assert answer.headers["content-type"] == "image/svg+xml"
        assert ElementTree.fromstring(answer.text).tag.endswith("svg")
        assert int(answer.headers["content-length"]) < 5000  # compressed
        plain = client.get("/api/picture", params={"game": game["name"]}, headers={"accept-encoding": "identity"})
        assert plain.text == answer.text
    assert "♥" in client.get("/api/picture", params={"game": "doppelkopf"}).text
    assert client.get("/api/picture", params={"game": "chess"}).status_code == 404


def test_a_game_without_a_drawing_shows_its_text(server, tmp_path):
    name = f"{shutil.copy(EXAMPLE, tmp_path)}:VonNeumannPoker"
    assert "<text" in server(games=[games.load(name)]).get("/api/picture", params={"game": name}).text


def test_strengths_name_players_of_each_game(client):
    found = client.get("/api/games").json()
    assert {game["name"] for game in found} == {name for name, kind in games.GAMES.items() if is_shipped(kind)}
    for game in found:
        assert list(game["strengths"]) == ["quick", "solid", "strong"]
    named = {game["name"]: game["strengths"] for game in found}
    assert named["doppelkopf"]["quick"] == "heuristic"
    assert named["connect_four"]["strong"] == "puct:seconds=2,net=models/connect_four-alphazero"
    assert "oos:1000" in [player["example"] for player in client.get("/api/players").json()]
