"""The command line: what it writes, and how it reports errors."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.main import get_command

from kibitz import games
from kibitz.app import cli
from kibitz.app.commands import bench
from kibitz.app.index import ships
from kibitz.search.strategy import read_strategy
from kibitz.solve.solvers import METHODS

ROOT = Path(__file__).parents[2]


def test_solve_writes_a_run_and_reports_its_result(kibitz, tmp_path):
    code, out, _ = kibitz("solve", "leduc", "--with", "cfr+", "--iterations", "200", "--json", "report.json")
    assert code == 0
    folder = tmp_path / "runs" / "leduc-cfr+-001"
    assert {path.name for path in folder.iterdir()} == {
        "config.json",
        "metrics.jsonl",
        "strategy.safetensors",
        "convergence.png",
        "lock",
    }
    assert (folder / "convergence.png").read_bytes()[:4] == b"\x89PNG"
    metrics = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [row["iterations"] for row in metrics][:6] == [1, 2, 3, 5, 7, 10]
    assert metrics[-1]["iterations"] == 200
    assert metrics[-1]["nash_conv"] < 0.02 < metrics[3]["nash_conv"]
    assert "NashConv" in out
    assert "raise" in out  # a few infosets are shown
    assert read_strategy(folder / "strategy.safetensors").game == games.load("leduc")
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["nash_conv"] == metrics[-1]["nash_conv"]
    assert kibitz("exploit", "leduc", "runs/leduc-cfr+-001", "--json", "exploit.json")[0] == 0
    assert json.loads((tmp_path / "exploit.json").read_text())["nash_conv"] == pytest.approx(report["nash_conv"])


@pytest.mark.parametrize("method", ["cfr", "linear", "dcfr", "pcfr+", "external", "outcome"])
def test_every_solver_runs(kibitz, method):
    code, out, _ = kibitz("solve", "kuhn", "--with", method, "--iterations", "500")
    assert code == 0
    assert float(re.search(r"NashConv ([\d.e-]+)", out)[1]) < 0.6


def test_the_same_seed_gives_the_same_files(kibitz, tmp_path):
    for seed, folder in ((4, "a"), (4, "b"), (5, "c")):
        kibitz("solve", "kuhn", "--with", "outcome", "--iterations", "300", "--seed", str(seed), "--out", folder)
    a, b, c = ((tmp_path / name / "metrics.jsonl").read_text() for name in "abc")
    assert a == b != c


def test_a_game_too_large_for_nash_conv_is_still_solved(kibitz):
    code, out, _ = kibitz("solve", "goofspiel:13", "--with", "outcome", "--iterations", "20")
    assert code == 0
    assert "NashConv not measured" in out


def test_games_lists_all_games_or_details_of_one(kibitz):
    out = kibitz("games")[1]
    assert all(name in out for name in ships(games.GAMES))
    assert "suits are distinguished" in " ".join(kibitz("games", "leduc:ranks=4")[1].split())
    assert "holdem:flop: streets=2" in kibitz("games", "holdem")[1]


def test_a_game_from_a_file_is_solved(kibitz):
    example = next((ROOT / "examples").glob("*.py"))
    name = next(line.split()[1].split("(")[0] for line in example.read_text().splitlines() if line.startswith("class "))
    code, out, _ = kibitz("solve", f"{example}:{name}", "--iterations", "50")
    assert code == 0
    assert "NashConv" in out


def commands(group, path=()):
    """Every command that does something itself, with its path: ("runs", "compare")."""
    for name, command in group.commands.items():
        if not hasattr(command, "commands") or command.invoke_without_command:
            yield (*path, name), command
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))


@pytest.mark.parametrize("path", [path for path, _ in commands(get_command(cli.build()))], ids=" ".join)
def test_help_has_an_example(kibitz, path):
    code, out, _ = kibitz(*path, "--help")
    assert code == 0
    assert f"Example: kibitz {' '.join(path)}" in out


def test_help_sorts_commands_into_panels(kibitz):
    out = kibitz("--help")[1]
    places = [out.index(f"─ {panel} ─") for panel in cli.panels()]
    assert places == sorted(places)
    assert "Other" not in out
    assert set(get_command(cli.build()).commands) == {name for names in cli.panels().values() for name in names}


def test_help_names_every_solver(kibitz):
    out = kibitz("solve", "--help")[1]
    assert all(f" {method}" in out for method in METHODS)


def test_compile_says_how_many_kernels_it_compiled(kibitz):
    code, out, _ = kibitz("compile", "kuhn", "--player", "oos:10")
    assert code == 0
    assert re.search(r"kuhn: \d+ kernels compiled", out)


def test_cache_counts_its_files_and_clears_them(kibitz, tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kernels"))
    assert ": 0 files" in kibitz("cache")[1]
    for name in ("kernel.nbi", "kernel.1.nbc"):
        (tmp_path / "kernels" / "kibitz" / name).write_text("code")
    assert re.search(r"kernels.*: 2 files", kibitz("cache")[1])
    assert "cleared" in kibitz("cache", "--clear")[1]
    assert ": 0 files" in kibitz("cache")[1]


@pytest.mark.heavy
def test_what_one_process_has_compiled_no_other_compiles(tmp_path):
    def compiled() -> int:
        environment = dict(os.environ, PYTHONPATH=str(ROOT), NUMBA_CACHE_DIR=str(tmp_path))
        command = [sys.executable, "-m", "kibitz", "compile", "kuhn"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200)
        assert done.returncode == 0, done.stderr
        return int(re.search(r"(\d+) kernels compiled", done.stdout)[1])

    assert compiled() > 4
    assert compiled() == 0


BAD = {
    ("solve", "kuhn", "--with", "cfrplus"): "no solver is called 'cfrplus': did you mean 'cfr+'?",
    ("solve", "ledoc"): "no game is called 'ledoc': did you mean 'leduc'?",
    ("solve", "goofspiel:0"): "cards=0 is out of range, it should be 2 to 13",
    ("solve", "liars_dice:dice=99"): "dice=99 is out of range, it should be 1 to 5",
    ("solve", "leduc:colour=3"): "no parameter is called 'colour'",
    ("solve", "leduc", "--iterations", "-5"): "--iterations should be at least 1, not -5",
    ("solve", "leduc", "--iterations", "many"): "--iterations",
    ("solve", "leduc", "--seed", "-1"): "--seed should be at least 0, not -1",
    ("solve", "leduc", "--with", "magic"): "no solver is called 'magic'",
    ("solve", "goofspiel:13", "--with", "cfr"): "30,000,000 leaves; --with outcome samples it",
    ("solve", "holdem"): "leaves; --with pcs solves it",
    ("solve", "leduc", "--out", "foreign"): "foreign holds other things",
    ("solve", "leduc", "--out", "file.txt"): "file.txt",
    ("solve", "leduc", "--out", "file.txt/below"): "can't write to file.txt/below",
    ("solve", "kuhn", "--iterations", "1", "--json", "no/such/folder.json"): "can't write no/such/folder.json",
    ("solve", "nowhere.py:Game"): "no file 'nowhere.py'",
    ("exploit", "leduc", "nothing.safetensors"): "no strategy file",
    ("exploit", "leduc", "file.txt"): "can't be read as strategy",
    ("bench", "magic"): "no benchmark is called 'magic'",
    ("check", "kuhn", "--games", "9223372036854775808"): "not in the range 1<=x<=1000000",
    ("compile", "ledoc"): "no game is called 'ledoc'",
    ("games", "ledoc"): "no game is called 'ledoc'",
    ("fly",): "No such command 'fly'. See kibitz --help.",
    ("advise", "kuhn", "--player", "random"): "No such option: --player. See kibitz advise --help.",
}


@pytest.mark.parametrize("arguments", BAD, ids=" ".join)
def test_bad_input_is_reported_in_one_line(kibitz, tmp_path, arguments):
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "diary.txt").write_text("mine")
    (tmp_path / "file.txt").write_text("mine")
    code, _, error = kibitz(*arguments)
    assert code == 2
    assert BAD[arguments] in error
    assert error.startswith("kibitz: ")
    assert error.count("\n") == 1
    assert (tmp_path / "foreign" / "diary.txt").read_text() == "mine"
    assert (tmp_path / "file.txt").read_text() == "mine"


def test_a_run_folder_is_never_written_twice(kibitz, tmp_path):
    kibitz("solve", "kuhn", "--iterations", "3", "--out", "run")
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    code, _, error = kibitz("solve", "kuhn", "--iterations", "9", "--out", "run")
    assert code == 2
    assert "run holds a run already" in error
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    for number in (1, 2):
        kibitz("solve", "kuhn", "--iterations", "1")
        assert (tmp_path / "runs" / f"kuhn-cfr+-{number:03d}").is_dir()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for a child")
def test_ctrl_c_saves_the_strategy(tmp_path):
    command = [sys.executable, "-m", "kibitz", "solve", "leduc", "--iterations", "1000000000", "--out", "run"]
    environment = dict(os.environ, PYTHONPATH=str(ROOT))
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True)
    metrics = tmp_path / "run" / "metrics.jsonl"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and (not metrics.exists() or metrics.read_text().count("\n") < 12):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    try:
        _, error = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "the strategy so far is saved" in error
    assert "Traceback" not in error
    assert read_strategy(tmp_path / "run" / "strategy.safetensors", games.load("leduc")).keys.size == 288


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of its own")
def test_a_terminal_shows_progress(tmp_path):
    """With nothing compiled yet: a spinner while compiling, then a bar with NashConv."""
    import pty

    seen = b""
    child, terminal = pty.fork()
    if child == 0:
        environment = dict(os.environ, NUMBA_CACHE_DIR=str(tmp_path), PYTHONPATH=str(ROOT), TERM="xterm", COLUMNS="140")
        command = [
            sys.executable,
            "-m",
            "kibitz",
            "solve",
            "kuhn",
            "--iterations",
            "300000",
            "--out",
            str(tmp_path / "run"),
        ]
        os.execve(sys.executable, command, environment)
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # Linux says so when the other side has closed
            break
        if not part:
            break
        seen += part
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert b"compiling (first time only)" in seen
    assert b"unfold" not in seen
    assert b"/300,000" in seen
    assert b"NashConv" in seen


FOUR = """
from typing import NamedTuple
from kibitz.games import OVER, game
from kibitz.jit import record

@game("four", state=record(("left", "i1")), num_actions=1, max_game_length=1, payoffs=(0, 1),
      seats={seats}, zero_sum={zero})
class Four(NamedTuple):
    def start(self, state):
        state.left = 1
    def turn(self, state):
        return 0 if state.left else OVER
    def actions(self, state, out):
        out[0] = 0
        return 1
    def play(self, state, action):
        state.left = 0
    def payoff(self, state, seat):
        return 0.0
"""


@pytest.mark.parametrize("method", ["cfr", "external", "outcome"])
def test_a_game_that_no_solver_handles_is_refused_with_the_reason(kibitz, tmp_path, method):
    (tmp_path / "four.py").write_text(FOUR.format(seats=4, zero=True))
    (tmp_path / "sum.py").write_text(FOUR.format(seats=2, zero=False))
    error = kibitz("solve", "four.py:Four", "--with", method)[2]
    assert "needs two seats, and " in error
    assert "four.py:Four has 4" in error
    assert "needs a zero-sum game" in kibitz("solve", "sum.py:Four", "--with", method)[2]


def test_commands_are_importable_without_torch_and_openspiel():
    script = "import sys; sys.modules['torch'] = sys.modules['pyspiel'] = None\n"
    script += "from kibitz.app import cli; cli.build()"
    subprocess.run([sys.executable, "-c", script], check=True, env=dict(os.environ, PYTHONPATH=str(ROOT)), timeout=60)


def test_bench_measures_benchmarks_by_name(kibitz, tmp_path, monkeypatch):
    import benchmarks

    monkeypatch.setattr(benchmarks.measuring, "SECONDS", 0.01)
    code, out, _ = kibitz("bench", "playouts-kuhn", "cfr+", "--json", "benchmarks.json")
    assert code == 0
    rows = json.loads((tmp_path / "benchmarks.json").read_text())
    assert [row["name"] for row in rows] == ["cfr+-leduc-936", "playouts-kuhn"]
    assert all(row["ratio"] == pytest.approx(row["ours"] / row["peer"]) and row["ours"] > 0 for row in rows)
    assert all(len(row["ratios"]) == 5 and row["ratio"] == sorted(row["ratios"])[2] for row in rows)
    assert "playouts-kuhn" in out
    assert all(f"{min(row['ratios']):.3g} to {max(row['ratios']):.3g}" in " ".join(out.split()) for row in rows)


NO_PEER = "skipped, as the peer isn't installed (pip install 'kibitz[bench]'): "


@pytest.mark.parametrize("asked", [["oos-targeted-leduc", "os-mccfr-leduc"], []])
def test_bench_measures_what_needs_no_peer_and_skips_the_rest_in_one_line(kibitz, tmp_path, monkeypatch, asked):
    import benchmarks

    rows = [row for row in benchmarks.ROWS if row.name in ("os-mccfr-leduc", "oos-targeted-leduc", "evaluator-holdem")]
    monkeypatch.setattr(benchmarks, "ROWS", rows)
    monkeypatch.setattr(benchmarks.measuring, "SECONDS", 0.01)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    code, _, error = kibitz("bench", *asked, "--json", "benchmarks.json")
    assert code == 0
    assert [row["name"] for row in json.loads((tmp_path / "benchmarks.json").read_text())] == ["oos-targeted-leduc"]
    told = [line for line in error.splitlines() if "skipped" in line]
    assert told == [NO_PEER + ("os-mccfr-leduc" if asked else "os-mccfr-leduc, evaluator-holdem")]


@pytest.mark.parametrize(
    ("package", "refused"), [("pyspiel", "hands-holdem"), ("phevaluator", "evaluator-holdem"), ("pyspiel", "uct-hex")]
)
def test_bench_refuses_only_what_it_cannot_measure(kibitz, monkeypatch, package, refused):
    import benchmarks

    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == package else name)
    expected = f"kibitz: {refused}: the peer isn't installed: pip install 'kibitz[bench]'\n"
    assert kibitz("bench", refused)[::2] == (2, expected)
    measured = {row.name for row in benchmarks.select([])}
    assert {"pcs-holdem", "selfplay-connect_four-cpu", "oos-targeted-leduc"} <= measured


def test_bench_works_in_any_folder(tmp_path):
    command = [sys.executable, "-m", "kibitz", "bench", "magic"]
    environment = dict(os.environ, PYTHONPATH=str(ROOT))
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert done.stderr.splitlines()[-1].startswith("kibitz: no benchmark is called 'magic'")


def test_bench_without_the_repository_is_refused(kibitz, tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "REPOSITORY", tmp_path)
    assert kibitz("bench")[::2] == (2, "kibitz: benchmarks are part of the source repository, not of the installed "
                                    "package: clone it first\n")  # fmt: skip


@pytest.mark.heavy
def test_every_benchmark_runs(kibitz, tmp_path, monkeypatch):
    import benchmarks

    monkeypatch.setattr(benchmarks.measuring, "SECONDS", 0.01)
    assert kibitz("bench", "--json", "benchmarks.json")[0] == 0
    assert len(json.loads((tmp_path / "benchmarks.json").read_text())) == len(benchmarks.ROWS)
