"""Names that version 0.2 had still work where somebody typed or stored them."""

import pytest

from kibitz.core.names import BadInput, absolute, choose, current, present
from kibitz.core.registry import Registry
from kibitz.core.runs import Run
from kibitz.games import full_name, load
from kibitz.games.records import read_line
from kibitz.play.match import play_match
from kibitz.reproduce.study import STUDIES
from kibitz.train.learner import LEARNERS
from kibitz.train.trainer import configured
from tests.app.conftest import kibitz

__all__ = ["kibitz"]


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


# ---------------------------------------------------------------- parameters of games

STORED = "leduc:ranks=2,told_apart=True,raises=1"
PRESENT = "leduc:ranks=2,distinct_suits=True,raises=1"


@pytest.fixture
def former_run(kibitz, tmp_path):
    """A run as version 0.2 wrote it: its configuration and its network have the former parameter."""
    sizes = (
        "--games",
        "2",
        "--simulations",
        "5",
        "--hidden",
        "4",
        "--steps",
        "1",
        "--iterations",
        "1",
        "--processes",
        "1",
    )
    assert kibitz("train", "exit-oos", PRESENT, *sizes, "--out", "run")[0] == 0
    run = tmp_path / "run"
    config, network = run / "config.json", run / "network.safetensors"
    config.write_text(config.read_text().replace(PRESENT, STORED))
    whole = network.read_bytes()
    end = 8 + int.from_bytes(whole[:8], "little")
    header = whole[8:end].replace(PRESENT.encode(), STORED.encode())
    network.write_bytes(len(header).to_bytes(8, "little") + header + whole[end:])
    return run


def test_a_game_is_made_by_the_former_name_of_a_parameter():
    assert full_name(load(STORED)) == full_name(load("leduc:told_apart=yes,raises=1,ranks=2")) == PRESENT
    assert current(STORED) == absolute(STORED) == PRESENT
    assert current("kuhn") == "kuhn"
    with pytest.raises(BadInput, match="leduc: distinct_suits is given twice"):
        load("leduc:told_apart=yes,distinct_suits=no")
    with pytest.raises(BadInput, match="leduc: no parameter is called 'told'; its parameters are ranks"):
        load("leduc:told=yes")
    with pytest.raises(BadInput, match="kuhn: no parameter is called 'told_apart'"):
        load("kuhn:told_apart=yes")


def test_a_stored_run_of_a_game_by_a_former_parameter_is_read_and_resumed(kibitz, former_run):
    assert STORED in (former_run / "config.json").read_text()
    assert STORED.encode() in (former_run / "network.safetensors").read_bytes()
    assert Run(former_run).config()["game"] == PRESENT
    for command in (
        ("exploit", PRESENT, "net:run"),
        ("train", "--resume", "run", "--iterations", "2", "--processes", "1"),
    ):
        code, _, error = kibitz(*command)
        assert code == 0, error


def test_records_of_a_game_by_a_former_parameter_are_read():
    line = next(iter(play_match(PRESENT, ["random", "random"], 1, seed=1))).line()
    assert PRESENT in line
    assert read_line(line.replace(PRESENT, STORED), "a line") == read_line(line, "a line")


# ---------------------------------------------------------------- what is registered


def test_what_is_registered_is_found_by_its_former_name():
    assert LEARNERS["exit-cards"] is LEARNERS["exit-rollouts"]
    assert "exit-cards" in LEARNERS
    assert "exit-cards" not in list(LEARNERS)
    found = Registry("toy of a test")
    found("new", formerly="old")(len)
    assert found["old"] is found.get("old") is len
    found("old")(sum)
    assert found["old"] is sum
