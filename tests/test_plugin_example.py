"""The package in `examples/plugin`, installed in a folder: Kibitz finds all that it adds by its entry point."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BUILD = "from setuptools.build_meta import prepare_metadata_for_build_wheel as write; write('.')"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with the package and its metadata, as an installer leaves them."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "examples" / "plugin", folder, dirs_exist_ok=True)
    subprocess.run([sys.executable, "-c", BUILD], cwd=folder, check=True, capture_output=True, timeout=120)
    assert list(folder.glob("*.dist-info/entry_points.txt"))
    return folder


@pytest.fixture
def run(installed, tmp_path):
    """Run Python there, with or without the package."""

    def call(*arguments, there=True, code=0):
        path = os.pathsep.join([str(installed)] * there + [str(ROOT)])
        environment = {**os.environ, "PYTHONPATH": path, "COLUMNS": "150", "PYTHONUTF8": "1"}
        done = subprocess.run(
            [sys.executable, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    return call


def kibitz(*words):
    return ("-m", "kibitz", *words)


def test_without_the_package_the_game_is_unknown(run):
    assert "no game is called 'cuckoo'" in run(*kibitz("games", "cuckoo"), there=False, code=2)


def test_the_game_keeps_the_contract_of_games(run):
    assert "each seat may exchange its card once" in run(*kibitz("games"))
    run(*kibitz("check", "cuckoo", "--games", "20"))
    assert "NashConv" in run(*kibitz("solve", "cuckoo:5", "--iterations", "20"))


def test_the_player_plays_a_match_in_several_processes(run, tmp_path):
    run(*kibitz("match", "cuckoo", "keeps:7", "random", "--games", "400", "--processes", "2", "--json", "result.json"))
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["payoff"]["low"] > 0
    assert "keeps plays cuckoo, not kuhn" in run(*kibitz("match", "kuhn", "keeps:7", "random"), code=2)


def test_records_are_read_and_written(run, tmp_path):
    lines = "cuckoo 1 ann 4>11 bob 9\ncuckoo 2 bob 2 ann 3>1\n"
    (tmp_path / "games.cuckoo").write_text(lines)
    run(*kibitz("convert", "games.cuckoo", "games.jsonl"))
    first, second = map(json.loads, (tmp_path / "games.jsonl").read_text().splitlines())
    assert (first["players"], first["actions"], first["payoffs"]) == (["ann", "bob"], [3, 8, 1, 10, 0], [1.0, -1.0])
    assert second["payoffs"] == [1.0, -1.0]
    run(*kibitz("convert", "games.jsonl", "again.cuckoo"))
    assert (tmp_path / "again.cuckoo").read_text() == lines
    (tmp_path / "bad.cuckoo").write_text("cuckoo 1 ann 4 bob 4\n")
    assert "action 3 at ply 2 is illegal" in run(*kibitz("convert", "bad.cuckoo", "x.jsonl"), code=2)


def test_beliefs_are_those_of_the_game(run):
    code = 'import kibitz; found = kibitz.beliefs("cuckoo:5", "4 ?"); print(found.as_json()["unseen"], found.wins)'
    assert run("-c", code).split("\n")[0] == "[1, 2, 3, 5] 0.75"


def test_the_command_runs_and_is_listed(run):
    assert run(*kibitz("cuckoo", "odds", "9")) == "9 wins 66.7%\n"
    assert "Example: kibitz cuckoo odds 9" in run(*kibitz("cuckoo", "odds", "--help"))
    assert "Commands for cuckoo." in run(*kibitz("--help"))
