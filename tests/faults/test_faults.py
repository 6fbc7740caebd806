"""Faults of the machine: kills, full and read-only disks, vanished folders, two processes on one run.

A run that was disturbed and resumed equals an undisturbed one byte for byte; a fault is one line, never a traceback.
"""

import json
import multiprocessing
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from kibitz.core import files, runs, steps
from kibitz.core.names import BadInput
from kibitz.core.progress import Reporter
from kibitz.core.runs import Run
from kibitz.play import match
from kibitz.reproduce.study import Study
from kibitz.train import trainer

from .commands import RESUMABLE, refused, results, resuming, run, undisturbed, words

QUICK = ["match", "exit-oos"]
heavy = pytest.mark.heavy


def quick_and_heavy(quick=QUICK):
    return [name if name in quick else pytest.param(name, marks=heavy) for name in RESUMABLE]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The results of the undisturbed run of a command."""
    known = {}

    def find(name):
        if name not in known:
            known[name] = results(undisturbed(name, tmp_path_factory.mktemp(name) / "run"))
        return known[name]

    return find


# ---------------------------------------------------------------- kills


class Killed(BaseException):
    """Stands for SIGKILL: nothing catches it."""


@contextmanager
def killed_at(moment, monkeypatch):
    """Die at the n-th write: before it, within it, or after it."""
    count = [0]

    def dies():
        count[0] += 1
        return count[0] - moment if count[0] >= moment else None

    replace, append = os.replace, runs.Run._append

    def replacing(source, target):
        if dies() is not None:
            raise Killed
        replace(source, target)
        if dies() is not None:
            raise Killed

    def appending(self, name, values):
        if dies() is not None:
            with self.path(name).open("ab") as file:
                file.write(json.dumps(values).encode()[: moment % 30])
            raise Killed
        append(self, name, values)

    with monkeypatch.context() as patch:
        patch.setattr(files.os, "replace", replacing)
        patch.setattr(runs.Run, "_append", appending)
        yield


@pytest.mark.parametrize("often", [True, False], ids=["checkpoints", "journal"])
def test_a_command_that_dies_at_any_write_is_resumed_to_the_same_result(tmp_path, whole, monkeypatch, often):
    if often:  # a checkpoint after every iteration
        monkeypatch.setattr(trainer.Training, "save_seconds", 0)
        monkeypatch.setattr(trainer.Training, "save_share", 0)
    folder = tmp_path / "run"
    died = 0
    for moment in (2, 9, 5, 14, 3):
        began = (folder / "config.json").exists()
        with killed_at(moment, monkeypatch):
            try:
                run(resuming("exit-oos", folder) if began else words("exit-oos", folder))
            except Killed:
                died += 1
    assert died >= 3
    assert run(resuming("exit-oos", folder))[0] == 0
    assert results(folder) == whole("exit-oos")


@pytest.mark.parametrize("how", ["SIGKILL", "SIGTERM"])
@pytest.mark.parametrize("name", quick_and_heavy(["match"]))
def test_a_command_killed_at_random_moments_is_resumed_to_the_same_result(tmp_path, whole, name, how, request):
    kills = 2 if name == "match" and "not heavy" in str(request.config.option.markexpr) else 20
    folder = tmp_path / "run"
    script = Path(__file__).with_name("kill_at_random.py")
    command = [sys.executable, script, how, "7", str(kills), "2.0", *words(name, folder), "--", *resuming(name, folder)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr
    ended, lines = map(int, done.stdout.splitlines()[-1].split())
    assert ended == kills
    assert how == "SIGKILL" or kills == 2 or lines > 0
    assert results(folder) == whole(name)


@heavy
@pytest.mark.parametrize("name", ["match", "exit-oos"])
def test_a_killed_worker_process_changes_nothing(tmp_path, whole, name):
    folder, ended = tmp_path / "run", threading.Event()
    killed = []

    def kill():
        while not ended.wait(0.2):
            for child in multiprocessing.active_children()[:1] if len(killed) < 2 else []:
                os.kill(child.pid, signal.SIGKILL)
                killed.append(child.pid)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        code, said = run([word if word != "1" else "2" for word in words(name, folder)])
    finally:
        ended.set()
        thread.join()
    assert code == 0, said
    assert {key: data for key, data in results(folder).items() if key != "config.json"} == {
        key: data for key, data in whole(name).items() if key != "config.json"
    }


# ---------------------------------------------------------------- two processes


@pytest.mark.parametrize("name", quick_and_heavy())
def test_a_second_process_is_refused_and_changes_nothing(tmp_path, name):
    """Even if it asks for more games or iterations."""
    folder = undisturbed(name, tmp_path / "run")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with Run(folder).lock():
        said = refused(*run(resuming(name, folder, more=True)))
    assert f"{folder} is being written by another process" in said
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert run(resuming(name, folder))[0] == 0
    assert {path: path.read_bytes() for path in before if path.name in ("games.jsonl", "config.json")} == {
        path: data for path, data in before.items() if path.name in ("games.jsonl", "config.json")
    }


def test_of_two_processes_that_create_a_run_one_succeeds(tmp_path):
    Run.create(tmp_path / "run", "x", {"command": "one"})
    with pytest.raises(BadInput, match=r"can't write .*config\.json: File exists"):
        files.write_atomically(tmp_path / "run" / "config.json", b"{}", new=True)
    assert Run(tmp_path / "run").config() == {"command": "one"}


# ---------------------------------------------------------------- full disks


@contextmanager
def full_after(size):
    """No file may be longer than this: the system then refuses to write, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("name", quick_and_heavy())
@pytest.mark.parametrize("size", [50, 700])
def test_a_full_disk_is_one_line_and_the_run_resumes(tmp_path, whole, name, size):
    folder = tmp_path / "run"
    with full_after(size):
        assert "File too large" in refused(*run(words(name, folder)))
    assert not list(folder.rglob("*.part"))
    if not (folder / "config.json").exists():
        assert run(words(name, folder))[0] == 0
    else:
        assert run(resuming(name, folder))[0] == 0
    assert results(folder) == whole(name)


@pytest.mark.parametrize("size", [50, 300])
def test_solve_on_a_full_disk_is_one_line(tmp_path, size):
    with full_after(size):
        assert "File too large" in refused(*run(["solve", "kuhn", "--iterations", "5", "--out", str(tmp_path / "run")]))


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 64 kB in memory, where mounting is permitted."""
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", place], capture_output=True).returncode:
        pytest.skip("mounting is not permitted here")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def read_only(place, yes=True):
    subprocess.run(["mount", "-o", f"remount,{'ro' if yes else 'rw'}", place], check=True)


@pytest.mark.skipif(shutil.which("mount") is None, reason="no mount")
@pytest.mark.parametrize("name", quick_and_heavy())
def test_a_disk_that_fills_up_is_one_line(small_disk, name, whole):
    (small_disk / "ballast").write_bytes(bytes(59_000))
    folder = small_disk / "run"
    assert "No space left on device" in refused(*run(words(name, folder)))
    (small_disk / "ballast").unlink()
    if name in ("match", "record"):  # the others need more than the disk has
        assert run(resuming(name, folder) if (folder / "config.json").exists() else words(name, folder))[0] == 0
        assert results(folder) == whole(name)


# ---------------------------------------------------------------- folders that can't be written


@pytest.mark.skipif(shutil.which("mount") is None, reason="no mount")
def test_a_read_only_disk_is_one_line(small_disk, monkeypatch):
    run_folder = undisturbed("match", small_disk / "run")
    before = results(run_folder)
    read_only(small_disk)
    monkeypatch.chdir(small_disk)
    for arguments in (
        words("match", small_disk / "new"),
        resuming("match", run_folder, more=True),  # a finished run that should grow
        words("exit-oos", small_disk / "new"),
        ["study", "exit-oos", "table-1", "--out", str(small_disk / "study")],
        ["match", "kuhn", "random", "random", "--games", "2"],  # into runs/
        ["solve", "kuhn", "--iterations", "2"],
    ):
        said = refused(*run(arguments))
        assert "Read-only file system" in said, said
        assert "None" not in said
    assert results(run_folder) == before


@pytest.mark.parametrize("out", [True, False])
def test_a_file_in_place_of_the_folder_is_named(tmp_path, monkeypatch, out):
    monkeypatch.chdir(tmp_path)
    Path("runs").write_text("mine")
    for arguments in (["match", "kuhn", "random", "random", "--games", "2"], ["solve", "kuhn", "--iterations", "2"]):
        said = refused(*run([*arguments, *(["--out", "runs/x"] if out else [])]))
        assert "can't write" in said
        assert "runs" in said
        assert "None" not in said
    assert Path("runs").read_text() == "mine"


class Vandal(Reporter):
    """Removes the folder as soon as something is reported."""

    def __init__(self, folder):
        self.folder, self.done = folder, False

    def progress(self, done, total=None, note=""):
        if not self.done and done > 1:
            shutil.rmtree(self.folder)
            self.done = True


def test_a_folder_removed_under_a_match_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(steps, "REPORT_SECONDS", -1)
    started = match.open_run(tmp_path / "run", "match", "kuhn", ["random", "random"], 40, 1)
    with pytest.raises(BadInput, match=r"can't write .*games\.jsonl: No such file or directory"):
        match.play_into(started, 1, Vandal(tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_a_folder_removed_under_a_training_is_one_line(tmp_path):
    values = {"iterations": 4, "games": 4, "simulations": 50, "steps": 4, "hidden": "4"}
    started = trainer.new_run(tmp_path / "run", "exit-oos", trainer.configured("exit-oos", "kuhn", None, values))
    with pytest.raises(BadInput, match=r"can't write .*: No such file or directory"):
        trainer.train(started, 1, report=Vandal(tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_a_study_into_a_file_is_one_line(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(BadInput, match="can't write"):
        Study.once(None, tmp_path / "file" / "x.json", dict)


# ---------------------------------------------------------------- load


@heavy
def test_a_million_games_and_a_long_journal_keep_memory_flat(tmp_path):
    """Batched games of Kuhn poker in a run folder; then they are read again."""
    script = """
import resource, sys
from pathlib import Path
from kibitz.play.match import open_run, play_into
run = open_run(Path(sys.argv[1]), "match", "kuhn", ["random", "random"], int(sys.argv[2]), 1)
print(len(play_into(run, 1)), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""
    sizes = {}
    for games in (10_000, 1_000_000):
        command = [sys.executable, "-c", script, str(tmp_path / str(games)), str(games)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        count, sizes[games] = map(int, done.stdout.split())
        assert count == games
    began = time.monotonic()
    command[-1] = "1000000"
    subprocess.run(command, capture_output=True, text=True, check=True)
    assert time.monotonic() - began < 300
    assert sizes[1_000_000] - sizes[10_000] < 1000  # megabytes
