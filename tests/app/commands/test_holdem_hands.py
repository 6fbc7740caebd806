"""Hands of hold'em converted between matches and the format of the ACPC, from the command line."""

import pytest

from kibitz.games import record_files
from kibitz.games.records import read_records
from kibitz.play.match import play_match

from ...games.test_pokerstars import FOLDED, SHOWDOWN

HAND = "STATE:7:crc/cc/rf:AhKd|QsJc/4h3d2c/5s:20|-20:alice|bob"


@pytest.fixture
def played(tmp_path):
    """Games of a match, in a file."""
    records = list(play_match("holdem", ["always:call", "random"], 12, 1, 1))
    (tmp_path / "games.jsonl").write_text("".join(record.line() for record in records))
    return records


@pytest.mark.parametrize("many", [10**9, 1])
def test_a_match_is_written_as_hands_and_read_back(kibitz, tmp_path, monkeypatch, played, many):
    monkeypatch.setattr(record_files, "MANY", many)
    code, out, _ = kibitz("convert", "games.jsonl", "hands.acpc")
    assert code == 0
    assert "12 games: hands.acpc" in out
    hands = (tmp_path / "hands.acpc").read_text()
    assert len(hands.splitlines()) == 12
    assert hands.startswith("STATE:0:")
    (tmp_path / "server.log").write_text(f"# name/game/hands/seed\n{hands}SCORE:10|-10:alice|bob\n")
    assert kibitz("convert", "server.log", "again.jsonl")[0] == 0
    for record, again in zip(played, read_records(tmp_path / "again.jsonl"), strict=True):
        assert (again.number, again.game, again.players) == (record.number, record.game, record.players)
        assert again.payoffs == record.payoffs
        assert str(again.verify()) == str(record.verify())  # cards of a hand have no order
    assert kibitz("convert", "again.jsonl", "twice.acpc")[0] == 0
    assert (tmp_path / "twice.acpc").read_text() == hands


def test_one_hand_is_printed(kibitz, tmp_path):
    (tmp_path / "good.acpc").write_text(HAND.replace(":7:", ":6:") + "\n" + HAND + "\n")
    code, out, _ = kibitz("convert", "good.acpc", "--to", "acpc", "--game", "2")
    assert code == 0
    assert out.strip() == HAND


BAD = {
    HAND.replace("Kd", "Kx"): "line 1: hand 7: 'Kx' is no card of the deck, it should be a rank of 23456789TJQKA",
    HAND.replace("Kd", "Ah"): "line 1: hand 7: Ah occurs twice",
    HAND.replace("crc", "ccf"): "line 1: hand 7: move 3 of 'ccf/cc/rf' is 'f', legal is c or r",
    HAND.replace("crc", "crx"): "line 1: hand 7: move 3 of 'crx/cc/rf' is 'x', legal is f or c or r",
    HAND.replace("rf", "r"): "line 1: hand 7 isn't over after the moves 'crc/cc/r'",
    HAND.replace("20|-20", "-20|20"): "line 1: hand 7: it pays 20|-20 chips, not '-20|20'",
    "STATE:7:crc": "is no hand, it should have the form STATE:number:moves:cards:chips:names",
}


@pytest.mark.parametrize("many", [10**9, 1])  # whether hands are read by compiled rules
@pytest.mark.parametrize("line", BAD)
def test_a_hand_that_cannot_have_been_played_is_refused_in_one_line(kibitz, tmp_path, monkeypatch, line, many):
    monkeypatch.setattr(record_files, "MANY", many)
    (tmp_path / "bad.acpc").write_text(line + "\n")
    code, _, err = kibitz("convert", "bad.acpc", "games.jsonl")
    assert code == 2
    assert BAD[line] in err
    assert len(err.strip().splitlines()) == 1
    assert not (tmp_path / "games.jsonl").exists()


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (("good.acpc", "x.jsonl", "--rules", "holdem:stack=5"), "stack=5 is below the big blind of 10"),
        (("good.acpc", "x.jsonl", "--rules", "holdem:ranks=9"), "hand 7: 'Ah' is no card of the deck"),
        (("good.acpc", "x.jsonl", "--rules", "leduc"), "--rules leduc: the format acpc is for holdem"),
        (("games.jsonl", "x.txt"), "game 1 is of holdem, which can't be written as text"),
        (("spoiled.jsonl", "x.acpc"), "line 1: game 1: action 99 at ply 1 is illegal"),
        (
            ("kuhn.jsonl", "x.acpc"),
            "games of kuhn have no form but Kibitz's own",
        ),
    ],
)
@pytest.mark.parametrize("many", [10**9, 1])
def test_games_that_do_not_fit_the_format_are_refused(kibitz, tmp_path, monkeypatch, played, asked, why, many):
    monkeypatch.setattr(record_files, "MANY", many)
    (tmp_path / "good.acpc").write_text(HAND + "\n")
    line = played[0].line()
    (tmp_path / "spoiled.jsonl").write_text(line.replace('"actions": [', '"actions": [99, '))
    (tmp_path / "kuhn.jsonl").write_text(line.replace('"holdem"', '"kuhn"'))
    code, _, err = kibitz("convert", *asked)
    assert code == 2
    assert why in err
    assert len(err.strip().splitlines()) == 1


def test_hands_of_pokerstars_are_converted_and_others_left_out_with_the_reason(kibitz, tmp_path):
    (tmp_path / "HH.txt").write_text(f"\ufeff{SHOWDOWN}\n\n{FOLDED}")
    code, out, error = kibitz("convert", "HH.txt", "games.jsonl")
    assert (code, out) == (0, "1 games: games.jsonl\n")
    assert error == "left out: line 34: hand 7: the cards of carol aren't shown, so it is no whole game\n"
    [record] = read_records(tmp_path / "games.jsonl")
    assert (record.number, record.players, record.payoffs) == (27738502010, ["bob: 2", "alice"], [-6.0, 6.0])
    record.verify()
    (tmp_path / "HH.txt").write_text(FOLDED)
    code, _, error = kibitz("convert", "HH.txt", "games.jsonl")
    assert (code, error.count("\n")) == (2, 1)
    assert "HH.txt, line 1: hand 7: the cards of carol aren't shown" in error
    assert "no format is called 'pokerstars'" in kibitz("convert", "HH.txt", "--to", "pokerstars")[2]
