"""What a search may use: simulations, seconds, memory."""

import math
import os
import time
from collections.abc import Callable, Iterator

from ..core.names import BadInput

KERNEL_SIMULATIONS = 20_000  # after so many a kernel gives way, for progress and Ctrl-C
TIMED_SIMULATIONS = 500  # and after so many where a clock runs


def chunks(simulations: int, seconds: float, progress: Callable[[int], None]) -> Iterator[int]:
    """Numbers of simulations to do one after the other, until either is used up. 0 simulations: no limit."""
    began, done = time.perf_counter(), 0
    most = KERNEL_SIMULATIONS if seconds == math.inf else TIMED_SIMULATIONS
    while (not simulations or done < simulations) and time.perf_counter() - began < seconds:
        chunk = min(simulations - done, most) if simulations else most
        yield chunk
        done += chunk
        progress(done)


def max_memory() -> float:
    """Bytes: half of what the machine has."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2
    except (AttributeError, ValueError, OSError):  # Windows
        return 4e9


def refuse_beyond(memory: float, what: str, stored: int, simulations: int, bytes_each: int) -> None:
    """Each simulation stores one node at most; so a budget that can't fit is known before it starts."""
    needed = (stored + simulations) * bytes_each
    if needed > memory:
        raise BadInput(
            f"{simulations:,} simulations of {what} may need {needed / 1e9:.1f} GB, "
            f"more than the {memory / 1e9:.1f} GB there are: give fewer"
        )
