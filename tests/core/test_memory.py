"""Memory limits: how they are read, and that what exceeds them is refused before it is allocated."""

import os
import resource
import subprocess
import sys

import numpy as np
import pytest

from kibitz import games
from kibitz.app import cli
from kibitz.core import memory
from kibitz.core.names import BadInput
from kibitz.core.pool import spread
from kibitz.search.infoset_table import grow, new_table
from kibitz.search.mcts import Uct
from kibitz.solve.sequence_form import unfold
from kibitz.solve.solvers import new_solver
from kibitz.train.replay import ReplayBuffer


@pytest.fixture(scope="module", autouse=True)
def peak_before():
    """Kilobytes that this process had used at most before the first test of this file."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@pytest.fixture(autouse=True)
def no_limit(monkeypatch):
    monkeypatch.delenv(memory.VARIABLE, raising=False)


@pytest.fixture
def limited(monkeypatch):
    return lambda text: monkeypatch.setenv(memory.VARIABLE, text)


@pytest.mark.parametrize(
    ("text", "size"),
    [("8", 8e9), ("8G", 8e9), ("8gb", 8e9), ("0.5", 5e8), ("500M", 5e8), ("500 k", 5e5), ("2T", 2e12), (".5G", 5e8)],
)
def test_sizes(text, size):
    assert memory.parse(text) == size


@pytest.mark.parametrize("text", ["", "x", "8X", "-1", "0", "0%", "101%", "nan", "inf", "1e400", "8 8", "9" * 30])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(BadInput, match="should be gigabytes"):
        memory.parse(text)


def test_the_default_is_four_fifths_of_what_is_free(monkeypatch):
    monkeypatch.setattr(memory, "free", lambda: 10e9)
    memory._parsed.cache_clear()
    assert memory.limit() == 8e9
    memory._parsed.cache_clear()
    assert memory.parse("50%") == 5e9


def test_free_memory_is_that_of_the_machine_or_its_container(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    assert memory.free() > 0  # unknown
    (tmp_path / "meminfo").write_text("MemTotal: 9000 kB\nMemAvailable:    4000 kB\n")
    assert memory.free() == 4000 * 1024
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("1000\n")
    assert memory.free() == 4000 * 1024
    (tmp_path / "memory.max").write_text("5000\n")
    assert memory.free() == 4000


def test_the_message_says_need_limit_and_what_to_lower(limited):
    limited("2G")
    memory.check(2e9, "x", "")
    with pytest.raises(BadInput) as caught:
        memory.check(3.21e9, "the table", "use fewer cells")
    assert str(caught.value) == (
        "the table needs 3.21 GB of memory or more, and the limit is 2.00 GB: "
        "use fewer cells, or raise the limit with --memory"
    )


def report_limit():
    return lambda task: memory.limit()


def test_worker_processes_share_the_limit(limited):
    limited("3G")
    assert set(spread(report_limit, (), range(3), 3, alone=None)) == {1e9}
    assert os.environ[memory.VARIABLE] == "3G"


# ---------------------------------------------------------------- what allocates


def test_a_game_tree_is_bounded_while_it_grows(limited):
    for size in ("100K", "400K"):
        limited(size)
        with pytest.raises(BadInput, match=r"the game tree of goofspiel:cards=5 needs .*: choose a smaller game"):
            unfold(games.load("goofspiel:5"))
    with pytest.raises(BadInput, match=r"the game tree of goofspiel:cards=5 needs"):
        new_solver(games.load("goofspiel:5"), "cfr+")


def test_a_table_of_infosets_is_bounded(limited):
    table = new_table()
    limited("1M")
    with pytest.raises(BadInput, match="the table of infosets needs"):
        grow(table, 1, 10**6)


def test_a_replay_buffer_is_bounded(limited):
    buffer = ReplayBuffer(10**6, {"x": np.zeros((0, 1000))}, "latest")
    generator = np.random.default_rng(1)
    buffer.add({"x": np.zeros((10, 1000))}, generator)
    limited("1M")
    with pytest.raises(BadInput, match=r"a replay buffer of 210 samples needs .*lower its capacity"):
        buffer.add({"x": np.zeros((200, 1000))}, generator)


def test_a_full_tree_is_searched_on_and_says_so():
    game = games.load("tic_tac_toe")
    view = games.positions(game)[0]
    small = Uct(game, prove=False, megabytes=0.01)
    advice = small.advise(view, 0, 5000)
    assert advice.simulations == 5000
    assert small.bytes < 0.02e6
    assert small.note.startswith("the tree is full (")
    large = Uct(game, prove=False)
    large.advise(view, 0, 100)
    assert large.note == ""


def test_the_option_sets_the_limit(limited, tmp_path, monkeypatch, capsys):
    limited("4G")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["kibitz", "solve", "kuhn", "--memory", "100K"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "the game tree of kuhn needs" in said
    assert said.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.heavy
@pytest.mark.parametrize("player", ["uct:50000000", "oos:50000000", "ismcts:50000000"])
def test_fifty_million_simulations_keep_memory_bounded(player):
    """In a process that may use 300 MB for them: a bounded tree, or a refusal that says the need."""
    script = f"""
import re, sys
from kibitz.app import cli
sys.argv = ["kibitz", "advise", sys.argv[1], "--with", "{player}", "--memory", "300M"]
try:
    cli.main()
finally:
    peak = re.search(r"VmHWM: *([0-9]+)", open("/proc/self/status").read().replace("\t", ""))
    print(int(peak[1]) // 1024, file=sys.stderr)  # the maximum of getrusage starts with that of the parent
"""
    game = "connect_four" if player.startswith("uct") else "goofspiel:6"
    done = subprocess.run([sys.executable, "-c", script, game], capture_output=True, text=True, timeout=1800)
    *said, peak = done.stderr.splitlines()
    assert int(peak) < 1000
    if player.startswith("uct"):
        assert done.returncode == 0
        assert "the tree is full" in said[-1]
    else:
        assert done.returncode == 2
        assert "GB of memory, more than the 0.3 GB allowed" in said[-1]


def test_the_peak_of_this_process_is_moderate(peak_before):
    """The tests above refuse before they allocate; tests of other files in this process may have needed more."""
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < max(peak_before, 1_000_000) + 1_000_000
