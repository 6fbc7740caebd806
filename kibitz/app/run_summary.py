"""Run folders at a glance: what each one is, how far it got, what it reached, and how to resume it."""

import math
import os
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.files import check_fits, read_json, read_lines
from ..core.names import BadInput
from ..core.runs import RESUME, Run

GAMES = "games.jsonl"
ABSTRACTION = "abstraction.safetensors"
INNER = {"checkpoints", "journal", "matches", "networks"}  # subfolders of a run that hold its parts


@dataclass
class RunSummary:
    run: str  # its folder
    written: float = 0.0  # time of the last change of a file in it, in seconds since 1970
    command: str = ""
    method: str = ""
    game: str = ""
    done: int | None = None  # iterations or games
    wanted: int | None = None
    nash_conv: float | None = None
    loss: float | None = None
    score: dict[str, float | None] | None = None  # of the first player: mean, low, high
    players: list[str] | None = None
    payoff: dict[str, float | None] | None = None  # where payoffs differ in size: its mean payoff instead
    winner: str = ""  # of a tournament: the player with the highest mean payoff, which is `payoff`
    options: list[str] | None = None  # of the command that resumes it; None: there is none
    resume_words: list[str] | None = None  # the words of that command, of an unfinished run that keeps them
    seed: int | None = None
    running: bool = False  # whether a process works on it now
    problem: str = ""  # why the folder can't be read

    @property
    def what(self) -> str:
        """Short form of the command that made the run."""
        return " ".join([self.what_briefly, *map(shlex.quote, self.players or [])])

    @property
    def what_briefly(self) -> str:
        """The same without the players."""
        method = {"train": f"{self.method} {self.game}", "solve": f"{self.game} with {self.method}"}
        return f"{self.command} {method.get(self.command, self.game)}".strip() or "-"

    @property
    def progress(self) -> str:
        if self.wanted is None:
            return "-"
        done = "?" if self.done is None else f"{self.done:,}"
        return done if self.done == self.wanted else f"{done} of {self.wanted:,}"

    @property
    def reached(self) -> str:
        if self.problem:
            return f"unreadable: {self.problem.split(': ')[0]}"
        if self.score is not None and self.players and (mean := self.score["mean"]) is not None:
            low, high = self.score["low"], self.score["high"]
            interval = "" if low is None or high is None else f" ({100 * low:.1f} to {100 * high:.1f})"
            return f"{self.players[0]} scores {100 * mean:.1f}%{interval}"
        if self.winner and self.payoff is not None and (mean := self.payoff["mean"]) is not None:
            return f"{self.winner} is first with {mean:+.3g}{_signed(self.payoff)}"
        if self.players and self.payoff is not None and (mean := self.payoff["mean"]) is not None:
            return f"{self.players[0]} gets {mean:+.3g}{_signed(self.payoff)} per game"
        parts = [f"NashConv {self.nash_conv:.4g}"] if self.nash_conv is not None else []
        parts += [f"loss {self.loss:.4g}"] if self.loss is not None else []
        return ", ".join(parts) or "-"

    @property
    def reached_briefly(self) -> str:
        """The result without names and reasons, for a narrow terminal."""
        if self.problem:
            return "unreadable"
        return self.reached.removeprefix(f"{self.players[0]} " if self.players and not self.winner else "")

    @property
    def resume_command(self) -> str:
        """The command that continues an unfinished run, empty where there is none, or a process works on it."""
        if self.running:
            return ""
        if self.resume_words is not None:
            return shlex.join(["kibitz", *self.resume_words, "--out", self.run])
        if None in (self.done, self.wanted) or self.done == self.wanted or self.options is None:
            return ""
        if self.command in ("train", "solve"):
            trust = ["--trust"] if ".py:" in f"{self.game} {self.method}" else []
            return shlex.join(["kibitz", self.command, "--resume", os.path.abspath(self.run), *trust])
        command, players = self.command, self.players or []
        if command == "record":
            players = [part for name in players for part in ("--players", name)]
        elif command == "lbr":
            command, players = "exploit", [*players[1:], "--with", command]
        numbers = [*self.options, "--seed", str(self.seed)]
        return shlex.join(["kibitz", command, self.game, *players, *numbers, "--out", os.path.abspath(self.run)])


def run_folders(top: Path) -> Iterator[Path]:
    """Find folders that hold a config.json, including `top`; hidden folders are skipped."""
    for place, folders, files in os.walk(top):
        is_run = "config.json" in files
        folders[:] = sorted(name for name in folders if not name.startswith(".") and not (is_run and name in INNER))
        if is_run:
            yield Path(place)


def _of_sessions(config: dict[str, Any]) -> int:
    check_fits(config, {"sessions": int})
    return int(config["games"] * config["sessions"])


# Commands that play games -> how many a run plays in all.
GAMES_OF: dict[str, Callable[[dict[str, Any]], int]] = {
    "lbr": lambda config: config["games"],
    "match": lambda config: config["games"],
    "record": lambda config: config["games"],
    "session": _of_sessions,
    "tournament": lambda config: config["games"] * math.comb(len(config["players"]), 2),
}


def summarize(folder: Path) -> RunSummary:
    """Summarize a run folder. It never fails: `problem` says why a folder can't be read."""
    row, run = RunSummary(str(folder)), Run(folder)
    try:
        row.written = max(path.lstat().st_mtime for path in folder.iterdir())
        config = run.config()
        if not isinstance(config.get("command"), str):
            raise BadInput("config.json is not a run's")
        row.command, row.game = config["command"], str(config.get("game", ""))
        row.method = str(config.get("method", config.get("with", "")))
        row.wanted, row.seed = _whole(config.get("iterations")), _whole(config.get("seed"))
        row.running = run.is_locked()
        resumed = row.method in ("pcs", "cfr-br") or "tree" in config  # solvers that keep checkpoints
        if row.command == "train" or (row.command == "solve" and resumed):
            row.options = []
        if row.command in GAMES_OF:
            check_fits(config, {"players": [str], "games": int})
            row.players, row.wanted = config["players"], GAMES_OF[row.command](config)
            row.options = ["--games", str(config["games"])]
            row.options += ["--openings", str(config["openings"])] if "openings" in config else []
        if RESUME in config:
            check_fits(config, {RESUME: [str]})
            row.resume_words = None if _is_finished(run, row) else config[RESUME]
        if row.command == "session":
            solos = "yes" if config.get("solos") else "no"
            row.options = [*(row.options or []), "--sessions", str(config["sessions"]), "--solos", solos]
            row.done = _games_played(run.path(GAMES))
        elif row.command == "tournament":
            _read_standings(row, run)
        elif row.players is not None:
            _read_result(row, run)
        else:
            measured = measurements(run)
            row.done = int(step(measured[-1])) if measured else (None if row.options is None else 0)
            row.nash_conv, row.loss = _last(measured, "nash_conv"), _last(measured, "loss")
    except BadInput as error:
        row.problem = str(error).removeprefix(f"{folder}{os.sep}")
    except (OSError, ValueError, TypeError, LookupError, AttributeError) as error:
        row.problem = f"can't be read: {error}"
    return row


def _read_result(row: RunSummary, run: Run) -> None:
    if run.path("result.json").is_file():
        result = read_json(run.path("result.json"), "result", {"games": int, "score": dict})
        row.done = result["games"]
        if result.get("payoffs_differ") is True and isinstance(result.get("payoff"), dict):
            row.payoff = _estimate(result["payoff"])
        else:
            row.score = _estimate(result["score"])
    if row.done is None or row.done != row.wanted:
        row.done = _games_played(run.path(GAMES))


def _is_finished(run: Run, row: RunSummary) -> bool:
    """Whether a run of `exploit` or `abstract` has its result."""
    result = run.path(ABSTRACTION if row.command == "abstract" else "result.json")
    if not result.is_file() or row.method != "exact":
        return result.is_file()
    found = read_json(result, "result", {"visited": int, "wanted": int})  # written when it is interrupted, too
    return bool(found["visited"] == found["wanted"])


def _read_standings(row: RunSummary, run: Run) -> None:
    row.done = sum(_games_played(folder / GAMES) for folder in sorted(run.path("matches").glob("*-*")))
    if run.path("result.json").is_file():
        result = read_json(run.path("result.json"), "result", {"order": [str], "overall": dict})
        row.winner = result["order"][0]
        row.payoff = _estimate(result["overall"][row.winner])


def _games_played(path: Path) -> int:
    return sum(line.endswith(b"\n") for line in read_lines(path, "file of games")) if path.is_file() else 0


def measurements(run: Run, name: str = "metrics.jsonl") -> list[dict[str, Any]]:
    """Lines of a metrics file that name their iteration."""
    return [line for line in run.read_lines(name, step="") if isinstance(line, dict) and is_number(step(line))]


def step(line: dict[str, Any]) -> Any:
    """The iteration of a measurement: training writes `iteration`, solving `iterations`."""
    return line.get("iteration", line.get("iterations"))


def is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _estimate(found: dict[str, Any]) -> dict[str, float | None]:
    return {key: found[key] if is_number(found.get(key)) else None for key in ("mean", "low", "high")}


def _signed(payoff: dict[str, float | None]) -> str:
    low, high = payoff["low"], payoff["high"]
    return "" if low is None or high is None else f" ({low:+.3g} to {high:+.3g})"


def _whole(value: Any) -> int | None:
    return value if type(value) is int else None


def _last(measured: list[dict[str, Any]], key: str) -> float | None:
    return next((line[key] for line in reversed(measured) if is_number(line.get(key))), None)
