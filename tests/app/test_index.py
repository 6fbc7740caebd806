"""The index of what ships is current, and help pages by it are those of the commands themselves."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kibitz.app import index
from kibitz.app.commands import study, train

ROOT = Path(__file__).parents[2]
HEAVY = {"numpy", "numba", "torch", "scipy", "matplotlib", "tensorboard", "safetensors", "ray", "kibitz.games"}


def test_the_index_is_current():
    written = json.loads(json.dumps(index.written()))
    assert written == index.index(), "run python docs/make_reference.py"


@pytest.mark.parametrize(("module", "group"), [(train, "train"), (study, "study")])
def test_a_help_page_by_the_index_is_that_of_the_command(kibitz, monkeypatch, module, group):
    for name in index.index()[group]:
        monkeypatch.setattr(module, "is_enough", lambda: True)
        indexed = kibitz(group, name, "--help")[1]
        monkeypatch.setattr(module, "is_enough", lambda: False)
        assert indexed == kibitz(group, name, "--help")[1]


def test_help_and_lists_import_nothing_heavy(tmp_path):
    script = f"""import io, sys
from contextlib import redirect_stdout, suppress
from kibitz.app.cli import PANELS, main
lists = [["--help"], ["--version"], ["games"], ["models"], ["runs"]]
lists += [["train", "tspg", "--help"], ["study", "doko", "--help"]]
for command in lists + [[name, "--help"] for names in PANELS.values() for name in names]:
    sys.argv = ["kibitz", *command]
    with suppress(SystemExit), redirect_stdout(io.StringIO()):
        main()
    if imported := {HEAVY} & set(sys.modules):
        sys.exit(f"{{command}} imports {{imported}}")
print(len(PANELS), "panels")
"""
    environment = dict(os.environ, PYTHONPATH=str(ROOT))
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert done.stderr == ""
    assert done.returncode == 0
    assert "panels" in done.stdout
