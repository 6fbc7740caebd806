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
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any

from ..names import BadInput

ALONE = 0.5  # seconds of work that aren't worth starting processes for
CHUNK = 0.25  # seconds of work in a chunk, about: what a death costs
MOST_DEATHS = 3  # with the same task in hand

Make = Callable[..., Callable[[Any], Any]]


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def spread(
    make: Make,
    arguments: tuple,
    tasks: Iterable[Any],
    processes: int,
    tell: Callable[[str], None] = lambda text: None,
    alone: float = ALONE,
) -> Generator[Any]:
    """The result of each task, as they come. `make(*arguments)` gives each process the function that does one.

    The first is done here, so that its kernels are compiled once; and so is what takes no longer than `alone`.
    """
    do, left = make(*arguments), deque(tasks)
    if left:
        yield do(left.popleft())
    until = time.monotonic() + alone
    while left and (processes == 1 or time.monotonic() < until):
        yield do(left.popleft())
    if left:
        yield from _in_processes(make, arguments, do, left, min(processes, len(left)), tell)


def _in_processes(
    make: Make, arguments: tuple, do: Callable, left: deque, processes: int, tell: Callable[[str], None]
) -> Iterator[Any]:
    deaths: Counter = Counter()
    workers = [_Worker(make, arguments) for _ in range(processes)]
    try:
        for worker in workers:
            worker.take(left, 1)
        while left and not wait([worker.pipe for worker in workers], 0):
            yield do(left.popleft())  # until the first of them is up
        while left or any(worker.chunk for worker in workers):
            for worker in workers:
                if left and not worker.chunk:
                    worker.take(left, 1 + len(left) // (2 * processes))
            ready = wait([worker.pipe for worker in workers if worker.chunk])
            for i, worker in enumerate(workers):
                if worker.pipe not in ready:
                    continue
                try:
                    results = worker.results()
                except (EOFError, OSError):
                    code = worker.end()
                    deaths.update(worker.chunk)
                    if max(deaths[task] for task in worker.chunk) == MOST_DEATHS:
                        raise BadInput(
                            f"worker processes died {MOST_DEATHS} times at the same task, the last with exit code "
                            f"{code}: is there enough memory?"
                        ) from None
                    tell(f"a worker process died (exit code {code}); its last {len(worker.chunk)} are done again")
                    left.extend(worker.chunk)
                    workers[i] = _Worker(make, arguments)
                else:
                    yield from results
    finally:
        for worker in workers:
            worker.end()


class _Worker:
    """A process, from the parent's side."""

    def __init__(self, make: Make, arguments: tuple) -> None:
        spawn = multiprocessing.get_context("spawn")
        self.pipe, theirs = spawn.Pipe()
        self.process = spawn.Process(target=_serve, args=(theirs, make, arguments), daemon=True)
        with _interrupts_wait():
            self.process.start()
        theirs.close()
        self.chunk: list[Any] = []
        self.size = 1  # of the next chunk

    def take(self, left: deque, most: int) -> None:
        self.chunk = [left.popleft() for _ in range(min(self.size, most, len(left)))]
        with suppress(OSError):  # it has died: told when its results are asked for
            self.pipe.send(self.chunk)

    def results(self) -> list[Any]:
        kind, value, seconds = self.pipe.recv()
        if kind == "refused":
            raise BadInput(value)
        if kind == "failed":
            raise RuntimeError(f"a worker process failed:\n{value}")
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
        do = make(*arguments)
        while True:
            chunk = pipe.recv()
            began = time.perf_counter()
            results = [do(task) for task in chunk]
            pipe.send(("done", results, time.perf_counter() - began))
    except (EOFError, ConnectionError):  # the parent is gone
        pass
    except BadInput as error:
        pipe.send(("refused", str(error), 0.0))
    except Exception:
        pipe.send(("failed", traceback.format_exc(), 0.0))


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
