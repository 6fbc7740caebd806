"""Plugins: found by a folder's `plugin.py` or by an entry point, loaded when something of a kind is looked up."""

import subprocess
import sys

import pytest

from kibitz.core import plugins
from kibitz.core.names import BadInput
from kibitz.core.registry import Registry


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder of installed packages. `install(name, plugin=..., ...)` puts one there."""

    def install(name, **modules):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
        for module, text in modules.items():
            (tmp_path / name / f"{module}.py").write_text(text)
        info = tmp_path / f"{name}-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        (info / "entry_points.txt").write_text(f"[kibitz.plugins]\n{name} = {name}.plugin\n")

    monkeypatch.syspath_prepend(tmp_path)
    plugins.plugins.cache_clear()
    yield install
    plugins.plugins.cache_clear()
    for name in [name for name in sys.modules if name.startswith("toy_")]:
        del sys.modules[name]


def test_guests_of_the_package_are_found():
    names = {plugin.__name__ for plugin in plugins.plugins()}
    assert {"kibitz.poker.plugin", "kibitz.doppelkopf.plugin"} <= names


def test_an_installed_plugin_is_loaded_when_something_of_its_kind_is_looked_up(site):
    site(
        "toy_one",
        plugin='MODULES = {"toy": ["toy_one.toys"], "other": ["toy_one.others"]}',
        toys="from toy_one.kinds import TOYS\n@TOYS('ball')\nclass Ball: pass",
        kinds="from kibitz.core.registry import Registry\nTOYS = Registry('toy')",
        others="raise RuntimeError('nobody asked')",
    )
    from toy_one.kinds import TOYS

    assert "toy_one.toys" not in sys.modules
    assert list(TOYS) == ["ball"]
    assert plugins.is_installed(TOYS["ball"])
    assert not plugins.is_installed(Registry)


def test_a_plugin_that_fails_is_named_in_one_line(site):
    site("toy_bad", plugin='MODULES = {"toy": ["toy_bad.nowhere"]}')
    with pytest.raises(BadInput, match=r"the plugin toy_bad\.plugin can't be imported: ModuleNotFoundError"):
        list(Registry("toy"))


def test_without_a_plugin_no_metadata_is_read():
    code = "import sys; from kibitz.core.plugins import plugins; plugins(); print('importlib.metadata' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["False"]
