"""Files of users: each file is a module of its own, and so is each module beside it, whatever was imported before."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from kibitz.core.names import BadInput
from kibitz.core.pool import spread
from kibitz.core.registry import class_from_file
from kibitz.games import load

ROOT = Path(__file__).parents[2]
GAME = """
from typing import NamedTuple
from kibitz.games import OVER, game
from kibitz.jit import record
{imports}

@game("{name}", state=record(("left", "i8")), num_actions=1, max_game_length=9, payoffs=(-99.0, 99.0))
class Mine(NamedTuple):
    def start(self, state):
        state.left = 5

    def turn(self, state):
        return int(state.left % 2) if state.left > 0 else OVER

    def actions(self, state, out):
        out[0] = 0
        return 1

    def play(self, state, action):
        state.left -= 1

    def payoff(self, state, seat):
        return float({payoff} * (1 - 2 * seat))
"""


def write(folder, **files):
    """Write modules: `pkg__sub` is pkg/sub.py."""
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def of_file(path):
    return class_from_file("thing", f"{path}:Thing")


@pytest.fixture
def twins(tmp_path):
    """Two folders with files of the same names, whose classes say which folder they are from."""
    thing = "class Thing:\n    which = {}\n\n    @staticmethod\n    def later():\n        {}\n"
    for which, name in enumerate(("a", "b.c")):
        folder = tmp_path / name
        write(folder, common=f"import deeper\nWHICH = deeper.WHICH + {which}\n", deeper="WHICH = 0\n")
        write(folder, pack__inside="from common import WHICH\nfrom . import whole\nWHOLE = whole.WHICH\n")
        (folder / "pack" / "__init__.py").write_text("")
        write(folder, pack__whole="import common\nWHICH = common.WHICH\n", bare__module="from common import WHICH\n")
        write(folder, by_name="from common import WHICH\n" + thing.format("WHICH", "return None"))
        write(folder, by_module="import common as c\n" + thing.format("c.WHICH", "return None"))
        write(folder, by_package="import pack.inside\n" + thing.format("pack.inside.WHOLE", "return None"))
        write(folder, from_package="from pack import whole\n" + thing.format("whole.WHICH", "return None"))
        write(folder, no_init="from bare.module import *\n" + thing.format("WHICH", "return None"))
        write(folder, inside=thing.format("None", "from common import WHICH; return WHICH"))
    return tmp_path / "a", tmp_path / "b.c"


@pytest.mark.parametrize("file", ["by_name", "by_module", "by_package", "from_package", "no_init", "inside"])
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_neighbours_are_those_of_the_folder(twins, file, order):
    before = {name for name in sys.modules if name.partition(".")[0] != "kibitz"}
    things = {which: of_file(twins[which] / f"{file}.py") for which in order}
    assert [things[which].which for which in (0, 1)] == ([None, None] if file == "inside" else [0, 1])
    if file == "inside":
        assert [things[which].later() for which in order] == list(order)
    assert {name for name in sys.modules if name.partition(".")[0] != "kibitz"} == before
    assert not {str(folder) for folder in twins} & set(sys.path)


def test_a_file_is_imported_once_however_it_is_named(twins, monkeypatch):
    monkeypatch.chdir(twins[0])
    assert of_file("by_name.py") is of_file("./by_name.py") is of_file(twins[0] / "by_name.py")


@pytest.mark.parametrize("name", ["my-thing.py", "2048.py", "v1.2 draft.py", "100%.py", "both.py", "pass.py"])
def test_any_name_of_a_file_will_do(tmp_path, name):
    (tmp_path / "both").mkdir()
    (tmp_path / "both" / "__init__.py").touch()
    (tmp_path / name).write_text("class Thing: pass\n")
    thing = of_file(tmp_path / name)
    assert pickle.loads(pickle.dumps(thing)) is thing


def test_the_standard_library_comes_before_a_file_of_its_name_and_the_file_before_what_is_installed(tmp_path):
    write(tmp_path, queue="import queue\nclass Thing:\n    of = queue.Queue\n")
    write(tmp_path, numpy="mine = True\n", asks="import numpy\nclass Thing:\n    mine = hasattr(numpy, 'mine')\n")
    (tmp_path / "scipy").mkdir()  # of data: no package
    write(tmp_path, installed="import scipy, kibitz\nclass Thing:\n    of = scipy.__version__, kibitz\n")
    import queue

    import kibitz

    assert of_file(tmp_path / "queue.py").of is queue.Queue
    assert of_file(tmp_path / "asks.py").mine
    assert of_file(tmp_path / "installed.py").of[1] is kibitz


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import nowhere", ":1 can't be imported: ModuleNotFoundError: No module named 'nowhere'"),
        ("import common.nowhere", ":1 can't be imported: ModuleNotFoundError: No module named 'common.nowhere'"),
        (
            "\nfrom common import no",
            ":2 can't be imported: ImportError: cannot import name 'no' from 'common'",
        ),
        ("import deeper, broken", ":1 can't be imported: ZeroDivisionError: division by zero"),
    ],
)
def test_what_is_wrong_with_an_import_is_said_by_the_names_in_the_file(twins, text, why):
    write(twins[0], broken="1 / 0\n", faulty=text + "\nclass Thing: pass\n")
    with pytest.raises(BadInput) as refused:
        of_file(twins[0] / "faulty.py")
    assert str(refused.value).startswith(f"{twins[0] / 'faulty.py'}{why}")
    assert "user_files" not in str(refused.value)
    write(twins[0], faulty="class Thing: pass\n")
    os.utime(twins[0] / "faulty.py", (1, 1))
    assert of_file(twins[0] / "faulty.py")  # what failed is tried again


# ---------------------------------------------------------------- games


@pytest.fixture
def games(tmp_path):
    """Two games of the same names that pay 3 and 9, by a constant and a helper in a module beside each."""
    for name, pays in (("three", 3), ("nine", 9)):
        write(
            tmp_path / name,
            mine=GAME.format(name="mine", imports="from common import PAYS, times", payoff="times(PAYS)"),
            common=f"from kibitz.jit import helper\nPAYS = {pays // 3}\n@helper\ndef times(x):\n    return 3 * x\n",
        )
    return [f"{tmp_path / name / 'mine.py'}:Mine" for name in ("three", "nine")]


def play(name):
    """A worker that gives the payoff of the game of each task, by rules in plain Python and compiled."""
    from kibitz.games.random_games import playouts

    return lambda game: (float(game.payoff(None, 0)), playouts(game, 2)[1])


def test_two_games_of_one_name_have_the_payoffs_of_their_own_folders(games):
    made = [load(name) for name in games]
    assert [play("")(game) for game in made] == [(3, 3), (9, 9)]
    assert [type(pickle.loads(pickle.dumps(game))) for game in made] == [type(game) for game in made]


def test_worker_processes_get_games_of_files_of_one_name(games):
    made = [load(name) for name in games]
    assert sorted(spread(play, ("",), made, 2, alone=None)) == [(3, 3), (9, 9)]


def test_a_process_that_knows_no_kibitz_reads_a_pickled_game(games, tmp_path):
    (tmp_path / "game").write_bytes(pickle.dumps(load(games[1])))
    script = "import pickle, pathlib; print(pickle.loads(pathlib.Path('game').read_bytes()).payoff(None, 1))"
    run = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (run.stdout.strip(), run.stderr) == ("-9.0", "")


# ---------------------------------------------------------------- the examples of the repository

IN_ORDER = """
import json, sys
from pathlib import Path
from kibitz import games, jit
from kibitz.core import user_files
from kibitz.games.random_games import playouts

found = {}
for file in sys.argv[1:]:
    module = user_files.load(Path(file))
    for name, cls in vars(module).items():
        if getattr(cls, "__module__", "") == module.__name__:
            found[f"{file}:{name}"] = sorted(each for each in vars(cls) if not each.startswith("__"))
            if hasattr(cls, "facts"):
                games.check(cls(), games=2)
                found[f"{file}:{name}"].append(playouts(cls(), 20))
print(json.dumps([found, len(jit.compiled)]))
"""


def test_examples_give_the_same_after_each_other_in_both_orders_with_a_cold_and_a_warm_cache(tmp_path):
    """They are imported and their games checked; their main programs aren't run."""
    examples = sorted(map(str, (ROOT / "examples").glob("*.py")))
    found = []
    for order in (examples, examples[::-1]):
        run = subprocess.run(
            [sys.executable, "-c", IN_ORDER, *order], cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True, text=True, timeout=500,
        )  # fmt: skip
        assert run.returncode == 0, run.stderr
        found.append(json.loads(run.stdout))
    (forwards, cold), (backwards, warm) = found
    assert forwards == backwards
    assert {name.rpartition(":")[0] for name in forwards} == set(examples)
    assert cold > 0
    assert warm == 0
