"""The study of what `doko`'s parts bring: all lines, kept and not played again, refused before anything is written."""

import numpy as np
import pytest

from kibitz.arena.statistics import Estimate
from kibitz.core.names import BadInput
from kibitz.games import full_name, load
from kibitz.learn.doppelkopf.card_network import save_card_network
from kibitz.learn.doppelkopf.card_training import new_card_network
from kibitz.studies import doppelkopf_ablation
from kibitz.studies.matches import Played


@pytest.fixture
def network(tmp_path):
    path = tmp_path / "network.safetensors"
    save_card_network(path, full_name(load("doppelkopf:thesis")), new_card_network([(8,), (8,), (8,)], 1), "a test")
    return str(path)


def test_every_part_has_its_line_and_is_played_once(tmp_path, network, monkeypatch):
    monkeypatch.setattr(doppelkopf_ablation, "UCT", "ensemble-uct:1x2,exact=0")
    monkeypatch.setattr(doppelkopf_ablation, "TIMED", 1)
    monkeypatch.setitem(doppelkopf_ablation.SCALES, "quick", doppelkopf_ablation.Scale(1, "few"))
    monkeypatch.setattr(
        doppelkopf_ablation,
        "VARIANTS",
        {name: doppelkopf_ablation.VARIANTS[name] for name in ("doko", "deals all alike")},
    )
    study = doppelkopf_ablation.Study("ablation", network, "quick", tmp_path / "study", worlds=2, processes=1)
    report = study.run()
    assert [row[0] for row in report.rows] == ["doko", "deals all alike", "the small network alone"]
    assert {row[2] for row in report.rows} == {"4"}
    assert all(0 < float(row[4]) <= float(row[5]) for row in report.rows)
    means = [float(row[1].split()[0]) for row in report.rows]
    beside = [float(row[3].split()[0]) for row in report.rows[1:]]
    assert report.rows[0][3] == ""
    assert beside == pytest.approx([mean - means[0] for mean in means[1:]], abs=0.011)
    games = tmp_path / "study" / "ablation-doko" / "games.jsonl"
    before = games.read_bytes(), games.stat().st_mtime_ns
    again = doppelkopf_ablation.Study("ablation", network, "quick", tmp_path / "study", worlds=2, processes=1).run()
    assert [row[:3] for row in again.rows] == [row[:3] for row in report.rows]
    assert before[0] == games.read_bytes()


def test_what_one_wins_more_than_another_is_told_by_deals():
    one, two = (Played(Estimate(0, 0, 0), 12, np.array(won)) for won in ([8.0, 4.0, 0.0], [4.0, 0.0, -4.0]))
    assert one.beside(two, 1) == (1, 1, 1)  # a point a game on every deal, however deals differ
    assert two.beside(one, 1).mean == -1


def test_others_are_part_of_it(tmp_path, network):
    study = doppelkopf_ablation.Study("ablation", network, "quick", tmp_path / "study", others=network)
    players = study.players()
    assert players.pop("the others taken for itself") == f"doko:{network},simulations=100"
    assert players.pop("the small network alone") == f"cards:{network},part=policy"
    assert list(players) == list(doppelkopf_ablation.VARIANTS)
    assert all(player.endswith(f",others={network}") for player in players.values())
    with pytest.raises(BadInput, match="no network file"):
        doppelkopf_ablation.Study("ablation", network, "quick", tmp_path / "study", others="nowhere")


def test_only_trees_have_half_of_the_guesses(tmp_path, network):
    parts = {"ablation": network, "whole": "models/doppelkopf"}
    players = {
        part: doppelkopf_ablation.Study(part, net, "quick", tmp_path / "study").players() for part, net in parts.items()
    }
    few = {name for lines in players.values() for name, player in lines.items() if "simulations=50" in player}
    assert few == {"trees of 60 on half as many deals"}
    assert players["whole"] == {
        "doko": "doko:models/doppelkopf,simulations=100",
        "announcements tried as cards are": "doko:models/doppelkopf,simulations=100,announcements=tree",
    }


def test_what_is_no_network_is_refused_at_once(tmp_path):
    (tmp_path / "x").write_text("no network")
    with pytest.raises(BadInput, match="can't be read as a network"):
        doppelkopf_ablation.Study("ablation", str(tmp_path / "x"), "quick", tmp_path / "study")
    with pytest.raises(BadInput, match="part of doko"):
        doppelkopf_ablation.Study("table", str(tmp_path / "x"), "quick", tmp_path / "study")
    assert not (tmp_path / "study").exists()
