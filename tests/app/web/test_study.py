"""Study: positions by their moves, as one seat sees them, and the advice of two players."""

import asyncio
import contextlib
import json
import random

import numpy as np
import pytest
from fastapi import WebSocketDisconnect

import kibitz
from kibitz import games
from kibitz.app.ui.position_parser import parse_line, parse_position, spelled
from kibitz.app.ui.referee import own_views
from kibitz.app.web import study
from kibitz.app.web.workers import Pool
from kibitz.games import CHANCE, OVER
from kibitz.games.game import is_shipped

from ...games.walks import same, view_of, walk
from .conftest import LIVE, Direct, finished, moved, opened, settled
from .test_hidden_information import HIDDEN

GAMES = [name for name, kind in games.GAMES.items() if is_shipped(kind)]


def shown(client, game, moves="", seat=0, language="en", **more):
    body = {"game": game, "moves": moves, "seat": seat} | more
    answer = client.post("/api/study", json=body, params={"language": language})
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(client, game, moves, seat=0):
    answer = client.post("/api/study", json={"game": game, "moves": moves, "seat": seat})
    assert 400 <= answer.status_code < 500, answer.text
    assert "\n" not in answer.json()["detail"]
    return answer.json()["detail"]


# ---------------------------------------------------------------- positions


@pytest.mark.parametrize("name", GAMES)
def test_every_game_is_walked_to_its_end(client, name):
    game = games.load(name)
    steps = walk(game, 1)
    words = [spelled(game, step.state, step.action) for step in steps[:-1]]
    plies = {*np.linspace(0, len(words), min(len(words), 7) + 1).astype(int).tolist(), 1}
    for ply in sorted(plies):
        seat = 1 if steps[ply].turn < 0 else int(steps[ply].turn) + 1
        found = shown(client, name, " ".join(words[:ply]), seat, language="de" if ply % 2 else "en")
        assert found["turn"] == (-1 if steps[ply].turn == OVER else steps[ply].turn + 1)
        assert found["moves"] == " ".join(words[:ply])
        assert [step["seat"] for step in found["steps"]] == [max(step.turn + 1, 0) for step in steps[:ply]]
        assert {each["word"] for each in found["options"]} == {
            spelled(game, steps[ply].state, action) for action in steps[ply].actions
        }
        assert found["picture"]
        assert (found["payoffs"] is None) == (steps[ply].turn != OVER)
    assert found["payoffs"] == [float(game.payoff(steps[-1].state, seat)) for seat in range(game.facts.seats)]


@pytest.mark.parametrize("name", [*HIDDEN, "liars_dice:dice=2", "goofspiel:open_bids=yes"])
def test_a_seat_walks_by_clicking_with_the_others_cards_unknown(client, name):
    """At each turn one of the offered options, or nothing where that is offered: the text stays what advise reads."""
    game, choice = games.load(name), random.Random(3)
    for seat in (1, 2):
        position, asked = shown(client, name, "", seat, fill="unknown"), 0
        for _ in range(16):
            if position["turn"] == -1:
                break
            if position["turn"] == seat:
                states = parse_position(game, position["moves"])
                assert {each["action"] for each in position["options"]} == set(games.legal_actions(game, states[-1]))
                asked += 1
            words = [each["word"] for each in position["options"]] or ["?"]
            word = "?" if position["unknown"] and position["turn"] == 0 else choice.choice(words)
            position = shown(client, name, f"{position['moves']} {word}", seat)
        assert asked > 0 or game.facts.seats > 2


@pytest.mark.parametrize("name", HIDDEN)
def test_a_deal_leaves_unknown_what_the_seat_does_not_see(client, name):
    game = games.load(name)
    for seat in (1, game.facts.seats):
        position = shown(client, name, "", seat, fill="deal")
        assert position["turn"] > 0
        words = position["moves"].split()
        if words:
            assert "?" in words
        line = parse_line(game, position["moves"], seat - 1)
        assert all(int(game.turn(state)) == CHANCE for state in line.worlds)
    if words:
        assert len({position["moves"], *(shown(client, name, "", seat, fill="deal")["moves"] for _ in range(6))}) > 1


def test_silence_of_doppelkopf_is_filled_in_where_nobody_decides(client):
    for seat in (1, 3):
        dealt = shown(client, "doppelkopf", "", seat, fill="deal")["moves"]
        begun = shown(client, "doppelkopf", f"{dealt} healthy healthy healthy healthy", seat, fill="forced")
        assert begun["turn"] == 1  # who leads may announce before the card
        assert begun["moves"] == f"{dealt} healthy healthy healthy healthy"
        after = shown(client, "doppelkopf", f"{begun['moves']} silent", seat, fill="forced")
        assert after["moves"].endswith("healthy silent silent silent silent")
        assert [step["told"] for step in after["steps"][-5:]] == [True, False, False, False, False]
        played = shown(client, "doppelkopf", f"{after['moves']} {after['options'][0]['word']}", seat, fill="forced")
        assert (played["turn"], len(played["steps"]) > len(after["steps"])) == (2, True)


def test_unknown_hands_of_doppelkopf_give_the_views_that_were_seen():
    game = games.load("doppelkopf")
    steps = walk(game, 2)
    for seat in (0, 2):
        words = [
            "?" if step.turn == CHANCE and ply // 12 != seat else spelled(game, step.state, step.action)
            for ply, step in enumerate(steps[:-1])
        ]
        line = parse_line(game, " ".join(words), seat)
        assert line.words == words
        assert all(same(view_of(game, step.state, seat), view) for step, view in zip(steps, line.states, strict=True))
        turns = [ply for ply, step in enumerate(steps) if step.turn == seat]
        states = parse_position(game, " ".join(words[: turns[5]]))  # what `kibitz advise` reads
        expected = [view_of(game, steps[ply].state, seat) for ply in turns[:6]]
        assert all(map(same, own_views(game, states, seat), expected))


def test_beliefs_of_a_seat_that_is_not_to_move_are_by_its_own_view():
    assert "card of seat 2: J 50.0%, Q 50.0%" in str(kibitz.beliefs("kuhn", "K ? bet", seat=0))
    with pytest.raises(kibitz.BadInput, match="the 2nd move is visible to seat 2: name it"):
        kibitz.beliefs("kuhn", "K ? bet pass", seat=1)
    with pytest.raises(kibitz.BadInput, match="seat 2 should be 0 to 1"):
        kibitz.beliefs("kuhn", "K ? bet", seat=2)


def test_texts_of_the_documentation_are_read(client):
    position = shown(client, "leduc", "? K raise")
    assert (position["seat"], position["turn"], position["moves"]) == (2, 2, "? K raise")
    assert [step["name"] for step in position["steps"]] == ["?", "K", "raise"]
    assert [each["name"] for each in position["options"]] == ["fold", "call", "raise"]
    assert shown(client, "holdem", "??AhAs raise call 2c7dTs check")["moves"] == "? ? Ah As raise call 2c 7d Ts check"
    assert shown(client, "connect_four", "4, 4 3")["turn"] == 2
    assert shown(client, "leduc", "K ? raise call Q")["seat"] == 1
    pasted = shown(client, "kuhn", '$ kibitz advise leduc "? K raise" --with oos:100 --trust --json=-\n')
    assert (pasted["game"], pasted["moves"]) == ("leduc", "? K raise")
    assert shown(client, "kuhn", "kibitz advise connect_four '4 4 3' --with uct:10000 --json -")["turn"] == 2


@pytest.mark.parametrize(
    ("game", "moves", "seat", "complaint"),
    [
        ("leduc", "K X", 1, "the 2nd move, 'X', is not possible: the chance outcomes are J, Q or K"),
        ("leduc", "K ? raise", 2, "the 2nd move is visible to seat 2: name it"),
        ("leduc", "K J raise fold raise", 0, "the 5th move, 'raise', comes after the end of the game"),
        ("leduc", "K", 3, "there is no seat 3: leduc has 2 seats"),
        ("goofspiel", "? 3", 2, "the 1st move is visible to seat 2: name it, or one that looks the same"),
        ("doppelkopf", "? " * 48, 1, "the 1st move is visible to seat 1: name it"),
        ("doppelkopf", "? " * 49, 0, "the 1st move is visible to seat 1: name it"),
        ("doppelkopf", "♣A " * 3 + "? " * 5, 1, "the 3rd move, '♣A', is not possible: the chance outcomes are"),
        ("ledoc", "K", 1, "no game is called 'ledoc'"),
        ("hex:size=4000", "", 1, "size=4000"),
        ("kuhn", "kibitz advise leduc 'K", 1, "the command isn't complete: a quotation mark is missing"),
        ("kuhn", "kibitz advise --trust", 1, "the command names no game"),
        ("kuhn", "kibitz advise /etc/passwd.py:X K", 1, "no game is called '/etc/passwd.py:X'"),
        ("kuhn", "K " * 10_000, 1, "moves: String should have at most 12000 characters"),
    ],
)
def test_bad_texts_are_refused_in_one_line(client, game, moves, seat, complaint):
    assert complaint in refused(client, game, moves, seat)


def test_a_text_with_too_many_ways_is_given_up_in_time(client, monkeypatch):
    monkeypatch.setattr(study, "MAX_SECONDS", 0.05)
    assert "'?': name some of them" in refused(client, "goofspiel:13", "? 1 ? 2 ? 3 ? 4 ? 5 ? 6 1 xyzzy")


def test_names_of_several_words_are_read_as_one(monkeypatch):
    game = games.load("tic_tac_toe")
    monkeypatch.setattr(type(game), "action_to_string", lambda self, state, action: f"take cell, {action}")
    assert parse_line(game, "take_cell_0 TAKE_CELL_1").actions == [0, 1]


def test_options_are_all_that_fits_the_unknown_cards(client):
    position = shown(client, "leduc:suits=1", "K ? check check", 1)
    assert [each["word"] for each in position["options"]] == ["J", "Q"]  # seat 2 may hold either
    assert shown(client, "holdem", "As Ah Kc ? call check", 1)["turn"] == 0
    flop = {each["word"] for each in shown(client, "holdem", "As Ah Kc ? call check", 1)["options"]}
    assert len(flop) == 49
    assert flop.isdisjoint({"As", "Ah", "Kc"})
    over = shown(client, "kuhn", "K ? bet pass", 1)
    assert (over["turn"], over["payoffs"], over["options"]) == (-1, None, [])
    assert shown(client, "kuhn", "K Q bet pass", 1)["payoffs"] == [1, -1]


# ---------------------------------------------------------------- hidden information


def request(client, name, words, seat):
    """What a worker process is asked."""
    asked = study.Question(number=0, game=name, moves=words, seat=seat + 1, players=["random"])
    return study.Study(None, client.lobby, "en")._request(asked, 0, "random")


@pytest.mark.parametrize("name", [name for name in HIDDEN if name != "doppelkopf"])
def test_only_the_view_is_shown_and_advised_on(client, name):
    """Lines that look the same to the seat: the same picture, text and moves, and the same request to the adviser."""
    game, pairs = games.load(name), 0
    for seed in range(6):
        steps = walk(game, seed)
        deals = [ply for ply, step in enumerate(steps) if step.turn == CHANCE]
        for seat in range(2):
            turns = [ply for ply, step in enumerate(steps) if step.turn == seat]
            for ply in turns[:1] + turns[-1:]:
                words = [spelled(game, step.state, step.action) for step in steps[:ply]]
                other = next(
                    line
                    for tried in range(200)
                    if (line := another(game, steps, ply, seat, tried)) is not None and (line != words or tried > 100)
                )
                one, two = (shown(client, name, " ".join(each), seat + 1) for each in (words, other))
                kept = "seat", "turn", "picture", "text", "options", "unknown"
                assert [one[key] for key in kept] == [two[key] for key in kept]
                assert request(client, name, " ".join(words), seat) == request(client, name, " ".join(other), seat)
                pairs += words != other
    assert pairs >= 5
    assert deals or name == "goofspiel"


@pytest.mark.parametrize("name", sorted({*HIDDEN} - {"goofspiel"}))
def test_named_cards_that_the_seat_does_not_see_change_nothing(client, name):
    game = games.load(name)
    steps = walk(game, 4)
    for seat in (0, game.facts.seats - 1):
        ply = [ply for ply, step in enumerate(steps) if step.turn == seat][-1]
        words = [spelled(game, step.state, step.action) for step in steps[:ply]]
        masked = [
            "?" if step.turn == CHANCE and not own_deal(game, step.state, after.state, seat) else word
            for word, step, after in zip(words, steps, steps[1:], strict=False)
        ]
        assert words != masked
        one, two = (shown(client, name, " ".join(each), seat + 1) for each in (words, masked))
        kept = "seat", "turn", "picture", "text", "options", "unknown"
        assert [one[key] for key in kept] == [two[key] for key in kept]
        assert request(client, name, " ".join(words), seat) == request(client, name, " ".join(masked), seat)


def own_deal(game, before, after, seat):
    """Whether a seat sees more than that something was dealt."""
    return not all(
        np.array_equal(one[field], two[field])
        for one, two in [(view_of(game, before, seat), view_of(game, after, seat))]
        for field in game.state.names
        if field not in ("dealt", "rolled", "to_move", "phase", "street")
    )


def another(game, steps, ply, seat, seed):
    """A random line that gives the seat the same views; None: the dice fell otherwise."""
    choice, state, words = random.Random(seed), games.positions(game)[0], []
    for after in steps[1 : ply + 1]:
        fitting = []
        for action in games.legal_actions(game, state):
            then = state.copy()
            game.play(then, action)
            if same(view_of(game, then, seat), view_of(game, after.state, seat)):
                fitting.append((action, then))
        if not fitting:
            return None
        action, then = choice.choice(fitting)
        words.append(spelled(game, state, action))
        state = then
    return words


def test_a_table_is_studied_only_where_nothing_is_hidden(client):
    key, _ = opened(client, "tic_tac_toe", ["human", "human"])
    moved(client, key, settled(client, key))
    found = client.get(f"/api/tables/{key}/study").json()
    assert found == {"game": "tic_tac_toe", "moves": "a1", "seat": 1}
    (key,) = opened(client, "leduc")
    settled(client, key)
    answer = client.get(f"/api/tables/{key}/study")
    assert (answer.status_code, answer.json()["detail"]) == (
        409,
        "a game with hidden information can be studied when it is over",
    )
    finished(client, key)
    found = client.get(f"/api/tables/{key}/study").json()
    assert shown(client, found["game"], found["moves"], found["seat"])["turn"] == -1
    assert client.get("/api/tables/nobody/study").status_code == 404


# ---------------------------------------------------------------- advice


@contextlib.contextmanager
def live(client):
    with client.websocket_connect(f"{LIVE}/api/study/live", headers={"origin": "http://localhost"}) as socket:
        yield socket


def asked(socket, number, moves, players, seat=1, game="kuhn"):
    socket.send_text(json.dumps({"number": number, "game": game, "moves": moves, "seat": seat, "players": players}))


def last(socket, number, sides):
    """The last advice of each side on a position."""
    found = {}
    while len(found) < sides:
        message = json.loads(socket.receive_text())
        if message["kind"] == "advice" and message["finished"] and message["number"] == number:
            found[message["side"]] = message
    return [found[side] for side in sorted(found)]


def test_two_advisers_advise_on_the_same_position(client):
    with live(client) as socket:
        asked(socket, 1, "K ?", ["random", "oos:200"])
        one, two = last(socket, 1, 2)
        assert [move["policy"] for move in one["moves"]] == [0.5, 0.5]
        assert two["label"].startswith("search (oos), 200 simulations")
        assert " 200 simulations in " in two["notes"][0]  # as its name says
        assert sum(move["visits"] for move in two["moves"]) > 0
        assert two["seconds"] > 0
        asked(socket, 2, "? J bet", ["random"], seat=2)
        (alone,) = last(socket, 2, 1)
        assert {move["name"] for move in alone["moves"]} == {"pass", "bet"}


@pytest.mark.parametrize(
    ("moves", "seat", "player", "complaint"),
    [
        ("K ?", 2, "random", "the 2nd move is visible to seat 2: name it"),
        ("K ? bet", 1, "random", "there is no advice for seat 1: seat 2 is to move"),
        ("K", 1, "random", "there is no advice for seat 1: chance is next"),
        ("K J pass pass", 1, "random", "there is no advice for seat 1: the game is over"),
        ("K ?", 1, "magic", "no player is called 'magic'"),
        ("K ?", 1, "net:/etc/passwd", "only files in models/ and runs/ can be named here"),
        ("K ?", 1, "oos:2000000", "thinks too long for this table"),
    ],
)
def test_a_question_that_has_no_answer_is_told_in_one_line(client, moves, seat, player, complaint):
    with live(client) as socket:
        asked(socket, 5, moves, [player], seat)
        (message,) = last(socket, 5, 1)
        assert complaint in message["trouble"]
        assert "\n" not in message["trouble"]


def test_messages_that_are_no_question_are_refused_and_too_many_end_the_connection(client):
    with live(client) as socket:
        for text in ("{", "[]", "null", json.dumps({"number": 1}), "[" * 5000):
            socket.send_text(text)
            assert json.loads(socket.receive_text())["trouble"] == "this message isn't understood"
        for _ in range(60):
            socket.send_text("{")
        with pytest.raises(WebSocketDisconnect):
            list(iter(socket.receive_text, None))
    assert client.get("/api/games").status_code == 200


class Slow(Direct):
    """Advisers that never finish."""

    def __init__(self):
        super().__init__()
        self.ended = []

    async def answers(self, request):
        try:
            yield "compiling", 3
            await asyncio.Event().wait()
        finally:
            self.ended.append(request.player)


def test_the_advice_on_an_older_position_is_given_up(server):
    pool = Slow()
    with live(server(pool=pool)) as socket:
        for number, player in enumerate(["random", "oos:10", "oos:20"]):
            asked(socket, number, "K ?", [player])
            assert json.loads(socket.receive_text()) == {"kind": "progress", "side": 0, "part": 3}
            assert pool.ended == ["random", "oos:10"][:number]
    assert pool.ended == ["random", "oos:10", "oos:20"]


def test_advisers_of_studies_think_in_processes_of_their_own(server):
    pool = Pool(1)
    client = server(pool=pool)
    assert [worker.process for worker in pool.students] == [None, None]
    with live(client) as socket:
        asked(socket, 1, "b2", ["random", "random"], seat=2, game="tic_tac_toe")
        one, two = last(socket, 1, 2)
        assert one["moves"] == two["moves"]
        assert all(worker.process.is_alive() for worker in pool.students)
