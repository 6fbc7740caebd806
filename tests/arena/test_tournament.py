"""Round-robin tournaments."""

import json

import numpy as np
import pytest

from kibitz import games
from kibitz.app.commands.tournament import without_common_folder
from kibitz.games.records import Record, read_records
from kibitz.nets.mlp import new_layers, save_layers, sizes_of
from kibitz.play.statistics import Estimate
from kibitz.play.tournament import standings, tournament

ENTRANTS = ["always:call", "random", "always:raise"]


def test_every_two_players_play_a_match_and_a_stopped_tournament_is_resumed(kibitz, tmp_path):
    asked = ("tournament", "leduc", *ENTRANTS, "--games", "30", "--processes", "1", "--out", "run")
    code, out, _ = kibitz(*asked, "--json", "report.json")
    assert code == 0
    folder = tmp_path / "run"
    assert {path.name for path in (folder / "matches").iterdir()} == {"1-2", "1-3", "2-3"}
    assert (folder / "matrix.png").stat().st_size > 5000
    report = json.loads((tmp_path / "report.json").read_text())
    assert report == json.loads((folder / "result.json").read_text())
    assert set(report["order"]) == set(ENTRANTS)
    assert all(name in out for name in ENTRANTS)
    for (i, j), name in (((0, 1), "1-2"), ((0, 2), "1-3"), ((1, 2), "2-3")):
        records = read_records(folder / "matches" / name / "games.jsonl")
        won = np.mean([record.payoffs[record.players.index(ENTRANTS[i])] for record in records])
        assert report["cross"][i][j]["mean"] == pytest.approx(won)
        assert report["cross"][j][i]["mean"] == pytest.approx(-won)
    whole = (folder / "matches" / "2-3" / "games.jsonl").read_text()
    (folder / "matches" / "2-3" / "games.jsonl").write_text(whole[:-300])
    (folder / "result.json").unlink()
    assert kibitz(*asked)[0] == 0
    assert (folder / "matches" / "2-3" / "games.jsonl").read_text() == whole
    assert json.loads((folder / "result.json").read_text()) == report


def test_means_over_opponents_come_with_an_interval_over_deals():
    """a wins 1 from b and 3 from c in every game: its mean is 2 for sure, as all deals are alike."""
    paid = {("a", "b"): 1.0, ("a", "c"): 3.0, ("b", "c"): 0.0}
    names = ["a", "b", "c"]
    played = {
        (names.index(one), names.index(two)): [
            Record(n, "leduc", [one, two][:: 1 - 2 * (n % 2)], 1, [], [won, -won][:: 1 - 2 * (n % 2)]) for n in range(8)
        ]
        for (one, two), won in paid.items()
    }
    found = standings(names, played)
    assert found.overall[0] == Estimate(2, 2, 2)
    assert found.overall[1].mean == -0.5
    assert found.overall[2].mean == -1.5
    assert found.cross[2][0][:2] == (-3, -3)
    assert -1 < found.cross[2][0].high < 0  # four deals, all lost
    assert np.isnan(found.cross[1][1].mean)
    assert found.order == [0, 1, 2]


def test_the_networks_that_a_run_has_kept_take_part(kibitz, tmp_path):
    game = games.load("kuhn")
    for i in (10, 2):
        path = tmp_path / "net" / "networks" / f"{i:04d}.safetensors"
        path.parent.mkdir(parents=True, exist_ok=True)
        save_layers(path, game, new_layers(sizes_of(game, [4]), np.random.default_rng(i)))
    asked = ("tournament", "kuhn", "random", "--checkpoints", "net", "--games", "4", "--processes", "1", "--out", "run")
    assert kibitz(*asked)[0] == 0
    players = json.loads((tmp_path / "run" / "config.json").read_text())["players"]
    assert players == ["random", f"net:{tmp_path / 'net'},iteration=2", f"net:{tmp_path / 'net'},iteration=10"]


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (("leduc", "random"), "at least two players"),
        (("leduc", "random", "random"), "random is named twice"),
        (("leduc", "random", "human"), "a human can't play a tournament"),
        (("doppelkopf", "random", "heuristic"), "for games of two seats, doppelkopf has 4"),
        (("leduc", "random", "uct:10"), "uct:10 can't play leduc"),
        (("leduc", "--checkpoints", "nowhere"), "nowhere has kept no networks"),
    ],
)
def test_a_tournament_that_cannot_be_played_is_refused(kibitz, tmp_path, asked, why):
    code, _, err = kibitz("tournament", *asked)
    assert code == 2
    assert why in err
    assert not (tmp_path / "runs").exists()


def test_common_folders_are_left_out_of_the_plot():
    assert without_common_folder(["net:runs/a/b,iteration=1", "net:runs/a/c"]) == ["b,iteration=1", "c"]
    assert without_common_folder(["net:runs/a", "random"]) == ["net:runs/a", "random"]
    assert without_common_folder(["random", "random"]) == ["random", "random"]


class First:
    def move(self, view):
        return games.legal_actions(self.game, view)[0]


def test_objects_and_names_play_a_tournament_in_memory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = tournament("leduc", [First(), "random", "always:raise", First()], 20)
    assert found.names == ["First", "random", "always:raise", "First 2"]
    assert found.cross[0][3].mean == -found.cross[3][0].mean
    assert found.cross[0][1] == tournament("leduc", [First(), "random"], 20).cross[0][1]
    lines = str(found).splitlines()
    assert len(lines) == 5
    assert [line.split()[1] for line in lines[1:]] == [found.names[i].split()[0] for i in found.order]
    assert found._repr_html_().count("<tr>") == 5
    assert list(tmp_path.iterdir()) == []
