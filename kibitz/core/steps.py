"""The one loop of all long work: step by step, saved as it goes, resumed where it was, ended in order by Ctrl-C.

A kind of work is a subclass of `Work`: what a step is, what a checkpoint holds. `steps` does the rest.
"""

import math
import time
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from typing import Any, ClassVar

from .interrupts import Interrupted, deferred_interrupts
from .progress import SILENT, Reporter
from .runs import Run

REPORT_SECONDS = 0.05  # between two reports of progress


class Work:
    """Work of many steps, as a rule in a run folder.

    All that is written follows from the configuration: then work that was killed and resumed ends with the same files
    as work that never was.
    """

    save_seconds: ClassVar[float] = 60.0  # between two checkpoints,
    save_share: ClassVar[float] = 20.0  # or this many times the duration of the last one, if that is more
    defers: ClassVar[bool] = True  # whether Ctrl-C waits for the end of the step, and for a checkpoint
    logs: ClassVar[bool] = True  # whether it logs metrics, each with its `iteration`, which is the number of steps

    report: Reporter = SILENT  # receives the progress; set by `steps`, as are the following
    start = 0  # steps that earlier calls have done
    resumed = False  # whether there was a checkpoint
    began = 0.0  # time at which the first step of this call began,
    ended: float | None = None  # and the last one ended

    def __init__(self, run: Run | None, total: int) -> None:
        self.run, self.total = run, total
        self.done = 0  # finished steps
        self._saved = 0.0  # time of the last checkpoint
        self._wait, self._told = self.save_seconds, -math.inf  # seconds until the next one; time of the last report

    def restore(self) -> bool:
        """Read the last checkpoint, count its steps as `done`, and return whether there is one."""
        raise NotImplementedError

    def opened(self) -> AbstractContextManager[Any]:
        """What is open during all steps, such as a file or worker processes."""
        return nullcontext()

    def begin(self) -> None:
        """Called before the first step, when the metrics of steps that were lost are removed."""
        if self.start:
            self.tell()

    def step(self) -> None:
        """Do the next step, and count it as `done`."""
        raise NotImplementedError

    def save(self) -> None:
        """Write a checkpoint: what `restore` reads."""

    def tell(self) -> None:
        """Report the progress, a few times per second."""
        now = time.perf_counter()
        if now - self._told > REPORT_SECONDS or self.done >= self.total:
            self._told = now
            self.report.progress(self.done, self.total, self.note())

    def note(self) -> str:
        """What the line of progress says after the number of steps."""
        return ""

    def result(self) -> Any:
        """Write what follows from all steps done so far, and return what the caller of `steps` gets."""

    def save_if_due(self) -> None:
        """Write a checkpoint if the last one is long ago. Long steps may call it, where `save` fits in."""
        if time.perf_counter() - self._saved > self._wait:
            self.save_now()

    def save_now(self) -> None:
        began = time.perf_counter()
        self.save()
        self._saved = time.perf_counter()
        self._wait = max(self.save_seconds, self.save_share * (self._saved - began))
        self.saved_at = self.done

    @property
    def seconds(self) -> float:
        """Duration of the steps of this call, checkpoints between them included."""
        return max((self.ended or time.perf_counter()) - self.began, 1e-9)

    @property
    def rate(self) -> float:
        """Steps per second of this call."""
        return (self.done - self.start) / self.seconds


def steps(work: Work, report: Reporter = SILENT) -> Any:
    """Do the steps that are left of a work, from wherever it is, and return its result.

    An interrupt (Ctrl-C) ends a work that `defers` it after the present step, with a checkpoint; then `Interrupted` is
    raised. Before the first step is done, KeyboardInterrupt is raised at once; where one takes long, after some
    seconds. Other work has every step on disk when it ends, and KeyboardInterrupt is raised at once.

    Raises:
        BadInput: A file of the run is damaged, or isn't the run's; or another process works on it.
    """
    with nullcontext() if work.run is None else work.run.lock():
        work.report, work.resumed = report, work.restore()
        work.start = work.saved_at = work.done
        if work.logs and work.run is not None:
            work.run.show_in_tensorboard()
            work.run.keep_metrics(lambda line: work.resumed and line["iteration"] <= work.start)
        with _interrupts(work) as interrupted, work.opened():
            work.begin()
            work.began = work._saved = time.perf_counter()
            while work.done < work.total and not interrupted():
                work.step()
                work.save_if_due()
                work.tell()
            work.ended = time.perf_counter()
            if work.done > work.saved_at or not (work.resumed or work.done):  # there may be no steps at all
                work.save_now()
            found = work.result()
            if interrupted():
                raise Interrupted(found)
    return found


def _interrupts(work: Work) -> AbstractContextManager[Any]:
    return deferred_interrupts(lambda: work.done > work.start) if work.defers else nullcontext(lambda: False)


class Tasks(Work):
    """Tasks whose results may come in any order: each is a line of one file as soon as it is there."""

    defers, logs = False, False

    def __init__(self, run: Run | None, total: int, file: str) -> None:
        super().__init__(run, total)
        self.file = file

    def results(self) -> Generator[Any]:
        """Do the tasks that are left."""
        raise NotImplementedError

    def take(self, result: Any) -> None:
        """Take the result of a task in, and count it as `done`."""
        raise NotImplementedError

    def line(self, result: Any) -> str:
        """The line of a result."""
        raise NotImplementedError

    @contextmanager
    def opened(self) -> Iterator[None]:
        with (
            nullcontext() if self.run is None else self.run.appending(self.file) as self._append,
            closing(self.results()) as self._coming,
        ):
            yield

    def step(self) -> None:
        result = next(self._coming)
        if self._append is not None:
            self._append(self.line(result))
        self.take(result)
