"""The index of what ships is made when it is needed, and help pages by it are those of the commands themselves."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kibitz.app import index, make_index
from kibitz.app.commands import study, train

ROOT = Path(__file__).parents[2]
HEAVY = {"numpy", "numba", "torch", "scipy", "matplotlib", "tensorboard", "safetensors", "ray", "kibitz.games"}


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """No index has been made yet; how often one is made from what is registered."""
    made = []
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(make_index, "written", lambda: made.append(1) or {"players": ("uct",), "made": len(made)})
    index.index.cache_clear()
    yield made
    index.index.cache_clear()


def test_an_index_is_made_on_first_use_and_kept(fresh, monkeypatch):
    assert index.index() == {"players": ["uct"], "made": 1}
    index.index.cache_clear()
    assert index.index() == {"players": ["uct"], "made": 1}
    monkeypatch.setattr(index, "_stamp", lambda: "after an edit")
    index.index.cache_clear()
    assert index.index()["made"] == 2


@pytest.mark.parametrize("damaged", [b"", b"{", b"[]", b'{"stamp": 1}', b"\xff"])
def test_a_damaged_index_is_made_again(fresh, damaged):
    index.index()
    index._cached().write_bytes(damaged)
    index.index.cache_clear()
    assert index.index()["made"] == 2
    index.index.cache_clear()
    assert index.index()["made"] == 2


def test_an_edit_of_the_package_changes_the_stamp(tmp_path, monkeypatch):
    monkeypatch.setattr(index, "PACKAGE", tmp_path)
    stamps = {index._stamp()}
    for name in ("a.py", "b.safetensors"):
        (tmp_path / name).write_text("1")
        stamps.add(index._stamp())
    (tmp_path / "a.py").write_text("10")
    assert len({*stamps, index._stamp()}) == 4


def test_an_index_that_was_installed_is_read(fresh, tmp_path, monkeypatch):
    monkeypatch.setattr(index, "FILE", tmp_path / "index.json")
    index.FILE.write_text('{"players": []}')
    assert (index.index(), fresh) == ({"players": []}, [])


@pytest.mark.parametrize(("module", "group"), [(train, "train"), (study, "study")])
def test_a_help_page_by_the_index_is_that_of_the_command(kibitz, monkeypatch, module, group):
    for name in index.index()[group]:
        monkeypatch.setattr(module, "is_enough", lambda: True)
        indexed = kibitz(group, name, "--help")[1]
        monkeypatch.setattr(module, "is_enough", lambda: False)
        assert indexed == kibitz(group, name, "--help")[1]


def test_help_and_lists_import_nothing_heavy(tmp_path):
    index.index()  # makes the index where there is none
    script = f"""import io, sys
from contextlib import redirect_stdout, suppress
from kibitz.app.cli import main, panels
lists = [["--help"], ["--version"], ["games"], ["models"], ["runs"]]
lists += [["train", "tspg", "--help"], ["study", "doko", "--help"]]
for command in lists + [[name, "--help"] for names in panels().values() for name in names]:
    sys.argv = ["kibitz", *command]
    with suppress(SystemExit), redirect_stdout(io.StringIO()):
        main()
    if imported := {HEAVY} & set(sys.modules):
        sys.exit(f"{{command}} imports {{imported}}")
print(len(panels()), "panels")
"""
    environment = dict(os.environ, PYTHONPATH=str(ROOT))
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert done.stderr == ""
    assert done.returncode == 0
    assert "panels" in done.stdout
