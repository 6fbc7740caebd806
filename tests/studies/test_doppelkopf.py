"""The study of the thesis on Doppelkopf, tiny: every part runs, stands beside its numbers, shares training."""

import numpy as np
import pytest

from kibitz.arena.recording import open_recording, record_into
from kibitz.names import BadInput
from kibitz.runs import Run
from kibitz.studies import doppelkopf
from kibitz.studies.doppelkopf import PARTS, Study, percent


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    run = open_recording(tmp_path_factory.mktemp("data") / "rec", doppelkopf.RULES, ["random"], 60, 1)
    record_into(run, 1)
    return run.folder


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setitem(doppelkopf.SCALES, "quick", doppelkopf.Scale(0.1, 4, "for tests"))
    for values in doppelkopf.VALUES.values():
        monkeypatch.setitem(values, "nodes", 4)


def study(part, data, folder, **given):
    return Study(part, data, "quick", folder, device="cpu", **given)


def test_all_parts_share_training(data, tmp_path):
    reports = {part: study(part, data, tmp_path).run() for part in PARTS}
    assert [row[2] for row in reports["table-6"].rows] == ["45.9%", "44.9%", "50.0%"]
    assert [row[-1] for row in reports["table-7"].rows] == ["28.8%", "47.4%", "47.6%", ""]
    assert [row[0] for row in reports["figure-4"].rows] == [str(trick) for trick in range(1, 13)]
    assert set(reports["figure-4"].curves) == {"random", "LSTM"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["thesis-1", "thesis-128-1", "thesis-256-1"]
    assert Run(tmp_path / "thesis-1").config()["iterations"] == 7
    again = study("table-6", data, tmp_path).run()  # of the passes of table 6, though there are more now
    assert again.rows == reports["table-6"].rows


def test_the_random_guess_is_surer_of_its_own_cards_and_of_the_last_trick(data, tmp_path):
    work = study("table-7", data, tmp_path)
    judged = work.judged(work.trained("thesis", 1))
    assert judged.random.shape == judged.hits.shape == judged.own.shape
    assert judged.own.mean() == 0.25
    assert judged.random[judged.own].mean() > judged.random[~judged.own].mean()
    assert judged.random[..., 44:].mean() > 2 * judged.random[..., :44].mean()


def test_intervals_are_over_games():
    right = np.zeros((40, 4, 48))
    right[:20] = 1
    which = np.ones_like(right, bool)
    assert percent(right, which, 1).startswith("50.0% (3")
    assert percent(right, which & (np.arange(40) < 20)[:, None, None], 1).startswith("100.0% (100.0")


def test_what_is_not_there_is_refused(data, tmp_path):
    with pytest.raises(BadInput, match="no part of doppelkopf is called 'table-1'"):
        study("table-1", data, tmp_path)
    with pytest.raises(BadInput, match="nowhere can't be read"):
        study("table-6", tmp_path / "nowhere", tmp_path)
    work = study("table-6", data, tmp_path)
    Run.create(tmp_path / "thesis-1", "", {"command": "train", "method": "tspg"})
    with pytest.raises(BadInput, match="holds another training"):
        work.trained("thesis", 1)
