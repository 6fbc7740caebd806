"""The Lab: run folders with their curves, live while they grow; ratings; short trainings started from the page."""

import asyncio
import contextlib
import functools
import json
import re
import time
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, WebSocket, WebSocketDisconnect
from pydantic import ValidationError

from ...core import names
from ...core.names import BadInput
from ...games import full_name, load
from ...train.learner import LEARNERS
from ...train.trainer import configured
from .lab_messages import (
    Gone,
    LearnerInfo,
    NewTraining,
    OfferedGame,
    OneRun,
    Option,
    RatingList,
    RunDetail,
    RunInfo,
    RunList,
    State,
    Watch,
)
from .live import SLOW, TOO_MUCH
from .lobby import Lobby, Unknown
from .messages import Problem
from .ratings import Ratings
from .run_watch import MAX_FOUND, RUNS, RunWatch, Watched, folder_of
from .trainings import Training, Trainings

PRESET = "small"
# Games in which the preset is a matter of seconds or minutes, by learner.
OFFERED = {
    "exit-oos": ("kuhn", "leduc", "liars_dice", "goofspiel:4"),
    "exit-ismcts": ("kuhn", "leduc", "goofspiel:6", "connect_four"),
    "deep-cfr": ("kuhn", "leduc", "liars_dice", "goofspiel:4"),
    "tspg": ("tic_tac_toe", "connect_four", "hex:5", "breakthrough:rows=6,columns=6"),
}
# Options and their largest value on the page.
MOST = {"iterations": 2000, "games": 500, "simulations": 20_000, "traversals": 5000, "steps": 1000, "seed": 10**9}
KEPT = 20  # networks of a training, so that it can be played soon
EVERY = 0.5  # seconds between two looks at the folders
MAX_LIVE = 50  # connections
REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "The body is no JSON."},
    404: {"model": Problem, "description": "There is nothing of this name."},
    409: {"model": Problem, "description": "It isn't possible now."},
    422: {"model": Problem, "description": "The request isn't understood."},
}


class Lab:
    """Looks at the folders for all connections together, and runs trainings."""

    def __init__(self, lobby: Lobby, data: Path) -> None:
        """
        Args:
            lobby: Knows which games can be played here.
            data: Folder of the server's data; what trainings print is kept there.
        """
        self.lobby, self.live = lobby, 0
        self.trainings = Trainings(RUNS, data / "trainings")
        self._watch, self._ratings = RunWatch(), Ratings()
        self.reading = asyncio.Lock()  # the folders: one thread at a time
        self.starting = asyncio.Lock()  # one training at a time
        self._rating = asyncio.Lock()
        self._listed: tuple[float, RunList] = -EVERY, RunList(runs=[], left_out=0)
        self._seats: dict[str, int] = {}

    # ---------------------------------------------------------------- runs

    async def runs(self) -> RunList:
        async with self.reading:
            if time.monotonic() - self._listed[0] >= EVERY:
                self._listed = time.monotonic(), await asyncio.to_thread(self._list)
            return self._listed[1]

    def _list(self) -> RunList:
        found, left_out = self._watch.scan()
        runs = [self._info(each) for each in found]
        there = {run.name for run in runs}
        others = [self.trainings.find(name) for name in self.trainings.names()]
        begun = zip(self.trainings.names(), others, strict=True)
        runs = [_without_folder(name, each) for name, each in begun if each and name not in there] + runs
        return RunList(runs=runs, left_out=left_out)

    async def detail(self, name: str) -> RunDetail:
        """One run with its curves.

        Raises:
            Unknown: There is no such run.
        """
        async with self.reading:
            return await asyncio.to_thread(self._detail, name)

    def _detail(self, name: str) -> RunDetail:
        training, log = self.trainings.find(name), self.trainings.log(name)
        try:
            watched = self._watch.find(folder_of(name))
        except Unknown:
            if training is None:
                raise
            return RunDetail(run=_without_folder(name, training), curves=[], settings={}, result=None, log=log)
        return watched.detail(self._info(watched), log)

    def _info(self, run: Watched) -> RunInfo:
        return run.info(self.trainings.find(run.name), self._seats_of(run) if run.player else 0)

    def _seats_of(self, run: Watched) -> int:
        game = str(run.config.get("game", ""))
        if game not in self._seats:
            if len(self._seats) > MAX_FOUND:
                self._seats.clear()
            try:
                self._seats[game] = self.lobby.game(game).facts.seats
            except BadInput:
                self._seats[game] = 0
        return self._seats[game]

    async def ratings(self, game: str) -> RatingList:
        async with self._rating:
            return await asyncio.to_thread(self._ratings.find, game)

    # ---------------------------------------------------------------- trainings

    @functools.cached_property
    def learners(self) -> list[LearnerInfo]:
        """The learners that need no data, with the options that the page offers."""
        found = []
        for name, games in OFFERED.items():
            cls = LEARNERS[name]
            fields = names.hints(cls.Config)
            options = [key for key in MOST if key in fields]
            offered = []
            for game in map(load, games):
                values = vars(cls.Config(full_name(game), **cls.preset(game, PRESET)))
                offered.append(OfferedGame(game=values["game"], defaults={key: values[key] for key in options}))
            about = [Option(name=key, about=fields[key][1], most=MOST[key]) for key in options]
            found.append(LearnerInfo(name=name, about=cls.about, options=about, games=offered))
        return found

    def start(self, new: NewTraining) -> str:
        """Start a training; the name of its run."""
        learner = next((each for each in self.learners if each.name == new.learner), None)
        if learner is None:
            raise Unknown(f"no learner here is called {new.learner!r}: {', '.join(OFFERED)} would be right")
        if new.game not in [each.game for each in learner.games]:
            known = ", ".join(each.game for each in learner.games)
            raise Unknown(f"{new.learner} isn't offered here for {new.game!r}: {known} would be right")
        most = {option.name: option.most for option in learner.options}
        for key, value in new.options.items():
            if value > most.get(names.choose("option", key, most), 0):
                raise BadInput(f"{key} should be at most {most[key]:,} here, not {value:,}")
        config = configured(new.learner, new.game, PRESET, dict(new.options))
        arguments = [new.learner, new.game, "--preset", PRESET, "--keep-every", str(max(1, config.iterations // KEPT))]
        for key, value in new.options.items():
            arguments += [f"--{key.replace('_', '-')}", str(value)]
        name = new.name or self._free(f"{re.split('[^a-z_]', new.game)[0]}-{new.learner}")
        self.trainings.start(name, arguments)
        return name

    def _free(self, base: str) -> str:
        """The first of `base-001`, `base-002` that is no run yet."""
        known = set(self.trainings.names())
        numbered = (f"{base}-{number:03d}" for number in range(1, 1000))
        for name in numbered:
            if name not in known and not (RUNS / name).exists():
                return name
        raise BadInput(f"{RUNS} holds 999 runs called {base}: give a name")

    def resume(self, name: str) -> None:
        run = self._watch.find(folder_of(name))
        if run.config.get("command") != "train":
            raise BadInput(f"{run.folder} is no training that could be resumed")
        if run.names_code:
            raise BadInput(f"{run.folder} names code in a file: resume it in a terminal, with --trust")
        if not run.locked and run.state == "finished":
            raise BadInput(f"{run.folder} is finished")
        self.trainings.resume(run.name)

    def stop(self, name: str) -> None:
        if self.trainings.find(name) is None:
            folder_of(name)
        self.trainings.stop(name)

    def close(self) -> None:
        self.trainings.close()


def _without_folder(name: str, training: Training) -> RunInfo:
    """A training that has written nothing yet, or has failed before it did."""
    state: State = "failed" if not training.running else "starting" if training.told is None else "stopping"
    return RunInfo(
        name=name, command="train", method="", game="", players=[], state=state, done=None, wanted=None, figures={},
        score=None, payoff=None, changed=training.began, problem=training.problem, player="", seats=0,
        can_stop=state == "starting", can_resume=False,
    )  # fmt: skip


class LabLive:
    """A live connection: the list of runs whenever it changes, and the details of one run."""

    def __init__(self, socket: WebSocket, lab: Lab) -> None:
        self.socket, self.lab = socket, lab
        self._run: str | None = None
        self._sent = ["", ""]  # the last list, the last details
        self._wake = asyncio.Event()

    async def serve(self) -> None:
        """Serve until the browser leaves."""
        tasks = [asyncio.create_task(self._send()), asyncio.create_task(self._receive())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        slow = any(isinstance(task.exception(), TimeoutError) for task in tasks if not task.cancelled())
        with contextlib.suppress(RuntimeError, WebSocketDisconnect):
            await self.socket.close(1008 if slow else 1000)

    async def _send(self) -> None:
        while True:
            await self._say(0, (await self.lab.runs()).model_dump_json())
            if self._run is not None:
                try:
                    text = (await self.lab.detail(self._run)).model_dump_json()
                except BadInput as error:
                    text = Gone(detail=str(error)).model_dump_json()
                await self._say(1, text)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(1.5 * EVERY):
                    await self._wake.wait()
            self._wake.clear()

    async def _say(self, what: int, text: str) -> None:
        if text != self._sent[what]:
            async with asyncio.timeout(SLOW):
                await self.socket.send_text(text)
            self._sent[what] = text

    async def _receive(self) -> None:
        loop, received = asyncio.get_running_loop(), [0.0]
        with contextlib.suppress(WebSocketDisconnect):
            while len(received) <= TOO_MUCH:
                text = await self.socket.receive_text()
                received = [*(at for at in received if at > loop.time() - 10), loop.time()]
                try:
                    self._run = Watch.model_validate(json.loads(text)).run
                except (ValidationError, ValueError, RecursionError):
                    return
                self._sent[1] = ""
                self._wake.set()


def lab_routes(lab: Lab) -> APIRouter:
    """The routes of the Lab."""
    router = APIRouter(prefix="/api/lab")

    @router.get("/runs")
    async def runs() -> RunList:
        """The runs in the folder runs/, the newest first."""
        return await lab.runs()

    @router.get("/run", responses=REFUSALS)
    async def run(name: Annotated[str, Query(min_length=1, max_length=200)]) -> RunDetail:
        """One run with its curves and results."""
        return await lab.detail(name)

    @router.get("/ratings")
    async def ratings(game: Annotated[str, Query(max_length=200)] = "") -> RatingList:
        """Elo ratings from all recorded games of a game; by default of the one with the most records."""
        return await lab.ratings(game)

    @router.get("/learners")
    async def learners() -> list[LearnerInfo]:
        """What can be trained from the page."""
        return await asyncio.to_thread(lambda: lab.learners)

    @router.post("/trainings", status_code=201, responses=REFUSALS)
    async def start(new: NewTraining) -> OneRun:
        """Start a short training."""
        async with lab.starting:
            return OneRun(run=await asyncio.to_thread(lab.start, new))

    @router.post("/stop", responses=REFUSALS)
    async def stop(which: OneRun) -> OneRun:
        """Stop a training that this server runs, as Ctrl-C does: it can be resumed."""
        lab.stop(which.run)
        return which

    @router.post("/resume", responses=REFUSALS)
    async def resume(which: OneRun) -> OneRun:
        """Resume a training from where it was stopped."""
        async with lab.starting, lab.reading:
            await asyncio.to_thread(lab.resume, which.run)
        return which

    @router.websocket("/live")
    async def live(socket: WebSocket) -> None:
        await socket.accept()  # else the browser isn't told why it was closed
        if lab.live >= MAX_LIVE:
            await socket.close(1013, "too many connections: try again later")
            return
        lab.live += 1
        try:
            await LabLive(socket, lab).serve()
        finally:
            lab.live -= 1

    return router
