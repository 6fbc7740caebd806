"""Streams that are full, closed or missing, and Ctrl-C before anything has started: an exit code and one line."""

import io
import subprocess
import sys

import pytest

from kibitz.app import cli, streams

RUN = f"{sys.executable} -m kibitz"


def shell(command):
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("--version > /dev/full", 2, "kibitz: can't read or write standard output: No space left on device\n"),
        ("--version >&-", 2, "kibitz: can't read or write standard output: Bad file descriptor\n"),
        ("nothing 2> /dev/full", 2, ""),
        ("--help | true; exit ${PIPESTATUS[0]}", (0, 1), ""),
    ],
)
def test_output_that_cannot_be_written_is_one_line(command, code, said):
    found = shell(f"{RUN} {command}")
    assert found[0] in (code if isinstance(code, tuple) else (code,))
    assert found[2] == said


def test_results_stay_when_they_cannot_be_printed(tmp_path):
    code, _, said = shell(f"cd {tmp_path} && {RUN} solve kuhn --iterations 3 --out run > /dev/full")
    assert (code, said.splitlines()[-1][:30]) == (2, "kibitz: can't read or write st")
    assert "Traceback" not in said
    assert (tmp_path / "run" / "strategy.safetensors").stat().st_size


def test_without_standard_input_a_player_leaves_the_game(tmp_path):
    code, _, said = shell(f"cd {tmp_path} && {RUN} play kuhn --against random <&-")
    assert (code, said) == (0, "")


def test_a_file_is_never_opened_in_place_of_a_missing_stream(tmp_path):
    script = "from kibitz.app import streams; streams.open_missing(); import os; print(os.open('/dev/null', 0) > 2)"
    assert shell(f'{sys.executable} -c "{script}" <&- 2>&-')[1] == "True\n"


@pytest.mark.parametrize("command", [["games", "doppelkopf"], ["solve", "kuhn", "--iterations", "3"]])
def test_characters_that_a_pipe_cannot_encode_are_replaced(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="cp1252"))
    monkeypatch.setattr(sys, "argv", ["kibitz", *command])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 0
    assert b"?" in written.getvalue()


def test_an_interrupt_while_modules_are_imported_prints_nothing():
    script = """
import sys

class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == "kibitz.app.cli":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupts())
from kibitz.__main__ import main
main()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_an_error_of_the_system_names_its_file(capsys):
    with pytest.raises(SystemExit) as ended, streams.guarded():
        open("/nowhere/x")  # noqa: SIM115
    assert ended.value.code == 2
    assert capsys.readouterr().err == "kibitz: can't read or write /nowhere/x: No such file or directory\n"


def test_an_interrupt_that_foreign_code_swallows_is_raised_later():
    import os
    import signal

    with streams.interrupts() as check:
        check()
        try:
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(10**6):
                pass
        except KeyboardInterrupt:  # as foreign code does
            pass
        with pytest.raises(KeyboardInterrupt):
            check()
