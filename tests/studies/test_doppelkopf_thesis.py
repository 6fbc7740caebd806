"""The study of the thesis on Doppelkopf at a tiny scale: its numbers beside ours, one training for all parts."""

import json
import shutil

import numpy as np
import pytest

from kibitz.core.names import BadInput
from kibitz.core.runs import Run
from kibitz.doppelkopf import thesis as doppelkopf_thesis
from kibitz.doppelkopf.thesis import PARTS, DoppelkopfThesis, percent
from kibitz.play.match import open_run, play_into


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    run = open_run(tmp_path_factory.mktemp("data") / "rec", "record", doppelkopf_thesis.RULES, ["random"], 60, 1)
    play_into(run, 1)
    return run.folder


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setitem(doppelkopf_thesis.SCALES, "quick", doppelkopf_thesis.Scale(0.1, 4, 2, 5, "for tests"))
    for values in doppelkopf_thesis.PRESETS.values():
        monkeypatch.setitem(values, "nodes", 4)


def study(part, data, folder, **given):
    return DoppelkopfThesis(part=part, data=data, out=folder, device="cpu", processes=1, **given)


def test_all_parts_share_training(data, tmp_path):
    reports = {part: study(part, data, tmp_path).run() for part in PARTS}
    assert [row[2] for row in reports["table-6"].rows] == ["45.9%", "44.9%", "50.0%"]
    assert [row[-1] for row in reports["table-7"].rows] == ["28.8%", "47.4%", "47.6%", ""]
    assert [row[0] for row in reports["figure-4"].rows] == [str(trick) for trick in range(1, 13)]
    assert list(reports["figure-4"].curves) == reports["figure-4"].heads[1:] == ["random", "LSTM, 2 x 64"]
    assert [row[:2] + row[3:] for row in reports["table-8"].rows] == [
        ["LSTM", "random", "8", "+1.05 ± 0.13"],
        ["UCT", "random", "8", "+1.70 ± 0.12"],
        ["LSTM", "UCT", "8", "-0.36 ± 0.13"],
    ]
    assert [row[2:] for row in reports["table-9"].rows] == [["8", "+0.04 ± 0.24"], ["8", ""], ["8", ""]]
    matches = ["8-LSTM-UCT", "8-LSTM-random", "8-UCT-random", "9-bidding", "9-calls", "9-quiet"]
    trained = ["thesis-1", "thesis-128-1", "thesis-256-1"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [*(f"table-{name}" for name in matches), *trained]
    assert Run(tmp_path / "table-9-bidding").config()["players"][0].startswith("uct-lstm:10x5,net=")
    assert Run(tmp_path / "thesis-1").config()["iterations"] == 7
    kept = [path.stat().st_mtime_ns for path in sorted(tmp_path.glob("*/checkpoints/*/state.json"))]
    for part in ("table-6", "table-9"):  # by the epochs of table 6, though there are more now
        assert study(part, data, tmp_path).run().rows == reports[part].rows
    assert [path.stat().st_mtime_ns for path in sorted(tmp_path.glob("*/checkpoints/*/state.json"))] == kept


def test_other_networks_are_evaluated_beside_the_lstm(data, tmp_path):
    other = study("table-6", data, tmp_path / "one").trained("thesis-128", 1)
    given = {"also": [other.folder]}
    assert study("table-6", data, tmp_path, **given).run().rows[-1][0] == "thesis-128-1"
    rows = study("table-7", data, tmp_path, **given).run().rows
    assert [row[0] for row in rows[:3]] == ["random", "LSTM, 2 x 64", "thesis-128-1"]
    assert study("figure-4", data, tmp_path, **given).run().heads[-1] == "thesis-128-1"
    config = other.config()
    other.write("config.json", json.dumps(config | {"validation": 0.01}))
    with pytest.raises(BadInput, match=r"kept 0\.01 of the deals for validation, which should be 0\.02 or more"):
        study("table-7", data, tmp_path, **given)
    other.write("config.json", json.dumps(config | {"method": "tspg"}))
    with pytest.raises(BadInput, match="no learner that predicts cards is called 'tspg'"):
        study("table-7", data, tmp_path, **given)


def test_a_trained_network_is_not_trained_again(data, tmp_path):
    run = study("table-6", data, tmp_path).trained("thesis-128", 1)
    shutil.rmtree(run.path("checkpoints"))
    assert study("table-6", data, tmp_path).trained("thesis-128", 1).folder == run.folder
    assert not run.path("checkpoints").exists()
    given = {"net": run.folder, "deals": 1}
    assert [row[0] for row in study("table-7", data, tmp_path, **given).run().rows[:2]] == ["random", "LSTM, 2 x 4"]
    assert [row[3] for row in study("table-8", data, tmp_path, **given).run().rows] == ["4", "4", "4"]
    assert Run(tmp_path / "table-8-LSTM-UCT").config()["players"][0] == f"lstm:{run.folder}"
    assert not (tmp_path / "thesis-1").exists()
    with pytest.raises(BadInput, match="has no network"):
        study("table-7", data, tmp_path, net=tmp_path)
    study("table-6", data, tmp_path).trained("thesis-128", 2)
    assert run.path("checkpoints").exists()  # more epochs need more training


def test_the_random_prediction_is_better_on_own_cards_and_in_the_last_trick(data, tmp_path):
    work = study("table-7", data, tmp_path)
    found = work.predictions({"network": work.trained("thesis", 1)})
    random, own = found.correct["random"], found.own
    assert random.shape == found.correct["network"].shape == found.legal["network"].shape == own.shape
    assert own.mean() == 0.25
    assert random[own].mean() > random[~own].mean()
    assert random[..., 44:].mean() > 2 * random[..., :44].mean()


def test_intervals_are_over_games():
    right = np.zeros((40, 4, 48))
    right[:20] = 1
    which = np.ones_like(right, bool)
    assert percent(right, which).startswith("50.0% (3")
    assert percent(right, which & (np.arange(40) < 20)[:, None, None]) == "100.0% (83.9 to 100.0)"  # 20 games


def test_unknown_parts_missing_data_and_other_runs_are_refused(data, tmp_path):
    with pytest.raises(BadInput, match="no part of doppelkopf is called 'table-1'"):
        study("table-1", data, tmp_path)
    with pytest.raises(BadInput, match="nowhere can't be read"):
        study("table-6", tmp_path / "nowhere", tmp_path)
    work = study("table-6", data, tmp_path)
    Run.create(tmp_path / "thesis-1", "", {"command": "train", "method": "tspg"})
    with pytest.raises(BadInput, match="holds another training run"):
        work.trained("thesis", 1)
