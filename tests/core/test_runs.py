"""Run folders: lines that a kill can't spoil, numbers for TensorBoard, and one process at a time."""

import json
import subprocess
import sys

import pytest
from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
from tensorboard.compat.proto.event_pb2 import Event

from kibitz.core.names import BadInput
from kibitz.core.runs import Run


@pytest.fixture
def run(tmp_path):
    return Run.create(tmp_path / "run", "x", {"command": "test"})


def shown(run):
    """(step, measure, value), of all event files."""
    found = []
    for path in sorted(run.folder.glob("events.out.tfevents.*")):
        for raw in RawEventFileLoader(str(path)).Load():
            event = Event.FromString(raw)
            found += [(event.step, value.tag, value.simple_value) for value in event.summary.value]
    return found


def test_every_measurement_is_a_line_and_times_are_kept_apart(run):
    assert run.lines() == run.lines("times.jsonl") == []
    run.measure(iteration=1, loss=0.5)
    run.took(iteration=1, playing=2.5)
    run.measure(iteration=2, loss=0.25)
    assert run.path("metrics.jsonl").read_text() == '{"iteration": 1, "loss": 0.5}\n{"iteration": 2, "loss": 0.25}\n'
    assert run.lines() == [{"iteration": 1, "loss": 0.5}, {"iteration": 2, "loss": 0.25}]
    assert run.lines("times.jsonl") == [{"iteration": 1, "playing": 2.5}]
    assert Run(run.folder).lines() == run.lines()


@pytest.mark.parametrize("cut", [1, 5, 29])
def test_a_line_that_was_cut_off_is_left_out_and_the_next_begins_anew(run, cut):
    for name, add in (("metrics.jsonl", run.measure), ("times.jsonl", run.took)):
        add(iteration=1, number=0.5)
        add(iteration=2, number=0.25)
        path = run.path(name)
        path.write_bytes(path.read_bytes()[:-cut])
        assert run.lines(name) == [{"iteration": 1, "number": 0.5}]
        add(iteration=3, number=0.125)
        assert run.lines(name) == [{"iteration": 1, "number": 0.5}, {"iteration": 3, "number": 0.125}]


def test_lines_that_are_damaged_are_told(run):
    run.path("metrics.jsonl").write_text('{"iteration": 1}\n{"iterat\n{"iteration": 3}\n')
    with pytest.raises(BadInput, match=r"metrics\.jsonl can't be read, it is damaged: ") as caught:
        run.lines()
    assert "\n" not in str(caught.value)
    run.path("metrics.jsonl").write_bytes(b"\xff\xfe\n")
    with pytest.raises(BadInput, match=r"metrics\.jsonl can't be read"):
        run.lines()


def test_measurements_can_be_taken_back(run):
    run.keep_measures(lambda line: True)
    assert run.lines() == []
    for iteration in range(5):
        run.measure(iteration=iteration, loss=iteration / 8)
    whole = run.path("metrics.jsonl").read_text()
    run.path("metrics.jsonl").write_text(whole + '{"iteration": 5, "lo')
    run.keep_measures(lambda line: line["iteration"] <= 2)
    assert [line["iteration"] for line in run.lines()] == [0, 1, 2]
    run.measure(iteration=3, loss=0.0)
    assert [line["iteration"] for line in run.lines()] == [0, 1, 2, 3]
    assert {path.name for path in run.folder.iterdir()} <= {"config.json", "metrics.jsonl", "times.jsonl"}


def test_what_is_kept_stays_as_it_was_written(run):
    run.measure(iteration=1, value=0.1 + 0.2)
    before = run.path("metrics.jsonl").read_text()
    run.keep_measures(lambda line: True)
    assert run.path("metrics.jsonl").read_text() == before


# ---------------------------------------------------------------- TensorBoard


def test_tensorboard_sees_each_number_at_its_iteration(run):
    run.measure(iteration=0, loss=9.0)  # before it is asked for
    run.show_in_tensorboard()
    run.measure(iteration=1, loss=0.5, games=4)
    assert shown(run) == [(1, "loss", 0.5), (1, "games", 4.0)]  # on disk at once
    run.measure(iteration=2, loss=0.25)
    assert shown(run) == [(1, "loss", 0.5), (1, "games", 4.0), (2, "loss", 0.25)]


def test_what_is_taken_back_goes_from_tensorboard_too(run):
    for _ in range(2):  # by this object, and by one that goes on
        run.show_in_tensorboard()
        run.keep_measures(lambda line: line["iteration"] < 2)
        for iteration in range(len(run.lines()), 5):
            run.measure(iteration=iteration, loss=iteration / 8)
        run = Run(run.folder)
    assert shown(run) == [(iteration, "loss", iteration / 8) for iteration in range(5)]


def test_taking_back_twice_leaves_one_story(run):
    run.show_in_tensorboard()
    for last in (4, 3, 2):
        for iteration in range(len(run.lines()), 5):
            run.measure(iteration=iteration, loss=iteration / 8)
        run.keep_measures(lambda line, last=last: line["iteration"] < last)
    run.measure(iteration=2, loss=7.0)
    assert shown(run) == [(0, "loss", 0.0), (1, "loss", 0.125), (2, "loss", 7.0)]


def test_without_tensorboard_there_are_lines_all_the_same(run, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "tensorboard"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    run.show_in_tensorboard()
    run.measure(iteration=1, loss=0.5)
    run.keep_measures(lambda line: True)
    assert run.lines() == [{"iteration": 1, "loss": 0.5}]
    assert not list(run.folder.glob("events*"))


def test_numbers_for_tensorboard_need_no_torch(tmp_path):
    script = """
import sys
from pathlib import Path
from kibitz.core.runs import Run
run = Run(Path(sys.argv[1]))
run.show_in_tensorboard()
run.measure(iteration=1, loss=0.5)
print(len(list(run.folder.glob("events*"))), "torch" in sys.modules, "tensorflow" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script, tmp_path], capture_output=True, text=True, check=True)
    assert done.stdout == "1 False False\n"


# ---------------------------------------------------------------- one at a time


def test_a_run_is_held_by_one_process_until_it_ends(run):
    pytest.importorskip("fcntl")
    with run.held():
        for other in (run, Run(run.folder)):
            with pytest.raises(BadInput, match="is being written by another process"), other.held():
                pass
    with Run(run.folder).held():
        pass
    with pytest.raises(KeyError), run.held():
        raise KeyError
    with run.held():
        pass


def test_a_process_that_dies_lets_go_of_its_run(run):
    pytest.importorskip("fcntl")
    script = "import sys; from pathlib import Path; from kibitz.core.runs import Run\n"
    script += "with Run(Path(sys.argv[1])).held(): print('held', flush=True); sys.stdin.read()"
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(run.folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(BadInput, match="is being written by another process"), run.held():
            pass
        holder.kill()
    with run.held():
        pass


def test_a_folder_that_is_gone_is_told_in_one_line(run, tmp_path):
    run.path("config.json").unlink()
    run.folder.rmdir()
    for change in (run.measure, run.took):
        with pytest.raises(BadInput, match=r"can't write .*jsonl: No such file or directory"):
            change(iteration=1)
    with pytest.raises(BadInput, match=r"can't write .*lock: No such file or directory"), run.held():
        pass


def test_configurations_are_written_so_that_they_can_be_read(run):
    assert run.config() == json.loads(run.path("config.json").read_text()) == {"command": "test"}
