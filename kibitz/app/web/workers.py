"""Processes in which players move and advise, so that the server never waits for a search.

Each process is served by a thread of the server; `desk.py` is what runs in it. One that dies is replaced, and its
request is repeated.
"""

import asyncio
import contextlib
import contextvars
import itertools
import multiprocessing
import queue
import threading
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator
from typing import Any, Literal

from ...core.names import BadInput
from ...core.trust import trust
from ...core.workers import one_thread
from .desk import Request, recalled, serve

LATER = 3.0  # seconds after the start of the server
ATTEMPTS = 3  # of a request whose process dies
SILENCE = 60.0  # seconds without an answer, compilation excepted, after which a process is replaced
TABLES = 10_000  # of which it is remembered which process plays there
AHEAD = "ahead"  # instead of a table: kernels for one that isn't opened yet
STUDY_NICE = 5  # how much the processes of studies stand back


class Died(Exception):
    """A worker process has ended, or didn't answer."""


class Job:
    """A request under way. Answers arrive in a queue of the event loop."""

    def __init__(self, request: Request) -> None:
        self.request, self.cancelled = request, False
        self.answers: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()

    def post(self, kind: str, value: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the server has stopped
            self._loop.call_soon_threadsafe(self.answers.put_nowait, (kind, value))


class Worker:
    """One process and the thread that talks to it. The process is started by the first request, or by `warm`."""

    _starting = threading.Lock()  # the environment is changed while a process starts

    def __init__(self, nice: int = 0) -> None:
        self.process: Any = None
        self._nice = nice  # lowers the priority of the process
        self._closed = False
        self._part = 0  # that is compiled now
        self._pipe: Any = None
        self._jobs: queue.SimpleQueue[Job | Literal["start", "end"]] = queue.SimpleQueue()
        self._waiting: list[Job] = []  # all that aren't done
        context = contextvars.copy_context()  # what is trusted
        self._thread = threading.Thread(target=context.run, args=(self._run,), daemon=True)
        self._thread.start()

    def warm(self) -> None:
        """Start the process ahead of the first request."""
        self._jobs.put("start")

    def submit(self, job: Job) -> None:
        self._waiting.append(job)
        if self._part:
            job.post("compiling", self._part)
        self._jobs.put(job)

    def close(self) -> None:
        self._jobs.put("end")
        self._closed = True
        if self.process is not None:
            self.process.kill()
        self._thread.join(10)

    def _run(self) -> None:
        while (job := self._jobs.get()) != "end":
            if job == "start":
                self._start()
                continue
            assert isinstance(job, Job)
            for _ in range(ATTEMPTS):
                if job.cancelled or self._closed:
                    break
                try:
                    self._start()
                    self._do(job)
                    break
                except (Died, EOFError, OSError) as error:
                    self._end()
                    if isinstance(error, Died):
                        job.post("failed", str(error))
                        break
            else:
                job.post("failed", f"its process ended {ATTEMPTS} times")
            self._waiting.remove(job)
        self._end()

    def _start(self) -> None:
        if self.process is None:
            spawn = multiprocessing.get_context("spawn")
            self._pipe, theirs = spawn.Pipe()
            process = spawn.Process(target=serve, args=(theirs, trust(), self._nice), daemon=True)
            with Worker._starting, one_thread():
                process.start()
            self.process = process
            theirs.close()

    def _end(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self._pipe.close()
            self.process, self._part = None, 0

    def _do(self, job: Job) -> None:
        """Pass on all answers to a request."""
        self._pipe.send(job.request)
        told, heard, self._part = False, time.monotonic(), 0
        while True:
            if job.cancelled and not told:
                self._pipe.send(None)
                told = True
            if not self._pipe.poll(0.1):
                if not self._part and time.monotonic() - heard > SILENCE:
                    raise Died(f"it didn't answer within {SILENCE:g} seconds")
                continue
            kind, value = self._pipe.recv()
            heard = time.monotonic()
            self._part = value if kind == "compiling" else self._part
            for each in tuple(self._waiting) if kind == "compiling" else [job]:
                each.post(kind, value)
            if kind in ("done", "refused", "failed"):
                return


class Pool:
    """Worker processes for moves, and others so that moves don't wait: for advice, reviews and studies.

    Those of reviews and studies are started by the first one. Two are for studies: two advisers think at the same time.
    """

    def __init__(self, processes: int) -> None:
        self.movers, self.adviser, self.reviewer = [Worker() for _ in range(processes)], Worker(), Worker()
        self.students = [Worker(STUDY_NICE) for _ in range(2)]
        self._next = itertools.count()
        self._lanes: OrderedDict[tuple, int] = OrderedDict()
        self._ahead: dict[tuple[str, str], int] = {}  # by game and player: the process that prepares it just now

    def warm(self) -> None:
        """Start a process for moves now, and that for advice once the first page has been served."""
        self.movers[0].warm()
        asyncio.get_running_loop().call_later(LATER, self.adviser.warm)

    def warm_studies(self) -> None:
        """Start the processes of studies ahead of the first question."""
        for worker in self.students:
            worker.warm()

    async def answers(self, request: Request) -> AsyncGenerator[tuple[str, Any], None]:
        """Answers: ("compiling", number of the part or 0 at its end), ("advice", ...), ("insight", ...),
        ("move", action).

        Raises:
            BadInput: The player can't play, or its process failed.
        """
        job, key = Job(request), (request.game, request.player)
        self._worker(request).submit(job)
        try:
            while True:
                kind, value = await job.answers.get()
                if kind == "done":
                    return
                if kind == "refused":
                    raise BadInput(value)
                if kind == "failed":
                    raise BadInput(f"{request.player} failed: {value}")
                yield kind, value
        finally:
            job.cancelled = True
            if request.table == AHEAD:
                self._ahead.pop(key, None)

    def _worker(self, request: Request) -> Worker:
        """A table stays with the process that remembers its game, at first one that prepares its player, if any does:
        another one would compile the same kernels at the same time."""
        if request.kind == "advise":
            return self.adviser
        if request.kind == "review":
            return self.reviewer
        if request.kind == "study":
            return self.students[int(request.table.partition("/")[2])]
        key, table = (request.game, request.player), request.table.partition("/")[0]

        def new() -> int:
            return self._ahead[key] if key in self._ahead else next(self._next) % len(self.movers)

        if table == AHEAD:
            self._ahead[key] = new()
            return self.movers[self._ahead[key]]
        return self.movers[recalled(self._lanes, (table,), new, TABLES)]

    def close(self) -> None:
        for worker in (*self.movers, self.adviser, self.reviewer, *self.students):
            worker.close()
