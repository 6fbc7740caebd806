"""Names that version 0.2 had still work where somebody typed or stored them."""

import pytest

from kibitz.core.names import BadInput, choose, present
from kibitz.reproduce.study import STUDIES
from kibitz.train.learner import LEARNERS
from kibitz.train.trainer import configured


def test_a_former_name_stands_for_the_present_one_unless_it_is_a_name_itself():
    assert present("preset", "kibitz") == "best"
    assert present("game", "kibitz") == "kibitz"
    assert choose("preset", "kibitz", ["best", "small"]) == "best"
    assert choose("preset", "kibitz", ["best", "kibitz"]) == "kibitz"
    with pytest.raises(BadInput, match="no preset is called 'kibitz': known are small"):
        choose("preset", "kibitz", ["small"])


@pytest.mark.parametrize(("learner", "game"), [("exit-oos", "leduc"), ("tspg", "hex:7"), ("mmd", "kuhn")])
def test_the_preset_of_the_best_settings_had_the_name_of_the_package(learner, game):
    assert "kibitz" not in LEARNERS[learner].presets
    best = configured(learner, game, "best", {})
    assert configured(learner, game, "kibitz", {}) == best != configured(learner, game, "paper", {})


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("exit-oos", {"part": "table-1"}),
        ("tspg", {"part": "table-1", "game": ["hex:7"]}),
        ("deep-cfr", {"part": "leduc"}),
    ],
)
def test_a_study_by_that_preset_is_the_same(name, given, tmp_path):
    study, former = (STUDIES[name](**given, out=tmp_path, preset=preset) for preset in ("best", "kibitz"))
    assert study.command() == former.command()
    assert study.file_name() == former.file_name()


def test_the_training_runs_of_a_study_by_that_preset_are_found(tmp_path):
    study = STUDIES["tspg"](part="table-1", game=["hex:3"], preset="best", out=tmp_path)
    begun = study.repetition_run("hex:3", 1, "mixed").folder
    assert begun == tmp_path / "hex-3-best-faithful-mixed-1"
    former = begun.rename(tmp_path / "hex-3-kibitz-faithful-mixed-1")
    assert study.repetition_run("hex:3", 1, "mixed").folder == former
    assert not begun.exists()
