"""The budget of a search: simulations, seconds, memory."""

import contextlib
import math
import time
from collections.abc import Iterator

from ..core.memory import spelled
from ..core.names import BadInput
from ..core.progress import SILENT, Reporter

KERNEL_SIMULATIONS = 20_000  # per call of a kernel, so that progress is shown and Ctrl-C works
TIMED_SIMULATIONS = 500  # per call where a clock runs
PER_CALL = 0.005  # seconds per call from which on calls don't grow where a clock runs


class Clock:
    """Seconds since it was started. A search restarts it once its kernels are compiled or loaded."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        self.began = time.perf_counter()

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.began

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """Don't count the time that is spent meanwhile."""
        seconds = self.seconds
        try:
            yield
        finally:
            self.began = time.perf_counter() - seconds


def never() -> bool:
    return False


def chunks(
    simulations: int,
    seconds: float,
    report: Reporter = SILENT,
    clock: Clock | None = None,
    small: bool = False,
    timed: int = TIMED_SIMULATIONS,
) -> Iterator[int]:
    """Yield numbers of simulations to do, one at least, until the simulations or the seconds are used up.

    The first chunk is one simulation. It may compile the kernels, so the clock starts after it.

    Args:
        simulations: Their number; 0: no limit.
        seconds: Infinite: no limit.
        report: Receives the number of simulations done after each chunk.
        clock: Measures the seconds; by default one of its own.
        small: Whether chunks are small without a limit of seconds too, for a caller who looks at the clock.
        timed: The largest chunk where a clock runs. One that is less than usual is a batch, which may take its time.
    """
    if not (simulations >= 0 and seconds >= 0):
        raise BadInput(f"a budget of {simulations} simulations and {seconds} seconds: neither should be below 0")
    if not simulations and seconds == math.inf:
        raise BadInput("a search needs a budget: give simulations or seconds")
    clock = clock or Clock()
    yield 1
    clock.restart()
    whole = seconds == math.inf and not small and not report.may_stop
    done, largest = 1, KERNEL_SIMULATIONS if whole else 2
    report.progress(done, simulations or None)
    while (not simulations or done < simulations) and (spent := clock.seconds) < seconds and not report.stopped:
        chunk = min(simulations - done, largest) if simulations else largest
        if seconds < math.inf and done > 1 and spent > 0:  # as many as the time left allows, by the simulations so far
            chunk = max(min(chunk, int((done - 1) / spent * (seconds - spent))), 1)
        yield chunk
        done += chunk
        if largest < timed and (timed < TIMED_SIMULATIONS or clock.seconds - spent < PER_CALL):  # it may be slow
            largest = min(2 * largest, timed)
        report.progress(done, simulations or None)


def refuse_beyond(memory: float, what: str, stored: int, simulations: int, bytes_each: int) -> None:
    """Raise BadInput where a budget can't fit: each simulation stores one node at most, so this is known before."""
    needed = (stored + simulations) * bytes_each
    if needed > memory:
        raise BadInput(
            f"{simulations:,} simulations of {what} may need {spelled(needed)} of memory, "
            f"more than the {spelled(memory)} allowed: give fewer, or raise the limit with --memory"
        )
