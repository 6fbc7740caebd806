"""Tasks spread over worker processes, any of which may die.

Each process has a pipe of its own and holds one chunk of tasks at a time. When it dies, only that chunk is lost, and
it is handed out again.
"""

import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, Self

from . import memory
from .names import BadInput
from .progress import SILENT, Reporter
from .trust import Trust, trust, use_trust

START = 4.0  # seconds that a process takes to start: less work than that is done without it
TRIAL = 0.5  # seconds of work from which the duration of the rest is estimated
CHUNK = 0.25  # seconds of work per chunk, roughly: the cost of a death
MAX_DEATHS = 3  # at the same task
UNGUARDED = 78  # exit code of a process that can't start, as the main program has no main guard
WAITING = {getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)}
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")  # read when the libraries are loaded

Make = Callable[..., Callable[..., Any]]


def cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_main_guard() -> None:
    """End this process if it is a worker that, while it starts, runs the main program a second time.

    A new process imports the main program. Without a main guard it would do all the work again, and start processes of
    its own. The parent reports it (see `Workers`).
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        sys.exit(UNGUARDED)


class Pool:
    """Workers that do tasks, each with a function of its own. The results don't depend on who does a task."""

    _at_work = False

    def share(self, value: Any) -> None:
        """Pass a value to the tasks from now on, as `do(task, value)`. It is sent once, not with each task."""
        raise NotImplementedError

    def do(self, tasks: Iterable[Any]) -> Generator[Any]:
        """Yield the result of each task as it is ready. Tasks are hashable; the workers stay for the next call."""
        if self._at_work:
            raise RuntimeError("the tasks of the call before aren't done yet")
        self._at_work = True
        try:
            yield from self._do(deque(tasks))
        finally:
            self._at_work = False
            self._drop()

    def _do(self, left: deque) -> Iterator[Any]:
        raise NotImplementedError

    def _drop(self) -> None:
        """End the workers that are at a task still: its result is not wanted any more."""
        raise NotImplementedError

    def close(self) -> None:
        """End all workers."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Workers(Pool):
    """Worker processes on this machine.

    The very first task is done in this process, so that its kernels are compiled once. Processes are started when the
    work that is left would take longer than starting them, judged by the tasks done so far. With one process all tasks
    are done here.
    """

    def __init__(
        self,
        make: Make,
        arguments: tuple,
        processes: int,
        report: Reporter = SILENT,
        alone: float | None = START,
    ) -> None:
        """
        Args:
            make: `make(*arguments)` is called once per process and returns the function that does a task.
            arguments: Of `make`.
            processes: Number of processes.
            report: Receives a message when a process died.
            alone: Seconds of work that are left to this process: others are started if the rest takes longer. 0
                starts them after the first task. None leaves all tasks to the processes, which is right for tasks
                that take minutes.
        """
        check_main_guard()
        self.make, self.arguments, self.processes, self.report = make, arguments, processes, report
        self.alone = alone
        self._own: Callable[..., Any] | None = None  # this process's function
        self._warm = False  # whether a task was done here
        self._tried, self._took = 0, 0.0  # further tasks done here, and their seconds
        self._before = 0.0  # seconds of those in earlier calls
        self._given: tuple = ()  # the shared value, an argument after the task
        self._workers: list[_Worker] = []

    def share(self, value: Any) -> None:
        self._given = (deepcopy(value),)  # all tasks see the same value whatever happens to the original

    def _do(self, left: deque) -> Iterator[Any]:
        alone, self._before = self.alone is not None and not self._workers, self._took
        if alone or self.processes == 1:
            own = self._own = self._own or self.make(*self.arguments)
        while left and (self.processes == 1 or (alone and not self._pays(len(left)))):
            began = time.perf_counter()
            result = own(left.popleft(), *self._given)
            if self._warm:
                self._tried, self._took = self._tried + 1, self._took + time.perf_counter() - began
            self._warm = True
            yield result
        if left:
            self._fill(min(self.processes, len(left)))
            self._hand_out(left)
            while alone and not wait([worker.pipe for worker in self._workers], 0):  # until the first process is up
                if not left and self.alone:
                    self._take_back(left)
                if not left:
                    break
                yield own(left.popleft(), *self._given)
            yield from self._results(left)

    def _drop(self) -> None:
        self._end([worker for worker in self._workers if worker.chunk])

    def _pays(self, left: int) -> bool:
        """Whether to start processes for the tasks that are left. Work of earlier calls is expected to come again."""
        if not self._warm or left == 1 or self.alone is None:
            return False
        if self.alone == 0:
            return True
        return self._took >= TRIAL and self._before + left * self._took / self._tried > self.alone

    def _take_back(self, left: deque) -> None:
        """Take back the tasks of processes that aren't up yet."""
        for worker in self._workers:
            if not worker.up:
                left.extend(worker.chunk)
                worker.chunk = []

    def _results(self, left: deque) -> Iterator[Any]:
        deaths: Counter = Counter()
        while left or any(worker.chunk for worker in self._workers):
            self._hand_out(left)
            ready = wait([worker.pipe for worker in self._workers if worker.chunk])
            for worker in [worker for worker in self._workers if worker.pipe in ready]:
                try:
                    results = worker.results(self._given)
                except (EOFError, OSError):
                    [code] = self._end([worker])
                    if code == UNGUARDED and not worker.up:
                        raise BadInput(
                            "the main program is run again by every process that it starts: put what it does below "
                            'if __name__ == "__main__": (or give processes=1)'
                        ) from None
                    deaths.update(worker.chunk)
                    if max(deaths[task] for task in worker.chunk) == MAX_DEATHS:
                        raise BadInput(
                            f"worker processes died {MAX_DEATHS} times at the same task, the last with exit code "
                            f"{code}: is there enough memory?"
                        ) from None
                    lost = f"its unfinished tasks ({len(worker.chunk)}) are done again"
                    self.report.message(f"a worker process died (exit code {code}); {lost}")
                    left.extend(worker.chunk)
                    self._fill(len(self._workers) + 1)
                else:
                    yield from results

    def _hand_out(self, left: deque) -> None:
        for worker in self._workers:
            if left and not worker.chunk:
                worker.take(left, 1 + len(left) // (2 * len(self._workers)), self._given)

    def _fill(self, count: int) -> None:
        """Start processes until there are `count`, after removing those that have died."""
        for worker in [worker for worker in self._workers if not worker.process.is_alive() and not worker.chunk]:
            [code] = self._end([worker])
            self.report.message(f"a worker process died (exit code {code}) with nothing to do")
        while len(self._workers) < count:
            with _interrupts_wait(), memory.shared(self.processes):
                self._workers.append(_Worker(self.make, self.arguments))

    def _end(self, workers: list["_Worker"]) -> list[int | None]:
        """End some workers; their exit codes."""
        for worker in workers:
            worker.process.kill()
        codes = [worker.end() for worker in workers]
        self._workers = [worker for worker in self._workers if worker not in workers]
        return codes

    def close(self) -> None:
        self._end(self._workers)


class _Worker:
    """A worker process as the parent sees it."""

    def __init__(self, make: Make, arguments: tuple) -> None:
        spawn = multiprocessing.get_context("spawn")
        self.pipe, theirs = spawn.Pipe()
        self.process = spawn.Process(target=_serve, args=(theirs, trust(), make, arguments), daemon=True)
        with one_thread():
            self.process.start()
        theirs.close()
        self.up = False  # whether it reads its pipe; before that, sending much to it could block the parent
        self.given: tuple = ()
        self.chunk: list[Any] = []
        self.size = 1  # of the next chunk

    def take(self, left: deque, most: int, given: tuple) -> None:
        self.chunk = [left.popleft() for _ in range(min(self.size, most, len(left)))]
        if self.up:
            self._send(given)

    def _send(self, given: tuple) -> None:
        with suppress(OSError):  # it has died, which is noticed when its results are read
            if self.given is not given:
                self.pipe.send(("given", given))
                self.given = given
            self.pipe.send(("chunk", self.chunk))

    def results(self, given: tuple) -> list[Any]:
        """The results of its chunk; none if it only reports that it is up."""
        kind, value, seconds = self.pipe.recv()
        if kind == "refused":
            raise BadInput(value)
        if kind == "failed":
            raise RuntimeError(f"a worker process failed:\n{value}")
        if kind == "up":
            self.up = True
            self._send(given)
            return []
        self.size = max(1, int(CHUNK * len(self.chunk) / max(seconds, 1e-9)))
        self.chunk = []
        return value

    def end(self) -> int | None:
        """End the process, which may not listen to signals yet; its exit code."""
        self.process.kill()
        self.process.join()
        self.pipe.close()
        return self.process.exitcode


def _serve(pipe: Connection, trusted: Trust, make: Make, arguments: tuple) -> None:
    """Main function of a worker process: receive chunks, send results, until the parent closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal; the parent ends this one
    if hasattr(signal, "pthread_sigmask"):  # see `_interrupts_wait`
        signal.pthread_sigmask(signal.SIG_UNBLOCK, WAITING)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    use_trust(trusted)
    try:
        do, given = make(*arguments), ()
        pipe.send(("up", None, 0.0))
        while True:
            kind, value = pipe.recv()
            if kind == "given":
                given = value
                continue
            began = time.perf_counter()
            results = [do(task, *given) for task in value]
            pipe.send(("done", results, time.perf_counter() - began))
    except (EOFError, ConnectionError):  # the parent is gone
        pass
    except BadInput as error:
        pipe.send(("refused", str(error), 0.0))
    except Exception:
        pipe.send(("failed", traceback.format_exc(), 0.0))


def _end_with_parent() -> None:
    """End this process when the parent is gone: a task may take an hour, and keep its run folder locked."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def one_thread() -> Iterator[None]:
    """Processes started in this block use one thread each for linear algebra, unless the user has set a number."""
    added = [name for name in THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)  # another thread may have done it


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Processes started in this block ignore Ctrl-C even while they start; this process receives it afterwards.

    So it does other signals that may raise KeyboardInterrupt: a process that is half started would be lost.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows, where only `_serve` guards against it
        yield
        return
    resource_tracker.ensure_running()  # or the first start would do it, and unblock interrupts
    arrived: list[int] = []  # another thread of this process may take them, which doesn't block them
    before = {each: signal.getsignal(each) for each in WAITING}
    main = threading.current_thread() is threading.main_thread()
    waiting = [each for each in WAITING if main and callable(before[each])]
    for each in waiting:
        signal.signal(each, lambda number, frame: arrived.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, WAITING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for each in waiting:
            signal.signal(each, before[each])
        for number in arrived[:1]:
            signal.raise_signal(number)
