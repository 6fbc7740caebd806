"""The run folders of the working folder as they grow: each file is read once, and only what is new of it.

Everything is bounded: the number of runs, the bytes read at a time, the points of a curve. A folder that is damaged is
described as such. No code that a folder names is imported, and no link out of a folder is followed.
"""

import os
import re
import time
from itertools import islice
from pathlib import Path
from typing import Any

from ...core.files import parse_json, reason
from ...core.locks import Owner
from ...core.names import BadInput
from ...core.runs import Run
from ...nets.model_files import kept_networks
from ...train.learner import LEARNERS
from ..run_summary import is_number, run_folders, step
from .curves import MAX_CURVES, Series, curve_names
from .growing_files import Lines, Signature, signature
from .lab_messages import Curve, RunDetail, RunInfo, State
from .lobby import Unknown
from .run_results import MAX_PLAYERS, MAX_TEXT, result_view, score_or_payoff
from .trainings import Training

RUNS = Path("runs")
MAX_RUNS = 100  # that are listed: the newest
MAX_FOUND = 2000  # folders that are looked at
FORGET = 60.0  # seconds after which a run that isn't listed is forgotten, unless somebody looks at it
MAX_FILE = 1 << 20  # bytes of config.json and result.json
PARTS = ("metrics.jsonl", "games.jsonl", "checkpoints", "journal", "network.safetensors")  # of a run
RESUMABLE = "train"


def folder_of(name: str) -> Path:
    """The folder of a run by its name below runs/.

    Raises:
        Unknown: It is no such name, there is nothing, or it lies elsewhere.
    """
    parts = name.split("/")
    if all(part and not part.startswith(".") and "\\" not in part for part in parts):
        folder = RUNS.joinpath(*parts)
        try:
            if folder.is_dir() and folder.resolve().is_relative_to(RUNS.resolve()):
                return folder
        except (OSError, ValueError, RuntimeError):
            pass
    raise Unknown(f"no run is called {name!r}")


# ---------------------------------------------------------------- one run


class Watched:
    """A run folder; `update` reads what has changed."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.name = folder, folder.relative_to(RUNS).as_posix()
        self.run = Run(folder)
        self.config: dict[str, Any] = {}
        self.result: dict[str, Any] | None = None
        self.series: dict[str, Series] = {}
        self.games, self.locked, self.player, self.changed = 0, False, "", 0.0
        self.asked = -FORGET  # when somebody looked at it
        self.owner: Owner | None = None  # who works on it now if it is locked, or was the last to do so
        self._problems: dict[str, str] = {}  # by file
        self._read: dict[str, Signature | None] = {"config.json": (0, 0, 0)}
        self._metrics, self._games = Lines(folder / "metrics.jsonl"), Lines(folder / "games.jsonl")

    def update(self) -> None:
        configured = self._is_new("config.json")
        if configured:
            self._read_config()
        if self._is_new("result.json"):
            self._read_result()
        self._follow_metrics()
        again, lines = self._games.new()
        self.games = len(lines) + (0 if again else self.games)
        self.owner, self.locked = self.run.owner()
        exported = [self._is_new("network.safetensors"), self._is_new("strategy.safetensors"), self._kept_changed()]
        if configured or any(exported):
            self.player = self._find_player()
        self.changed = changed(self.folder)

    def _is_new(self, name: str) -> bool:
        before, now = self._read.get(name), signature(self.folder / name)
        self._read[name] = now
        return now != before

    def _kept_changed(self) -> bool:
        try:
            now = (0, 0, (self.folder / "networks").lstat().st_mtime_ns)
        except OSError:
            return False
        before = self._read.get("networks")
        self._read["networks"] = now
        return now != before

    def _object(self, name: str) -> dict[str, Any]:
        """The object in a small JSON file."""
        path = self.folder / name
        found = signature(path)
        if found is None:
            raise BadInput(f"{name} is missing")
        if found[1] > MAX_FILE:
            raise BadInput(f"{name} is too large")
        value = parse_json(path.read_bytes())
        if not isinstance(value, dict):
            raise BadInput(f"{name} is no object")
        return value

    def _read_config(self) -> None:
        self.config = {}
        self._problems.pop("config.json", None)
        try:
            self._object("config.json")
            config = self.run.config()
            if not isinstance(config.get("command"), str):
                raise BadInput("config.json is not a run's")
            self.config = config
        except (BadInput, OSError, ValueError) as error:
            self._problems["config.json"] = self._brief("config.json", error)

    def _read_result(self) -> None:
        self.result = None
        self._problems.pop("result.json", None)
        if self._read["result.json"] is None:
            return
        try:
            self.result = self._object("result.json")
        except (BadInput, OSError, ValueError) as error:
            self._problems["result.json"] = self._brief("result.json", error)

    def _follow_metrics(self) -> None:
        again, lines = self._metrics.new()
        if again:
            self.series = {}
            self._problems.pop("metrics.jsonl", None)
        for line in lines:
            try:
                values = parse_json(line)
                at: Any = step(values) if isinstance(values, dict) else None
                if not is_number(at):
                    raise ValueError("a line names no iteration")
            except ValueError as error:
                self._problems["metrics.jsonl"] = self._brief("metrics.jsonl", error)
                continue
            for key, value in values.items():
                if is_number(value) and (key in self.series or len(self.series) < 4 * MAX_CURVES):
                    self.series.setdefault(key[:MAX_TEXT], Series()).add(float(at), float(value))

    def _brief(self, name: str, error: Exception) -> str:
        text = reason(error).removeprefix(f"{self.folder}{os.sep}")
        return text if name in text else f"{name} is damaged: {text}"

    def _find_player(self) -> str:
        """The player that plays what was learned: the last checkpoint, or a later network that was kept."""
        method = str(self.config.get("method"))
        if self.names_code or not re.fullmatch(r"[\w./+-]+", self.name):
            return ""
        if self.config.get("command") == "solve":
            return f"strategy:{self.folder.as_posix()}" if self._read.get("strategy.safetensors") else ""
        if self.config.get("command") != "train" or method not in LEARNERS:
            return ""
        player = f"{LEARNERS[method].player}:{self.folder.as_posix()}"
        last = self._read.get("network.safetensors")
        kept = [(number, signature(path)) for number, path in islice(kept_networks(self.folder).items(), 10_000)]
        newest = max(((found[2], number) for number, found in kept if found is not None), default=(0, 0))
        if last is not None and last[2] >= newest[0]:
            return player
        return f"{player},iteration={newest[1]}" if newest[1] else ""

    # ------------------------------------------------------------ what it is

    @property
    def names_code(self) -> bool:
        """Whether it names a game, learner or player in a file of code."""
        named = [self.config.get(key) for key in ("game", "method")] + self.players
        return any(".py" in str(each) for each in named) or ".py" in self.name

    @property
    def players(self) -> list[str]:
        found = self.config.get("players")
        return [str(each)[:MAX_TEXT] for each in found[:MAX_PLAYERS]] if isinstance(found, list) else []

    @property
    def problem(self) -> str:
        return "; ".join(self._problems.values())

    @property
    def wanted(self) -> int | None:
        if "games" in self.config and self.config.get("command") not in ("train", "tournament"):
            games, sessions = self.config["games"], self.config.get("sessions", 1)
            return games * sessions if type(games) is type(sessions) is int else None
        found = self.config.get("iterations")
        return found if type(found) is int else None

    @property
    def done(self) -> int | None:
        """Iterations, or games."""
        if self.config.get("command") in ("match", "record", "session"):
            return self.games
        at = self.series.get("iteration") or self.series.get("iterations")
        if at is not None:
            return int(at.last[0])
        return 0 if self.config.get("command") == "train" else None

    @property
    def state(self) -> State:
        if self.locked:
            return "running"
        if "config.json" in self._problems:
            return "damaged"
        if self._problems and not self.series and not self.games:
            return "damaged"
        if self.config.get("command") == "tournament":
            return "finished" if self.result else "stopped"
        if self.wanted is None or (self.done or 0) >= self.wanted:
            return "finished"
        return "stopped"

    def figures(self) -> dict[str, float]:
        return {name: self.series[name].last[1] for name in curve_names(self.series)}

    def info(self, training: Training | None, seats: int) -> RunInfo:
        """The run at a glance.

        Args:
            training: The process of this server that has trained it, if any.
            seats: Of its game; 0: it can't be played here.
        """
        state, problem = self.state, self.problem
        owns = training is not None and training.owns(self.owner)
        alive = training is not None and training.running and (owns or not self.locked)
        if training is not None and alive:
            state = "stopping" if training.told is not None else "running" if self.series else "starting"
        elif training is not None and training.problem and state == "stopped":
            problem = training.problem
            state = "failed" if owns else state  # else another process had the run
        trains = self.config.get("command") == RESUMABLE
        score, payoff = score_or_payoff(self.result or {})
        return RunInfo(
            name=self.name,
            command=str(self.config.get("command", ""))[:MAX_TEXT],
            method=str(self.config.get("method", self.config.get("with", "")))[:MAX_TEXT],
            game=str(self.config.get("game", ""))[:MAX_TEXT],
            players=self.players,
            state=state,
            done=self.done,
            wanted=self.wanted,
            figures=self.figures(),
            score=score,
            payoff=payoff,
            changed=self.changed,
            problem=problem[:500],
            player=self.player if seats else "",
            seats=seats,
            can_stop=alive and state != "stopping",
            can_resume=trains and state in ("stopped", "failed") and not self.names_code,
        )

    def detail(self, info: RunInfo, log: str) -> RunDetail:
        return RunDetail(
            run=info,
            curves=[Curve(name=name, points=self.series[name].points()) for name in curve_names(self.series)],
            settings={str(key)[:60]: _shown(value) for key, value in islice(self.config.items(), 80)},
            result=result_view(self.result) if self.result else None,
            log=log,
        )


def changed(folder: Path) -> float:
    """When a file of a run was last written, in seconds since 1970."""
    found = [signature(folder / name) for name in ("config.json", "metrics.jsonl", "games.jsonl", "result.json")]
    return max((each[2] for each in found if each is not None), default=0) / 1e9


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value[:MAX_PLAYERS]))[:MAX_TEXT]
    text = {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
    return text[:MAX_TEXT]


# ---------------------------------------------------------------- all runs


class RunWatch:
    """All run folders in runs/."""

    def __init__(self) -> None:
        self._watched: dict[str, Watched] = {}

    def scan(self) -> tuple[list[Watched], int]:
        """The newest runs, brought up to date, the newest first; and how many others there are."""
        folders = [folder for folder in islice(run_folders(RUNS), MAX_FOUND) if folder != RUNS]
        folders += _half_written(folders)
        newest = sorted(folders, key=changed, reverse=True)
        kept = [self._updated(folder) for folder in newest[:MAX_RUNS]]
        others = {name: each for name, each in self._watched.items() if time.monotonic() - each.asked < FORGET}
        self._watched = others | {each.name: each for each in kept}
        return kept, len(newest) - len(kept)

    def find(self, folder: Path) -> Watched:
        """A run that somebody looks at, brought up to date."""
        watched = self._updated(folder)
        watched.asked = time.monotonic()
        return watched

    def _updated(self, folder: Path) -> Watched:
        watched = self._watched.get(folder.relative_to(RUNS).as_posix()) or Watched(folder)
        watched.update()
        self._watched[watched.name] = watched
        return watched


def _half_written(known: list[Path]) -> list[Path]:
    """Folders directly in runs/ that hold parts of a run, but no configuration."""
    there = {folder.relative_to(RUNS).parts[0] for folder in known}
    try:
        others = [Path(each) for each in islice(os.scandir(RUNS), MAX_FOUND) if each.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    others = [folder for folder in others if folder.name not in there and not folder.name.startswith(".")]
    return [folder for folder in others if any(os.path.lexists(folder / part) for part in PARTS)]
