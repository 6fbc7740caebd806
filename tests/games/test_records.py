"""The format of records: every registered game against the JSON schema, and the page that documents it."""

import json
import re
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from kibitz.core.names import BadInput
from kibitz.games import legal_actions, load
from kibitz.games.record_files import read_games
from kibitz.games.records import SCHEMA, Forfeited, Record, read_line, read_records
from kibitz.play.match import match
from kibitz.play.play import play_game

from .facts import SHIPPED

PAGE = (Path(__file__).parents[2] / "docs" / "records.md").read_text()
VALIDATOR = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
GOOD = {"number": 3, "game": "kuhn", "players": ["a", "b"], "seed": 1, "actions": [0, 2, 1, 0], "payoffs": [1.0, -1]}

WRONG = [None, True, -1, -2, 0.5, 2**63 - 1, 2**63, "x", {}, [], ["x"], [1], [-1], [-2], [0.5], [True], [2**63]]


class Anyone:
    """Plays a random legal action, in plain Python."""

    def begin(self, game, seat, seed):
        self.game, self.generator = game, np.random.default_rng(seed)

    def move(self, view):
        return int(self.generator.choice(legal_actions(self.game, view)))


@pytest.mark.parametrize(
    "text",
    [
        "game {} of doppelkopf, seed 1",
        "game 1 of doppelkopf, seed {}",
        "STATE:{}:r/c:AhKh|AdKd:1|-1:a|b",
        "PokerStars Hand #{}: Hold'em Limit ($1/$2)",
        '{{"number": {}}}',
    ],
)
@pytest.mark.parametrize("digits", [19, 41, 5000])
def test_numbers_that_are_too_large_are_refused_in_one_short_line(text, digits):
    with pytest.raises(BadInput) as refused:
        list(read_games(text.format("9" * digits)))
    assert str(refused.value).startswith("line 1")
    assert len(str(refused.value)) < 160


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(VALIDATOR.schema)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_game_of_every_kind_fits_the_schema(name):
    game = load(name)
    seats = game.facts.seats
    for number in range(2):
        record = play_game(game, [Anyone() for _ in range(seats)], [f"player {i}" for i in range(seats)], 7, number)
        line = record.line()
        assert line.count("\n") == 1
        VALIDATOR.validate(json.loads(line))
        assert read_line(line, "it") == record
        record.verify()


def test_the_schema_and_the_reader_agree():
    """What one of them refuses, the other does too."""
    changed = [GOOD]
    for key in GOOD:
        changed.append({name: value for name, value in GOOD.items() if name != key})
        for value in WRONG:
            changed.append(GOOD | {key: value})
    changed += [GOOD | {"more": 1}, [], 3]
    forfeits = [{}, {"seat": 0}, {"seat": 0, "reason": "", "more": 1}, *WRONG]
    forfeits += [{"seat": value, "reason": "x"} for value in (0, 1, -1, True, "0", 0.5, None)]
    changed += [GOOD | {"forfeit": each} for each in [*forfeits, {"seat": 0, "reason": 3}]]
    found = [VALIDATOR.is_valid(each) for each in changed]
    assert 0 < sum(found) < len(found)
    for each, valid in zip(changed, found, strict=True):
        # That there are as many payoffs as players is beyond a schema.
        valid = valid and len(each["players"]) == len(each["payoffs"])
        try:
            read_line(json.dumps(each), "it")
        except BadInput:
            assert not valid, each
        else:
            assert valid, each


def test_the_page_shows_a_record_and_all_fields():
    example = json.loads(re.search(r"^```json\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[1])
    VALIDATOR.validate(example)
    read_line(json.dumps(example), "it").verify()
    assert re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE) == list(VALIDATOR.schema["properties"])
    assert list(VALIDATOR.schema["properties"]) == [*VALIDATOR.schema["required"], "forfeit"]
    assert VALIDATOR.schema["required"] == list(example)


def test_the_readers_of_the_page_run(tmp_path, monkeypatch, capsys):
    """The plain one in at most ten lines, without Kibitz."""
    found = match("kuhn", [Anyone(), Anyone()], games=6)
    monkeypatch.chdir(tmp_path)
    Path("games.jsonl").write_text("".join(record.line() for record in found.records))
    plain, ours = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert "kibitz" not in plain
    assert len([line for line in plain.splitlines() if line.strip()]) <= 10
    exec(plain, {})
    out = capsys.readouterr().out
    mean = np.mean([record.payoffs[record.players.index("Anyone")] for record in found.records])
    assert f"Anyone: 6 games, {mean:+.3f} per game" in out
    assert "Anyone 2: 6 games" in out
    exec(ours, {})
    words = capsys.readouterr().out.split()
    assert len(words) == len(read_records(Path("games.jsonl"))[0].actions)
    assert set(words[:2]) <= {"J", "Q", "K"}


def test_a_forfeited_game_ends_where_the_player_could_not_go_on():
    record = Record(0, "hex:size=3", ["random", "engine:x"], 1, [4], [1.0, -1.0], Forfeited(1, "x ended"))
    assert json.loads(record.line())["forfeit"] == {"seat": 1, "reason": "x ended"}
    assert read_line(record.line(), "here") == record
    assert "forfeit" not in json.loads(replace(record, forfeit=None).line())
    VALIDATOR.validate(json.loads(record.line()))
    record.verify()
    with pytest.raises(BadInput, match="breaks off after 1 actions"):
        replace(record, forfeit=None).verify()
    with pytest.raises(BadInput, match="forfeited by seat 1, which isn't to move"):
        replace(record, forfeit=Forfeited(0, "")).verify()
    with pytest.raises(BadInput, match="pays"):
        replace(record, payoffs=[0.0, 0.0]).verify()


@pytest.mark.parametrize("forfeit", [[], 3, "x", {"seat": 1}, {"seat": "1", "reason": ""}, {"seat": 2, "reason": ""}])
def test_a_forfeit_that_is_none_is_refused(forfeit):
    line = {"number": 0, "game": "kuhn", "players": ["a", "b"], "seed": 1, "actions": [], "payoffs": [0, 0]}
    with pytest.raises(BadInput, match="here is no record of a game"):
        read_line(json.dumps(line | {"forfeit": forfeit}), "here")
