"""Tasks spread over worker processes that fail in every way."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kibitz.core.names import BadInput
from kibitz.core.pool import spread
from kibitz.core.progress import Reporter
from kibitz.core.workers import Workers

ROOT = Path(__file__).parents[2]


class Listener(Reporter):
    def __init__(self, messages):
        self.message = messages.append


def endlessly(folder):
    def do(task):
        Path(folder, str(os.getpid())).touch()
        time.sleep(600)

    return do


def in_worker():
    return multiprocessing.parent_process() is not None


def squares():
    return lambda task: task * task


def where():
    return lambda task: (os.getpid(), os.getcwd())


def threads():
    return lambda task: (in_worker(), os.environ.get("OMP_NUM_THREADS"), os.environ.get("OPENBLAS_NUM_THREADS"))


def slowly():
    def do(task):
        time.sleep(0.02)
        return os.getpid()

    return do


def slowly_up():
    if in_worker():
        time.sleep(60)
    return slowly()


def with_the_shared():
    return lambda task, shared: (task, shared["value"], os.getpid())


def trouble(kind, folder):
    """Does task 1 in a worker badly: once, always, or with an error."""

    def do(task):
        if task == 1 and in_worker():
            mark = Path(folder) / "died"
            if kind == "refuse":
                raise BadInput("task 1 is refused")
            if kind == "fail":
                raise KeyError("task 1 failed")
            if kind == "always" or not mark.exists():
                mark.touch()
                os._exit(7)
        return task

    return do


@pytest.mark.parametrize("processes", [1, 2])
def test_every_task_gets_its_result(processes):
    assert sorted(spread(squares, (), range(2000), processes, alone=0)) == [task * task for task in range(2000)]


def test_no_tasks_are_no_trouble():
    assert list(spread(squares, (), [], 2)) == []


def test_short_work_starts_no_processes():
    assert {pid for pid, _ in spread(where, (), range(50), 2, alone=10)} == {os.getpid()}


def test_processes_are_started_for_long_work_only():
    assert set(spread(slowly, (), range(40), 2)) == {os.getpid()}
    assert len(set(spread(slowly, (), range(400), 2, alone=1))) > 1


def test_calls_that_come_one_by_one_add_up():
    with Workers(slowly, (), 2, alone=1) as workers:
        pids = [set(workers.do(range(20))) for _ in range(12)]
    assert pids[0] == {os.getpid()}
    assert len(set.union(*pids)) > 1


def test_tasks_of_a_process_that_is_not_up_yet_are_taken_back():
    """A process needs longer than the 30 tasks that are left when it is started."""
    began = time.monotonic()
    assert set(spread(slowly_up, (), range(56), 2, alone=0.4)) == {os.getpid()}
    assert time.monotonic() - began < 10
    assert not multiprocessing.active_children()


SCRIPT = """
import sys
from kibitz.core.pool import spread
from tests.core.test_workers import slowly
print("started", flush=True)
list(spread(slowly, (), range(1000), 2, alone=0))
"""


def test_a_script_without_a_main_guard_is_told_so(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    command, environment = [sys.executable, str(tmp_path / "script.py")], dict(os.environ, PYTHONPATH=str(ROOT))
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("kibitz.core.names.BadInput: the main program is run again by every process")
    assert 'if __name__ == "__main__":' in last
    assert done.stderr.count("Traceback") == 1
    assert done.stdout.count("started") <= 3  # this process and the two it started


def test_workers_start_in_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = set(spread(where, (), range(3), 2, alone=0))
    assert len({pid for pid, _ in found}) > 1
    assert {Path(folder).resolve() for _, folder in found} == {tmp_path.resolve()}


def test_a_worker_that_dies_costs_no_task(tmp_path):
    messages = []
    assert sorted(spread(trouble, ("once", str(tmp_path)), range(40), 2, Listener(messages), alone=0)) == list(
        range(40)
    )
    assert (tmp_path / "died").exists()
    assert messages == ["a worker process died (exit code 7); its unfinished tasks (1) are done again"]


def test_a_task_that_always_kills_its_worker_is_given_up(tmp_path):
    messages = []
    with pytest.raises(BadInput, match="died 3 times at the same task, the last with exit code 7"):
        list(spread(trouble, ("always", str(tmp_path)), range(4), 2, Listener(messages), alone=0))
    assert len(messages) == 2
    assert not multiprocessing.active_children()


@pytest.mark.parametrize(
    ("kind", "error", "text"),
    [("refuse", BadInput, "^task 1 is refused$"), ("fail", RuntimeError, "(?s)Traceback.*KeyError: 'task 1 failed'")],
)
def test_an_error_in_a_worker_reaches_the_caller(tmp_path, kind, error, text):
    with pytest.raises(error, match=text):
        list(spread(trouble, (kind, str(tmp_path)), range(4), 2, alone=0))
    assert not multiprocessing.active_children()


def test_workers_stay_between_calls():
    with Workers(where, (), 2, alone=0) as workers:
        assert list(workers.do([])) == []
        assert {pid for pid, _ in workers.do(range(1))} == {os.getpid()}
        found = [{pid for pid, _ in workers.do(range(50))} for _ in range(4)]
        theirs = {child.pid for child in multiprocessing.active_children()}
        assert len(theirs) == 2
        assert set.union(*found[1:]) <= theirs  # in the first call this process helps until they are up
    assert not multiprocessing.active_children()


def test_one_process_is_this_one():
    with Workers(with_the_shared, (), 1, alone=0) as workers:
        for value in range(3):
            workers.share({"value": value})
            assert list(workers.do(range(9))) == [(task, value, os.getpid()) for task in range(9)]
    assert not multiprocessing.active_children()


def test_what_is_shared_reaches_all_and_is_theirs():
    with Workers(with_the_shared, (), 2, alone=0) as workers:
        for value in range(4):
            shared = {"value": value, "much": bytes(1_000_000)}  # more than a pipe holds
            workers.share(shared)
            shared["value"] = "changed since"
            assert sorted(result[:2] for result in workers.do(range(30))) == [(task, value) for task in range(30)]


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
@pytest.mark.parametrize("when", ["at work", "idle"])
def test_killed_workers_are_replaced_and_know_what_was_shared(when):
    messages, killed = [], set()

    def kill():
        for child in multiprocessing.active_children():
            os.kill(child.pid, signal.SIGKILL)
            killed.add(child.pid)

    with Workers(with_the_shared, (), 2, Listener(messages), alone=0) as workers:
        workers.share({"value": "old"})
        assert len(list(workers.do(range(50)))) == 50
        workers.share({"value": "new"})
        assert {value for _, value, _ in workers.do(range(50))} == {"new"}
        if when == "idle":
            kill()
        tasks = workers.do(range(1000))
        results = [next(tasks)]
        if when == "at work":
            kill()
        results += tasks
        assert sorted(result[:2] for result in results) == [(task, "new") for task in range(1000)]
        later = list(workers.do(range(50)))
        assert len(later) == 50
        assert not killed & {pid for _, _, pid in later}
        assert len(multiprocessing.active_children()) == 2
    assert len(killed) == len(messages) == 2
    assert all(text.startswith("a worker process died (exit code -9)") for text in messages)


@pytest.mark.parametrize("way", ["closed", "dropped", "interrupted"])
def test_a_call_that_is_abandoned_leaves_no_results_behind(way):
    with Workers(squares, (), 2, alone=0) as workers:
        assert list(workers.do([5])) == [25]
        tasks = workers.do(range(1000, 3000))
        assert next(tasks) >= 1_000_000
        with pytest.raises(RuntimeError, match="the tasks of the call before aren't done yet"):
            next(workers.do([1]))
        if way == "closed":
            tasks.close()
        elif way == "dropped":
            del tasks
        else:
            with pytest.raises(KeyboardInterrupt):
                tasks.throw(KeyboardInterrupt)
        assert sorted(workers.do(range(100))) == [task * task for task in range(100)]
    assert not multiprocessing.active_children()


def test_close_ends_busy_processes_too():
    workers = Workers(slowly, (), 2, alone=0)
    tasks = workers.do(range(100_000))
    while next(tasks) == os.getpid():
        pass
    assert len(multiprocessing.active_children()) == 2
    workers.close()
    assert not multiprocessing.active_children()
    tasks.close()


@pytest.mark.parametrize("kind", ["refuse", "fail"])
def test_workers_can_be_used_after_an_error(tmp_path, kind):
    messages = []
    with Workers(trouble, (kind, str(tmp_path)), 2, Listener(messages), alone=0) as workers:
        assert list(workers.do([0])) == [0]
        for _ in range(2):
            with pytest.raises((BadInput, RuntimeError)):
                list(workers.do(range(4)))
            assert sorted(workers.do(range(2, 9))) == list(range(2, 9))
    assert messages == []


SLOW = """
from kibitz.core.progress import Reporter
from kibitz.core.pool import spread
from tests.core.test_workers import slowly
for pid in spread(slowly, (), range(100_000), 2, alone=0):
    print(pid, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for a child")
def test_only_the_parent_reacts_to_ctrl_c():
    """A terminal sends it to all: workers live on, those that come up and those at work."""
    messages = []
    for done, _ in enumerate(spread(slowly, (), range(120), 2, Listener(messages), alone=0)):
        for child in multiprocessing.active_children() if done % 5 == 0 else ():
            os.kill(child.pid, signal.SIGINT)
    assert done == 119
    assert messages == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_workers_end_when_the_parent_is_killed():
    environment = dict(os.environ, PYTHONPATH=str(ROOT))
    parent = subprocess.Popen([sys.executable, "-c", SLOW], env=environment, stdout=subprocess.PIPE, text=True)
    pids = set()
    for line in parent.stdout:
        pids.add(int(line))
        if len(pids) == 3:
            break
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    assert all_end(pids)


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGTERM")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL"])
def test_workers_end_with_the_parent_in_the_middle_of_a_task(tmp_path, name):
    code = f"""
from kibitz.core.pool import spread
from tests.core.test_workers import endlessly

list(spread(endlessly, ({str(tmp_path)!r},), range(2), 2, alone=None))
"""
    environment = dict(os.environ, PYTHONPATH=str(ROOT))
    parent = subprocess.Popen([sys.executable, "-c", code], env=environment)
    deadline = time.monotonic() + 60
    while len(pids := [int(each.name) for each in tmp_path.iterdir()]) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(pids) == 2
    parent.send_signal(getattr(signal, name))
    parent.wait()
    assert all_end(pids)


def all_end(pids):
    deadline = time.monotonic() + 20
    while any(alive(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not any(alive(pid) for pid in pids)


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


def test_a_process_uses_one_thread_unless_the_user_set_more(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    assert list(spread(threads, (), [0], 2, alone=None)) == [(True, "3", "1")]
    assert "OPENBLAS_NUM_THREADS" not in os.environ
