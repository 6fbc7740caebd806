"""In a terminal of 80 columns nothing is cut, and a list has about one line per entry."""

import json

import pytest

from kibitz.app.ui import progress
from kibitz.app.ui.progress import reporting
from kibitz.nets.model_files import shipped

LONG = "strategy:runs/a-folder-with-quite-a-long-name-as-people-give-them/strategy-of-last-night.safetensors"


@pytest.fixture(autouse=True)
def narrow(monkeypatch):
    for console in (progress.out, progress.err):
        monkeypatch.setattr(console, "_width", 80)


def lines(result, most):
    code, out, err = result
    assert code == 0, err
    found = [line.rstrip() for line in out.splitlines() if "kibitz " not in line]  # commands are never wrapped
    assert len(found) <= most
    assert max(map(len, found)) <= 80
    assert "…" not in out
    return found


def test_runs_take_one_line_each(kibitz, tmp_path):
    for number in range(25):
        folder = tmp_path / "runs" / f"goofspiel-13-match-{number:03d}"
        folder.mkdir(parents=True)
        players = ["ensemble-uct:10x1000,playouts=heuristic", "net:models/goofspiel-13"]
        config = {"command": "match", "game": "goofspiel:cards=13", "players": players, "games": 100_000, "seed": 1}
        (folder / "config.json").write_text(json.dumps(config))
        score = {"mean": 0.512, "low": 0.501, "high": 0.523}
        (folder / "result.json").write_text(json.dumps(config | {"score": score}))
    found = lines(kibitz("runs"), 26)
    assert all("scores 51.2% (50.1 to 52.3)" in line for line in found[1:])
    assert "net:models/goofspiel-13" in kibitz("runs", "show", "runs/goofspiel-13-match-003")[1]


def test_runs_are_compared_in_few_lines(kibitz, tmp_path):
    for number in range(8):
        folder = tmp_path / "runs" / f"leduc-cfr-with-a-long-name-{number:03d}"
        folder.mkdir(parents=True)
        config = {"command": "solve", "game": "leduc", "with": "cfr", "iterations": 100, "seed": number % 2}
        (folder / "config.json").write_text(json.dumps(config))
        (folder / "metrics.jsonl").write_text('{"iterations": 1, "nash_conv": 2}\n{"iterations": 9, "nash_conv": 1}\n')
    found = lines(kibitz("runs", "compare", *(f"runs/leduc-cfr-with-a-long-name-{i:03d}" for i in range(8))), 25)
    assert sum("leduc-cfr-with-a-long-name-00" in line for line in found) >= 10


def test_models_and_games_are_listed_in_few_lines(kibitz):
    assert len(lines(kibitz("models"), len(shipped()) + 1)) > 10
    assert max(map(len, kibitz("models")[1].splitlines())) <= 80  # its commands too
    lines(kibitz("games"), 40)
    lines(kibitz("games", "doppelkopf"), 60)


def test_results_show_long_names_of_players(kibitz, tmp_path):
    assert kibitz("solve", "kuhn", "--iterations", "9", "--out", "run")[0] == 0
    path = tmp_path / LONG.partition(":")[2]
    path.parent.mkdir(parents=True)
    path.write_bytes((tmp_path / "run" / "strategy.safetensors").read_bytes())
    asked = ("kuhn", LONG, "random", "--games", "8", "--processes", "1", "--out")
    for found in (
        lines(kibitz("match", *asked, "match"), 20),
        lines(kibitz("tournament", *asked, "tournament"), 25),
        lines(kibitz("rate", "match"), 15),
        lines(kibitz("exploit", "kuhn", LONG, "--seeds", "1", "--processes", "1"), 15),
    ):
        assert any("a-folder" in line for line in found)


def test_a_tournament_of_many_players_is_shown_in_parts(kibitz):
    players = [f"oos:{count}" for count in range(10, 22)]
    found = lines(kibitz("tournament", "kuhn", *players, "--games", "2", "--processes", "1"), 55)
    heads = [line.split() for line in found if line.split() and all(word.isdecimal() for word in line.split())]
    assert [int(word) for head in heads for word in head] == list(range(1, 13))


def test_a_solution_fits(kibitz):
    lines(kibitz("solve", "leduc", "--iterations", "5"), 40)


def test_a_predicted_duration_is_printed_once_and_counted_down(monkeypatch, capsys):
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(progress.err, "_force_terminal", True)
    with reporting("leduc") as report:
        report.progress(3, 1000)
        report.remaining(4000.0)
        report.remaining(3960.0)
        now[0] += 30
        with progress.err.capture() as captured:
            progress.err.print(report._screen.make_tasks_table(report._screen.tasks))
    assert "1:05:30" in captured.get()
    assert capsys.readouterr().err.count("about 67 min left, by the iterations so far") == 1


def test_progress_of_training_is_not_cut(monkeypatch, capsys):
    monkeypatch.setattr(progress.err, "_force_terminal", True)
    note = "iteration 12  1,234 of 5,000 games  loss 0.123  NashConv 0.123"
    with reporting("goofspiel:cards=13,open_bids=yes") as report:
        report.progress(120, 1000, note)
        [task] = report._screen.tasks
        with progress.err.capture() as captured:
            progress.err.print(report._screen.make_tasks_table([task]))
    shown = [line.rstrip() for line in captured.get().splitlines()]
    assert len(shown) <= 5
    assert max(map(len, shown)) <= 80
    assert "…" not in captured.get()
    assert all(word in " ".join(shown) for word in note.split())
