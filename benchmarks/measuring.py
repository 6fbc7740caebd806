"""Two sides of a benchmark, measured in alternation in the same run.

Machines are noisy and change speed from second to second. So the two sides of a round are measured one right after the
other, and the round with the median ratio is reported.
"""

import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Work = Callable[[int], object]  # does n units of work

ROUNDS = 9
SECONDS = 0.4  # per side and round


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
        sides = [_calibrated(side()) for side in (self.ours, self.peer) if callable(side)]
        rounds = [tuple(_rate(work, count) for work, count in sides) for _ in range(ROUNDS)]
        if not callable(self.peer):
            rounds = [(ours, self.peer) for (ours,) in rounds]
        median = sorted(rounds, key=lambda pair: pair[0] / pair[1])[ROUNDS // 2]
        ours, peer = (rate * self.batch for rate in median)
        return {"name": self.name, "unit": self.unit, "ours": ours, "peer": peer, "ratio": ours / peer}


def _rate(work: Work, count: int) -> float:
    began = time.perf_counter()
    work(count)
    return count / (time.perf_counter() - began)


def _calibrated(work: Work) -> tuple[Work, int]:
    """The work, and the number of units that takes about one round."""
    work(1)  # compiles
    count = 1
    while (rate := _rate(work, count)) * SECONDS > 2 * count:
        count = min(10 * count, max(int(rate * SECONDS), 1))
    return work, count
