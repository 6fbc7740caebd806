"""Processes in which players move and advise, so that the server never waits for a search.

Each process is served by a thread of the server. One that dies is replaced, and its request is repeated.
"""

import asyncio
import contextlib
import itertools
import multiprocessing
import queue
import signal
import threading
import time
import traceback
from collections import OrderedDict
from collections.abc import AsyncGenerator, Iterator
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any, Literal, NamedTuple

import numpy as np

from ...core import progress
from ...core.names import BadInput, Trust, trust, use_trust
from ...core.workers import one_thread
from ...games import Game, load
from ...games.display import display
from ...players import Player, make_for
from ...players.search import SearchPlayer
from ...players.thinking import growing_advice
from ...search.advice import Advice
from ..ui.formatting import MAX_LINE, advice_notes
from ..ui.referee import Follower
from ..ui.words import Words
from .insight import MOVES, adviser_said, believed, patterns_behind
from .messages import AdvisedMove

ATTEMPTS = 3  # of a request whose process dies
SILENCE = 60.0  # seconds without an answer, compilation excepted, after which a process is replaced
FOLLOWERS = 16  # players in a game that a process remembers; a forgotten one is shown its views again
MAX_SECONDS, MAX_SIMULATIONS = 10.0, 1_000_000  # per move
HURRY = 0.01  # seconds per past view that a player is shown again
ADVICE_SECONDS = 3.0  # of thinking about one position


class Request(NamedTuple):
    """A view to move at, or to advise on."""

    kind: str  # "move" or "advise"
    table: str  # names a game at a table: a player remembers what it has seen there
    game: str
    player: str
    seat: int
    seed: int
    views: list[bytes]  # the seat's views at each of its turns so far
    language: str = "en"


class Died(Exception):
    """A worker process has ended, or didn't answer."""


# ---------------------------------------------------------------- in a worker process


def serve(pipe: Connection, trusted: Trust) -> None:
    """Main function of a worker process: answer requests until the parent closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    use_trust(trusted)
    progress.on_compile = lambda name: pipe.send(("compiling", (name or "").strip("_")))
    desk = Desk()
    with contextlib.suppress(EOFError, ConnectionError):
        while True:
            request = pipe.recv()
            if request is None:  # a cancellation that came too late
                continue
            try:
                for answer in desk.answers(request):
                    pipe.send(answer)
                    if pipe.poll():
                        pipe.recv()
                        break
                pipe.send(("done", None))
            except BadInput as error:
                pipe.send(("refused", str(error)))
            except Exception:
                pipe.send(("failed", traceback.format_exc().strip().rpartition("\n")[2]))


class Desk:
    """The players of one worker process."""

    def __init__(self) -> None:
        self._games: dict[str, Game] = {}
        self._followers: OrderedDict[tuple, Follower] = OrderedDict()
        self._advisers: OrderedDict[tuple, Player] = OrderedDict()

    def answers(self, request: Request) -> Iterator[tuple[str, Any]]:
        if request.game not in self._games:
            self._games[request.game] = load(request.game)
        game = self._games[request.game]
        views = [np.frombuffer(view, game.state)[0].copy() for view in request.views]
        if request.kind == "move":
            follower = self._follower(game, request)
            if len(views) > len(follower.shown) + 1:
                with hurried(follower.player):
                    follower.move(views[:-1])
            yield "move", int(follower.move(views))
            return
        yield from self._advice(game, views[-1], request)

    def _advice(self, game: Game, view: Any, request: Request) -> Iterator[tuple[str, Any]]:
        """Advice that grows. What lies behind it follows its first form, and its last where that lists other moves."""
        player, seat, language = request.player, request.seat, request.language
        adviser = recalled(self._advisers, (request.game, player), lambda: checked(player, game))
        seconds = ADVICE_SECONDS if isinstance(adviser, SearchPlayer) else 0.0  # others need no time
        said, found, shown = adviser_said(player, game, language, seconds), {}, None
        for advice in growing_advice(adviser, game, view, seat, seconds=ADVICE_SECONDS, seed=request.seed):
            found = {"label": said} | advised(game, view, advice, language)
            yield "advice", found | {"finished": False}
            if shown is None:
                shown = patterns_behind(player, game, view, seat, advice, language) or []
                yield "insight", {"beliefs": believed(player, game, view, seat, language), "patterns": shown}
        yield "advice", found | {"finished": True}
        if shown and {move["action"] for move in shown} != {move["action"] for move in found["moves"][:MOVES]}:
            yield "insight", {"beliefs": None, "patterns": patterns_behind(player, game, view, seat, advice, language)}

    def _follower(self, game: Game, request: Request) -> Follower:
        def new() -> Follower:
            return Follower(checked(request.player, game), game, request.seat, request.seed)

        return recalled(self._followers, (request.table, request.player, request.seat), new)


def recalled(known: OrderedDict, key: tuple, new: Any) -> Any:
    """The value of a key, made anew where it isn't known; the least recently used are forgotten."""
    if key not in known:
        known[key] = new()
        while len(known) > FOLLOWERS:
            known.popitem(last=False)
    known.move_to_end(key)
    return known[key]


@contextlib.contextmanager
def hurried(player: Any) -> Iterator[None]:
    """Let a player that thinks for seconds hardly think, while it is shown what is past."""
    seconds = getattr(player, "seconds", 0)
    if seconds:
        player.seconds = HURRY
    try:
        yield
    finally:
        if seconds:
            player.seconds = seconds


def checked(name: str, game: Game) -> Player:
    """Make a player whose budget lets others play, too."""
    player = make_for(name, game)
    seconds, simulations = (getattr(player, key, 0) or 0 for key in ("seconds", "simulations"))
    if seconds > MAX_SECONDS or simulations > MAX_SIMULATIONS:
        most = f"at most {MAX_SECONDS:g} seconds or {MAX_SIMULATIONS:,} simulations per move"
        raise BadInput(f"{name} thinks too long for this table: give it {most}")
    return player


def advised(game: Game, view: Any, advice: Advice, language: str) -> dict[str, Any]:
    """Advice as plain values, the best move first."""
    shown, order = display(game, language), np.lexsort((-advice.visits, -advice.policy))
    interval = advice.interval(game)
    moves = [
        AdvisedMove(
            action=int(advice.actions[i]),
            name=shown.action_to_string(view, int(advice.actions[i])),
            policy=float(advice.policy[i]),
            value=None if np.isnan(advice.value[i]) else float(advice.value[i]),
            error=None if advice.error is None or np.isnan(advice.error[i]) else float(advice.error[i]),
            interval=None if np.isnan(interval[i]).any() else (float(interval[i, 0]), float(interval[i, 1])),
            visits=int(advice.visits[i]),
        ).model_dump()
        for i in order
    ]
    words, line = Words(language), advice.spelled_line(shown, view)[:MAX_LINE]
    notes = advice_notes(
        shown, view, replace(advice, line=()), words
    )  # the line has a place of its own, as has a label
    return {"moves": moves, "line": line, "notes": [note for note in notes if note != words("a policy without search")]}


# ---------------------------------------------------------------- in the server


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

    def __init__(self) -> None:
        self.process: Any = None
        self._closed = False
        self._pipe: Any = None
        self._jobs: queue.SimpleQueue[Job | Literal["start", "end"]] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def warm(self) -> None:
        """Start the process ahead of the first request."""
        self._jobs.put("start")

    def submit(self, job: Job) -> None:
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
        self._end()

    def _start(self) -> None:
        if self.process is None:
            spawn = multiprocessing.get_context("spawn")
            self._pipe, theirs = spawn.Pipe()
            process = spawn.Process(target=serve, args=(theirs, trust()), daemon=True)
            with Worker._starting, one_thread():
                process.start()
            self.process = process
            theirs.close()

    def _end(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self._pipe.close()
            self.process = None

    def _do(self, job: Job) -> None:
        """Pass on all answers to a request."""
        self._pipe.send(job.request)
        told, heard, compiling = False, time.monotonic(), False
        while True:
            if job.cancelled and not told:
                self._pipe.send(None)
                told = True
            if not self._pipe.poll(0.1):
                if not compiling and time.monotonic() - heard > SILENCE:
                    raise Died(f"it didn't answer within {SILENCE:g} seconds")
                continue
            kind, value = self._pipe.recv()
            heard = time.monotonic()
            compiling = bool(value) if kind == "compiling" else compiling
            job.post(kind, value)
            if kind in ("done", "refused", "failed"):
                return


class Pool:
    """Worker processes for moves, and one for advice, so that moves don't wait for it."""

    def __init__(self, processes: int) -> None:
        self.movers, self.adviser = [Worker() for _ in range(processes)], Worker()
        self._next = itertools.count()
        self._lanes: OrderedDict[tuple, int] = OrderedDict()

    def warm(self) -> None:
        self.movers[0].warm()
        self.adviser.warm()

    async def answers(self, request: Request) -> AsyncGenerator[tuple[str, Any], None]:
        """Answers to a request: ("compiling", kernel), ("advice", ...), ("insight", ...), ("move", action).

        Raises:
            BadInput: The player can't play, or its process failed.
        """
        job = Job(request)
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

    def _worker(self, request: Request) -> Worker:
        """A table stays with the process that remembers its game."""
        if request.kind == "advise":
            return self.adviser
        lane = recalled(self._lanes, (request.table.partition("/")[0],), lambda: next(self._next) % len(self.movers))
        return self.movers[lane]

    def close(self) -> None:
        for worker in (*self.movers, self.adviser):
            worker.close()
