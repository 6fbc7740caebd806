"""The direction of imports: a room knows only the rooms above it."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .guests import is_of_a_guest

PACKAGE = Path(__file__).parents[1] / "kibitz"
ROOMS = ["core", "jit", "games", "search", "learn", "players", "arena", "studies", "bridges", "envs", "app", "api"]
GUESTS = ["poker", "doppelkopf"]  # they may import every room, and no room may know them (tests/test_guests.py)
ONLY_IN = {
    "numba": {"jit"},
    "torch": {"learn", "studies"},
    "ray": {"core"},
    "tensorboard": {"core"},
    "gymnasium": {"envs"},
    "pettingzoo": {"envs"},
    "pyspiel": {"games", "bridges"},
    "open_spiel": {"players", "bridges"},
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
        guest = is_of_a_guest(place, GUESTS)
        if parts[0] not in ROOMS and not guest:
            found.append(f"{place}: no room is called {parts[0]}")
            continue
        tree = ast.parse(path.read_text())
        for module in imports(tree, (package.name, *parts)):
            top, *inner = module
            if top == package.name:
                # `from .. import __version__` is of the package itself
                if not guest and inner and inner[0] in ROOMS and ROOMS.index(inner[0]) > ROOMS.index(parts[0]):
                    found.append(f"{place}: imports {inner[0]}, a room below its own")
            elif parts[0] not in ONLY_IN.get(top, {parts[0]}):
                found.append(f"{place}: imports {top}")
        found += [f"{place}: loads pickles" for node in ast.walk(tree) if loads_pickles(node)]
    return found


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
    assert [room for column in zip(*lines, strict=True) for room in column] == ROOMS


def test_rooms_import_only_from_rooms_above_them():
    assert len(list(PACKAGE.rglob("*.py"))) > 10
    assert wrongs(PACKAGE) == []


@pytest.mark.parametrize(
    ("file", "text", "wrong"),
    [
        ("games/kuhn.py", "from ..search import cfr", "games/kuhn: imports search, a room below its own"),
        ("games/kuhn.py", "from .. import search", "games/kuhn: imports search, a room below its own"),
        ("games/__init__.py", "from ..app.cli import main", "games/__init__: imports app, a room below its own"),
        ("core/names.py", "from .. import jit", "core/names: imports jit, a room below its own"),
        ("core/names.py", "from ..jit import mix", "core/names: imports jit, a room below its own"),
        ("solve/cfr.py", "def f():\n    import kibitz.app.cli", "search/cfr: imports app, a room below its own"),
        ("search/deep/cfr.py", "from ...arena import elo", "search/deep/cfr: imports arena, a room below its own"),
        ("solve/cfr.py", "from numba import njit", "search/cfr: imports numba"),
        ("play/match.py", "import torch.nn", "arena/match: imports torch"),
        ("core/runs.py", "import pickle", "core/runs: imports pickle"),
        ("learn/net.py", "import torch\ntorch.load(path)", "learn/net: loads pickles"),
        ("core/runs.py", "import numpy as np\nnp.load(path, allow_pickle=True)", "core/runs: loads pickles"),
        ("utils.py", "", "utils: no room is called utils"),
        ("solve/cfr.py", "from .. import __version__\nfrom ..games import kuhn\nfrom . import table", None),
        ("learn/net.py", "import torch\ntorch.load(path, weights_only=True)", None),
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
