"""The kernel cache across processes, and equal results of compiled code and plain Python.

`World` is a folder with a few games, a kernel, the helpers of each, and a warm cache.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from . import results

ROOT = Path(__file__).parents[2]

GAME = """
from typing import NamedTuple
from kibitz.games import OVER, game
from kibitz.jit import record
{imports}

@game("{name}", state=record(("left", "i8")), num_actions=2, max_game_length=9, payoffs=(-99.0, 99.0), zero_sum=False)
class {name}(NamedTuple):
    def start(self, state):
        state.left = 5

    def turn(self, state):
        return 0 if state.left > 0 else OVER  # over when nothing is left

    def actions(self, state, out):
        out[0] = 1
        return 1

    def play(self, state, action):
        state.left -= action

    def payoff(self, state, seat):
        return float({payoff})

    def show(self, state, seat):
        return "so many left"
"""

WORLD = {
    "one.py": GAME.format(name="One", imports="from near import bonus, SCALE", payoff="7 + bonus(2) * SCALE"),
    "two.py": GAME.format(name="Two", imports="import far", payoff="far.bonus(3)"),
    "ruled.py": GAME.format(name="Ruled", imports="", payoff="5"),
    "scaled.py": GAME.format(name="Scaled", imports="from sizes import SIZE", payoff="SIZE"),
    "still.py": GAME.format(name="Still", imports="", payoff="3"),
    "sizes.py": "SIZE = 20\n",
    "near.py": "from kibitz.jit import helper\nSCALE = 10\n@helper\ndef bonus(x):\n    return x + 1\n",
    "far.py": "from kibitz.jit import helper\n@helper\ndef bonus(x):\n    return 2 * x\n",
    "tools.py": "from kibitz.jit import helper, popcount\n@helper\ndef weigh(x):\n    return x + 100 * popcount(8)\n",
    "kernels.py": """
from kibitz.games import OVER
from kibitz.jit import kernel
from tools import weigh

@kernel
def playout(game, state, rng):
    while game.turn(state) != OVER:
        game.play(state, game.sample_action(state, rng))
    return weigh(game.payoff(state, 0))
""",
    "report.py": """
import json, sys
from kibitz import games, jit
from kibitz.core import progress
from kernels import playout

if "slow-index" in sys.argv:  # another process reads the same index before this one has written it
    import time
    from numba.core.caching import IndexDataCacheFile
    read = IndexDataCacheFile._load_index
    IndexDataCacheFile._load_index = lambda self: (read(self), time.sleep(0.5))[0]

heard, results = [], {}
progress.on_compile = heard.append
for name in sys.argv[1].split(","):
    game = games.load(f"{name}.py:{name.title()}")
    results[name] = [playout(game, games.positions(game)[0], jit.generators(1, 1)[0]), len(jit.compiled)]
    jit.compiled.clear()
print(json.dumps([results, heard]))
""",
}
RESULTS = {"one": 137.0, "two": 106.0, "ruled": 105.0, "scaled": 120.0, "still": 103.0}


def cold(*games):
    """Game -> [result, kernels compiled] with an empty cache."""
    return {name: [RESULTS[name], 1] for name in games}


def warm(*games):
    return {name: [RESULTS[name], 0] for name in games}


def start(folder, *command, **environment):
    """Start a Python process in this folder, with its cache there."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    variables = {**clean, "NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": str(ROOT), **environment}
    variables["PYTHONDONTWRITEBYTECODE"] = "1"  # two edits within a second would leave a stale .pyc
    return subprocess.Popen(
        [sys.executable, *command], cwd=folder, env=variables, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def outputs(*processes):
    ended = [process.communicate(timeout=300) for process in processes]
    for process, (_, errors) in zip(processes, ended, strict=True):
        assert process.returncode == 0, errors
    return [out for out, _ in ended]


class World:
    def __init__(self, folder):
        self.folder = folder

    def run(self, *games, **environment):
        found, self.heard = json.loads(*outputs(start(self.folder, "report.py", ",".join(games), **environment)))
        return found

    def edit(self, file, old, new):
        path = self.folder / file
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))

    def files(self, ending):
        return sorted(path for path in (self.folder / "cache").rglob("*") if path.name.endswith(ending))


@pytest.fixture(scope="module")
def precompile(tmp_path_factory):
    """A world whose cache is warm. Not to be changed: tests get copies."""
    world = World(tmp_path_factory.mktemp("world"))
    for file, text in WORLD.items():
        (world.folder / file).write_text(text)
    assert world.run(*RESULTS) == cold(*RESULTS)
    assert world.heard == ["playout", None] * len(RESULTS)
    return world


@pytest.fixture
def world(precompile, tmp_path):
    shutil.copytree(precompile.folder, tmp_path / "world")
    return World(tmp_path / "world")


# ---------------------------------------------------------------- the cache


def test_an_edit_recompiles_only_what_depends_on_it(world):
    world.edit("ruled.py", "float(5)", "float(6)")
    world.edit("near.py", "x + 1", "x + 2")  # a helper imported by name
    world.edit("far.py", "2 * x", "3 * x")  # a helper called through its module
    world.edit("sizes.py", "20", "30")  # a constant of another file
    seen = {"ruled": [106.0, 1], "one": [147.0, 1], "two": [109.0, 1], "scaled": [130.0, 1]}
    assert world.run(*RESULTS) == {**warm("still"), **seen}


def test_an_edit_of_a_kernels_helper_recompiles_it(world):
    world.edit("tools.py", "100", "200")
    assert world.run("still") == {"still": [203.0, 1]}


def test_a_second_process_compiles_nothing_and_reports_nothing_even_after_an_edit_of_a_comment_or_of_show(world):
    world.edit("one.py", "# over when nothing is left", "# so it ends\n")
    world.edit("one.py", "so many left", "other words")
    assert world.run("one", "two") == warm("one", "two")
    assert world.heard == []


def test_a_game_whose_file_is_gone_leaves_the_others_cached(world):
    (world.folder / "one.py").unlink()
    assert world.run("two") == warm("two")


def test_bounds_checks_do_not_reuse_unchecked_code(world):
    assert world.run("still", NUMBA_BOUNDSCHECK="1") == cold("still")


def test_two_processes_that_compile_at_once_keep_their_code_apart(world):
    shutil.rmtree(world.folder / "cache")
    both = [start(world.folder, "report.py", game, "slow-index") for game in ("one", "two")]
    assert [json.loads(out)[0] for out in outputs(*both)] == [cold("one"), cold("two")]
    assert world.run("one", "two") == warm("one", "two")


def test_damaged_files_are_compiled_again(world):
    for damaged in (world.files(".nbi")[0], world.files(".nbc")[1]):  # of one game the index, of another the code
        os.truncate(damaged, damaged.stat().st_size // 2)
    assert sum(compiled for _, compiled in world.run(*RESULTS).values()) == 2
    assert world.run(*RESULTS) == warm(*RESULTS)


def test_files_older_than_a_month_are_removed_when_something_is_compiled(world):
    for name, days in (("old", 40), ("recent", 20)):
        path = world.folder / "cache" / "kibitz" / f"{name}.nbc"
        path.touch()
        os.utime(path, (time.time() - days * 86400,) * 2)
    world.edit("still.py", "float(3)", "float(9)")
    world.run("still")
    assert not world.files("old.nbc")
    assert world.files("recent.nbc")


CHECKED = """
import sys
from kibitz.games import GAMES, check
from kibitz.jit import helper
from kibitz.core.names import BadInput

for file in sys.argv[1:]:
    try:
        check(GAMES[f"{file}:Three"](), games=2)
        print("kept")
    except BadInput as error:
        print(error)
"""
REFUSED = "bare.py:23: payoff: it uses bonus, which lacks the decorator @helper (from kibitz import helper)"
HELPED = {"helped.py": "kept", "bare.py": REFUSED}


def test_a_helper_without_its_decorator_is_refused_whatever_was_compiled_before(tmp_path):
    text = GAME.format(name="Three", imports="from kibitz.jit import helper", payoff="bonus(2)")
    helper = "\n\n{}def bonus(x):\n    return x + 1\n"
    (tmp_path / "helped.py").write_text(text + helper.format("@helper\n"))
    (tmp_path / "bare.py").write_text(text + helper.format(""))
    (tmp_path / "checked.py").write_text(CHECKED)
    for files in (["helped.py", "bare.py", "helped.py"], ["bare.py", "helped.py"]):  # the second with a warm cache
        [out] = outputs(start(tmp_path, "checked.py", *files))
        assert out.splitlines() == [HELPED[file] for file in files]


# ---------------------------------------------------------------- plain = compiled


def test_plain_python_gives_the_same_results_from_the_same_seeds():
    plain = start(ROOT, "-W", "error", "-m", results.__name__, NUMBA_DISABLE_JIT="1")  # an overflow is an error
    compiled_lines = list(results.lines())
    (plain_lines,) = (out.splitlines() for out in outputs(plain))
    assert len(plain_lines) >= 240
    assert plain_lines == compiled_lines
