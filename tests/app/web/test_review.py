"""Reviews over the JSON interface: games of tables, run folders and files, and what each move cost."""

import asyncio
import json
import os
import random
from pathlib import Path

import pytest

from kibitz import games
from kibitz.app.web import review, reviewing
from kibitz.app.web.workers import Pool
from kibitz.games.record_files import read_game
from kibitz.games.records import Record, read_line

from ...fuzz.damage import damage
from ...games.test_pokerstars import SHOWDOWN
from .conftest import moved, opened, settled

OLD = Path(__file__).parents[1] / "runs_of_0_2"
EXACT = "alphabeta:depth=9"
TRIALS = int(os.environ.get("KIBITZ_FUZZ", 150))


def played(name, *actions):
    """The record of a game; the rest is played by taking the first legal action."""
    game = games.load(name)
    state, actions = games.positions(game)[0], list(actions)
    for action in actions:
        game.play(state, action)
    while game.turn(state) != games.OVER:
        actions.append(int(games.legal_actions(game, state)[0]))
        game.play(state, actions[-1])
    payoffs = [float(game.payoff(state, seat)) for seat in range(game.facts.seats)]
    record = Record(0, name, ["human"] + ["random"] * (game.facts.seats - 1), 0, actions, payoffs)
    return json.loads(record.line())


LOST = played("tic_tac_toe", 4, 1, 0, 8, 6, 3, 2)  # o answers the centre on an edge, which loses by force


def reviewed(client, record, player=EXACT, language="en", browser="b"):
    answer = client.post(
        f"/api/reviews?language={language}", json={"record": record, "player": player, "browser": browser}
    )
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    return [json.loads(line) for line in answer.text.splitlines()]


def of_kind(lines, kind):
    return [line for line in lines if line["kind"] == kind]


# ---------------------------------------------------------------- games


@pytest.mark.parametrize("game", ["kuhn", "leduc", "tic_tac_toe", "connect_four"])
def test_a_game_of_a_table_is_reviewed_when_it_is_over(client, game):
    (key,) = opened(client, game)
    while (table := settled(client, key))["phase"] == "yours":
        answer = client.get(f"/api/reviews/tables/{key}")
        assert answer.status_code == 409
        assert answer.json() == {"detail": "this game isn't over: it can be reviewed when it is"}
        moved(client, key, table)
    found = client.get(f"/api/reviews/tables/{key}").json()
    record = found["record"]
    assert found["seat"] == 1
    assert record["players"] == ["human", "random"]
    assert record["payoffs"][0] == table["result"]["payoff"]
    assert record["seed"] == 0  # the table's would reveal the deals to come
    read_line(json.dumps(record), "it").verify()
    lines = reviewed(client, record, "random" if game in ("kuhn", "leduc") else "uct:20")
    assert lines[0]["kind"] == "start"
    assert lines[-1] == {"kind": "end", "complete": True, "trouble": ""}
    assert [line["done"] for line in of_kind(lines, "progress")] == list(range(1, lines[0]["total"] + 1))
    outline = client.post("/api/reviews/outline", json={"record": record}).json()
    decisions = [turn["turn"] for turn in outline["turns"] if turn["seat"]]
    assert {line["turn"] for line in of_kind(lines, "move")} <= set(decisions)
    assert len(decisions) == lines[0]["total"]


def test_a_resigned_game_is_reviewed_as_far_as_it_went(client):
    (key,) = opened(client, "tic_tac_toe")
    moved(client, key, settled(client, key))
    settled(client, key)
    client.post(f"/api/tables/{key}/resign")
    record = client.get(f"/api/reviews/tables/{key}").json()["record"]
    assert record["payoffs"] == [-1, 1]
    assert len(of_kind(reviewed(client, record), "move")) == len(record["actions"]) == 2
    assert not client.post("/api/reviews/outline", json={"record": record}).json()["over"]


def test_each_move_costs_what_the_best_one_is_worth_more(client):
    lines = reviewed(client, LOST)
    moves = of_kind(lines, "move")
    assert lines[0]["marks"] == pytest.approx({"blunder": 0.3, "mistake": 0.2, "inaccuracy": 0.1})
    assert lines[0]["zero_sum"]
    assert [move["cost"] for move in moves] == [0, 1, 0, 0, 0, 0, 0]
    assert [move["mark"] for move in moves] == ["", "blunder", "", "", "", "", ""]
    assert moves[1]["best"] in (0, 2, 6, 8)
    good = {each["action"] for each in moves[1]["moves"] if each["good"]}
    assert moves[1]["best"] in good <= {0, 2, 6, 8}  # the corners hold the draw


def test_the_next_position_corrects_the_value_of_a_move(client):
    lines = of_kind(reviewed(client, LOST, "uct:3000"), "move")
    turns = [line["turn"] for line in lines]
    assert len(turns) > len(set(turns))  # some are sent again
    last = {line["turn"]: line for line in lines}
    assert [last[turn]["mark"] for turn in sorted(last)] == ["", "blunder", "", "", "", "", ""]


def test_names_are_spelled_in_a_language(client):
    record = played("kuhn", 0, 1, 1)
    turns = {
        language: client.post(
            f"/api/reviews/outline?language={language}",
            json={"record": record, "spell": [{"turn": 3, "action": 0}]},
        ).json()
        for language in ("en", "de")
    }
    assert [(turn["seat"], turn["name"]) for turn in turns["en"]["turns"]][:3] == [(0, "J"), (0, "Q"), (1, "bet")]
    assert turns["en"]["names"] == ["pass"]
    wrong = client.post("/api/reviews/outline", json={"record": record, "spell": [{"turn": 3, "action": 9}]})
    assert wrong.json() == {"detail": "the action 9 is not legal at turn 3"}


def test_a_position_is_drawn_as_its_seat_saw_it_or_revealed(client):
    record = played("kuhn", 0, 1, 1)

    def shown(**asked):
        return client.post("/api/reviews/position", json={"record": record} | asked).json()

    seen = shown(turn=3)
    assert seen["seat"] == 1
    assert "?" in seen["text"]
    assert "?" not in shown(turn=3, revealed=True)["text"]
    assert [move["name"] for move in seen["moves"]] == ["pass", "bet"]
    end = shown(turn=len(record["actions"]) + 1)
    assert (end["seat"], end["moves"]) == (0, [])
    assert "?" not in end["text"]
    board = client.post("/api/reviews/position", json={"record": LOST, "turn": 2}).json()
    assert board["picture"].count('class="last"') >= 1
    assert "should be 1 to" in client.post("/api/reviews/position", json={"record": LOST, "turn": 9}).json()["detail"]


# ---------------------------------------------------------------- files and folders


def sent(client, text, **more):
    return client.post("/api/reviews/files", json={"text": text} | more)


HAND = "STATE:0:crc/cc/cc/cc:KsQh|Ac2d/Td9s3c/4h/5d:-20|20:alice|bob\n"


def test_every_format_is_read(client, tmp_path, kibitz):
    kuhn = played("kuhn", 0, 1, 1)
    found = sent(client, json.dumps(kuhn) + "\n" + json.dumps(LOST | {"number": 6})).json()["games"]
    assert [(game["game"], game["number"]) for game in found] == [("kuhn", 0), ("tic_tac_toe", 6)]
    (tmp_path / "copy.jsonl").write_text("".join(json.dumps(game) + "\n" for game in found))
    assert read_game(tmp_path / "copy.jsonl", 7).game == "tic_tac_toe"  # the command reads it, too
    forfeit = LOST | {
        "actions": LOST["actions"][:2],
        "payoffs": [-1.0, 1.0],
        "forfeit": {"seat": 0, "reason": "crashed"},
    }
    (back,) = sent(client, json.dumps(forfeit)).json()["games"]
    assert back == forfeit
    hands = sent(client, f"# a log\n{HAND}").json()["games"]
    assert (hands[0]["game"], hands[0]["players"]) == ("holdem", ["alice", "bob"])
    assert sent(client, SHOWDOWN).json()["games"][0]["game"] == "holdem"
    match = read_game(OLD / "match")
    assert sent(client, match.line()).json()["games"][0]["game"] == match.game
    for name, options in (("text.txt", ("--language", "de")), ("lines", ("--to", "thesis"))):
        assert kibitz("convert", str(OLD / "match"), name, "--game", "1", *options)[0] == 0
        doppelkopf = sent(client, (tmp_path / name).read_text()).json()["games"]
        assert doppelkopf[0]["actions"][48:] == match.actions[48:]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "line 1: this is no record of a game"),
        ("nothing of the kind", "the format of these games isn't recognized"),
        ("STATE:0:rrrrrrrrr:KsQh|Ac2d:-20|20:alice|bob", "line 1: "),
        ("game 1 of nothing, seed 1\n", "line 1: "),
        ("   ", "no game"),
        (json.dumps(LOST | {"actions": [4, 4]}), "line 1: game 1: action 4 at ply 2 is illegal"),
        (json.dumps(LOST | {"payoffs": [0.0, 0.0]}), "line 1: game 1 pays"),
        (json.dumps(LOST | {"players": ["x"], "payoffs": [1.0]}), "line 1: tic_tac_toe has 2 seats, not 1"),
        (json.dumps(LOST | {"game": "chess"}), "line 1: no game is called 'chess'"),
        (json.dumps(LOST | {"actions": [0] * 6000}), "actions: List should have at most"),
        (json.dumps(LOST | {"game": "tic_tac_toe\x00"}), "line 1: "),
        ("[" * 50_000, "the format of these games isn't recognized"),
        ("zz", "read as Doppelkopf in lines of 62 letters: line 1: "),
        ('{"number":' + "[" * 50_000, "line 1: this is no record of a game"),
    ],
)
def test_damaged_files_are_refused_in_one_line(client, text, why):
    answer = sent(client, text)
    assert answer.status_code in (404, 409), answer.text
    assert why in answer.json()["detail"]
    assert "\n" not in answer.json()["detail"]


def test_damaged_bytes_break_nothing(client):
    files = {
        "games.jsonl": json.dumps(LOST) + "\n" + json.dumps(played("kuhn", 0, 1, 1)) + "\n",
        "match.jsonl": read_game(OLD / "match").line(),
        "hands.acpc": HAND * 2,
        "hands.txt": SHOWDOWN,
    }
    for seed in range(TRIALS):
        generator = random.Random(seed)
        name = generator.choice(list(files))
        text = damage(files[name].encode(), name, generator).decode("utf-8", "replace")
        answer = sent(client, text)
        assert answer.status_code in (200, 404, 409, 413, 422), (seed, answer.text)
        assert answer.status_code == 200 or "\n" not in answer.json()["detail"]


def test_no_file_runs_code(client, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("evil.py").write_text("from pathlib import Path\nPath('ran').touch()\n")
    evil = "evil.py:Evil"
    for answer in (
        sent(client, json.dumps(LOST | {"game": evil})),
        sent(client, f"game 1 of {evil}, seed 1\n"),
        sent(client, HAND, rules=evil),
        client.post("/api/reviews", json={"record": LOST | {"game": evil}, "browser": "b"}),
        client.post("/api/reviews", json={"record": LOST, "player": evil, "browser": "b"}),
        client.post("/api/reviews/position", json={"record": LOST | {"game": evil}, "turn": 1}),
        client.post("/api/reviews/outline", json={"record": LOST | {"game": evil}}),
    ):
        assert answer.status_code == 404, answer.text
    assert sent(client, json.dumps(LOST | {"players": [evil, evil]})).status_code == 200  # a name that nobody loads
    assert not Path("ran").exists()


def test_run_folders_are_listed_and_read_and_nothing_else(client, tmp_path, monkeypatch):
    monkeypatch.setattr(review, "RUNS", tmp_path / "runs")
    monkeypatch.setattr(review, "MAX_LISTED", 2)
    assert client.get("/api/reviews/runs").json() == []
    for name, text in (
        ("kuhn-match-001", "".join(json.dumps(played("kuhn", 0, 1) | {"number": i}) + "\n" for i in range(3))),
        ("broken", "{}\n"),
        ("t/matches/1-2", json.dumps(LOST) + "\n"),
    ):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "games.jsonl").write_text(text)
    (tmp_path / "games.jsonl").write_text(json.dumps(LOST) + "\n")
    found = {run["name"]: run for run in client.get("/api/reviews/runs").json()}
    assert set(found) == {"kuhn-match-001", "t/matches/1-2"}
    assert found["kuhn-match-001"]["players"] == ["human", "random"]

    def listed(run, first=1):
        return client.get("/api/reviews/games", params={"run": run, "first": first})

    assert [game["number"] for game in listed("kuhn-match-001").json()["games"]] == [0, 1]
    assert listed("kuhn-match-001").json()["more"]
    assert [game["number"] for game in listed("kuhn-match-001", 3).json()["games"]] == [2]
    assert "line 1" in listed("broken").json()["detail"]
    for name in ("..", "../runs/kuhn-match-001", "/etc", "t", str(tmp_path)):
        assert listed(name).status_code == 404, name


# ---------------------------------------------------------------- bounds


def test_what_an_adviser_refuses_is_told(client):
    for player, status, why in (
        ("uct:seconds=3600", 409, "thinks too long"),
        ("net:/etc/passwd", 409, "only files in models/"),
        ("human", 404, "no player is called"),
    ):
        answer = client.post("/api/reviews", json={"record": LOST, "player": player, "browser": "b"})
        assert answer.status_code == status
        assert why in answer.json()["detail"]


def test_a_review_ends_after_its_time(client, monkeypatch):
    monkeypatch.setattr(reviewing, "LIMIT", -1.0)
    lines = reviewed(client, LOST)
    assert len(of_kind(lines, "move")) == 1
    assert lines[-1] == {"kind": "end", "complete": False, "trouble": "a review takes at most -1 seconds"}


class Endless:
    """Workers that never answer."""

    async def answers(self, request):
        yield "line", '{"kind":"progress","done":0}'
        await asyncio.Event().wait()


def test_a_browser_has_one_review_at_a_time(client, monkeypatch):
    lobby = client.lobby

    async def attempt():
        monkeypatch.setattr(lobby, "pool", Endless())
        reviews = review.Reviews(lobby)

        def asked(browser):
            return review.ReviewRequest(record=LOST, browser=browser)

        first = await reviews.begin(asked("one"), "en")
        assert "progress" in await anext(first)
        second = await reviews.begin(asked("one"), "en")  # ends the first
        assert json.loads(await anext(first)) == {"kind": "end", "complete": False, "trouble": ""}
        assert "progress" in await anext(second)
        monkeypatch.setattr(review, "MAX_REVIEWS", 1)
        with pytest.raises(review.Refused, match="too many reviews at once"):
            await reviews.begin(asked("two"), "en")
        await second.aclose()  # the browser leaves
        await asyncio.sleep(0.01)
        third = await reviews.begin(asked("two"), "en")
        await third.aclose()

    asyncio.run(attempt())


def test_a_review_in_a_process(server):
    client = server(pool=Pool(1))
    lines = reviewed(client, played("kuhn", 0, 1, 1), "random")
    assert [move["name"] for move in of_kind(lines, "move")[0]["moves"]] == ["pass", "bet"]
    assert lines[-1]["complete"]
