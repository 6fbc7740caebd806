"""The kernel cache across processes, and equal results of compiled code and plain Python.

`World` is a folder with two games, a kernel, the helpers of each, and a warm cache.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

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
COLD = {"one": [137.0, 1], "two": [106.0, 1]}  # game -> [result, kernels compiled]
WARM = {"one": [137.0, 0], "two": [106.0, 0]}  # from a warm cache


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

    def run(self, games="one,two", **environment):
        results, self.heard = json.loads(*outputs(start(self.folder, "report.py", games, **environment)))
        return results

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
    assert world.run() == COLD
    assert world.heard == ["playout", None, "playout", None]
    return world


@pytest.fixture
def world(precompile, tmp_path):
    shutil.copytree(precompile.folder, tmp_path / "world")
    return World(tmp_path / "world")


# ---------------------------------------------------------------- the cache


def test_a_second_process_compiles_nothing_and_reports_nothing(world):
    assert world.run() == WARM
    assert world.heard == []


@pytest.mark.parametrize(
    ("file", "old", "new", "seen"),
    [
        pytest.param("one.py", "7 +", "8 +", {"one": [138.0, 1]}, id="a rule"),
        pytest.param("near.py", "x + 1", "x + 2", {"one": [147.0, 1]}, id="a helper imported by name"),
        pytest.param("near.py", "SCALE = 10", "SCALE = 20", {"one": [167.0, 1]}, id="a constant of another file"),
        pytest.param("far.py", "2 * x", "3 * x", {"two": [109.0, 1]}, id="a helper called through its module"),
        pytest.param("tools.py", "100", "200", {"one": [237.0, 1], "two": [206.0, 1]}, id="a kernel's helper"),
    ],
)
def test_an_edit_recompiles_only_what_depends_on_it(world, file, old, new, seen):
    world.edit(file, old, new)
    assert world.run() == WARM | seen


def test_an_edit_of_a_comment_or_of_show_compiles_nothing(world):
    world.edit("one.py", "# over when nothing is left", "# so it ends\n")
    world.edit("one.py", "so many left", "other words")
    assert world.run() == WARM


def test_a_game_whose_file_is_gone_leaves_the_others_cached(world):
    (world.folder / "one.py").unlink()
    assert world.run("two") == {"two": WARM["two"]}


def test_bounds_checks_do_not_reuse_unchecked_code(world):
    assert world.run(NUMBA_BOUNDSCHECK="1") == COLD


def test_two_processes_that_compile_at_once_keep_their_code_apart(world):
    shutil.rmtree(world.folder / "cache")
    both = [start(world.folder, "report.py", game, "slow-index") for game in ("one", "two")]
    assert [json.loads(out)[0] for out in outputs(*both)] == [{"one": [137.0, 1]}, {"two": [106.0, 1]}]
    assert world.run() == WARM


def test_damaged_files_are_compiled_again(world):
    for damaged in (world.files(".nbi")[0], world.files(".nbc")[1]):  # of one game the index, of the other the code
        os.truncate(damaged, damaged.stat().st_size // 2)
    assert world.run() == COLD
    assert world.run() == WARM


def test_files_older_than_a_month_are_removed_when_something_is_compiled(world):
    for name, days in (("old", 40), ("recent", 20)):
        path = world.folder / "cache" / "kibitz" / f"{name}.nbc"
        path.touch()
        os.utime(path, (time.time() - days * 86400,) * 2)
    world.edit("one.py", "7 +", "9 +")
    world.run("one")
    assert not world.files("old.nbc")
    assert world.files("recent.nbc")


# ---------------------------------------------------------------- plain = compiled

# More to compare is one more function that yields (name, something with tobytes).
SCRIPT = '''
import hashlib
import numpy as np
from kibitz import games
from kibitz.games import OVER
from kibitz.jit import generators, kernel, mix

@kernel
def walk(game, state, view, guess, notes, encoding, rng):
    """Play to the end at random and call all rules at every turn; a key of all results."""
    key = np.uint64(1)
    while game.turn(state) != OVER:
        for seat in range(2):
            key = mix(key, game.infoset(state, seat))
            game.look(state, seat, view)
            game.prepare(view, seat, notes)
            key = mix(key, game.determinize(view, seat, notes, rng, guess))
            game.observe(guess, seat, encoding)
            for x in encoding:
                key = mix(key, int(x))
        game.play(state, game.sample_action(state, rng))
    return mix(key, int(100 + game.payoff(state, 0)))

def walks():
    for name, cls in games.GAMES.items():
        game = cls()
        if game.facts.seats > 2:
            continue  # many rules, so long to compile; games/test_compiled.py compares them
        scratch = games.positions(game, 2)
        notes, encoding = np.zeros(game.facts.notes), np.zeros(game.facts.encoding, np.float32)
        for rng in generators(1, 20 if game.facts.max_game_length < 50 else 1):  # plain Python is slow
            state = games.positions(game)[0]
            yield name, np.uint64(walk(game, state, scratch[0], scratch[1], notes, encoding, rng))
            yield name, state
            yield name, rng

def solutions():
    from kibitz.search.best_response import evaluate
    from kibitz.search.solvers import METHODS, new_solver

    for name in ("kuhn", "leduc", "goofspiel:3", "liars_dice:faces=2"):
        for method in METHODS:
            solver, form = new_solver(games.load(name), method, seed=7)
            solver.run(4 if name != "leduc" else 1)
            strategy = solver.strategy()
            yield f"{name} {method}", strategy.keys
            yield f"{name} {method}", strategy.probs
            yield f"{name} {method}", np.float64(evaluate(form, strategy).nash_conv)

for compare in (walks, solutions):
    for name, value in compare():
        print(name, hashlib.sha256(value.tobytes()).hexdigest()[:16])
'''


def test_plain_python_gives_the_same_results_from_the_same_seeds(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    plain = start(tmp_path, "-W", "error", "script.py", NUMBA_DISABLE_JIT="1")  # an overflow is an error
    compiled = start(tmp_path, "script.py")
    plain_lines, compiled_lines = (out.splitlines() for out in outputs(plain, compiled))
    assert len(plain_lines) >= 240
    assert plain_lines == compiled_lines
