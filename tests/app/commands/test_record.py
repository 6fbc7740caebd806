"""Recordings, and Doppelkopf games converted from one format into another, from the command line."""

import json

import pytest

from kibitz.doppelkopf.rules.cards import NAMES
from kibitz.games.records import read_records
from kibitz.play.match import play_match

FOUR = ["random"] * 4


@pytest.fixture
def recorded(tmp_path):
    """Four games of a match in a run folder, without calls or solos; nobody holds both ♣Q."""
    records = list(play_match("doppelkopf:thesis", FOUR, 4, 1, 1))
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "games.jsonl").write_text("".join(record.line() for record in records))
    return records


def in_order(record):
    """With the cards of each hand dealt in order: other forms know the hands only."""
    hands = [kind for seat in range(4) for kind in sorted(record.actions[12 * seat : 12 * seat + 12])]
    return hands + record.actions[48:]


def test_games_are_the_same_after_conversion_through_all_formats(kibitz, tmp_path, recorded):
    assert kibitz("convert", "run", "games.txt")[0] == 0
    code, out, error = kibitz("convert", "games.txt", "games.lines", "--to", "thesis")
    assert (code, error) == (0, "")
    assert out == "4 games: games.lines\n"
    assert len((tmp_path / "games.lines").read_text().splitlines()) == 16
    assert {len(line) for line in (tmp_path / "games.lines").read_text().splitlines(keepends=True)} == {62}
    assert kibitz("convert", "games.lines", "games.jsonl")[0] == 0
    found = read_records(tmp_path / "games.jsonl")
    assert [record.actions for record in found] == [in_order(record) for record in recorded]
    assert [record.payoffs for record in found] == [record.payoffs for record in recorded]
    assert {record.game for record in found} == {recorded[0].game}
    assert kibitz("convert", "games.txt", "again.jsonl")[0] == 0
    again = read_records(tmp_path / "again.jsonl")
    assert [(record.number, record.players, record.seed) for record in again] == [(i, FOUR, 1) for i in range(4)]
    assert [record.actions for record in again] == [record.actions for record in found]
    assert kibitz("convert", "again.jsonl", "again.txt")[0] == 0
    assert (tmp_path / "again.txt").read_text() == (tmp_path / "games.txt").read_text()


def test_a_game_is_printed(kibitz, recorded):
    code, out, _ = kibitz("convert", "run", "--to", "text", "--game", "3")
    assert code == 0
    assert out.startswith(f"game 3 of {recorded[2].game}, seed 1\nseat 1, random: ")
    assert out.count("\ntrick ") == 12
    assert out.endswith("scores: " + " ".join(f"{payoff:+.0f}" for payoff in recorded[2].payoffs) + "\n")


def test_lines_of_one_seat_with_letters_of_ones_own(kibitz, tmp_path, recorded):
    own = f"thesis:letters={' '.join(NAMES[::-1])},position=dealer,hand=held"
    assert kibitz("convert", "run", "own.lines", "--to", f"{own},seat=4")[0] == 0
    lines = (tmp_path / "own.lines").read_text().splitlines()
    assert [line[12] for line in lines] == ["0"] * 4
    assert kibitz("convert", "own.lines", "own.jsonl", "--from", own)[0] == 0
    assert [record.actions for record in read_records(tmp_path / "own.jsonl")] == list(map(in_order, recorded))
    assert kibitz("convert", "own.lines", "own.jsonl", "--from", "thesis")[0] == 2


def test_a_lossy_conversion_says_so(kibitz, tmp_path):
    calling = next(
        record
        for record in play_match("doppelkopf:solos=no", FOUR, 20, 1, 1)
        if any(action >= 36 for action in record.actions)
    )
    (tmp_path / "games.jsonl").write_text(calling.line())
    code, _, error = kibitz("convert", "games.jsonl", "games.lines", "--to", "thesis")
    assert code == 0
    assert "the format thesis has no announcements and silent marriages: those of 1 games are left out" in error


def spoiled(record, **changes):
    return json.dumps(json.loads(record.line()) | changes) + "\n"


def test_json_that_cannot_have_been_played_is_refused_with_its_line(kibitz, tmp_path, recorded):
    one, two = recorded[:2]
    cards = two.actions[-48:]
    wrongs = {
        two.line()[:-300]: "line 2, is no record of a game",  # cut off
        two.line()[:-2]: "line 2, is no record of a game",
        spoiled(two, payoffs=[3.0, -1.0, -1.0, -1.0]): "line 2: game 2: it pays",
        spoiled(two, payoffs=[1.0, -1.0], players=["a", "b"]): "line 2: game 2: it pays",
        spoiled(two, actions=two.actions[:-1]): "line 2: game 2: the game ends after 47 of 48 cards",
        spoiled(two, actions=[*two.actions, 0]): "line 2: game 2: action 101: there are more actions after the end",
        spoiled(two, actions=[14] * 3 + two.actions[3:]): "line 2: game 2: action 3: ♥Q can't be dealt a third time",
        spoiled(two, actions=[*two.actions[:-48], *cards[::-1]]): "line 2: game 2: card ",
        spoiled(two, actions=["a"]): "line 2, is no record of a game: a value has the wrong type",
        spoiled(two, game="kuhn"): "line 2: game 2: games of kuhn have no form but Kibitz's own",
        spoiled(two, game="doppelkop"): "line 2: game 2: no game is called 'doppelkop'",
        "\n": "line 2, is no record of a game",
        "[" * 100_000: "line 2, is no record of a game",
    }
    for line, text in wrongs.items():
        (tmp_path / "bad.jsonl").write_text(one.line() + line)
        code, _, error = kibitz("convert", "bad.jsonl", "out.txt")
        assert code == 2
        assert f"bad.jsonl, {text}" in error
        assert error.count("\n") == 1
        assert not (tmp_path / "out.txt").exists()


BAD = {
    ("convert", "nowhere"): "nowhere can't be read",
    ("convert", "run"): "--to is missing: the formats are json, acpc, text, thesis",
    ("convert", "run", "out.doc"): "--to is missing",
    ("convert", "run", "--to", "words"): "no format is called 'words'",
    ("convert", "run", "--to", "text", "--game", "9"): "has no game 9",
    ("convert", "run", "--to", "text", "--from", "txt"): "no format is called 'txt': did you mean 'text'?",
    ("convert", "run", "--to", "text", "--from", "text"): "line 1: '{",
    ("convert", "run", "--to", "thesis:letters=♣9"): "each of the 24 cards once",
    ("convert", "run", "--to", "thesis:position=left"): "no position is called 'left'",
    ("convert", "run", "--to", "thesis:seat=5"): "seat=5 is out of range, it should be 0 to 4",
    ("convert", "run", "--to", "thesis", "--seat", "5"): "--seat 5 is an option of its format now",
    ("convert", "run", "none/out.txt"): "can't write none/out.txt",
    ("convert", "empty", "--to", "text"): "empty holds no game",
    ("convert", "bad.lines", "--to", "json"): "bad.lines, line 1: 'z' in column 1 is no card",
    ("convert", "bad.lines", "--to", "json", "--rules", "kuhn"): "--rules kuhn: the format thesis is for doppelkopf",
    ("convert", "bad.lines", "--to", "json", "--rules", "doppelkopf:nines=no"): "the rules need nines=yes",
    ("convert", "latin", "--to", "json"): "latin can't be read",
}


@pytest.mark.parametrize("arguments", BAD, ids=" ".join)
def test_bad_input_gives_one_clear_line_and_a_code(kibitz, tmp_path, recorded, arguments):
    (tmp_path / "empty").write_text("")
    (tmp_path / "bad.lines").write_text("zz\n")
    (tmp_path / "latin").write_bytes("Müller".encode("latin-1"))
    code, out, error = kibitz(*arguments)
    assert code == 2
    assert BAD[arguments] in error
    assert error.count("\n") == 1
    assert out == ""


def test_help_teaches_with_an_example(kibitz):
    assert "Example: kibitz convert" in kibitz("convert", "--help")[1]
    assert "Example: kibitz record" in kibitz("record", "--help")[1]


# ---------------------------------------------------------------- record

ASKED = ("record", "doppelkopf:thesis", "--players", "random", "--out", "rec", "--processes", "1")


def test_games_are_recorded_and_the_same_command_resumes(kibitz, tmp_path):
    code, out, error = kibitz(*ASKED, "--games", "5", "--json", "told.json")
    assert (code, error) == (0, "")
    assert "5 games of doppelkopf" in out
    assert "games: rec/games.jsonl" in out
    assert json.loads((tmp_path / "told.json").read_text())["done"] == 5
    first = (tmp_path / "rec" / "games.jsonl").read_text()
    assert kibitz(*ASKED, "--games", "8")[0] == 0
    assert (tmp_path / "rec" / "games.jsonl").read_text().startswith(first)
    assert len(read_records(tmp_path / "rec" / "games.jsonl")) == 8
    assert kibitz(*ASKED, "--games", "6")[::2] == (2, "kibitz: rec was started with games = 8, which can only grow: 6 is less\n")  # fmt: skip  # noqa: E501


def test_a_stopped_recording_prints_how_to_resume_it(kibitz, tmp_path, monkeypatch):
    def stop(run, processes, report):
        raise KeyboardInterrupt

    monkeypatch.setattr("kibitz.play.match.play_into", stop)
    code, _, error = kibitz(*ASKED, "--games", "5")
    assert code == 130
    again = f"kibitz record doppelkopf:thesis --players random --games 5 --seed 1 --out {tmp_path / 'rec'}"
    assert f"to resume: {again}" in error
    _, out, _ = kibitz("runs", "--in", ".")
    assert "0 of 5" in out
    assert "kibitz record doppelkopf:" in out


def test_a_recording_that_cannot_be_played_is_refused_in_one_line(kibitz, tmp_path):
    for asked, why in (
        (("--players", "random", "--players", "random"), "name one for all seats, or 4, not 2"),
        (("--players", "uct:10"), "hidden information"),
        (("--players", "nobody"), "no player is called 'nobody'"),
        (("--players", "random", "--games", "0"), "games should be at least 1, not 0"),
        ((), "--players"),
    ):
        code, out, error = kibitz("record", "doppelkopf:thesis", "--out", "rec", *asked)
        assert (code, out) == (2, "")
        assert why in error
        assert not (tmp_path / "rec").exists()
