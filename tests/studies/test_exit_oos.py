"""The study of ExIt-OOS at a tiny scale: every part runs, has the paper's numbers beside ours, and is resumed."""

import pytest

from kibitz.core.names import BadInput
from kibitz.core.progress import Reporter
from kibitz.games import load
from kibitz.play.players import make_for
from kibitz.reproduce import exit_oos
from kibitz.reproduce.exit_oos import ABLATION, PAPER, ExitOosStudy
from kibitz.search.policies import Uniform
from kibitz.train.trainer import configured


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Even less than quick: nothing is learned, but all files are written."""
    scale = exit_oos.Scale(0.002, 0.003, 20, 0.002, (20, 60), 4, "for tests")
    monkeypatch.setitem(exit_oos.SCALES, "quick", scale)


@pytest.mark.parametrize("part", ["table-1", "table-3"])
def test_a_table_has_the_papers_numbers_beside_ours_and_is_not_repeated(part, tmp_path):
    reported = []

    class Listening(Reporter):
        def progress(self, done, total=None, note=""):
            reported.append((done, total, note))

    study = ExitOosStudy(part=part, out=tmp_path, processes=1)
    report = study.run(report=Listening())
    assert reported
    assert len(report.rows) == len(study.rows())
    text = report.markdown(study.command(), "quick")
    assert f"kibitz study exit-oos {part} --scale quick --seed 1 --preset paper --games 20\n" in text
    assert "oos:20" in text
    assert "won / drawn / lost" in text
    assert "thinking time" in text
    assert "threshold" in text
    assert f"against the search that taught it, `oos:{study.table_run().config()['simulations']},net={tmp_path}" in text
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("network*.safetensors")}
    again = ExitOosStudy(part=part, out=tmp_path, processes=1).run()
    assert again.rows == report.rows
    assert before == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("network*.safetensors")}


@pytest.mark.parametrize(("preset", "linear"), [("paper", 0.0), ("best", 1.0)])
def test_the_search_that_taught_a_network_plays_as_it_taught(preset, linear, tmp_path):
    study = ExitOosStudy(part="table-3", preset=preset, out=tmp_path, processes=1)
    run = study.train(study.table_run())
    game, config = load("liars_dice:1"), run.config()
    player = make_for(study.teacher(run), game)
    player.begin(game, 0, 1)
    taught = configured("exit-oos", "liars_dice:1", preset, {}).new_search(game)
    assert player.search.settings == taught.settings
    assert player.search.settings.linear == linear
    assert player.simulations == config["simulations"]
    assert not isinstance(player.search.policy, Uniform)


def test_a_teacher_with_values_at_its_leaves_is_no_player(tmp_path):
    study = ExitOosStudy(part="table-2", preset="large", out=tmp_path, processes=1)
    assert study.teacher(study.table_run()) == ""


def test_figure_1_has_a_curve_for_each_number_of_simulations(tmp_path):
    report = ExitOosStudy(part="figure-1", out=tmp_path, processes=1).run()
    assert list(report.curves) == ["20 simulations", "60 simulations"]
    assert all(points[0][0] == 0 and points[-1][0] == 4 for points in report.curves.values())


def test_table_5_rates_all_pairs_with_the_first_player_fixed(tmp_path):
    report = ExitOosStudy(part="table-5", out=tmp_path, processes=1).run()
    assert report.rows[0][1:3] == ["1500", "fixed"]
    assert report.rows[-1][0] == "OOS 10k"


def test_the_ablation_has_each_fault_by_itself_and_all_together(tmp_path):
    report = ExitOosStudy(part="ablation", out=tmp_path, processes=1).run()
    assert [row[0] for row in report.rows] == list(ABLATION)


def test_at_the_papers_scale_rows_and_sizes_are_the_papers(tmp_path):
    for part, (_, paper) in PAPER.items():
        study = ExitOosStudy(part=part, scale="paper", out=tmp_path / part)
        assert study.rows() == list(paper)
        config = study.table_run().config()
        assert config["iterations"] == max(paper)
        assert config["games"] == 32
        assert study.games == 5000
        assert all(iteration % config["keep_every"] == 0 for iteration in paper)
        assert (config["learning_rate"], config["capacity"]) == (0.001, 32_000)
        assert config["steps"] == (512 if part == "table-2" else 128)
        wide = {"table-1": "128-64", "table-2": "128-128-64"}  # those of Liar's Dice are not published
        assert config["hidden"] == wide.get(part, config["hidden"])
    assert ExitOosStudy(part="figure-1", scale="paper", out=tmp_path / "1").figure_run(1000).config()["hidden"] == "128"


def test_unknown_parts_and_scales_and_folders_of_other_runs_are_refused(tmp_path):
    with pytest.raises(BadInput, match="no part of exit-oos is called 'table-9'"):
        ExitOosStudy(part="table-9", out=tmp_path)
    with pytest.raises(BadInput, match="no scale"):
        ExitOosStudy(part="table-1", scale="huge", out=tmp_path)
    ExitOosStudy(part="table-3", out=tmp_path, seed=1).table_run()
    with pytest.raises(BadInput, match="holds another training run"):
        ExitOosStudy(part="table-3", out=tmp_path, seed=2).table_run()
