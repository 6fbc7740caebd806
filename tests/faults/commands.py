"""The resumable commands, small enough to be run often."""

import contextlib
import io
import shutil
import sys
from pathlib import Path

import pytest

from kibitz.app import cli

TRAIN = ["--processes", "1", "--seed", "3"]
SESSION = ["doppelkopf", "session"]
# Command -> the words that begin it, without the folder; those that ask for more of it.
RESUMABLE: dict[str, tuple[list[str], list[str]]] = {
    "match": (["match", "kuhn", "random", "oos:30", "--processes", "1", "--games"], ["60", "70"]),
    "record": (["record", "kuhn", "--players", "oos:30", "--processes", "1", "--games"], ["60", "70"]),
    "tournament": (["tournament", "kuhn", "random", "oos:10", "oos:20", "--processes", "1", "--games"], ["20", "24"]),
    "session": (
        [*SESSION, "doppelkopf:thesis", *["random"] * 4, "--games", "4", "--processes", "1", "--sessions"],
        ["3", "4"],
    ),
    "pcs": (["solve", "leduc", "--with", "pcs", "--threads", "1", "--iterations"], ["40", "50"]),
    "exit-oos": (
        ["train", "exit-oos", "kuhn", "--games", "4", "--simulations", "50", "--steps", "4", "--hidden", "4",
         "--keep-every", "2", *TRAIN, "--iterations"],
        ["6", "7"],
    ),
    "deep-cfr": (
        ["train", "deep-cfr", "kuhn", "--preset", "small", "--traversals", "20", "--steps", "5", "--hidden", "4",
         "--capacity", "100", *TRAIN, "--iterations"],
        ["4", "5"],
    ),
    "tspg": (
        ["train", "tspg", "tic_tac_toe", "--preset", "small", "--games", "2", "--simulations", "20", *TRAIN,
         "--iterations"],
        ["3", "4"],
    ),
}  # fmt: skip


def words(name: str, folder: Path, more: bool = False) -> list[str]:
    """The command line that begins a run."""
    begin, numbers = RESUMABLE[name]
    return [*begin, numbers[more], "--out", str(folder)]


def resuming(name: str, folder: Path, more: bool = False) -> list[str]:
    """The command line that resumes it, with the folder as its last word."""
    begin, numbers = RESUMABLE[name]
    if begin[0] != "train":
        return words(name, folder, more)
    return ["train", *(["--iterations", numbers[1]] if more else []), "--processes", "1", "--resume", str(folder)]


def run(arguments: list[str]) -> tuple[int, str]:
    """Run a command in this process: its exit code, and what it printed on stderr."""
    said, before = io.StringIO(), sys.argv
    sys.argv = ["kibitz", *arguments]
    try:
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(said),
            pytest.raises(SystemExit) as ended,
        ):
            cli.main()
    finally:
        sys.argv = before
    return int(ended.value.code or 0), said.getvalue()


def results(folder: Path) -> dict[str, bytes]:
    """What is promised to be the same after any disturbance."""
    kept = ("metrics.jsonl", "games.jsonl", "config.json", "result.json", "sheets.txt")
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.name in kept or (path.suffix == ".safetensors" and path.parent.name in (folder.name, "networks"))
    }


def refused(code: int, said: str) -> str:
    """The one line in which a command was refused."""
    last = said.strip().splitlines()[-1]
    assert code == 2, said
    assert last.startswith("kibitz: "), said
    assert "Traceback" not in said
    return last


def undisturbed(name: str, folder: Path) -> Path:
    """A finished run."""
    shutil.rmtree(folder, ignore_errors=True)
    code, said = run(words(name, folder))
    assert code == 0, said
    return folder
