"""Optional dependencies: without them everything else works, and what needs one says which extra to install."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = {
    "bench": {"pyspiel", "open_spiel", "phevaluator"},
    "cluster": {"ray"},
    "envs": {"gymnasium", "pettingzoo"},
    "openspiel": {"pyspiel", "open_spiel"},
    "web": {"fastapi", "uvicorn", "websockets", "starlette", "pydantic"},
}
FOR_DEVELOPERS = {"test", "docs"}
# Modules that are imported only once their extra is known to be there.
HOMES = (
    "kibitz.app.web.",
    "kibitz.bridges.openspiel",
    "kibitz.bridges.envs.all_seats",
    "kibitz.bridges.envs.one_seat",
    "kibitz.bridges.openspiel_adapter",
    "kibitz.poker.gpu.nearest_centers_kernel",  # on a GPU only, by Triton, which comes with torch there
    "kibitz.poker.gpu.public_chance_kernels",
)

HIDDEN = f"""
import sys

class Hiding:
    def __init__(self, finder):
        self.finder = finder

    def __getattr__(self, name):
        return getattr(self.finder, name)

    def find_spec(self, name, path=None, target=None):
        hidden = name.partition(".")[0] in {set().union(*PACKAGES.values())}
        return None if hidden else self.finder.find_spec(name, path, target)

sys.meta_path[:] = map(Hiding, sys.meta_path)
"""

IMPORTS = f"""
import importlib, pkgutil, kibitz
for found in pkgutil.walk_packages(kibitz.__path__, "kibitz."):
    if not found.name.startswith({HOMES}) and not found.name.endswith("__main__"):
        importlib.import_module(found.name)
from kibitz.app import cli
names = [[name] for names in cli.panels().values() for name in names]
for command in [], *names:
    sys.argv = ["kibitz", *command, "--help"]
    try:
        cli.main()
    except SystemExit as ended:
        assert ended.code == 0, command
"""

USES = {
    "bench": ["kibitz bench os-mccfr"],
    "cluster": ["kibitz train exit-oos kuhn --cluster auto"],
    "envs": ["kibitz.gym.make('kuhn')", "kibitz.gym.register()", "kibitz.pettingzoo.env('kuhn')"],
    "openspiel": [
        "kibitz games openspiel:leduc_poker",
        "kibitz solve openspiel:kuhn_poker",
        "kibitz match kuhn openspiel-bot:mcts random",
        "kibitz.openspiel.register()",
        "kibitz.load('openspiel:tic_tac_toe')",
    ],
    "web": ["kibitz serve --no-open --port 0"],
}

USE = """
import kibitz
from kibitz.app import cli
for use in sys.argv[1:]:
    print("use", use, file=sys.stderr)
    try:
        if use.startswith("kibitz "):
            sys.argv = use.split()
            cli.main()
        else:
            eval(use)
    except kibitz.BadInput as error:
        print("kibitz:", error, file=sys.stderr)
    except SystemExit as ended:
        assert ended.code == 2, ended.code
"""


def without_extras(script, *arguments, folder):
    command = [sys.executable, "-c", HIDDEN + script, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


def test_every_extra_is_tried():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(declared) - FOR_DEVELOPERS == set(PACKAGES) == set(USES)


def test_without_extras_every_module_is_imported_and_every_command_has_help(tmp_path):
    done = without_extras(IMPORTS, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "kibitz demo" in done.stdout


@pytest.mark.parametrize("extra", USES)
def test_what_needs_an_extra_says_in_one_line_how_to_install_it(extra, tmp_path):
    done = without_extras(USE, *USES[extra], folder=tmp_path)
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stderr.splitlines() if not line.endswith((": starting", "so far"))]
    assert told[::2] == [f"use {use}" for use in USES[extra]]
    assert [line for line in told[1::2] if f"pip install 'kibitz[{extra}]'" not in line] == []
    assert list(tmp_path.iterdir()) == []  # nothing was begun
