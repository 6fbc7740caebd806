"""The loop of long work: resumed where it was, saved when due, ended in order by Ctrl-C."""

import json
import os
import signal

import pytest

from kibitz.core import steps
from kibitz.core.interrupts import Interrupted
from kibitz.core.names import BadInput
from kibitz.core.progress import Reporter
from kibitz.core.runs import Run
from kibitz.core.steps import Tasks, Work


class Killed(Exception):
    pass


class Summing(Work):
    """Adds up 1, 2, 3, ...; each step is a line of metrics, each checkpoint has the sum."""

    def __init__(self, run, total=10, at=lambda done: None):
        super().__init__(run, total)
        self.sum, self.at, self.saves = 0, at, []

    def restore(self):
        path = self.run.path("state.json")
        if path.exists():
            self.done, self.sum = json.loads(path.read_text())
        return path.exists()

    def step(self):
        self.done += 1
        self.sum += self.done
        self.run.log(iteration=self.done, sum=self.sum)
        self.at(self.done)

    def save(self):
        self.saves.append(self.done)
        self.run.write("state.json", json.dumps([self.done, self.sum]))

    def note(self):
        return f"sum {self.sum}"

    def result(self):
        return self.sum


class Squaring(Tasks):
    """Squares numbers, in any order."""

    def __init__(self, run, numbers):
        super().__init__(run, len(numbers), "squares.jsonl")
        self.numbers, self.known, self.closed = numbers, {}, False

    def restore(self):
        self.known = dict(self.run.read_lines(self.file, step="")) if self.run else {}
        self.done = len(self.known)
        return True

    def results(self):
        try:
            for number in [number for number in self.numbers if number not in self.known]:
                yield number, number**2
        finally:
            self.closed = True

    def take(self, result):
        self.known[result[0]] = result[1]
        self.done += 1

    def line(self, result):
        return json.dumps(result) + "\n"

    def result(self):
        return self.known


class Listener(Reporter):
    def __init__(self, do=lambda done: None):
        self.seen, self.do = [], do

    def progress(self, done, total=None, note=""):
        self.seen.append((done, total, note))
        self.do(done)


@pytest.fixture
def run(tmp_path):
    return Run.create(tmp_path / "run", "x", {"command": "test"})


def kill(at):
    def do(done):
        if done == at:
            raise Killed

    return do


def files(run):
    return [run.path(name).read_bytes() for name in ("state.json", "metrics.jsonl")]


@pytest.mark.parametrize("often", [True, False])
def test_work_that_is_killed_ends_as_if_it_never_was(run, tmp_path, monkeypatch, often):
    whole = Run.create(tmp_path / "whole", "x", {"command": "test"})
    assert steps.steps(Summing(whole)) == 55
    if often:
        monkeypatch.setattr(Summing, "save_seconds", -1.0)
        monkeypatch.setattr(Summing, "save_share", 0.0)
    for at in (3, 4, 8):
        with pytest.raises(Killed):
            steps.steps(Summing(run, at=kill(at)))
    assert json.loads(run.path("state.json").read_text())[0] == 7 if often else not run.path("state.json").exists()
    assert steps.steps(Summing(run)) == 55
    assert files(run) == files(whole)


def test_a_run_may_grow_and_a_finished_one_is_left_alone(run):
    steps.steps(Summing(run, 4))
    before, again = files(run), Summing(run, 4)
    assert steps.steps(again) == 10
    assert (again.saves, files(run)) == ([], before)
    listener = Listener()
    assert steps.steps(Summing(run, 6), listener) == 21
    assert listener.seen[0] == (4, 6, "sum 10")
    assert listener.seen[-1] == (6, 6, "sum 21")


def test_checkpoints_are_rare_where_they_take_long(run, monkeypatch):
    monkeypatch.setattr(Summing, "save_seconds", 0.0)
    now = [0.0]
    monkeypatch.setattr(steps.time, "perf_counter", lambda: now[0])

    def step(done):
        now[0] += 1.0

    class Slow(Summing):
        save_share = 3.0

        def save(self):
            super().save()
            now[0] += 1.0

    work = Slow(run, 20, at=step)
    steps.steps(work)
    assert work.saves == [1, 5, 9, 13, 17, 20]


def test_an_interrupt_waits_for_the_step_and_a_checkpoint(run, monkeypatch):
    monkeypatch.setattr(steps, "REPORT_SECONDS", -1.0)
    press = Listener(lambda done: os.kill(os.getpid(), signal.SIGINT) if done == 4 else None)
    work = Summing(run)
    with pytest.raises(Interrupted) as stopped:
        steps.steps(work, press)
    assert (stopped.value.result, work.saves) == (10, [4])
    assert not run.is_locked()
    assert steps.steps(Summing(run)) == 55


def test_each_task_is_a_line_and_an_interrupt_loses_none(run, monkeypatch):
    monkeypatch.setattr(steps, "REPORT_SECONDS", -1.0)
    work = Squaring(run, range(8))
    with pytest.raises(KeyboardInterrupt):
        steps.steps(work, Listener(lambda done: os.kill(os.getpid(), signal.SIGINT) if done == 3 else None))
    assert work.closed
    assert run.read_lines("squares.jsonl", step="") == [[0, 0], [1, 1], [2, 4]]
    with run.path("squares.jsonl").open("a") as file:
        file.write("[3,")  # a kill
    assert steps.steps(Squaring(run, range(8))) == {number: number**2 for number in range(8)}
    assert run.path("squares.jsonl").read_text().count("\n") == 8
    assert not run.path("metrics.jsonl").exists()


def test_tasks_need_no_folder():
    assert steps.steps(Squaring(None, [3, 5])) == {3: 9, 5: 25}


def test_one_process_works_on_a_run(run):
    def other(done):
        with pytest.raises(BadInput, match="is being written by another process"), Run(run.folder).lock():
            pass

    steps.steps(Summing(run, 1, at=other))
