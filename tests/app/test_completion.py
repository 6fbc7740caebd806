"""Shell completion: the names of the registries, found without importing them."""

import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from kibitz.app import cli, completion
from kibitz.app.index import ships
from kibitz.games import GAMES
from kibitz.nets.model_files import shipped
from kibitz.play.players import PLAYERS

ROOT = Path(__file__).parents[2]


def test_all_names_are_completed():
    assert completion.games("") == sorted(ships(GAMES))
    assert completion.players("") == sorted(ships(PLAYERS))
    assert completion.models("") == [f"models/{name}" for name in shipped()]
    assert completion.games("go") == ["gomoku", "goofspiel"]
    assert completion.players("net:models/l") == [f"net:models/{name}" for name in shipped() if name[0] == "l"]
    assert completion.players("random:x") == []


def test_run_folders_are_completed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert completion.runs("") == []
    for name, file in (("a", "network"), ("b", "strategy")):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "config.json").touch()
        (tmp_path / "runs" / name / f"{file}.safetensors").touch()
    assert completion.runs("ru") == ["runs/a", "runs/b"]
    assert completion.players("net:ru") == ["net:runs/a"]
    assert completion.players("strategy:") == ["strategy:runs/b"]


@pytest.mark.parametrize(
    ("command", "place", "start", "found"),
    [
        ("match", 0, "led", ["leduc"]),
        ("match", 1, "oo", ["oos"]),
        ("tournament", 1, "oo", ["oos"]),
        ("exploit", 1, "strat", ["strategy"]),
        ("players", 0, "oo", ["oos"]),
        ("games", 0, "led", ["leduc"]),
        ("models", 0, "models/led", ["models/leduc"]),
    ],
)
def test_commands_complete_their_arguments(command, place, start, found):
    chosen = get_command(cli.build()).commands[command]
    arguments = [each for each in chosen.params if each.param_type_name == "argument"]
    items = arguments[place].shell_complete(chosen.context_class(chosen), start)
    assert [item.value for item in items] == found


def test_completion_imports_nothing_heavy():
    script = "import sys; from kibitz.app import completion; completion.players(''); completion.games('')\n"
    script += "assert not {'numpy', 'numba', 'rich', 'kibitz.games'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True, cwd=ROOT, timeout=60)
