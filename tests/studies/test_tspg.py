"""The study of tree-search policy gradients at a tiny scale: every part runs, and shares its training."""

import json

import numpy as np
import pytest

from kibitz.core.names import BadInput
from kibitz.reproduce import tspg
from kibitz.reproduce.tspg import PAPER, PARTS, TspgStudy, checkpoints, over_runs, published_for
from kibitz.reproduce.tspg_matches import stages
from kibitz.train.trainer import configured
from kibitz.train.tspg.sample_games import entropy


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setitem(tspg.SCALES, "quick", tspg.Scale(0.02, 0.01, 2, 2, 20, "for tests"))


def study(part, folder, **given):
    return TspgStudy(part=part, game=["tic_tac_toe"], out=folder, **({"processes": 1} | given))


def test_all_parts_share_training_and_nothing_is_repeated(tmp_path):
    reports = {part: study(part, tmp_path).run() for part in PARTS}
    assert len(reports["table-1"].rows) == 1
    assert [row[1] for row in reports["figure-2"].rows] == ["double", "tspg"]
    assert [row[1] for row in reports["figure-3"].rows] == ["uct", "ce", "biased", "tspg"]
    assert [row[1] for row in reports["figure-4"].rows] == ["ce", "tspg"]
    assert [row[1] for row in reports["unvisited"].rows] == ["loss", "parent", "mixed"]
    runs = sorted(path.name for path in tmp_path.iterdir() if path.is_dir())
    assert len(runs) == 3 * 2  # values of unvisited actions, two repetitions
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.*")}
    for part in PARTS:
        assert study(part, tmp_path).run().rows == reports[part].rows
    assert before == {path: path.stat().st_mtime_ns for path in before}


def test_two_processes_give_the_same_result(tmp_path):
    alone = study("figure-2", tmp_path / "one").run()
    both = study("figure-2", tmp_path / "two", processes=2).run()
    assert both.rows == alone.rows


def test_scores_and_entropies_are_kept_for_each_repetition(tmp_path):
    work = study("table-1", tmp_path)
    work.run()
    found = json.loads(work.repetition_run("tic_tac_toe", 1, "parent").path("against-uct-tspg.json").read_text())
    assert len(found["scores"]) == 2
    assert set(found["scores"]) <= {0.0, 0.5, 1.0}
    assert set(found["entropy"]) == {"uct", "ce", "biased", "tspg"}
    assert all(value is None or 0 <= value <= 1 for each in found["entropy"].values() for value in each)


def test_a_match_is_resumed_game_by_game(tmp_path):
    work = study("table-1", tmp_path, repetitions=1)
    rows = work.run().rows
    run = work.repetition_run("tic_tac_toe", 1, "parent")
    whole = run.path("against-uct-double.json").read_bytes()
    kept, lost = (run.path(f"against-uct-double/{number}.json") for number in range(2))
    before = kept.stat().st_mtime_ns
    run.path("against-uct-double.json").unlink()
    lost.unlink()
    assert study("table-1", tmp_path, repetitions=1).run().rows == rows
    assert run.path("against-uct-double.json").read_bytes() == whole
    assert lost.exists()
    assert kept.stat().st_mtime_ns == before


def test_seeds_may_be_run_one_by_one(tmp_path):
    """The report of all finds everything done."""
    for seed in (1, 2):
        study("table-1", tmp_path, seed=seed, repetitions=1).run()
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.json*")}
    report = study("table-1", tmp_path, repetitions=2).run()
    assert before == {path: path.stat().st_mtime_ns for path in before}
    assert report.rows == study("table-1", tmp_path / "at-once", repetitions=2).run().rows


def test_the_opponent_may_value_unvisited_actions_as_their_parent(tmp_path):
    made = study("table-1", tmp_path, repetitions=1, fpu="parent")
    report = made.run()
    assert "an unvisited action has its parent's value" in report.notes[0]
    assert "--fpu parent" in made.command()
    assert made.file_name() == "table-1-paper-faithful-parent"
    run = made.repetition_run("tic_tac_toe", 1, "parent")
    assert run.path("against-uct-parent-tspg.json").exists()
    assert not run.path("against-uct-tspg.json").exists()
    with pytest.raises(BadInput, match="no first-play urgency is called 'none'"):
        study("table-1", tmp_path, fpu="none")


def test_at_the_papers_scale_the_sizes_are_the_papers(tmp_path):
    for game in PAPER:
        work = TspgStudy(part="table-1", game=[game], scale="paper", out=tmp_path)
        config = configured("tspg", game, work.preset, work.configuration(game, 1, "parent"))
        assert (config.iterations, config.simulations) == (200, 800 if game == "hex:11" else 1600)
        assert (config.batch_size, config.capacity, config.learning_rate) == (30, 400, 0.005)
        assert checkpoints(config.iterations, config.keep_every) == [1, 25, 50, 100, 200]


def test_the_papers_fanorona_stands_beside_both_rules_of_captures():
    assert published_for("fanorona") == published_for("fanorona:compulsory=False") == PAPER["fanorona"]
    assert published_for("hex:size=7") == PAPER["hex:7"]
    assert published_for("tic_tac_toe") is None


def test_entropy_is_1_for_uniform_probabilities_and_0_for_certainty():
    assert entropy(np.full(7, 1 / 7)) == pytest.approx(1)
    assert entropy(np.array([0, 1.0, 0])) == 0
    assert entropy(np.array([0.5, 0.5, 0, 0])) == pytest.approx(0.5)


def test_entropies_are_averaged_by_stage():
    found = stages([(0.0, "ce", 0.2), (0.05, "ce", 0.4), (0.99, "ce", 1.0), (0.5, "uct", 0.7)])
    assert found["ce"][0] == pytest.approx(0.3)
    assert found["ce"][9] == 1.0
    assert found["ce"][4] is None
    assert found["uct"][5] == 0.7


def test_intervals_are_over_runs():
    found = over_runs([0.5, 0.7, 0.9, 0.6, 0.8], 40)
    assert found.mean == pytest.approx(0.7)
    reach = 2.776 * np.std([0.5, 0.7, 0.9, 0.6, 0.8], ddof=1) / np.sqrt(5)  # Student's t, four degrees of freedom
    assert found[1:] == pytest.approx((0.7 - reach, 0.7 + reach), abs=1e-3)
    assert np.isnan(over_runs([0.5], 40).low)
    assert over_runs([1.0, 1.0, 0.8, 0.9, 1.0], 40).high == 1  # a score isn't above 1


def test_equal_runs_have_the_interval_of_their_games():
    assert over_runs([1.0] * 5, 40) == pytest.approx((1, 200 / (200 + 1.96**2), 1))  # Wilson's of 200 wins in 200
    assert over_runs([0.0] * 5, 40) == pytest.approx((0, 0, 1.96**2 / (200 + 1.96**2)))
    draws = over_runs([0.5125] * 5, 40)  # 102.5 of 200
    assert draws.low < 0.45 < 0.57 < draws.high


def test_unknown_parts_games_and_presets_and_folders_of_other_runs_are_refused(tmp_path):
    with pytest.raises(BadInput, match="no part of tspg is called 'table-2'"):
        study("table-2", tmp_path)
    with pytest.raises(BadInput, match="no board"):
        TspgStudy(part="table-1", game=["leduc"], out=tmp_path)
    with pytest.raises(BadInput, match="no preset"):
        study("table-1", tmp_path, preset="mine")
    study("figure-2", tmp_path).repetition_run("tic_tac_toe", 1, "parent")
    tspg.SCALES["quick"] = tspg.Scale(0.03, 0.01, 2, 2, 20, "other")
    with pytest.raises(BadInput, match="holds another training run"):
        study("figure-2", tmp_path).repetition_run("tic_tac_toe", 1, "parent")


@pytest.mark.parametrize(("preset", "value"), [("paper", "parent"), ("public", "loss"), ("best", "mixed")])
def test_unvisited_actions_have_the_value_of_the_preset(tmp_path, preset, value):
    made = study("table-1", tmp_path, preset=preset)
    tasks = made.tasks()
    assert {task.unvisited for task in tasks} == {value}
    run = made.repetition_run(tasks[0].game, tasks[0].seed, tasks[0].unvisited)
    assert run.config()["unvisited"] == configured("tspg", "tic_tac_toe", preset, {}).unvisited == value
    assert f"unvisited actions: {value}" in made.settings()
    assert "--unvisited" not in made.command()


def test_the_value_of_unvisited_actions_can_be_chosen(tmp_path):
    for choice in ("parent", "mixed"):
        made = study("table-1", tmp_path, unvisited=choice)
        assert {task.unvisited for task in made.tasks()} == {choice}
        assert made.repetition_run("tic_tac_toe", 1, choice).config()["unvisited"] == choice
    assert configured("tspg", "tic_tac_toe", "kibitz", {}).unvisited == "mixed"
    with pytest.raises(BadInput, match="no value of unvisited actions is called 'draw'"):
        study("table-1", tmp_path, unvisited="draw")
