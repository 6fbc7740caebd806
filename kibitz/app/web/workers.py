"""Processes in which players move and advise, so that the server never waits for a search.

Each process is served by a thread of the server. One that dies is replaced, and its request is repeated.
"""

import asyncio
import contextlib
import itertools
import multiprocessing
import os
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
from ...core.names import BadInput
from ...core.trust import Trust, trust, use_trust
from ...core.workers import one_thread
from ...games import CHANCE, Game, legal_actions, load, positions, view_of
from ...games.display import display
from ...jit import generators
from ...players import Player, make_for
from ...players.search import SearchPlayer
from ...players.thinking import growing_advice
from ...search.advice import Advice
from ..ui.formatting import MAX_LINE, advice_notes
from ..ui.referee import Follower
from ..ui.words import Words
from .insight import MOVES, adviser_said, believed, patterns_behind
from .messages import AdvisedMove
from .reviewing import review_lines

LATER = 3.0  # seconds after the start of the server
ATTEMPTS = 3  # of a request whose process dies
SILENCE = 60.0  # seconds without an answer, compilation excepted, after which a process is replaced
FOLLOWERS = 500  # players in a game that a process remembers; a forgotten one is shown its views again
FOLLOWED = 8_000_000  # simulations per move of all of them together: their trees take about 100 bytes for each
PER_SECOND = 1_000_000  # simulations that a player with a limit of time is taken to do
TABLES = 10_000  # of which it is remembered which process plays there
ADVISERS = 16
PREPARED = 100  # players in games
MAX_SECONDS, MAX_SIMULATIONS = 10.0, 1_000_000  # per move
FEW = 1000  # simulations of a move that only prepares
HURRY = 0.01  # seconds per past view that a player is shown again
ADVICE_SECONDS = 3.0  # of thinking about one position
AHEAD = "ahead"  # instead of a table: kernels for one that isn't opened yet
STUDY_NICE = 5  # how much the processes of studies stand back


class Request(NamedTuple):
    """A view to move at, or to advise on; or a player whose kernels are wanted soon."""

    kind: str  # "move", "prepare", "advise", "review", or "study": advice by a process of low priority
    table: str  # names a game at a table: a player remembers what it has seen there
    game: str
    player: str
    seat: int
    seed: int
    views: list[bytes]  # the seat's views at each of its turns so far
    language: str = "en"
    record: str = ""  # a finished game to review


class Died(Exception):
    """A worker process has ended, or didn't answer."""


# ---------------------------------------------------------------- in a worker process


def serve(pipe: Connection, trusted: Trust, nice: int = 0) -> None:
    """Main function of a worker process: answer requests until the parent closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if nice and hasattr(os, "nice"):
        os.nice(nice)
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
        self._followers: OrderedDict[tuple, Follower] = OrderedDict()  # by game at a table, seat and player
        self._advisers: OrderedDict[tuple, Player] = OrderedDict()
        self._prepared: OrderedDict[tuple, None] = OrderedDict()  # games and players whose kernels are loaded

    def answers(self, request: Request) -> Iterator[tuple[str, Any]]:
        if request.game not in self._games:
            self._games[request.game] = load(request.game)
        game = self._games[request.game]
        if request.kind == "review":
            yield from review_lines(game, request.record, request.player, request.seed, request.language)
            return
        views = [np.frombuffer(view, game.state)[0].copy() for view in request.views]
        if request.kind == "prepare":
            recalled(self._prepared, (request.game, request.player), lambda: prepare(request.player, game), PREPARED)
            return
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
        player, seat, language, study = request.player, request.seat, request.language, request.kind == "study"
        adviser = recalled(self._advisers, (request.game, player), lambda: checked(player, game), ADVISERS)
        budget = 0, ADVICE_SECONDS
        if study:  # as much as the name of the adviser says
            budget = getattr(adviser, "simulations", 0) or 0, getattr(adviser, "seconds", 0) or MAX_SECONDS
        seconds = ADVICE_SECONDS if isinstance(adviser, SearchPlayer) else 0.0  # others need no time
        said: Any = {} if study else {"label": adviser_said(player, game, language, seconds)}
        found: dict[str, Any] = {}
        shown: list[Any] | None = [] if study else None
        for advice in growing_advice(adviser, game, view, seat, *budget, seed=request.seed):
            found = said | advised(game, view, advice, language)
            yield "advice", found | {"finished": False}
            if shown is None:
                shown = patterns_behind(player, game, view, seat, advice, language) or []
                yield "insight", {"beliefs": believed(player, game, view, seat, language), "patterns": shown}
        yield "advice", found | {"finished": True}
        if shown and {move["action"] for move in shown} != {move["action"] for move in found["moves"][:MOVES]}:
            yield "insight", {"beliefs": None, "patterns": patterns_behind(player, game, view, seat, advice, language)}

    def _follower(self, game: Game, request: Request) -> Follower:
        """The player of a seat, which has followed the game. Those of earlier games at the table are forgotten."""
        known, key = self._followers, (request.table, request.seat, request.player)
        if key not in known:
            table = request.table.partition("/")[0] + "/"
            for old in [each for each in known if each[0].startswith(table) and each[0] != request.table]:
                del known[old]

        def new() -> Follower:
            return Follower(checked(request.player, game), game, request.seat, request.seed)

        found: Follower = recalled(known, key, new, FOLLOWERS)
        while len(known) > 1 and sum(effort(each.player) for each in known.values()) > FOLLOWED:
            known.popitem(last=False)
        return found


def effort(player: Any) -> float:
    """Simulations that a player does per move, roughly."""
    seconds, simulations = (getattr(player, key, 0) or 0 for key in ("seconds", "simulations"))
    return simulations or PER_SECOND * seconds


def recalled(known: OrderedDict, key: tuple, new: Any, most: int) -> Any:
    """The value of a key, made anew where it isn't known; the least recently used are forgotten."""
    if key not in known:
        known[key] = new()
        while len(known) > most:
            known.popitem(last=False)
    known.move_to_end(key)
    return known[key]


def prepare(name: str, game: Game) -> None:
    """Let a player make one move in a game of its own: that compiles its kernels, or loads them."""
    state, rng = positions(game)[0], generators(1, 1)[0]
    while (turn := int(game.turn(state))) == CHANCE or (turn >= 0 and game.is_announcement(state)):
        game.play(state, int(game.sample_action(state, rng)) if turn == CHANCE else legal_actions(game, state)[0])
    if turn >= 0:
        player: Any = checked(name, game)
        if getattr(player, "simulations", 0) > FEW:
            player.simulations = FEW
        player.begin(game, turn, 1)
        with hurried(player):
            player.move(view_of(game, state, turn))


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
    # The line has a place of its own, as has a label.
    notes = advice_notes(shown, view, replace(advice, line=()), words)
    notes = [note for note in notes if note != words("a policy without search")]
    return {"moves": moves, "line": line, "notes": notes, "seconds": advice.seconds}


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

    def __init__(self, nice: int = 0) -> None:
        self.process: Any = None
        self._nice = nice  # lowers the priority of the process
        self._closed = False
        self._pipe: Any = None
        self._jobs: queue.SimpleQueue[Job | Literal["start", "end"]] = queue.SimpleQueue()
        self._waiting: list[Job] = []  # all that aren't done
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def warm(self) -> None:
        """Start the process ahead of the first request."""
        self._jobs.put("start")

    def submit(self, job: Job) -> None:
        self._waiting.append(job)
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
        """Answers: ("compiling", kernel, empty at its end), ("advice", ...), ("insight", ...), ("move", action).

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
