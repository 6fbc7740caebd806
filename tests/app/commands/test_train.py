"""`kibitz train`: from the first game to a network that plays; interruptions; bad input."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path

import pytest

from kibitz.core.runs import Run
from kibitz.nets.mlp import read_layers
from kibitz.train.exit_oos.config import ExItOosConfig
from kibitz.train.trainer import configured, new_run, train

ROOT = Path(__file__).parents[3]
SIZE = ("--games", "4", "--simulations", "50", "--hidden", "8", "--steps", "8", "--processes", "1")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A small run that tests may read, but not write."""
    config = configured("exit-oos", "kuhn", None, {"iterations": 4, "games": 4, "simulations": 50, "hidden": "8"})
    run = new_run(tmp_path_factory.mktemp("trained") / "run", "exit-oos", config)
    train(run, processes=1)
    return run.folder


def metrics(folder) -> list[dict]:
    return Run(folder).read_lines()


def the_same_network(one: Path, two: Path) -> bool:
    (layers, about), (others, other) = (read_layers(folder / "network.safetensors") for folder in (one, two))
    pairs = zip(layers, others, strict=True)
    return about == other and all((a == b).all() for layer, like in pairs for a, b in zip(layer, like, strict=True))


def test_training_writes_a_run_and_prints_how_to_use_it(kibitz, tmp_path):
    code, out, error = kibitz("train", "exit-oos", "kuhn", "--iterations", "3", *SIZE, "--json", "report.json")
    assert code == 0
    folder = tmp_path / "runs" / "kuhn-exit-oos-001"
    assert "kuhn into runs/kuhn-exit-oos-001" in error
    assert "about" not in error  # compiling may take longer than so short a training
    assert "3 of 3 iterations, 12 games" in out
    assert re.search(r"NashConv 0\.\d+, from 0\.\d+ at iteration 0", out)
    assert "network: runs/kuhn-exit-oos-001/network.safetensors" in out
    assert "play it: kibitz play kuhn --against net:runs/kuhn-exit-oos-001" in out
    names = {path.name for path in folder.iterdir()}
    assert {"config.json", "metrics.jsonl", "times.jsonl", "network.safetensors", "networks", "nash_conv.png"} <= names
    assert any(name.startswith("events.out.tfevents") for name in names)
    assert (folder / "nash_conv.png").read_bytes()[:4] == b"\x89PNG"
    lines = metrics(folder)
    assert [line["iteration"] for line in lines] == [0, 1, 2, 3]
    assert [line["games"] for line in lines] == [0, 4, 8, 12]
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["nash_conv"] == lines[-1]["nash_conv"] == report["measured"]["nash_conv"]
    config = json.loads((folder / "config.json").read_text())
    assert (config["command"], config["method"], config["simulations"], config["learning_rate"]) == (
        "train",
        "exit-oos",
        50,
        0.001,
    )


def test_a_run_resumed_to_more_iterations_equals_one_started_with_them(kibitz, tmp_path):
    for folder, count in (("long/run", "6"), ("short/run", "3")):
        assert kibitz("train", "exit-oos", "kuhn", "--iterations", count, *SIZE, "--out", folder)[0] == 0
    code, out, error = kibitz("train", "--resume", "short/run", "--iterations", "6", "--processes", "1")
    assert code == 0
    assert "3 of 6 iterations are done" in error
    assert "6 of 6 iterations" in out
    assert the_same_network(tmp_path / "long" / "run", tmp_path / "short" / "run")
    long, short = (
        [(line["iteration"], line.get("loss")) for line in metrics(tmp_path / name / "run")]
        for name in ("long", "short")
    )
    assert long == short


def test_resuming_a_finished_run_changes_nothing(kibitz, tmp_path):
    kibitz("train", "exit-oos", "kuhn", "--iterations", "2", *SIZE, "--out", "run")
    kept = ("config.json", "metrics.jsonl", "network.safetensors", "times.jsonl")
    before = [(tmp_path / "run" / name).read_bytes() for name in kept]
    code, out, _ = kibitz("train", "--resume", "run", "--processes", "1")
    assert code == 0
    assert "2 of 2 iterations" in out
    assert before == [(tmp_path / "run" / name).read_bytes() for name in kept]


def test_options_override_single_values_of_a_preset(kibitz, tmp_path):
    asked = ("--preset", "small", "--iterations", "1", *SIZE, "--out", "run")
    assert kibitz("train", "exit-oos", "leduc", *asked)[0] == 0
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert (config["iterations"], config["keep_every"], config["simulations"], config["hidden"]) == (1, 20, 50, "8")


def test_a_network_learns_from_recorded_games_and_plays(kibitz, tmp_path):
    assert kibitz("record", "doppelkopf:thesis", "--players", "random", "--games", "12", "--out", "rec")[0] == 0
    asked = ("--preset", "thesis", "--nodes", "8", "--iterations", "1", "--validation", "0.3", "--device", "cpu")
    code, out, error = kibitz("train", "next-card", "doppelkopf:thesis", *asked, "--data", "rec", "--out", "run")
    assert code == 0
    assert "1 of 1 iterations" in (told := " ".join(out.split()))
    assert "accuracy on the validation set 0." in told
    assert re.search(r"play it: kibitz play doppelkopf:\S+ --against lstm:run", out)
    code, out, _ = kibitz("train", "--resume", "run", "--iterations", "2")
    assert code == 0
    assert "2 of 2 iterations" in " ".join(out.split())
    assert [line["iteration"] for line in metrics(tmp_path / "run")] == [0, 1, 2]
    assert "next-card" in kibitz("runs", "show", "run")[1]
    code, out, _ = kibitz("match", "doppelkopf:thesis", "lstm:run", "random", "random", "random", "--games", "4")
    assert code == 0
    code, _, error = kibitz("train", "next-card", "doppelkopf:thesis", "--preset", "thesis")
    assert code == 2
    assert "--data is missing" in error


def test_help_lists_every_field_of_the_configuration(kibitz):
    code, out, _ = kibitz("train", "exit-oos", "--help")
    assert code == 0
    assert "Example: kibitz train exit-oos leduc --preset small" in out
    for field in fields(ExItOosConfig):
        assert field.name == "game" or f"--{field.name.replace('_', '-')} " in out
    assert "Example: kibitz train --resume" in kibitz("train", "--help")[1]
    _, out, _ = kibitz("train", "next-card", "--help")
    assert "thesis-256: two layers of 256 nodes" in " ".join(out.replace("│", " ").split())
    assert "--processes" not in out


def test_a_trained_network_plays_matches_alone_and_inside_a_search(kibitz, tmp_path, trained):
    players = (f"net:{trained}", f"oos:50,net={trained}")
    code, out, _ = kibitz("match", "kuhn", *players, "--games", "10", "--processes", "1", "--json", "report.json")
    assert code == 0
    assert json.loads((tmp_path / "report.json").read_text())["games"] == 10
    assert "10 games" in out
    assert kibitz("match", "kuhn", f"net:{trained},iteration=4", "random", "--games", "2", "--processes", "1")[0] == 0


def test_a_trained_network_is_exploited_as_was_measured_on_the_way(kibitz, tmp_path, trained):
    code, out, _ = kibitz("exploit", "kuhn", f"net:{trained}", "--processes", "1", "--json", "report.json")
    assert code == 0
    measured = metrics(trained)[-1]["nash_conv"]
    assert json.loads((tmp_path / "report.json").read_text())["nash_conv"] == pytest.approx(measured, rel=1e-5)
    assert f"{measured:.4f}"[:5] in out


def test_a_missing_network_is_refused_with_a_list_of_those_there_are(kibitz, tmp_path, trained):
    for player, said in (
        (f"net:{trained},iteration=3", "kept no network of iteration 3; there are: 4"),
        (f"net:{trained},iteration=x", "iteration=x should be a whole number"),
        (f"oos:50,net={tmp_path}", "has no network: it is no run"),
        ("net:nowhere", "no network file 'nowhere'"),
        ("net", "net: network is missing"),
        ("net:models/magic", "no network of the package is called 'magic'"),
    ):
        code, _, error = kibitz("match", "kuhn", player, "random")
        assert code == 2
        assert said in error
        assert error.count("\n") == 1
    code, _, error = kibitz("match", "leduc", f"net:{trained}", "random")
    assert code == 2
    assert "is a network for kuhn, not for leduc" in error
    assert not (tmp_path / "runs").exists()


BAD = {
    ("train",): "name a learner (alphazero, cards, deep-cfr, distill, exit-ismcts, exit-oos, exit-rollouts, mmd, "
    "next-card, ntuple, tspg)",
    ("train", "exit-ooz", "kuhn"): "no learner is called 'exit-ooz': did you mean 'exit-oos'?",
    ("train", "exit-oos"): "Missing argument 'GAME'",
    ("train", "exit-oos", "ledoc"): "no game is called 'ledoc': did you mean 'leduc'?",
    (
        "train",
        "exit-oos",
        "kuhn",
        "--preset",
        "fast",
    ): "no preset is called 'fast': known are best, large, paper, small",
    ("train", "exit-oos", "kuhn", "--preset", "paper"): "liars_dice:2, not for kuhn",
    ("train", "exit-oos", "kuhn", "--hidden", "0"): "hidden=0 should be sizes of layers, such as 128 or 128-64",
    ("train", "exit-oos", "kuhn", "--hidden", "128-x"): "hidden=128-x should be sizes of layers",
    ("train", "exit-oos", "kuhn", "--iterations", "0"): "iterations=0 is out of range",
    ("train", "exit-oos", "kuhn", "--games", "many"): "--games",
    ("train", "exit-oos", "kuhn", "--exploration", "nan"): "exploration=nan is out of range",
    (
        "train",
        "exit-oos",
        "kuhn",
        "--exploration",
        "2",
    ): "exploration=2.0 is out of range",
    (
        "train",
        "exit-oos",
        "kuhn",
        "--learning-rate",
        "0",
    ): "learning_rate=0.0 is out of range",
    ("train", "exit-oos", "kuhn", "--device", "tpu"): "device=tpu is out of range, it should be auto or cpu or cuda",
    ("train", "exit-oos", "kuhn", "--simulations", "999999999"): "more than the",
    ("train", "exit-oos", "kuhn", "--seed", "-1"): "seed=-1 is out of range",
    ("train", "exit-oos", "kuhn", "--processes", "0"): "--processes",
    ("train", "exit-oos", "kuhn", "--out", "foreign"): "foreign holds other things",
    ("train", "exit-oos", "kuhn", "--json", "no/such.json"): "can't write no/such.json",
    ("train", "exit-oos", "blind.py:Blind"): "has no encoding for a network: it needs the rule `observe`",
    ("train", "--resume", "nowhere"): "nowhere holds no run",
    ("train", "--resume", "foreign"): "foreign holds no run",
    ("train", "--resume", "foreign/diary.txt"): "foreign/diary.txt holds no run",
    ("train", "--resume", "solved"): "solved is no training run: it was made by 'solve'",
    ("train", "--resume", "broken"): "config.json can't be read",
    ("train", "--resume", "older"): "steps",
    ("train", "--resume", "RUN", "--iterations", "2"): "was started for 4 iterations: 2 is less",
    ("train", "--resume", "RUN", "--iterations", "99999999"): "iterations=99999999 is out of range",
    ("train", "--iterations", "7", "exit-oos", "kuhn"): "--iterations 7 should follow exit-oos, not precede it",
    ("train", "--resume", "RUN", "exit-oos", "kuhn"): "--resume takes no learner: the run names its own",
}

BLIND = """
from typing import NamedTuple
from kibitz.games import OVER, game
from kibitz.jit import record

@game("blind", state=record(("left", "i1")), num_actions=1, max_game_length=1, payoffs=(0, 1))
class Blind(NamedTuple):
    def start(self, state):
        state.left = 1
    def turn(self, state):
        return 0 if state.left else OVER
    def actions(self, state, out):
        out[0] = 0
        return 1
    def play(self, state, action):
        state.left = 0
    def payoff(self, state, seat):
        return 0.0
"""


@pytest.mark.parametrize("arguments", BAD, ids=" ".join)
def test_bad_input_gives_one_clear_line_and_writes_nothing(kibitz, tmp_path, trained, arguments):
    for name in ("foreign", "broken"):
        (tmp_path / name).mkdir()
    (tmp_path / "foreign" / "diary.txt").write_text("mine")
    (tmp_path / "broken" / "config.json").write_text("{")
    (tmp_path / "blind.py").write_text(BLIND)
    Run.create(tmp_path / "solved", "", {"command": "solve", "game": "kuhn"})
    older = {key: value for key, value in Run(trained).config().items() if key != "steps"}
    Run.create(tmp_path / "older", "", older)
    before = contents(tmp_path) | contents(trained)
    code, _, error = kibitz(*(str(trained) if word == "RUN" else word for word in arguments))
    assert code == 2
    assert BAD[arguments] in error
    assert error.startswith("kibitz: ")
    assert error.count("\n") == 1
    assert before == contents(tmp_path) | contents(trained)


def contents(folder) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts}


def test_a_missing_device_is_refused_before_anything_is_written(kibitz, tmp_path, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    code, _, error = kibitz("train", "exit-oos", "kuhn", "--device", "cuda")
    assert code == 2
    assert error == "kibitz: device=cuda: no CUDA device is available; use device=cpu\n"
    assert not (tmp_path / "runs").exists()


def test_ctrl_c_before_the_first_game_prints_how_to_resume(kibitz, monkeypatch):
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("kibitz.train.trainer.train", interrupted)
    code, _, error = kibitz("train", "exit-oos", "kuhn", *SIZE, "--out", "my run")
    assert code == 130
    assert f"to resume: kibitz train --resume '{Path.cwd() / 'my run'}'\n" in error


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for a child")
def test_ctrl_c_prints_how_to_resume_and_loses_nothing(kibitz, tmp_path):
    asked = ("exit-oos", "kuhn", "--iterations", "120", *SIZE, "--out")
    (tmp_path / "stopped").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "kibitz", "train", *asked, "stopped/run"],
        cwd=tmp_path,
        env=dict(os.environ, PYTHONPATH=str(ROOT)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    path = tmp_path / "stopped" / "run" / "metrics.jsonl"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not (path.exists() and path.read_bytes().count(b"\n") > 5):
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGINT)
    try:
        _, error = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "Traceback" not in error
    assert f"to resume: kibitz train --resume {tmp_path / 'stopped' / 'run'}\n" in error
    assert 5 <= metrics(path.parent)[-1]["iteration"] < 120
    assert kibitz("train", "--resume", "stopped/run", "--processes", "1")[0] == 0
    assert kibitz("train", *asked, "whole/run")[0] == 0
    assert path.read_text() == (tmp_path / "whole" / "run" / "metrics.jsonl").read_text()
    assert the_same_network(path.parent, tmp_path / "whole" / "run")
