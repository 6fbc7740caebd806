"""The study of ExIt-OOS at its quick scale: every part runs, is written beside the paper's numbers, and goes on."""

import pytest

from kibitz.core.names import BadInput
from kibitz.studies import exit_oos
from kibitz.studies.exit_oos import ABLATION, PAPER, Study


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Quick, and then some: what is learned here is nothing, what is written is all."""
    scale = exit_oos.Scale(0.002, 0.003, 20, 0.002, (20, 60), 4, "for tests")
    monkeypatch.setitem(exit_oos.SCALES, "quick", scale)


@pytest.mark.parametrize("part", ["table-1", "table-3"])
def test_a_table_has_the_papers_numbers_beside_ours_and_is_not_done_twice(part, tmp_path):
    watched = []
    study = Study(part, "quick", tmp_path, watch=lambda *what: watched.append(what))
    seconds, size = study.foretell()
    assert seconds > 0
    assert size > 0
    report = study.run()
    assert watched
    assert len(report.rows) == len(study._rows())
    text = report.markdown("kibitz study", "quick")
    assert "oos:20" in text
    assert "won / drawn / lost" in text
    assert "thinking time" in text
    assert "threshold" in text
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("network*.safetensors")}
    again = Study(part, "quick", tmp_path).run()
    assert again.rows == report.rows
    assert before == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("network*.safetensors")}


def test_figure_1_has_a_curve_for_each_number_of_simulations(tmp_path):
    report = Study("figure-1", "quick", tmp_path).run()
    assert list(report.curves) == ["20 simulations", "60 simulations"]
    assert all(points[0][0] == 0 and points[-1][0] == 4 for points in report.curves.values())


def test_table_5_rates_all_against_all_with_the_first_fixed(tmp_path):
    report = Study("table-5", "quick", tmp_path).run()
    assert report.rows[0][1:3] == ["1500", "fixed"]
    assert report.rows[-1][0] == "OOS 10k"


def test_the_ablation_has_each_cause_by_itself_and_all_together(tmp_path):
    report = Study("ablation", "quick", tmp_path).run()
    assert [row[0] for row in report.rows] == list(ABLATION)


def test_at_the_papers_scale_rows_and_sizes_are_the_papers(tmp_path):
    for part, (_, paper) in PAPER.items():
        study = Study(part, "paper", tmp_path / part)
        assert study._rows() == list(paper)
        config = study._trained(part).config()
        assert config["iterations"] == max(paper)
        assert config["games"] == 32
        assert study.games == 5000
        assert all(iteration % config["keep_every"] == 0 for iteration in paper)


def test_what_is_not_there_is_refused(tmp_path):
    with pytest.raises(BadInput, match="no part of exit-oos is called 'table-9'"):
        Study("table-9", "quick", tmp_path)
    with pytest.raises(BadInput, match="no scale"):
        Study("table-1", "huge", tmp_path)
    Study("table-3", "quick", tmp_path, seed=1)._trained("table-3")
    with pytest.raises(BadInput, match="holds another training"):
        Study("table-3", "quick", tmp_path, seed=2)._trained("table-3")
