"""Pools of workers: processes on this machine, or on the machines of a Ray cluster, behind one interface."""

import importlib.util
from collections.abc import Generator, Iterable
from typing import Any

from .names import BadInput
from .progress import SILENT, Reporter
from .workers import START, Make, Pool, Workers

Places = int | str  # a number of processes on this machine, or the address of a Ray cluster: HOST:PORT or "auto"


def pool(make: Make, arguments: tuple, places: Places, report: Reporter = SILENT, alone: float | None = START) -> Pool:
    """A pool of workers, each with a function of its own that does one task.

    Args:
        make: `make(*arguments)` is called once per worker and returns the function that does a task.
        arguments: Of `make`.
        places: Where the workers are.
        report: Receives a message when a worker died.
        alone: Seconds of work that are left to this process; see `Workers`. A cluster does all of it.
    """
    if isinstance(places, int):
        return Workers(make, arguments, places, report, alone)
    from .ray_cluster import Cluster

    return Cluster(places, make, arguments, report)


def spread(
    make: Make,
    arguments: tuple,
    tasks: Iterable[Any],
    places: Places,
    report: Reporter = SILENT,
    alone: float | None = START,
) -> Generator[Any]:
    """Yield the result of each task as it is ready, from workers that end with the last task. See `pool`."""
    with pool(make, arguments, places, report, alone) as workers:
        yield from workers.do(tasks)


def at_most(places: Places, tasks: int) -> Places:
    """No more processes than tasks."""
    return min(places, tasks) if isinstance(places, int) else places


def processes_here(places: Places | None) -> int | None:
    """The number of processes or threads on this machine; None: not given, or a cluster does the work."""
    return places if isinstance(places, int) else None


def check_cluster(address: str) -> None:
    """Refuse a cluster without Ray, or an address where none answers, before the work starts."""
    if importlib.util.find_spec("ray") is None:
        raise BadInput("a cluster needs Ray: pip install 'kibitz[cluster]'")
    from .ray_cluster import check

    check(address)
