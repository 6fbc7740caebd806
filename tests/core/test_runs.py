"""Run folders: lines that survive a kill, events for TensorBoard, and one process at a time."""

import json
import os
import platform
import subprocess
import sys
import threading
import time

import pytest

from kibitz.core import locks
from kibitz.core.names import BadInput
from kibitz.core.runs import Run

from ..tensorboard_events import shown


@pytest.fixture
def run(tmp_path):
    return Run.create(tmp_path / "run", "x", {"command": "test"})


def test_metrics_are_one_line_each_and_times_are_in_a_file_of_their_own(run):
    assert run.read_lines() == run.read_lines("times.jsonl") == []
    run.log(iteration=1, loss=0.5)
    run.log_times(iteration=1, playing=2.5)
    run.log(iteration=2, loss=0.25)
    assert run.path("metrics.jsonl").read_text() == '{"iteration": 1, "loss": 0.5}\n{"iteration": 2, "loss": 0.25}\n'
    assert run.read_lines() == [{"iteration": 1, "loss": 0.5}, {"iteration": 2, "loss": 0.25}]
    assert run.read_lines("times.jsonl") == [{"iteration": 1, "playing": 2.5}]
    assert Run(run.folder).read_lines() == run.read_lines()


@pytest.mark.parametrize("cut", [1, 5, 29])
def test_a_truncated_line_is_ignored_and_the_next_starts_on_a_line_of_its_own(run, cut):
    for name, add in (("metrics.jsonl", run.log), ("times.jsonl", run.log_times)):
        add(iteration=1, number=0.5)
        add(iteration=2, number=0.25)
        path = run.path(name)
        path.write_bytes(path.read_bytes()[:-cut])
        assert run.read_lines(name) == [{"iteration": 1, "number": 0.5}]
        add(iteration=3, number=0.125)
        assert run.read_lines(name) == [{"iteration": 1, "number": 0.5}, {"iteration": 3, "number": 0.125}]


def test_damaged_lines_are_an_error(run):
    run.path("metrics.jsonl").write_text('{"iteration": 1}\n{"iterat\n{"iteration": 3}\n')
    with pytest.raises(BadInput, match=r"metrics\.jsonl can't be read, it is damaged: ") as caught:
        run.read_lines()
    assert "\n" not in str(caught.value)
    run.path("metrics.jsonl").write_bytes(b"\xff\xfe\n")
    with pytest.raises(BadInput, match=r"metrics\.jsonl can't be read"):
        run.read_lines()


def test_metrics_can_be_removed(run):
    run.keep_metrics(lambda line: True)
    assert run.read_lines() == []
    for iteration in range(5):
        run.log(iteration=iteration, loss=iteration / 8)
    whole = run.path("metrics.jsonl").read_text()
    run.path("metrics.jsonl").write_text(whole + '{"iteration": 5, "lo')
    run.keep_metrics(lambda line: line["iteration"] <= 2)
    assert [line["iteration"] for line in run.read_lines()] == [0, 1, 2]
    run.log(iteration=3, loss=0.0)
    assert [line["iteration"] for line in run.read_lines()] == [0, 1, 2, 3]
    assert {path.name for path in run.folder.iterdir()} <= {"config.json", "metrics.jsonl", "times.jsonl"}


def test_kept_metrics_stay_as_they_were_written(run):
    run.log(iteration=1, value=0.1 + 0.2)
    before = run.path("metrics.jsonl").read_text()
    run.keep_metrics(lambda line: True)
    assert run.path("metrics.jsonl").read_text() == before


# ---------------------------------------------------------------- TensorBoard


def test_tensorboard_has_each_number_at_its_iteration(run):
    run.log(iteration=0, loss=9.0)  # before TensorBoard is switched on
    run.show_in_tensorboard()
    run.log(iteration=1, loss=0.5, games=4)
    assert shown(run) == [(1, "loss", 0.5), (1, "games", 4.0)]  # on disk at once
    run.log(iteration=2, loss=0.25)
    assert shown(run) == [(1, "loss", 0.5), (1, "games", 4.0), (2, "loss", 0.25)]


def test_removed_metrics_are_removed_from_tensorboard_too(run):
    for _ in range(2):  # by this object, and by one that resumes
        run.show_in_tensorboard()
        run.keep_metrics(lambda line: line["iteration"] < 2)
        for iteration in range(len(run.read_lines()), 5):
            run.log(iteration=iteration, loss=iteration / 8)
        run = Run(run.folder)
    assert shown(run) == [(iteration, "loss", iteration / 8) for iteration in range(5)]


def test_removing_metrics_twice_leaves_one_curve(run):
    run.show_in_tensorboard()
    for last in (4, 3, 2):
        for iteration in range(len(run.read_lines()), 5):
            run.log(iteration=iteration, loss=iteration / 8)
        run.keep_metrics(lambda line, last=last: line["iteration"] < last)
    run.log(iteration=2, loss=7.0)
    assert shown(run) == [(0, "loss", 0.0), (1, "loss", 0.125), (2, "loss", 7.0)]


def test_without_tensorboard_metrics_are_still_logged(run, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "tensorboard"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    run.show_in_tensorboard()
    run.log(iteration=1, loss=0.5)
    run.keep_metrics(lambda line: True)
    assert run.read_lines() == [{"iteration": 1, "loss": 0.5}]
    assert not list(run.folder.glob("events*"))


def test_tensorboard_events_need_no_torch(tmp_path):
    script = """
import sys
from pathlib import Path
from kibitz.core.runs import Run
run = Run(Path(sys.argv[1]))
run.show_in_tensorboard()
run.log(iteration=1, loss=0.5)
print(len(list(run.folder.glob("events*"))), "torch" in sys.modules, "tensorflow" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script, tmp_path], capture_output=True, text=True, check=True)
    assert done.stdout == "1 False False\n"


# ---------------------------------------------------------------- one at a time


def test_a_run_is_locked_by_one_process_at_a_time(run):
    with run.lock():
        with run.lock():  # a command holds it around the function that trains
            pass
        with pytest.raises(BadInput, match="is being written by another process"), Run(run.folder).lock():
            pass
        refused = []

        def lock_again():
            try:
                with run.lock():
                    pass
            except BadInput as error:
                refused.append(str(error))

        thread = threading.Thread(target=lock_again)
        thread.start()
        thread.join()
        assert f"({os.getpid()} on " in refused[0]
    with Run(run.folder).lock():
        pass
    with pytest.raises(KeyError), run.lock():
        raise KeyError
    with run.lock():
        pass


def test_a_process_that_dies_releases_its_lock(run):
    script = "import sys; from pathlib import Path; from kibitz.core.runs import Run\n"
    script += "with Run(Path(sys.argv[1])).lock(): print('held', flush=True); sys.stdin.read()"
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(run.folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(BadInput, match="is being written by another process"), run.lock():
            pass
        owner, holds = run.owner()
        assert (owner.pid, owner.held, holds) == (holder.pid, True, True)
        holder.kill()
    assert run.owner() == (owner, False)
    with run.lock():
        assert run.owner()[0].pid == os.getpid()
    owner, holds = run.owner()
    assert (owner.pid, owner.held, holds) == (os.getpid(), False, False)


def test_a_process_on_another_machine_keeps_its_run_as_long_as_it_shows_signs_of_life(run, monkeypatch):
    """Where the file system keeps locks to each machine: only the file tells."""
    with run.lock():
        theirs = run.path("lock").read_bytes()
    mine, name = platform.node(), "elsewhere"
    theirs = theirs.replace(json.dumps(mine).encode(), json.dumps(name).encode()).replace(b"false", b"true")
    run.path("lock").write_bytes(theirs)
    assert run.is_locked()
    with pytest.raises(BadInput, match=r"is being written by another process \(\d+ on elsewhere\)"), run.lock():
        pass
    assert run.path("lock").read_bytes() == theirs
    for seconds in (-2 * locks.LOST, 2 * locks.LOST):
        os.utime(run.path("lock"), (time.time() + seconds,) * 2)
        assert not run.is_locked()
    with run.lock():
        assert run.is_locked()


def test_who_holds_a_run_shows_signs_of_life(run, monkeypatch):
    monkeypatch.setattr(locks, "BEAT", 0.01)
    with run.lock():
        os.utime(run.path("lock"), (0, 0))
        until = time.monotonic() + 60
        while run.path("lock").stat().st_mtime == 0 and time.monotonic() < until:
            time.sleep(0.01)
        assert time.time() - run.path("lock").stat().st_mtime < 60


@pytest.mark.parametrize("damage", [b"", b" ", b" {}", b" [1]", b' {"pid": []}', b"\xff" * 500, b" " + b"[" * 399])
def test_a_damaged_lock_file_hides_nothing(run, damage):
    run.path("lock").write_bytes(damage)
    assert run.owner() == (None, False)
    with run.lock():
        assert run.is_locked()


def test_a_folder_that_is_gone_is_a_one_line_error(run, tmp_path):
    run.path("config.json").unlink()
    run.folder.rmdir()
    for change in (run.log, run.log_times):
        with pytest.raises(BadInput, match=r"can't write .*jsonl: No such file or directory"):
            change(iteration=1)
    with pytest.raises(BadInput, match=r"can't write .*lock: No such file or directory"), run.lock():
        pass


def test_a_configuration_is_read_as_it_was_written(run):
    assert run.config() == json.loads(run.path("config.json").read_text()) == {"command": "test"}


def test_a_lock_is_seen_and_looking_at_it_gets_in_nobodys_way(run):
    assert not run.is_locked()
    with run.lock():
        assert run.is_locked()
    assert not run.is_locked()
    code = (
        "import sys, time; from kibitz.core.locks import lock; file = open(sys.argv[1], 'rb'); "
        "lock(file, shared=True); print(flush=True); time.sleep(0.1)"
    )
    command = [sys.executable, "-c", code, str(run.path("lock"))]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as looks:
        looks.stdout.readline()  # it holds the lock for an instant, as `is_locked` does
        with run.lock():
            assert run.is_locked()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_in_the_place_of_metrics_is_refused(tmp_path):
    os.mkfifo(tmp_path / "metrics.jsonl")
    with pytest.raises(BadInput, match=r"is a device, not a metrics\.jsonl file"):
        Run(tmp_path).read_lines()
