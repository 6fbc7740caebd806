"""`kibitz players`: every registered player, with its options."""

import json
import shutil

import pytest

from kibitz import games
from kibitz.core import programs
from kibitz.core.names import BadInput
from kibitz.play import players
from kibitz.play.players.listing import ANY, player_info


def test_all_players_are_listed_with_options_and_an_example(kibitz, tmp_path):
    code, out, _ = kibitz("players", "--json", "players.json")
    assert code == 0
    assert max(map(len, out.splitlines()[:-2])) <= 80
    text = " ".join(out.split())
    for name in players.PLAYERS:
        assert f"{name} {player_info(name).about}" in text
        assert f"example: {player_info(name).example}" in text
    assert "target=auto|pst|ist, epsilon=0.4" in text
    assert "options: move=fold|call|raise" in text
    rows = json.loads((tmp_path / "players.json").read_text())
    assert [row["name"] for row in rows] == list(players.PLAYERS)


def test_one_player_is_shown_with_the_meaning_of_its_options(kibitz, tmp_path):
    code, out, _ = kibitz("players", "oos")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    text = " ".join(out.split())
    assert "option default allowed meaning" in text
    assert "delta 0.9 a number, at least 0 and" in text
    assert "no player is called 'ooz': did you mean 'oos'?" in kibitz("players", "ooz")[2]
    (tmp_path / "mine.py").write_text('class Mine:\n    """Folds."""\n\n    def move(self, view):\n        return 0\n')
    assert "mine.py:Mine  Folds." in kibitz("players", "mine.py:Mine")[1]


@pytest.mark.parametrize("name", players.PLAYERS)
def test_what_a_player_plays_is_stated_truly(name):
    """Its example is a valid name, and if it claims to play any game, it does not refuse one for its kind."""
    info = player_info(name)
    assert info.about.endswith((".", ")"))
    kinds = ["kuhn", "tic_tac_toe", "doppelkopf"]
    if "runs/" in info.example:
        return
    program = info.example.removeprefix("engine:").partition(",")[0]
    if name == "engine" and not (shutil.which(program) or shutil.which(program, path=programs.GAMES)):
        with pytest.raises(BadInput, match=f"'{program}' is no program"):
            players.make(info.example)
        return
    made = players.make(info.example)
    if info.plays == ANY and name != "human":
        for each in kinds:
            players.make_for(info.example, games.load(each))
    elif info.plays == "two-seat zero-sum games":
        made.begin(games.load("kuhn"), 0, 1)
        with pytest.raises(BadInput):
            made.begin(games.load("doppelkopf"), 0, 1)
    elif info.plays.endswith("without hidden information"):
        made.begin(games.load("tic_tac_toe"), 0, 1)
        with pytest.raises(BadInput):
            made.begin(games.load("kuhn"), 0, 1)
