"""Two sides of a benchmark, measured in alternation in the same run.

Machines are noisy and change speed from second to second. So the two sides of a run are measured one right after the
other, in five runs. The median ratio is reported, with the lowest and the highest.
"""

import importlib.util
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Work = Callable[[int], object]  # does n units of work

RUNS = 5
SECONDS = 0.72  # per side and run


@dataclass(frozen=True)
class Row:
    name: str
    unit: str
    wanted: float  # the required ratio
    ours: Callable[[], Work]  # prepares the work
    peer: Callable[[], Work] | float  # or a published figure from another machine
    batch: int = 1  # units that the work does at a time: work(n) does n batches
    peer_package: str = ""  # of the extra `bench`, without which the row can't be measured

    @property
    def missing(self) -> bool:
        """Whether the peer isn't installed."""
        return bool(self.peer_package) and importlib.util.find_spec(self.peer_package) is None

    def measure(self) -> dict[str, Any]:
        """Rates and ratio of the run with the median ratio, and the ratios of all runs in order of time."""
        sides = [_calibrated(side()) for side in (self.ours, self.peer) if callable(side)]
        runs = [tuple(_rate(work, count) for work, count in sides) for _ in range(RUNS)]
        if not callable(self.peer):
            runs = [(ours, self.peer) for (ours,) in runs]
        ratios = [ours / peer for ours, peer in runs]
        ours, peer = runs[ratios.index(statistics.median(ratios))]
        return {
            "name": self.name,
            "unit": self.unit,
            "ours": ours * self.batch,
            "peer": peer * self.batch,
            "ratio": statistics.median(ratios),
            "ratios": ratios,
        }


def _rate(work: Work, count: int) -> float:
    began = time.perf_counter()
    work(count)
    return count / (time.perf_counter() - began)


def _calibrated(work: Work) -> tuple[Work, int]:
    """The work, and the number of units that takes about one run."""
    work(1)  # compiles
    count = 1
    while (rate := _rate(work, count)) * SECONDS > 2 * count:
        count = min(10 * count, max(int(rate * SECONDS), 1))
    return work, count
