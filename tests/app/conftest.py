"""Runs the command line in this process."""

import sys

import pytest

from kibitz.app import cli


@pytest.fixture
def kibitz(tmp_path, monkeypatch, capsys):
    """A function that runs a command in an empty folder and returns exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["kibitz", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        captured = capsys.readouterr()
        return ended.value.code, captured.out, captured.err

    return run
