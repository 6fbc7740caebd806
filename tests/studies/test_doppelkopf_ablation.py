"""The ablation study of `doko`: every variant has a row, is played once, and is refused before anything is written."""

import numpy as np
import pytest

from kibitz.core.names import BadInput
from kibitz.doppelkopf import ablation as doppelkopf_ablation
from kibitz.doppelkopf.ablation import DokoStudy
from kibitz.doppelkopf.learn.card_network import save_card_network
from kibitz.doppelkopf.learn.card_training import new_card_network
from kibitz.games import full_name, load
from kibitz.play.play import match_games
from kibitz.play.statistics import Estimate
from kibitz.reproduce.study import DealResults


@pytest.fixture
def network(tmp_path):
    path = tmp_path / "network.safetensors"
    save_card_network(path, full_name(load("doppelkopf:thesis")), new_card_network([(8,), (8,), (8,)], 1), "a test")
    return str(path)


def test_every_variant_has_a_row_and_is_played_once(tmp_path, network, monkeypatch):
    monkeypatch.setattr(doppelkopf_ablation, "UCT", "ensemble-uct:1x2,exact=0")
    monkeypatch.setattr(doppelkopf_ablation, "TIMED", 1)
    monkeypatch.setitem(doppelkopf_ablation.SCALES, "quick", doppelkopf_ablation.Scale(1, "few"))
    monkeypatch.setattr(
        doppelkopf_ablation,
        "VARIANTS",
        {name: doppelkopf_ablation.VARIANTS[name] for name in ("doko", "uniform determinizations")},
    )
    given = {"part": "ablation", "net": network, "out": tmp_path / "study", "worlds": 2, "processes": 1}
    report = DokoStudy(**given).run()
    assert [row[0] for row in report.rows] == ["doko", "uniform determinizations", "policy network alone"]
    assert {row[2] for row in report.rows} == {"4"}
    assert all(0 < float(row[4]) <= float(row[5]) for row in report.rows)
    means = [float(row[1].split()[0]) for row in report.rows]
    differences = [float(row[3].split()[0]) for row in report.rows[1:]]
    assert report.rows[0][3] == ""
    assert differences == pytest.approx([mean - means[0] for mean in means[1:]], abs=0.011)
    games = tmp_path / "study" / "ablation-doko" / "games.jsonl"
    before = games.read_bytes(), games.stat().st_mtime_ns
    again = DokoStudy(**given).run()
    assert [row[:3] for row in again.rows] == [row[:3] for row in report.rows]
    assert before[0] == games.read_bytes()


def test_its_deals_are_none_of_a_match_with_its_seed(tmp_path, network):
    """The strength of the player that it chooses is measured by such a match."""
    study = DokoStudy(part="ablation", net=network, out=tmp_path / "study", seed=4)
    records = study.match("a", study.game, ["random"] * 4, 4 * 4)
    headline = map(match_games(study.game, ["random"] * 4, study.seed), range(0, 4 * 20, 4))  # one game per deal
    ours, theirs = ({dealt(record) for record in found} for found in (records, headline))
    assert (len(ours), len(theirs)) == (4, 20)
    assert not ours & theirs


def dealt(record):
    """The hands, as all seats hold them before the first card."""
    game = load(record.game)
    return next(bytes(state.hands.tobytes()) for state, _ in record.replay() if game.turn(state) >= 0)


def test_differences_are_over_the_same_deals():
    one, two = (DealResults(Estimate(0, 0, 0), 12, np.array(won)) for won in ([8.0, 4.0, 0.0], [4.0, 0.0, -4.0]))
    assert one.difference(two) == (1, 1, 1)  # one point per game on every deal, however much deals differ
    assert two.difference(one).mean == -1


def test_networks_of_the_other_players_are_added_to_every_variant(tmp_path, network):
    given = {"part": "ablation", "net": network, "out": tmp_path / "study"}
    players = {label: player for label, (player, _) in DokoStudy(**given, others=network).players().items()}
    assert players.pop("opponents modelled as itself") == f"doko:{network},simulations=100"
    assert players.pop("policy network alone") == f"cards:{network},part=policy"
    assert list(players) == list(doppelkopf_ablation.VARIANTS)
    assert all(player.endswith(f",others={network}") for player in players.values())
    with pytest.raises(BadInput, match="no network file"):
        DokoStudy(**given, others="nowhere")


def test_only_trees_have_half_of_the_worlds(tmp_path, network):
    parts = {"ablation": network, "whole": "models/doppelkopf"}
    players = {
        part: {label: player for label, (player, _) in DokoStudy(part=part, net=net, out=tmp_path).players().items()}
        for part, net in parts.items()
    }
    few = {label for rows in players.values() for label, player in rows.items() if "simulations=50" in player}
    assert few == {"trees of 60 on half as many worlds"}
    assert players["whole"] == {
        "doko": "doko:models/doppelkopf,simulations=100",
        "announcements in the tree": "doko:models/doppelkopf,simulations=100,announcements=tree",
    }


def test_a_file_that_is_no_network_is_refused_at_once(tmp_path):
    (tmp_path / "x").write_text("no network")
    with pytest.raises(BadInput, match="can't be read as network"):
        DokoStudy(part="ablation", net=str(tmp_path / "x"), out=tmp_path / "study")
    with pytest.raises(BadInput, match="part of doko"):
        DokoStudy(part="table", net=str(tmp_path / "x"), out=tmp_path / "study")
    assert not (tmp_path / "study").exists()
