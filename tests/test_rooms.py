"""The direction of imports: a room knows only the rooms above it."""

import ast
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "kibitz"
ROOMS = ["core", "jit", "games", "search", "nets", "solve", "train", "play", "bridges", "reproduce", "app", "api"]
COMMANDS = "which only the guest's own folder app may use"
GUESTS = ["poker", "doppelkopf"]  # import any room; none imports them
ONLY_IN = {
    "numba": {"jit"},
    "torch": {"nets", "solve", "train", "reproduce", *GUESTS},
    "ray": {"core"},
    "tensorboard": {"core"},
    "gymnasium": {"bridges"},
    "pettingzoo": {"bridges"},
    "pyspiel": {"games", "bridges"},
    "open_spiel": {"bridges"},
    "pickle": set(),
    "dill": set(),
    "cloudpickle": set(),
}


def wrongs(package):
    """What is wrong in each file of a package, one line each."""
    found = []
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).with_suffix("").parts
        if parts[0] in ("__init__", "__main__"):
            continue
        place = "/".join(parts)
        if parts[0] not in ROOMS + GUESTS:
            found.append(f"{place}: no room is called {parts[0]}")
            continue
        tree = ast.parse(path.read_text())
        for module in imports(tree, (package.name, *parts)):
            top, *inner = module
            if top == package.name:
                # `from .. import __version__` is of the package itself
                wrong = why_not(parts, inner[0]) if inner else ""
                found += [f"{place}: imports {inner[0]}, {wrong}"] if wrong else []
            elif parts[0] not in ONLY_IN.get(top, {parts[0]}):
                found.append(f"{place}: imports {top}")
        found += [f"{place}: loads pickles" for node in ast.walk(tree) if loads_pickles(node)]
    return found


def why_not(place, room):
    """Why a file shouldn't import from a room; empty if it may."""
    if room in GUESTS:
        return "a guest" if room != place[0] else ""
    if place[0] in GUESTS:
        return COMMANDS if room == "app" and place[1] != "app" else ""
    return "a room below its own" if room in ROOMS[ROOMS.index(place[0]) + 1 :] else ""


def imports(tree, place):
    """Every module that a file imports, wherever in it, in full: ("kibitz", "games", "kuhn")."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            # One dot is the folder of the file; in __init__.py the file's own name counts for a dot too.
            base = place[: len(place) - node.level] if node.level else ()
            base += tuple((node.module or "").split(".")) if node.module else ()
            yield from ((*base, alias.name) for alias in node.names)


def loads_pickles(node):
    """`torch.load(...)` without `weights_only=True`, `np.load(..., allow_pickle=True)`."""
    if not isinstance(node, ast.Call) or not ast.unparse(node.func).endswith((".load", "read_pickle")):
        return False
    given = {word.arg: ast.unparse(word.value) for word in node.keywords}
    if ast.unparse(node.func) == "torch.load":
        return given.get("weights_only") != "True"
    return given.get("allow_pickle", "False") != "False" or ast.unparse(node.func).endswith("read_pickle")


def test_the_readme_lists_the_rooms_in_order():
    lines = re.findall(r"^kibitz/(\w+) .* kibitz/(\w+) ", (PACKAGE.parent / "README.md").read_text(), re.MULTILINE)
    assert [room for column in zip(*lines, strict=True) for room in column] == ROOMS[:10] + GUESTS + ROOMS[10:]


@pytest.mark.parametrize("room", ROOMS + GUESTS)
def test_a_room_says_in_one_sentence_what_it_holds_and_may_import(room):
    assert "import" in ast.get_docstring(ast.parse((PACKAGE / room / "__init__.py").read_text())).lower()


def test_rooms_import_only_from_rooms_above_them():
    assert len(list(PACKAGE.rglob("*.py"))) > 10
    assert wrongs(PACKAGE) == []


def arrows(package):
    """The modules that each module imports, wherever in it, but for types only: name -> names."""
    files = {}
    for path in package.rglob("*.py"):
        place = (package.name, *path.relative_to(package).with_suffix("").parts)
        files[".".join(place[:-1] if place[-1] == "__init__" else place)] = path, place
    found = {}
    for name, (path, place) in files.items():
        tree = ast.parse(path.read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                node.body = [ast.Pass()]
        modules = {".".join(each) for each in imports(tree, place)}
        found[name] = {each if each in files else each.rpartition(".")[0] for each in modules} & set(files) - {name}
    return found


def test_no_imports_go_round_in_a_circle(tmp_path):
    TopologicalSorter(arrows(PACKAGE)).prepare()
    for name, other in (("one", "two"), ("two", "one")):
        (tmp_path / f"{name}.py").write_text(f"def f():\n    from . import {other}")
    with pytest.raises(CycleError):
        TopologicalSorter(arrows(tmp_path)).prepare()


@pytest.mark.parametrize(
    ("file", "text", "wrong"),
    [
        ("games/kuhn.py", "from ..search import cfr", "games/kuhn: imports search, a room below its own"),
        ("games/kuhn.py", "from .. import search", "games/kuhn: imports search, a room below its own"),
        ("games/__init__.py", "from ..app.cli import main", "games/__init__: imports app, a room below its own"),
        ("core/names.py", "from .. import jit", "core/names: imports jit, a room below its own"),
        ("core/names.py", "from ..jit import mix", "core/names: imports jit, a room below its own"),
        ("search/oos.py", "def f():\n    import kibitz.app.cli", "search/oos: imports app, a room below its own"),
        ("solve/deep/cfr.py", "from ...play import elo", "solve/deep/cfr: imports play, a room below its own"),
        ("play/match.py", "from ..poker import ranges", "play/match: imports poker, a guest"),
        ("poker/ranges.py", "from .. import doppelkopf", "poker/ranges: imports doppelkopf, a guest"),
        ("poker/ranges.py", "from ..app import ui", f"poker/ranges: imports app, {COMMANDS}"),
        ("solve/cfr.py", "from numba import njit", "solve/cfr: imports numba"),
        ("play/match.py", "import torch.nn", "play/match: imports torch"),
        ("core/runs.py", "import pickle", "core/runs: imports pickle"),
        ("nets/mlp.py", "import torch\ntorch.load(path)", "nets/mlp: loads pickles"),
        ("core/runs.py", "import numpy as np\nnp.load(path, allow_pickle=True)", "core/runs: loads pickles"),
        ("utils.py", "", "utils: no room is called utils"),
        ("solve/cfr.py", "from .. import __version__\nfrom ..games import kuhn\nfrom . import table", None),
        ("poker/ranges.py", "from ..reproduce import study\nfrom .rules import deck", None),
        ("poker/app/ranges.py", "from ...app.ui import plots", None),
        ("nets/mlp.py", "import torch\ntorch.load(path, weights_only=True)", None),
        ("__main__.py", "from .app.cli import main", None),
    ],
)
def test_a_planted_wrong_is_found_and_nothing_else(tmp_path, file, text, wrong):
    path = tmp_path / "kibitz" / file
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert wrongs(tmp_path / "kibitz") == ([wrong] if wrong else [])


def test_the_core_needs_no_extras():
    hidden = "import sys; sys.modules.update(ray=None, fastapi=None, pydantic=None); "
    subprocess.run(
        [sys.executable, "-c", hidden + "import kibitz.app.cli, kibitz.core.ray_cluster"], check=True, timeout=60
    )
