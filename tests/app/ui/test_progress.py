"""What is shown of long work where stderr is no terminal, and how the time that is left is estimated."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kibitz.app.ui import progress
from kibitz.app.ui.console import SafeConsole
from kibitz.core import progress as reports
from kibitz.core.progress import Reporter
from kibitz.train import trainer

ROOT = Path(__file__).parents[3]


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(progress.err, "_force_terminal", False)
    monkeypatch.setattr(progress, "FIRST", 1.5)
    return now


def test_a_line_is_printed_soon_and_then_every_ten_seconds_at_most(clock, capsys):
    lines = progress._Lines()
    lines.begin(clock[0])
    report = progress.TerminalReporter(lines, lines.add_task("leduc, outcome", 500, ""), 500)
    said = {}
    for step in range(300):
        clock[0] = 100 + step / 10
        report.progress(step, note=f"NashConv {step}")
        lines.say(clock[0])
        if text := capsys.readouterr().err:
            said[step / 10] = text
    assert said == {
        1.5: "leduc, outcome 15/500, NashConv 15, about 48 s left\n",
        11.5: "leduc, outcome 115/500, NashConv 115, about 38 s left\n",
        21.5: "leduc, outcome 215/500, NashConv 215, about 28 s left\n",
    }


def test_work_that_reports_nothing_is_not_silent(clock, capsys):
    lines = progress._Lines()
    lines.begin(clock[0])
    lines.add_task("reading the position", None, "")
    clock[0] += 2
    lines.say(clock[0])
    assert capsys.readouterr().err == "reading the position, 2 s so far\n"


def test_a_command_that_prints_nothing_says_that_it_starts(clock, capsys, monkeypatch):
    monkeypatch.setattr(SafeConsole, "used", False)
    lines = progress._Lines()
    lines.begin(clock[0])
    for _ in range(5):
        clock[0] += 1
        lines.say(clock[0], "kibitz train: starting")
    assert capsys.readouterr().err == "kibitz train: starting\n"


def test_time_spent_compiling_is_not_counted(clock, capsys):
    with progress.compiling():
        lines = progress._Lines()
        report = progress.TerminalReporter(lines, lines.add_task("leduc", 50, ""), 50)
        report.progress(0)
        reports.on_compile("kernel")
        clock[0] += 60
        reports.on_compile(None)
        report.progress(1)
        clock[0] += 2
        report.progress(3)
    assert str(*lines._tasks.values()) == "leduc 3/50, about 47 s left"


def test_iterations_that_compile_predict_nothing():
    class Learner:
        config = trainer.configured("exit-oos", "kuhn", "small", {"iterations": 9})
        headline = ()

        @staticmethod
        def predict(config, lines):
            return sum(line["learning"] for line in lines)

    class Listener(Reporter):
        left = ()

        def remaining(self, seconds):
            self.left = (*self.left, seconds)

    report = Listener()
    status = trainer.Status(report, Learner(), [])
    for iteration in range(1, 6):
        slow = iteration in (1, 3)
        status.finished(iteration, {}, {"learning": 60.0 if slow else 1.0}, typical=not slow)
    assert report.left == (3.0,)


# Runs a command that says once what each task is when it begins, however long that takes, and then what was compiled.
EACH_TASK = """
import math, sys
from kibitz.app import cli
from kibitz.app.ui import progress
from kibitz.jit import compiled

class Lines(progress._Lines):
    def begin(self, now):
        self._due = math.inf
    def add_task(self, text, total, note):
        number = super().add_task(text, total, note)
        self._due = 0.0
        self.say(0.0)
        return number

progress.EVERY, progress._lines = math.inf, Lines()
sys.argv = ["kibitz", *sys.argv[1:]]
try:
    cli.main()
finally:
    print("compiled:", *compiled)
"""


def test_nothing_is_shown_of_the_names_of_kernels(tmp_path):
    """A real command with nothing compiled, its output in a pipe."""
    environment = dict(os.environ, PYTHONPATH=str(ROOT), NUMBA_CACHE_DIR=str(tmp_path / "cold"))
    command = [sys.executable, "-c", EACH_TASK, "solve", "kuhn", "--iterations", "3", "--out", "run"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    printed, _, names = done.stdout.rpartition("compiled: ")
    assert lines.count(progress.COMPILING) == len(names.split()) > 0
    assert set(lines) == {progress.COMPILING, "building the game tree of kuhn", "kuhn, cfr+"}
    assert "compiling" not in printed
    assert not any(name in printed for name in names.split())


def test_check_says_what_it_does_while_it_compiles_the_rules_of_a_game_file(tmp_path):
    """Nothing is compiled yet, and its output is in a pipe."""
    environment = dict(os.environ, PYTHONPATH=str(ROOT), NUMBA_CACHE_DIR=str(tmp_path / "cold"))
    game = f"{ROOT / 'tests/games/ultimate.py'}:Ultimate"
    command = [sys.executable, "-m", "kibitz", "check", game]
    began = time.monotonic()
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        seen = list(process.stderr)
        ended = time.monotonic() - began
        assert "no mistake found" in process.stdout.read()
    assert any(line.startswith(("compiling (first time only)", f"checking {game}")) for line in seen)
    assert len(seen) <= 2 + ended / progress.EVERY


def test_what_another_program_keeps_waiting_for_is_said_beside_the_other_lines(monkeypatch, capsys):
    monkeypatch.setattr(progress.err, "_force_terminal", False)
    monkeypatch.setattr(progress, "FIRST", 0.1)
    with progress.compiling("match"), progress.reporting("loading the players"):
        reports.on_wait("waiting for the engine: at most 60 s")
        until = time.monotonic() + 60
        said = capsys.readouterr().err
        while "loading the players" not in said and time.monotonic() < until:
            time.sleep(0.05)
            said += capsys.readouterr().err
    assert said.splitlines() == ["waiting for the engine: at most 60 s", "loading the players"]
    assert reports.on_wait is None
