"""SIGTERM, which Slurm, `timeout` and containers send, and SIGHUP end every long command as Ctrl-C does.

It ends within seconds, its workers too; its work is saved, and the line that resumes it is printed.
"""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kibitz.app import streams
from kibitz.core.runs import Run
from kibitz.core.tensor_files import tensor_file_about

from .commands import RESUMABLE

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs SIGTERM")
heavy = pytest.mark.heavy
ROOT = Path(__file__).parents[2]
MANY = "900000"
AT_WORK = 300  # seconds within which a command begins to work, on a busy machine with nothing compiled
ENDS = 60  # and within which it ends


def forever(name: str, most: str = MANY) -> list[str]:
    """A resumable command that has work for hours, with two worker processes where it has any."""
    begin = RESUMABLE[name][0]
    return [
        *("2" if before == "--processes" else word for before, word in zip(["", *begin], begin, strict=False)),
        most,
    ]


# Command -> its words without the folder, a file that shows that it is at work, what it says, what resumes it.
LONG: dict[str, tuple[list[str], str, str, str]] = {
    "solve": (
        ["solve", "leduc", "--with", "outcome", "--iterations", MANY + MANY],
        "metrics.jsonl", "the strategy so far is saved in run", "",
    ),
    "solve-pcs": (forever("pcs"), "metrics.jsonl", "all is saved", "kibitz solve --resume run"),
    "solve-public-tree": (
        ["solve", "kuhn", "--threads", "1", "--iterations", MANY + MANY],
        "metrics.jsonl", "all is saved", "kibitz solve --resume run",
    ),
    "match": (
        forever("match"), "games.jsonl", "they are saved",
        f"kibitz match kuhn random oos:30 --games {MANY} --seed 1 --out run",
    ),
    "record": (
        forever("record"), "games.jsonl", "they are saved",
        f"kibitz record kuhn --players oos:30 --games {MANY} --seed 1 --out run",
    ),
    "tournament": (
        forever("tournament"), "matches/*/games.jsonl", "they are saved",
        f"kibitz tournament kuhn random oos:10 oos:20 --games {MANY} --seed 1 --out run",
    ),
    "session": (
        forever("session", "100000"), "games.jsonl", "they are saved",
        "kibitz doppelkopf session doppelkopf:thesis random random random random --games 4 --sessions 100000 "
        "--solos no --seed 1 "
        "--out run",
    ),
    "exploit": (
        ["exploit", "kuhn", "random", "--with", "rl", "--preset", "small", "--iterations", MANY],
        "seed-1/metrics.jsonl", "are kept",
        f"kibitz exploit kuhn random --with rl --preset small --iterations {MANY} --seed 1 --out run",
    ),
    "train": (forever("exit-oos"), "metrics.jsonl", "are kept", "kibitz train --resume run"),
    "train-deep-cfr": (forever("deep-cfr"), "metrics.jsonl", "are kept", "kibitz train --resume run"),
    "train-tspg": (forever("tspg"), "metrics.jsonl", "are kept", "kibitz train --resume run"),
    "demo": (["demo", "--iterations", MANY], "metrics.jsonl", "are kept", "kibitz train --resume run"),
    "study": (
        ["study", "exit-oos", "table-1", "--scale", "quick"],
        "*/metrics.jsonl", "all finished work is saved",
        "kibitz study exit-oos table-1 --scale quick --seed 1 --preset paper --games 100 --out run",
    ),
}  # fmt: skip
QUICK = ["solve", "match", "train"]
JOURNAL = ["train", "train-tspg", "demo", "study"]  # the other learners go on from the last checkpoint alone


@pytest.fixture
def start():
    """A function that starts a command, which is killed at the end of the test."""
    begun = []
    yield lambda words, folder: begun.append(started(words, folder)) or begun[-1]
    for process in begun:
        process.kill()
        process.communicate()


def started(words, folder):
    environment = dict(os.environ, PYTHONPATH=str(ROOT))
    return subprocess.Popen(
        [sys.executable, "-m", "kibitz", *words],
        cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True, start_new_session=True,
    )  # fmt: skip


def wait_until(fits, process):
    until = time.monotonic() + AT_WORK
    while not fits():
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < until
        time.sleep(0.05)


def has_lines(folder, file):
    """Whether something is done: the first line of metrics is written before."""
    return any(path.read_bytes().count(b"\n") > 2 for path in folder.glob(file))


def end(process, number, group=False):
    """What it said, after a signal to the process or to all of its group, which must end then."""
    (os.killpg if group else os.kill)(process.pid, number)
    _, said = process.communicate(timeout=ENDS)
    assert process.returncode == 128 + number, said
    assert "Traceback" not in said
    until = time.monotonic() + ENDS
    while group_lives(process.pid):
        assert time.monotonic() < until
        time.sleep(0.05)
    return said


def group_lives(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def check_kept(name, folder, said):
    """What was done is in what a run goes on from: its state, or the last checkpoint and the journal."""
    if name in ("solve-pcs", "solve-public-tree"):
        done = int(re.search(r"stopped after ([\d,]+) of", said)[1].replace(",", ""))
        assert tensor_file_about(folder / "state.safetensors").get("iterations") == done
    for path in folder.rglob("metrics.jsonl") if name in JOURNAL else ():
        done = {line["iteration"] for line in Run(path.parent).read_lines()} - {0}
        states = path.parent.glob("checkpoints/*/state.json")
        last = max((json.loads(state.read_text())["iteration"] for state in states), default=0)
        journal = {int(each.stem) for each in path.parent.glob("journal/*.safetensors")}
        assert done <= {*range(last + 1), *journal}, path


def check_numbers(path):
    """Each game is there once."""
    numbers = [json.loads(line)["number"] for line in path.read_bytes().splitlines(keepends=True) if line[-1:] == b"\n"]
    assert len(numbers) == len(set(numbers)), path


@pytest.mark.parametrize("name", [name if name in QUICK else pytest.param(name, marks=heavy) for name in LONG])
def test_sigterm_ends_a_long_command_with_its_work_saved_and_the_line_that_resumes_it(start, tmp_path, name):
    words, file, saved, resume = LONG[name]
    process = start([*words, "--out", "run"], tmp_path)
    wait_until(lambda: has_lines(tmp_path / "run", file), process)
    said = end(process, signal.SIGTERM)
    assert saved in said
    check_kept(name, tmp_path / "run", said)
    lines = [line for line in said.splitlines() if line.startswith("to resume: ")]
    resume = resume and resume.removesuffix("run") + str(tmp_path / "run")
    assert lines == ([f"to resume: {resume}"] if resume else [])
    if name == "solve":
        assert (tmp_path / "run" / "strategy.safetensors").exists()
    again = start(shlex.split(resume)[1:] if resume else ["runs", "show", "run"], tmp_path)
    before = {path: path.read_bytes() for path in (tmp_path / "run").glob(file)}
    if not resume:
        assert again.wait(AT_WORK) == 0
    else:
        size = sum(map(len, before.values()))
        wait_until(lambda: sum(path.stat().st_size for path in (tmp_path / "run").glob(file)) > size, again)
        for path in (tmp_path / "run").glob(file) if file.endswith("games.jsonl") else ():
            assert path.read_bytes().startswith(before.get(path, b""))
            check_numbers(path)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_all_processes_of_a_training_saves_its_work(start, tmp_path, number):
    """As Slurm sends it to a job, and a terminal that closes to what runs in it."""
    process = start([*LONG["train"][0], "--out", "run"], tmp_path)
    wait_until(lambda: has_lines(tmp_path / "run", "metrics.jsonl"), process)
    said = end(process, number, group=True)
    assert f"to resume: kibitz train --resume {tmp_path / 'run'}" in said
    check_kept("train", tmp_path / "run", said)


def test_a_signal_while_nothing_is_computed_yet_ends_in_silence(start, tmp_path):
    process = start(["engine", "connect_four", "--player", "random"], tmp_path)
    time.sleep(1)
    process.terminate()
    process.wait(ENDS)
    assert "Traceback" not in process.communicate(timeout=ENDS)[1]
    assert process.returncode in (128 + signal.SIGTERM, -signal.SIGTERM)  # the second: before Python had begun


def test_serve_ends_in_order(start, tmp_path):
    pytest.importorskip("uvicorn")
    process = start(["serve", "--port", "0", "--no-open", "--data", "data"], tmp_path)
    until = time.monotonic() + 10
    while time.monotonic() < until and process.poll() is None and not (tmp_path / "data").exists():
        time.sleep(0.1)
    said = end(process, signal.SIGTERM)
    assert "Error" not in said


def test_ignored_signals_stay_ignored(tmp_path):
    """`nohup` ignores SIGHUP."""
    script = "import os, signal\nfrom kibitz.app import streams\n"
    script += "with streams.ended_by_signals():\n    os.kill(os.getpid(), signal.SIGHUP)\n    print('lives')"
    command = f"trap '' HUP; exec {shlex.quote(sys.executable)} -c {shlex.quote(script)}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, "lives\n"), done.stderr


@pytest.fixture
def untouched():
    """SIGTERM as a process begins with it; libraries that other tests imported may handle it."""
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.usefixtures("untouched")
def test_a_signal_that_comes_twice_is_one_and_reaches_what_handles_ctrl_c():
    arrived = []

    @streams.ended_by_signals()
    def command():
        before = signal.signal(signal.SIGINT, lambda number, frame: arrived.append(number))
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)
        signal.signal(signal.SIGINT, before)
        raise SystemExit(streams.INTERRUPTED)

    with pytest.raises(SystemExit) as ended:
        command()
    assert (arrived, ended.value.code) == ([signal.SIGTERM], 143)
    with pytest.raises(SystemExit) as ended, streams.ended_by_signals():
        raise SystemExit(2)
    assert ended.value.code == 2
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_a_signal_waits_while_a_module_is_imported(tmp_path):
    """One that makes an error of its own of an interrupt, as those in C++ do."""
    (tmp_path / "slow.py").write_text(
        "import time\ntry:\n    print('imports', flush=True)\n    time.sleep(1.5)\n"
        "except KeyboardInterrupt:\n    raise ImportError('interrupted')\nprint('imported', flush=True)\n"
    )
    script = "import sys, time\nfrom kibitz.app import streams\n"
    script += "try:\n    with streams.ended_by_signals():\n        import slow\n        time.sleep(60)\n"
    script += "except KeyboardInterrupt:\n    print('interrupted')"
    environment = dict(os.environ, PYTHONPATH=f"{ROOT}{os.pathsep}{tmp_path}")
    with subprocess.Popen(
        [sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "imports\n"
        process.terminate()
        assert process.stdout.read() == "imported\ninterrupted\n"
    assert process.returncode == 0


DESTRUCTOR = """
import time
class Slow:
    def __del__(self):
        print("begins", flush=True)
        time.sleep(1.5)
slow = Slow()
def work():
    global slow
    slow = None
"""
OBJECT_CACHE = """
import time
import llvmlite.binding as llvm
llvm.initialize_native_target()
llvm.initialize_native_asmprinter()
machine = llvm.Target.from_default_triple().create_target_machine()
engine = llvm.create_mcjit_compiler(llvm.parse_assembly("define i32 @f() { ret i32 1 }"), machine)
def asked(module):
    print("begins", flush=True)
    time.sleep(1.5)
engine.set_object_cache(None, asked)
def work():
    engine.finalize_object()
"""


@pytest.mark.parametrize("script", [DESTRUCTOR, OBJECT_CACHE])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_is_not_lost_in_a_destructor_nor_in_a_call_from_llvm(script, number):
    script += "from kibitz.app import streams\ntry:\n    with streams.ended_by_signals():\n        work()\n"
    script += "        print('ends', flush=True)\n        time.sleep(60)\nexcept KeyboardInterrupt:\n"
    script += "    print('interrupted')"
    environment = dict(os.environ, PYTHONPATH=str(ROOT))
    with subprocess.Popen(
        [sys.executable, "-c", script],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout.readline() == "begins\n"
        process.send_signal(number)
        printed, said = process.communicate(timeout=ENDS)
    assert printed.split()[-1] == "interrupted", said
    assert (process.returncode, said) == (0, "")


def test_a_terminal_that_has_closed_is_written_to_no_more(tmp_path):
    """What is said after the hangup must not end the command before its work is saved."""
    import pty

    child, terminal = pty.fork()
    if child == 0:
        os.chdir(tmp_path)
        environment = dict(os.environ, PYTHONPATH=str(ROOT), TERM="xterm")
        os.execve(sys.executable, [sys.executable, "-m", "kibitz", *LONG["solve"][0], "--out", "run"], environment)
    until = time.monotonic() + AT_WORK
    metrics = tmp_path / "run" / "metrics.jsonl"
    os.set_blocking(terminal, False)
    while time.monotonic() < until and not (metrics.exists() and metrics.read_bytes().count(b"\n") > 3):
        try:
            os.read(terminal, 65536)
        except BlockingIOError:
            time.sleep(0.05)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 128 + signal.SIGHUP
    assert (tmp_path / "run" / "strategy.safetensors").exists()
