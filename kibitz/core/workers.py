"""Tasks spread over processes, any of which may die.

Each process has a pipe of its own and holds one chunk of tasks at a time, so a death costs that
chunk and nothing else: it is handed out again.
"""

import multiprocessing
import os
import signal
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, Self

from .names import BadInput

ALONE = 0.5  # seconds of work that aren't worth starting processes for
CHUNK = 0.25  # seconds of work in a chunk, about: what a death costs
MAX_DEATHS = 3  # with the same task in hand
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")  # read when the libraries are loaded

Make = Callable[..., Callable[..., Any]]


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def spread(
    make: Make,
    arguments: tuple,
    tasks: Iterable[Any],
    processes: int,
    tell: Callable[[str], None] = lambda text: None,
    alone: float | None = ALONE,
) -> Generator[Any]:
    """The result of each task, as they come, from processes that end with the last. See `Workers`."""
    with Workers(make, arguments, processes, tell, alone) as workers:
        yield from workers.do(tasks)


class Workers:
    """Processes that keep what `make` gave them; tasks go out, results come back, any of them may die.

    `make(*arguments)` gives each process the function that does one task. The very first task is done here, so that
    its kernels are compiled once; and so is what takes no longer than `alone` after it. With one process, all is.
    Tasks that take minutes are better all done by the processes (`alone` is None).
    """

    def __init__(
        self,
        make: Make,
        arguments: tuple,
        processes: int,
        tell: Callable[[str], None] = lambda text: None,
        alone: float | None = ALONE,
    ) -> None:
        self.make, self.arguments, self.processes, self.tell, self.alone = make, arguments, processes, tell, alone
        self._own: Callable[..., Any] | None = None  # this process's function
        self._warm = False  # a task was done here
        self._given: tuple = ()  # what is shared, after the task
        self._at_work = False
        self._workers: list[_Worker] = []

    def share(self, value: Any) -> None:
        """From now on a task is done as `do(task, value)`. A process gets it once, not with each task.

        It is a copy, so that all see the same whatever is done to the original.
        """
        self._given = (deepcopy(value),)

    def do(self, tasks: Iterable[Any]) -> Generator[Any]:
        """The result of each task, as they come. Tasks are hashable; processes stay for the next call."""
        if self._at_work:
            raise RuntimeError("the tasks before these aren't done yet")
        self._at_work = True
        try:
            left = deque(tasks)
            first = self.alone is not None and not self._warm
            if first or self.processes == 1:
                own = self._own = self._own or self.make(*self.arguments)
            if first and left:
                result = own(left.popleft(), *self._given)
                self._warm = True
                yield result
            until = time.monotonic() + (self.alone or 0.0)
            while left and (self.processes == 1 or (first and time.monotonic() < until)):
                yield own(left.popleft(), *self._given)
            if left:
                self._fill(min(self.processes, len(left)))
                self._hand_out(left)
                while first and left and not wait([worker.pipe for worker in self._workers], 0):
                    yield own(left.popleft(), *self._given)  # until the first of them is up
                yield from self._results(left)
        finally:
            self._at_work = False
            self._end([worker for worker in self._workers if worker.chunk])  # nobody waits for what they do

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
                    deaths.update(worker.chunk)
                    if max(deaths[task] for task in worker.chunk) == MAX_DEATHS:
                        raise BadInput(
                            f"worker processes died {MAX_DEATHS} times at the same task, the last with exit code "
                            f"{code}: is there enough memory?"
                        ) from None
                    self.tell(f"a worker process died (exit code {code}); its last {len(worker.chunk)} are done again")
                    left.extend(worker.chunk)
                    self._fill(len(self._workers) + 1)
                else:
                    yield from results

    def _hand_out(self, left: deque) -> None:
        for worker in self._workers:
            if left and not worker.chunk:
                worker.take(left, 1 + len(left) // (2 * len(self._workers)), self._given)

    def _fill(self, count: int) -> None:
        """At least so many processes, all alive."""
        for worker in [worker for worker in self._workers if not worker.process.is_alive() and not worker.chunk]:
            [code] = self._end([worker])
            self.tell(f"a worker process died (exit code {code}) with nothing to do")
        while len(self._workers) < count:
            with _interrupts_wait():
                self._workers.append(_Worker(self.make, self.arguments))

    def _end(self, workers: list["_Worker"]) -> list[int | None]:
        """Their exit codes."""
        for worker in workers:
            worker.process.terminate()
        codes = [worker.end() for worker in workers]
        self._workers = [worker for worker in self._workers if worker not in workers]
        return codes

    def close(self) -> None:
        self._end(self._workers)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class _Worker:
    """A process, from the parent's side."""

    def __init__(self, make: Make, arguments: tuple) -> None:
        spawn = multiprocessing.get_context("spawn")
        self.pipe, theirs = spawn.Pipe()
        self.process = spawn.Process(target=_serve, args=(theirs, make, arguments), daemon=True)
        with _one_thread():
            self.process.start()
        theirs.close()
        self.up = False  # it reads its pipe; before that, sending much to it could block us
        self.given: tuple = ()
        self.chunk: list[Any] = []
        self.size = 1  # of the next chunk

    def take(self, left: deque, most: int, given: tuple) -> None:
        self.chunk = [left.popleft() for _ in range(min(self.size, most, len(left)))]
        if self.up:
            self._send(given)

    def _send(self, given: tuple) -> None:
        with suppress(OSError):  # it has died: told when its results are asked for
            if self.given is not given:
                self.pipe.send(("given", given))
                self.given = given
            self.pipe.send(("chunk", self.chunk))

    def results(self, given: tuple) -> list[Any]:
        """Those of its chunk; none when all it has to say is that it is up."""
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
        """Its exit code."""
        self.process.terminate()
        self.process.join()
        self.pipe.close()
        return self.process.exitcode


def _serve(pipe: Connection, make: Make, arguments: tuple) -> None:
    """The worker's side: chunks in, results out, until the parent hangs up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal: the parent ends us
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


@contextmanager
def _one_thread() -> Iterator[None]:
    """A process started in here multiplies matrices with one thread, as each has a core: unless the user says else."""
    added = [name for name in THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """A process started in here never sees Ctrl-C, not even while it comes up; we do, a moment later."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows, where only `_serve` guards against it
        yield
        return
    resource_tracker.ensure_running()  # or the first start would run it, which lets interrupts through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
