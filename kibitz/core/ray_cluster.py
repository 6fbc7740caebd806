"""Tasks spread over the machines of a Ray cluster, any of which may die.

Each actor, one per CPU, holds one task at a time. When it dies, only that
task is lost, and it is handed out again. Every machine must have the same version of Kibitz installed.
"""

import logging
import os
import signal
import socket
import threading
import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from math import inf
from typing import Any

from .names import BadInput
from .progress import SILENT, Reporter
from .trust import Trust, trust, use_trust
from .workers import MAX_DEATHS, Make, Pool

# Ray reads these when it is imported.
ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_AUTO_CONNECT": "0",  # or a call after `close` would start a cluster
    "RAY_DEDUP_LOGS_SKIP_REGEX": "^",  # what it prints about a death; the reporter gets one line instead
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # on every system: a cluster started here is on loopback
    "RAY_NUM_REDIS_GET_RETRIES": "5",  # instead of 20: each takes half a minute when a cluster has gone
}
PROBE = 5.0  # seconds within which a cluster must answer
LOOK = 2.0  # seconds between two checks for new CPUs
PATIENCE = 10.0  # seconds without any CPU until a message


class Cluster(Pool):
    """Actors on a Ray cluster."""

    def __init__(
        self,
        address: str,
        make: Make,
        arguments: tuple,
        report: Reporter = SILENT,
    ) -> None:
        """
        Args:
            address: HOST:PORT of a cluster that this machine is a node of; `local` starts one of this machine alone;
                `auto` is the cluster in RAY_ADDRESS or the one that runs on this machine, else `local`.
            make: `make(*arguments)` is called once per actor and returns the function that does a task.
            arguments: Of `make`.
            report: Receives a message when a worker died or no CPU is free.
        """
        self.report = report
        self._ray, self._ours = _connected(address)
        self._new = self._ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(_Actor)
        self._made_by = self._ray.put((trust(), make, arguments))
        self._given: tuple[int, list] = (0, [])  # number of values shared so far, and the last one
        self._looked = -inf  # time of the last check for CPUs
        self._unborn = 0  # deaths in a row of actors that never came up
        self._actors: dict[Any, str] = {}  # each actor's machine; "" until it is up
        self._busy: dict[Any, tuple[Any, list]] = {}  # pending call -> its actor and its task

    def share(self, value: Any) -> None:
        self._given = (self._given[0] + 1, [self._ray.put(value)])

    def _do(self, left: deque) -> Iterator[Any]:
        deaths = Counter[Any]()
        self._looked, waits_since = -inf, time.monotonic()
        while left or self._in_hand():
            self._hand_out(left)
            for awaited in self._ready():
                yield from self._results(awaited, left, deaths)
            if any(self._actors.values()):
                waits_since = time.monotonic()
            elif time.monotonic() - waits_since > PATIENCE:
                self.report.message("no CPU of the cluster is free: waiting for one")
                waits_since = inf  # only one message

    def _drop(self) -> None:
        for awaited in self._in_hand():
            self._end(self._busy.pop(awaited)[0])

    def _ready(self) -> list[Any]:
        """The pending calls that are ready; empty after a short wait."""
        if self._busy:
            return self._ray.wait(list(self._busy), timeout=LOOK)[0]
        time.sleep(LOOK)  # the cluster has no CPU at all
        return []

    def _in_hand(self) -> list[Any]:
        return [awaited for awaited, (_, tasks) in self._busy.items() if tasks]

    def _hand_out(self, left: deque) -> None:
        """Give a task to each free actor; start actors on CPUs that appeared since the last check."""
        if left and time.monotonic() - self._looked > LOOK:
            cpus = sum(int(node["Resources"].get("CPU", 0)) for node in self._ray.nodes() if node["Alive"])
            for _ in range(min(cpus, len(left) + len(self._busy)) - len(self._actors)):
                actor = self._new.remote()
                self._actors[actor] = ""
                self._busy[actor.come_up.remote(self._made_by, os.getcwd())] = (actor, [])
            self._looked = time.monotonic()
        busy = {actor for actor, _ in self._busy.values()}
        for actor in [actor for actor in self._actors if actor not in busy][: len(left)]:
            task = left.popleft()
            self._busy[actor.do.remote(task, *self._given)] = (actor, [task])

    def _results(self, awaited: Any, left: deque, deaths: Counter) -> list[Any]:
        """The result of a call's task; none if its actor only reports that it is up, or has died."""
        actor, tasks = self._busy.pop(awaited)
        try:
            kind, value, machine = self._ray.get(awaited)
        except self._ray.exceptions.RayError as error:
            self._recover(actor, tasks, error, left, deaths)
            return []
        except BaseException:
            self._busy[awaited] = actor, tasks
            raise
        if kind in ("refused", "failed"):
            if not tasks:
                self._end(actor)  # it never came up
            raise BadInput(value) if kind == "refused" else RuntimeError(f"a worker on {machine} failed:\n{value}")
        self._actors[actor], self._unborn = machine, 0
        return [deepcopy(value)] if tasks else []  # a copy: Ray's arrays are read-only

    def _recover(self, actor: Any, tasks: list, error: Exception, left: deque, deaths: Counter) -> None:
        """Put the task of an actor that died back into the queue, up to MAX_DEATHS times."""
        of_ray = self._ray.exceptions
        if isinstance(error, of_ray.RayTaskError) and not isinstance(error.cause, of_ray.RayError):
            raise RuntimeError(f"a worker failed:\n{error}")  # it could not receive its task or send its result
        machine, why = self._actors[actor], type(error).__name__
        self._end(actor)
        self._looked = -inf
        deaths.update(tasks)
        if any(deaths[task] == MAX_DEATHS for task in tasks):
            raise BadInput(f"workers died {MAX_DEATHS} times at the same task, the last on {machine} ({why})")
        if tasks:
            self.report.message(f"a worker on {machine} died ({why}); its task is done again")
            left.extend(tasks)
            return
        self._unborn += 1
        if self._unborn >= MAX_DEATHS * (1 + len(self._actors)):
            raise BadInput(
                f"workers of the cluster die as they start ({why}): is there enough memory, and is RAY_AUTH_MODE "
                "the same on all machines?"
            )

    def _end(self, actor: Any) -> None:
        del self._actors[actor]
        with suppress(self._ray.exceptions.RayError):
            self._ray.kill(actor)

    def close(self) -> None:
        for actor in list(self._actors):
            self._end(actor)
        self._busy.clear()
        self._given = (0, [])
        if self._ours:
            self._ray.shutdown()


class _Actor:
    """A process of the cluster. Its methods return (kind, value, machine): Ray would wrap errors that are raised."""

    def come_up(self, made_by: tuple[Trust, Make, tuple], folder: str) -> tuple[str, Any, str]:
        with suppress(OSError):  # so that relative paths mean the same, if the folder exists
            os.chdir(folder)
        trusted, make, arguments = deepcopy(made_by)
        use_trust(trusted)
        self.turn, self.given = 0, ()
        kind, self.function = _attempt(make, *arguments)
        return kind, None if kind == "done" else self.function, socket.gethostname()

    def do(self, task: Any, turn: int, shared: list) -> tuple[str, Any, str]:
        if self.turn != turn:
            import ray

            self.turn, self.given = turn, tuple(deepcopy(ray.get(shared)))  # a copy: Ray's arrays are read-only
        return *_attempt(self.function, task, *self.given), socket.gethostname()


def _attempt(function: Callable[..., Any], *arguments: Any) -> tuple[str, Any]:
    try:
        return "done", function(*arguments)
    except BadInput as error:
        return "refused", str(error)
    except Exception:
        return "failed", traceback.format_exc()


@contextmanager
def _same_handler_of_sigterm() -> Iterator[None]:
    """Ray puts its own in place when it connects, which would end a command without saving its work."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@_same_handler_of_sigterm()
def _connected(address: str) -> tuple[Any, bool]:
    """The module ray after connecting, and whether this process must end the connection."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        import ray
        import ray.exceptions
    except ImportError:
        raise BadInput("a cluster needs Ray: pip install 'kibitz[cluster]'") from None
    if ray.is_initialized():
        return ray, False
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    hint = ""
    address = _resolved(address)
    check(address)
    try:
        if address == "auto":
            with suppress(ConnectionError):  # no cluster runs
                ray.init("auto", **quiet)
                return ray, True
            address = "local"
        if address == "local":
            ray.init("local", include_dashboard=False, **quiet)
            return ray, True
        hint = " (if it asks for a token, set RAY_AUTH_MODE=token)"
        ray.init(address, **quiet)
        return ray, True
    except Exception as error:
        ray.shutdown()
        why = " ".join(str(error).split()) or type(error).__name__
        raise BadInput(f"no connection to a Ray cluster at {address}: {why}{hint}") from None


def check(address: str) -> None:
    """Refuse an address at which no cluster answers."""
    address = _resolved(address)
    if address in ("auto", "local"):
        return
    try:
        _probe(address)
    except (OSError, ValueError) as error:
        raise BadInput(f"no connection to a Ray cluster at {address}: {' '.join(str(error).split())}") from None


def _resolved(address: str) -> str:
    return os.environ.get("RAY_ADDRESS") or "auto" if address == "auto" else address


def _probe(address: str) -> None:
    """Check that Ray answers: Ray itself would try a wrong address for minutes and print a lot."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError("an address has the form HOST:PORT")
    with socket.create_connection((host.strip("[]"), int(port)), PROBE) as there:
        if os.environ.get("RAY_USE_TLS", "0") != "0":
            return
        there.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))
        if there.recv(9)[3:4] != b"\4":  # a gRPC server answers with its settings
            raise ConnectionError("the server there isn't Ray")
