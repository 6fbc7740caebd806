"""`kibitz runs`, `runs compare` and `models`."""

import json
import os
import re
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from kibitz import games
from kibitz.app.commands.runs import age
from kibitz.app.commands.runs_compare import differences
from kibitz.app.ui import plots
from kibitz.core.runs import Run
from kibitz.nets import model_files
from kibitz.nets.mlp import new_layers, save_layers, sizes_of

PNG = b"\x89PNG"


def trained(folder, iterations=3, wanted=3, game="kuhn", every=1, **config) -> Run:
    """A run as `kibitz train` leaves it."""
    start = {"command": "train", "method": "exit-oos", "game": game, "iterations": wanted, "games": 4, "seed": 1}
    run = Run.create(folder, "", start | config)
    run.log(iteration=0, games=0, nash_conv=0.8)
    for i in range(1, iterations + 1):
        evaluated = {"nash_conv": 0.8 / (1 + i)} if i % every == 0 else {}
        run.log(iteration=i, games=4 * i, loss=0.5 / i, rows=10 * i, **evaluated)
        run.log_times(iteration=i, playing=2.0, learning=0.5)
    return run


def solved(folder, **config) -> Run:
    """A run as `kibitz solve` leaves it."""
    start = {"command": "solve", "game": "kuhn", "with": "cfr", "iterations": 100, "seed": 1}
    run = Run.create(folder, "", start | config)
    for i in (1, 10, 100):
        run.log(iterations=i, nash_conv=1 / i)
    return run


def written(path, seconds_ago):
    for file in path.iterdir():
        os.utime(file, (time.time() - seconds_ago,) * 2)


@pytest.fixture
def wide(monkeypatch):
    from kibitz.app.ui.progress import out

    monkeypatch.setattr(out, "_width", 200)


@pytest.mark.usefixtures("wide")
def test_runs_are_listed_with_their_results(kibitz, tmp_path):
    kibitz("solve", "kuhn", "--with", "cfr", "--iterations", "20")
    kibitz("match", "kuhn", "random", "random", "--games", "10", "--processes", "1")
    code, out, _ = kibitz("runs", "--json", "runs.json")
    assert code == 0
    rows = {row["run"]: row for row in json.loads((tmp_path / "runs.json").read_text())}
    assert set(rows) == {"runs/kuhn-cfr-001", "runs/kuhn-match-001"}
    solve, match = rows.values()
    assert (solve["command"], solve["method"], solve["game"], solve["done"], solve["wanted"]) == (
        "solve",
        "cfr",
        "kuhn",
        20,
        20,
    )
    assert f"NashConv {solve['nash_conv']:.4g}" in out
    result = json.loads((tmp_path / "runs" / "kuhn-match-001" / "result.json").read_text())
    assert (match["score"], match["payoff"]) == (None, result["payoff"])  # payoffs of poker differ in size
    assert (match["done"], match["players"]) == (10, ["random", "random"])
    assert f"random gets {result['payoff']['mean']:+.3g}" in out
    assert "solve kuhn with cfr" in out
    assert "match kuhn random random" in out


@pytest.mark.usefixtures("wide")
def test_the_newest_run_is_the_last(kibitz, tmp_path):
    for name, ago in (("b", 3 * 86400), ("a", 200), ("c", 7200)):
        solved(tmp_path / "runs" / "may" / name)
        written(tmp_path / "runs" / "may" / name, ago)
    lines = kibitz("runs")[1].splitlines()
    assert [line.split()[0] for line in lines[1:4]] == ["runs/may/b", "runs/may/c", "runs/may/a"]
    for line, said in zip(lines[1:4], ("3 d ago", "2 h ago", "3 min ago"), strict=True):
        assert said in line


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-5, "0 s"),
        (0, "0 s"),
        (89, "89 s"),
        (91, "2 min"),
        (5000, "83 min"),
        (7200, "2 h"),
        (90000, "25 h"),
        (2e5, "2 d"),
    ],
)
def test_ages_have_one_unit(seconds, said):
    assert age(seconds) == f"{said} ago"


@pytest.mark.usefixtures("wide")
def test_an_unfinished_run_is_listed_with_the_command_to_resume_it(kibitz, tmp_path):
    trained(tmp_path / "runs" / "one run", 2, 50)
    out = kibitz("runs")[1]
    assert "2 of 50" in out
    assert "NashConv 0.2667, loss 0.25" in out
    assert f"to resume: kibitz train --resume '{tmp_path}/runs/one run'\n" in out
    assert "to compare" not in out
    trained(tmp_path / "runs" / "whole", 3, 3)
    written(tmp_path / "runs" / "one run", 60)
    out = kibitz("runs")[1]
    assert f"--resume '{tmp_path}/runs/one run'" in out
    assert "runs/whole" not in out.partition("to resume")[2].partition("\n")[0]
    assert "to compare: kibitz runs compare 'runs/one run' runs/whole\n" in out


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("method", [["--threads", "1"], ["--with", "pcs"]])
def test_an_unfinished_solution_is_listed_with_the_command_to_resume_it(kibitz, method):
    game = "leduc" if "pcs" in method else "kuhn"
    assert kibitz("solve", game, *method, "--iterations", "3", "--out", "runs/s")[0] == 0
    assert "to resume" not in kibitz("runs")[1]
    run = Run(Path("runs/s"))
    run.write("config.json", json.dumps(run.config() | {"iterations": 4}))
    for command in (["runs"], ["runs", "show", "runs/s"]):
        assert f"to resume: kibitz solve --resume {Path.cwd()}/runs/s\n" in kibitz(*command)[1]
    assert kibitz("solve", "--resume", "runs/s")[0] == 0
    assert "to resume" not in kibitz("runs")[1]


@pytest.mark.usefixtures("wide")
def test_a_run_that_is_worked_on_is_shown_as_running_and_not_to_be_resumed(kibitz, tmp_path):
    trained(tmp_path / "runs" / "mine", 2, 50)
    with Run(tmp_path / "runs" / "mine").lock():
        for command in (["runs"], ["runs", "show", "runs/mine"]):
            out = kibitz(*command)[1]
            assert "running" in out
            assert "to resume" not in out
        assert f"process {os.getpid()} on " in out
    assert "to resume" in kibitz("runs")[1]


@pytest.mark.usefixtures("wide")
def test_an_interrupted_match_shows_its_games_so_far(kibitz, tmp_path):
    kibitz("match", "kuhn", "random", "ismcts:5", "--games", "6", "--processes", "1", "--out", "runs/m")
    games_file = tmp_path / "runs" / "m" / "games.jsonl"
    games_file.write_text("".join(games_file.read_text().splitlines(keepends=True)[:4]))
    (tmp_path / "runs" / "m" / "result.json").unlink()
    out = kibitz("runs")[1]
    assert "4 of 6" in out
    assert f"to resume: kibitz match kuhn random ismcts:5 --games 6 --seed 1 --out {tmp_path}/runs/m\n" in out


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize(
    "command",
    [
        ["match", "tic_tac_toe", "random", "uct:3", "--games", "4", "--seed", "3", "--openings", "2"],
        ["tournament", "kuhn", "random", "ismcts:5", "oos:5", "--games", "4", "--seed", "3"],
        [
            "doppelkopf",
            "session",
            "doppelkopf",
            *["random"] * 4,
            "--games",
            "2",
            "--sessions",
            "2",
            "--solos",
            "no",
            "--seed",
            "3",
        ],
    ],
)
def test_the_command_to_resume_an_interrupted_run_of_games_resumes_it(kibitz, tmp_path, command):
    assert kibitz(*command, "--processes", "1", "--out", "runs/m")[0] == 0
    games_file = sorted((tmp_path / "runs" / "m").rglob("games.jsonl"))[-1]
    whole = games_file.read_text()
    games_file.write_text("".join(whole.splitlines(keepends=True)[:-1]))
    (tmp_path / "runs" / "m" / "result.json").unlink()
    resume = next(line for line in kibitz("runs")[1].splitlines() if line.startswith("to resume: kibitz "))
    assert kibitz(*resume.removeprefix("to resume: kibitz ").split(), "--processes", "1")[0] == 0
    assert games_file.read_text() == whole
    assert "to resume" not in kibitz("runs")[1]


@pytest.mark.usefixtures("wide")
def test_a_tournament_is_listed_once_with_its_winner(kibitz, tmp_path):
    kibitz("tournament", "kuhn", "ismcts:5", "random", "--games", "20", "--processes", "1", "--out", "runs/t")
    kibitz("runs", "--json", "runs.json")
    [row] = json.loads((tmp_path / "runs.json").read_text())
    result = json.loads((tmp_path / "runs" / "t" / "result.json").read_text())
    assert (row["done"], row["wanted"], row["winner"]) == (20, 20, result["order"][0])
    assert row["payoff"] == result["overall"][row["winner"]]
    assert f"{row['winner']} is first with {row['payoff']['mean']:+.3g}" in kibitz("runs")[1]


@pytest.mark.usefixtures("wide")
def test_a_run_of_a_game_too_large_to_measure_is_listed(kibitz, tmp_path):
    Run.create(
        tmp_path / "runs" / "g", "", {"command": "solve", "game": "goofspiel", "with": "outcome", "iterations": 9}
    )
    assert "? of 9" in kibitz("runs")[1]


SPOILT = {
    "config.json can't be read": ("config.json", "{"),
    "config.json is not a run's": ("config.json", '{"command": 3}'),
    "config.json is no configuration of Kibitz": ("config.json", "[1, 2]"),
    "metrics.jsonl can't be read, it is damaged": ("metrics.jsonl", "{\n"),
    "metrics.jsonl can't be read": ("metrics.jsonl", "\udcff\n"),
    "can't be read": ("config.json", '{"command": "match", "players": 3}'),
    "unreadable": ("result.json", "[]"),
}


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("problem", SPOILT)
def test_a_damaged_or_foreign_folder_does_not_break_the_list(kibitz, tmp_path, problem):
    name, text = SPOILT[problem]
    solved(tmp_path / "runs" / "good")
    if name == "result.json":
        kibitz("match", "kuhn", "random", "random", "--games", "2", "--processes", "1", "--out", "runs/spoilt")
    else:
        solved(tmp_path / "runs" / "spoilt")
    (tmp_path / "runs" / "spoilt" / name).write_bytes(text.encode(errors="surrogateescape"))
    code, out, _ = kibitz("runs")
    assert code == 0
    assert "NashConv 0.01" in next(line for line in out.splitlines() if "runs/good" in line)
    line = next(line for line in out.splitlines() if "runs/spoilt" in line)
    assert problem in line
    assert "unreadable" in line


def test_lines_of_another_form_are_ignored(kibitz, tmp_path):
    run = trained(tmp_path / "runs" / "a")
    with run.path("metrics.jsonl").open("a") as file:
        file.write('3\n{"iteration": "many"}\n{"iteration": 9, "nash_conv": null}\n{"iterat')
    assert kibitz("runs", "--json", "runs.json")[0] == 0
    [row] = json.loads((tmp_path / "runs.json").read_text())
    assert (row["done"], row["nash_conv"], row["problem"]) == (9, 0.2, "")


def test_an_empty_list_of_runs_suggests_how_to_make_one(kibitz, tmp_path):
    code, out, _ = kibitz("runs", "--json", "runs.json")
    assert code == 0
    assert "no runs in runs yet; make one: kibitz solve leduc" in out
    assert json.loads((tmp_path / "runs.json").read_text()) == []
    (tmp_path / "elsewhere").mkdir()
    assert "no runs in elsewhere yet" in kibitz("runs", "--in", "elsewhere")[1]


def test_runs_are_found_in_any_folder_but_not_among_a_runs_own_files(kibitz, tmp_path):
    trained(tmp_path / "study" / "deep" / "a")
    for inner in ("study/deep/a/checkpoints/000003", "study/.hidden"):
        (tmp_path / inner).mkdir(parents=True)
        (tmp_path / inner / "config.json").write_text("{}")
    trained(tmp_path / "study" / "deep" / "a" / "below")
    kibitz("runs", "--in", "study", "--json", "runs.json")
    found = {row["run"] for row in json.loads((tmp_path / "runs.json").read_text())}
    assert found == {"study/deep/a", "study/deep/a/below"}


def test_training_runs_are_compared(kibitz, tmp_path):
    trained(tmp_path / "a", 3, simulations=1000)
    trained(tmp_path / "b", 5, 5, simulations=2000)
    code, out, _ = kibitz("runs", "compare", "a", "b", "--json", "report.json")
    assert code == 0
    assert (tmp_path / "compare.png").read_bytes()[:4] == PNG
    assert "plot: compare.png" in out
    report = json.loads((tmp_path / "report.json").read_text())
    assert [run["run"] for run in report["runs"]] == ["a", "b"]
    ends = report["runs"][1]["nash_conv"]
    assert ends == pytest.approx({"first": 0.8, "last": 0.8 / 6, "lowest": 0.8 / 6, "lowest_at": 5, "until": 5})
    assert report["differences"] == {"iterations": [3, 5], "simulations": [1000, 2000]}
    for text in ("NashConv", "0.1333", "simulations", "1000", "2000"):
        assert text in out
    assert "loss" not in out


def test_solving_and_training_are_compared_by_their_common_metric(kibitz, tmp_path):
    trained(tmp_path / "t", 6, 6, every=3)
    solved(tmp_path / "s")
    assert kibitz("runs", "compare", "t", "s", "--json", "report.json", "--out", "both.png")[0] == 0
    assert (tmp_path / "both.png").read_bytes()[:4] == PNG
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["runs"][0]["nash_conv"]["until"] == 6
    assert report["runs"][1]["nash_conv"] == {"first": 1, "last": 0.01, "lowest": 0.01, "lowest_at": 100, "until": 100}
    assert report["differences"]["method"] == ["exit-oos", None]


def test_solving_runs_are_compared(kibitz, tmp_path):
    for method in ("cfr", "cfr+"):
        kibitz("solve", "kuhn", "--with", method, "--iterations", "30")
    code, out, _ = kibitz("runs", "compare", "runs/kuhn-cfr-001", "runs/kuhn-cfr+-001")
    assert code == 0
    assert "with" in out
    assert "seed" not in out


@pytest.mark.parametrize(("over", "last"), [("iterations", 5), ("games", 20), ("seconds", 12.5)])
def test_the_axis_is_iterations_games_or_seconds(kibitz, tmp_path, over, last):
    trained(tmp_path / "a", 3)
    run = trained(tmp_path / "b", 5)
    run.log_times(iteration=5, playing=0.1, learning=0.5)  # repeated after a kill, from the journal
    assert kibitz("runs", "compare", "a", "b", "--over", over, "--json", "report.json")[0] == 0
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["over"] == over
    assert report["runs"][1]["nash_conv"]["until"] == last


def test_several_metrics_are_compared_at_once(kibitz, tmp_path):
    for name in "abc":
        trained(tmp_path / name)
    asked = ("--metric", "loss", "--metric", "nash_conv", "--metric", "loss")
    code, out, _ = kibitz("runs", "compare", "a", "b", "c", *asked)
    assert code == 0
    assert out.index("loss (KL to the expert)") < out.index("NashConv")
    assert out.count("loss (KL") == 1
    assert "all settings of these runs are equal" in out


def test_loss_is_compared_where_nash_conv_is_missing(kibitz, tmp_path):
    trained(tmp_path / "a")
    run = trained(tmp_path / "b")
    run.keep_metrics(lambda line: False)
    run.log(iteration=1, games=4, loss=0.5)
    assert "loss (KL" in kibitz("runs", "compare", "a", "b")[1]


def test_runs_of_the_same_name_are_shown_by_their_paths(kibitz, tmp_path):
    for name in ("one", "two"):
        trained(tmp_path / name / "run")
    out = kibitz("runs", "compare", "one/run", "two/run")[1]
    assert "one/run" in out
    assert "two/run" in out


def test_many_runs_with_unusual_names_are_plotted(kibitz, tmp_path):
    names = [f"[bold]$x_{i}$ {'long ' * (i % 9)}" for i in range(25)]
    for i, name in enumerate(names):
        trained(tmp_path / name, 1 + i % 3, seed=i)
    code, out, _ = kibitz("runs", "compare", *names)
    assert code == 0
    assert "[bold]" in out.replace("\n", "")


def test_names_at_the_ends_of_lines_do_not_overlap(tmp_path, monkeypatch):
    figures = []
    monkeypatch.setattr(plots.plt, "close", figures.append)
    lines = {f"run {i}": [(0, 1.0), (10, 0.2 + 0.001 * i)] for i in range(6)} | {"top": [(0, 0.5), (10, 1.0)]}
    plots.curves(tmp_path / "plot.png", lines, "kuhn", "NashConv")
    monkeypatch.undo()
    [figure] = figures
    boxes = sorted((text.get_window_extent() for text in figure.axes[0].texts), key=lambda box: box.y0)
    plots.plt.close(figure)
    assert len(boxes) == 7
    assert all(below.y1 <= above.y0 + 1 for below, above in pairwise(boxes))


def test_settings_that_differ_are_found():
    configs = {"a": {"x": 1, "y": [1]}, "b": {"x": 1, "y": [2], "z": None}, "c": {"x": 1, "y": [1], "z": 0}}
    assert differences(configs) == {"y": [[1], [2], [1]], "z": [None, None, 0]}


BAD = {
    (
        "runs",
        "experiments",
    ): "runs has no command 'experiments', only compare, show; for the runs in another folder: --in experiments",
    ("runs", "--in", "nowhere"): "no folder 'nowhere'",
    ("runs", "--in", "file.txt"): "no folder 'file.txt'",
    ("runs", "--json", "no/such.json"): "can't write no/such.json",
    ("runs", "--in", "a", "compare", "a", "b"): "--in a before compare applies to the list of runs only",
    ("runs", "compare"): "Missing argument",
    ("runs", "compare", "a"): "a is only one run: name two or more to compare",
    ("runs", "compare", "a", "./a"): "a is named twice",
    ("runs", "compare", "a", "nowhere"): "nowhere is not a run folder; kibitz runs lists",
    ("runs", "compare", "a", "foreign"): "foreign is not a run folder",
    ("runs", "compare", "a", "file.txt"): "file.txt is not a run folder",
    ("runs", "compare", "a", "broken"): "config.json can't be read",
    ("runs", "compare", "a", "spoilt"): "metrics.jsonl can't be read, it is damaged",
    ("runs", "compare", "a", "match"): "match has no metrics: it is a match; kibitz rate compares players",
    ("runs", "compare", "a", "young"): "young has no metrics: its first iteration isn't finished",
    ("runs", "compare", "a", "b", "--metric", "los"): "no metric is called 'los': did you mean 'loss'? known are "
    "loss, nash_conv, rows",
    ("runs", "compare", "a", "s", "--metric", "loss"): "s has no loss, it has nash_conv",
    ("runs", "compare", "s", "l"): "these runs have no metric in common: s has nash_conv; l has loss",
    ("runs", "compare", "a", "b", "--over", "days"): "no horizontal axis is called 'days': known are games",
    ("runs", "compare", "a", "s", "--over", "games"): "s plays no games: compare it over iterations",
    ("runs", "compare", "a", "s", "--over", "seconds"): "s has no times: compare it over iterations",
    ("runs", "compare", "a", "b", "--out", "no/such.png"): "can't write no/such.png: its folder does not exist",
    ("runs", "compare", "a", "b", "--out", "folder.png"): "can't write folder.png: it is a folder",
    ("runs", "compare", "a", "b", "--out", "plot.pdf"): "--out plot.pdf should end in .png",
    ("runs", "compare", "a", "b", "--out", "diary.png"): "diary.png exists and is not a PNG image",
    ("runs", "compare", "a", "b", "--json", "no/such.json"): "can't write no/such.json",
    ("models", "--json", "no/such.json"): "can't write no/such.json",
}


@pytest.mark.parametrize("arguments", BAD, ids=" ".join)
def test_bad_input_is_reported_in_one_line(kibitz, tmp_path, arguments):
    trained(tmp_path / "a")
    trained(tmp_path / "b")
    solved(tmp_path / "s")
    Run.create(tmp_path / "l", "", {"command": "train"}).log(iteration=1, loss=0.5)
    Run.create(tmp_path / "match", "", {"command": "match"})
    Run.create(tmp_path / "young", "", {"command": "train"}).log(iteration=0, games=0)
    solved(tmp_path / "broken").path("config.json").write_text("{")
    solved(tmp_path / "spoilt").path("metrics.jsonl").write_text("{\n")
    for name in ("foreign", "folder.png"):
        (tmp_path / name).mkdir()
    for name in ("file.txt", "diary.png"):
        (tmp_path / name).write_text("mine")
    before = {path.name for path in tmp_path.iterdir()}
    code, _, error = kibitz(*arguments)
    assert code == 2
    assert BAD[arguments] in error
    assert error.startswith("kibitz: ")
    assert error.count("\n") == 1
    assert before == {path.name for path in tmp_path.iterdir()}
    assert (tmp_path / "diary.png").read_text() == "mine"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A folder in place of the package's folder of models."""
    (tmp_path / "package").mkdir()
    monkeypatch.setattr(model_files, "SHIPPED", tmp_path / "package")
    return tmp_path / "package"


@pytest.mark.usefixtures("wide")
def test_shipped_models_are_listed_with_how_to_play_them(kibitz, tmp_path):
    code, out, _ = kibitz("models", "--json", "model_files.json")
    assert code == 0
    rows = json.loads((tmp_path / "model_files.json").read_text())
    assert [row["network"] for row in rows] == [f"models/{name}" for name in model_files.shipped()]
    assert all(f"{row['player']}:{row['network']}" in out for row in rows)
    facts = games.load("goofspiel:6").facts
    assert f"{facts.encoding}-128-64-{facts.num_actions}" in out
    assert re.search(r"^net:models/goofspiel-6 +goofspiel:cards=6 +\d", out, re.M)
    assert "play against one: kibitz play leduc --against net:models/leduc\n" in out
    plays = {row["network"]: row["play"] for row in rows}
    assert plays["models/gomoku-alphazero"] == "kibitz play gomoku --against puct:seconds=1,net=models/gomoku-alphazero"
    assert plays["models/teeko"] == "kibitz play teeko --against puct:seconds=1,policy=models/teeko"
    assert plays["models/breakthrough-ntuple"].endswith(" alphabeta:seconds=1,eval=models/breakthrough-ntuple")
    assert "trained by: kibitz train exit-oos leduc" in kibitz("models", "models/leduc")[1]
    assert kibitz("models", "leduc") == kibitz("models", "models/leduc")
    assert "no model is called 'models/ledu': did you mean 'models/leduc'" in kibitz("models", "ledu")[2]


def test_a_model_in_the_package_plays(kibitz, package):
    game = games.load("kuhn")
    layers = new_layers(sizes_of(game, [6]), np.random.default_rng(1))
    save_layers(package / "kuhn.safetensors", game, layers, "a night")
    assert kibitz("match", "kuhn", "net:models/kuhn", "random", "--games", "2", "--processes", "1")[0] == 0


def test_players_of_several_words_are_quoted(kibitz, tmp_path):
    config = {"command": "match", "game": "hex:size=5", "players": ["engine:mohex --quiet", "uct:9"], "games": 2}
    Run.create(tmp_path / "m", "", config)
    assert "match hex:size=5 'engine:mohex --quiet' uct:9" in kibitz("runs", "show", "m")[1]


POKER = "holdem:ranks=4,suits=2,streets=2,preflop_raises=1,raises=1"


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize(
    ("command", "result"),
    [
        ("exploit kuhn random --with rl --preset small --seeds 1 --games 40 --iterations 2 --seed 3", "result.json"),
        ("exploit kuhn random --with ismcts --preset small --games 40 --simulations 20 --seed 3", "result.json"),
        (f"poker abstract {POKER} --buckets 6 --device cpu --seed 3", "abstraction.safetensors"),
        (f"exploit {POKER} TABLE --seed 3 --flops 4 --device cpu", "result.json"),
    ],
)
def test_the_command_to_resume_an_exploiter_or_an_abstraction_resumes_it(kibitz, tmp_path, command, result):
    if "TABLE" in command:
        assert kibitz("solve", POKER, "--with", "pcs", "--iterations", "2", "--out", "table")[0] == 0
        command = command.replace("TABLE", str(tmp_path / "table" / "strategy.safetensors"))
    assert kibitz(*command.split(), "--out", "runs/e")[0] == 0
    assert "to resume" not in kibitz("runs")[1]
    path = tmp_path / "runs" / "e" / result
    found = path.read_bytes()
    path.unlink()
    lines = [line for line in kibitz("runs")[1].splitlines() if line.startswith("to resume: ")]
    assert lines == [f"to resume: kibitz {command} --out runs/e"]
    assert kibitz(*lines[0].split()[3:])[0] == 0
    assert path.read_bytes() == found
    assert "to resume" not in kibitz("runs")[1]
