"""Matches from random openings: the same for both games of a pair, kept in the run folder's configuration."""

import json

import pytest

from kibitz.core.names import BadInput
from kibitz.games import load
from kibitz.play.match import match
from kibitz.play.tournament import tournament

from ..app.conftest import kibitz

__all__ = ["kibitz"]


def test_pairs_of_games_begin_with_the_same_random_moves():
    found = match("tic_tac_toe", ["random", "random"], 40, seed=3, processes=1, openings=4).records
    begun = [tuple(record.actions[:4]) for record in found]
    assert begun[0::2] == begun[1::2]
    assert len(set(begun)) > 15
    assert all(len(record.actions) > 4 for record in found)
    assert [record.actions for record in found] != [
        record.actions for record in match("tic_tac_toe", ["random", "random"], 40, seed=3, processes=1).records
    ]


def test_openings_never_end_the_game():
    found = match("connect_four:4,columns=4,connect=3", ["random", "random"], 60, processes=1, openings=6).records
    assert all(len(record.actions) > 6 for record in found)


@pytest.mark.parametrize(
    ("game", "plies", "why"),
    [("kuhn", 2, "kuhn has chance"), ("tic_tac_toe", 9, "openings=9 is too many"), ("tic_tac_toe", -1, "openings")],
)
def test_openings_that_can_not_be_played_are_refused(game, plies, why):
    with pytest.raises(BadInput, match=why):
        match(load(game), ["random", "random"], 2, processes=1, openings=plies)


def test_a_match_from_openings_is_resumed_and_extended(kibitz, tmp_path):
    asked = ("match", "tic_tac_toe", "random", "random", "--openings", "2", "--processes", "1", "--out", "run")
    assert kibitz(*asked, "--games", "10")[0] == 0
    before = (tmp_path / "run" / "games.jsonl").read_text()
    assert json.loads((tmp_path / "run" / "config.json").read_text())["openings"] == 2
    assert kibitz(*asked, "--games", "20")[0] == 0
    assert (tmp_path / "run" / "games.jsonl").read_text().startswith(before)
    code, _, error = kibitz(*asked, "--games", "20", "--openings", "3")
    assert code == 2
    assert "openings" in error


def test_all_matches_of_a_tournament_begin_with_the_same_random_moves(tmp_path):
    asked = ("tic_tac_toe", ["random", "uct:5", "uct:9"], 6, 3, 1, tmp_path / "run")
    tournament(*asked, openings=3)
    assert json.loads((tmp_path / "run" / "config.json").read_text())["openings"] == 3
    begun = set()
    for path in sorted((tmp_path / "run" / "matches").glob("*/games.jsonl")):
        records = [json.loads(line) for line in path.read_text().splitlines()]
        begun.add(tuple(tuple(record["actions"][:3]) for record in records))
    assert len(begun) == 1
    with pytest.raises(BadInput, match="openings"):
        tournament(*asked, openings=2)
