"""Trainings that the server runs in processes of their own: started, stopped as by Ctrl-C, resumed."""

import contextlib
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from ...core.locks import Owner
from ...core.names import BadInput
from ...core.runs import Run
from ...core.workers import cores
from ...train.trainer import has_workers, method_of

AT_ONCE = 2
STARTS, PERIOD = 10, 60.0  # at most so many starts within so many seconds
REMEMBERED = 50  # trainings that have ended
LOG = 8000  # bytes of a log that are shown: the last
LEAVE = 60.0  # seconds that a training has to end, once it was told to; then it is killed
LEAVE_WITH_SERVER = 5.0  # the same when the server ends
COMMAND = [sys.executable, "-m", "kibitz.app.web.training_child", "train"]
INTERRUPTED = 130  # exit code of a command that Ctrl-C has ended


class Training:
    """One process."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process, self.log, self.began = process, log, time.time()
        self.told: float | None = None  # when it was told to stop

    @property
    def running(self) -> bool:
        if self.told is not None and time.monotonic() - self.told > LEAVE:
            self.process.kill()
        ended = self.process.poll() is not None
        if ended:
            self._close()
        return not ended

    @property
    def problem(self) -> str:
        """Why it failed: the last line of its log; empty if it didn't."""
        code = self.process.returncode
        if code is None or code in (0, INTERRUPTED) or self.told is not None:
            return ""
        lines = tail(self.log).splitlines()
        return lines[-1].removeprefix("kibitz: ") if lines else f"the training ended with exit code {code}"

    def owns(self, owner: Owner | None) -> bool:
        """Whether it is the owner of a run."""
        return owner is not None and owner.is_here and owner.pid == self.process.pid

    def stop(self) -> None:
        """End it as Ctrl-C would: its standard input is closed (see `training_child`)."""
        if self.told is None:
            self.told = time.monotonic()
            self._close()

    def _close(self) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()


class Trainings:
    def __init__(self, runs: Path, logs: Path) -> None:
        """
        Args:
            runs: Folder of the runs, relative to the working folder.
            logs: Folder for what trainings print.
        """
        self.runs, self.logs = runs, logs
        self._known: dict[str, Training] = {}  # by name of the run; the oldest first
        self._starts: list[float] = []

    def find(self, name: str) -> Training | None:
        return self._known.get(name)

    def names(self) -> list[str]:
        """The runs that were trained since the server was started."""
        return list(self._known)

    def start(self, name: str, arguments: list[str]) -> None:
        """Begin a new run: `kibitz train ARGUMENTS --out runs/NAME`.

        Raises:
            BadInput: There is such a run already, or there are too many.
        """
        if (self.runs / name).exists() or self._is_running(name):
            raise BadInput(f"{self.runs / name} is there already: choose another name")
        self._begin(name, [*arguments, "--out", str(self.runs / name)], "wb")

    def resume(self, name: str) -> None:
        """Continue a run: `kibitz train --resume runs/NAME`."""
        if self._is_running(name) or Run(self.runs / name).is_locked():
            raise BadInput(f"{self.runs / name} is being trained already, by this or another process")
        workers = has_workers(method_of(Run(self.runs / name)))
        self._begin(name, ["--resume", str(self.runs / name)], "ab", workers)

    def stop(self, name: str) -> None:
        """End a training that this server has started; it can be resumed."""
        found = self._known.get(name)
        if found is None or not found.running:
            raise BadInput(f"{self.runs / name} isn't trained by this server: stop it where it was started")
        found.stop()

    def _is_running(self, name: str) -> bool:
        found = self._known.get(name)
        return found is not None and found.running

    def _begin(self, name: str, arguments: list[str], mode: Any, workers: bool = True) -> None:
        now = time.monotonic()
        self._starts = [at for at in self._starts if at > now - PERIOD]
        if sum(each.running for each in self._known.values()) >= AT_ONCE:
            raise BadInput(f"{AT_ONCE} trainings are running: wait for one, or stop it")
        if len(self._starts) >= STARTS:
            raise BadInput(f"{STARTS} trainings were started within the last minute: wait a moment")
        command = [*COMMAND, *arguments, *(["--processes", str(max(1, cores() // AT_ONCE))] if workers else [])]
        log = self.logs / f"{name.replace('/', '_')[-80:]}.log"
        try:
            self.logs.mkdir(parents=True, exist_ok=True, mode=0o700)
            with log.open(mode) as file:
                process = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=file, stderr=subprocess.STDOUT, start_new_session=True
                )
        except OSError as error:
            raise BadInput(f"the training can't be started: {error.strerror or error}") from None
        self._starts.append(now)
        self._known.pop(name, None)
        self._known[name] = Training(process, log)
        while len(self._known) > REMEMBERED:
            oldest = next(each for each in self._known if not self._is_running(each))
            del self._known[oldest]

    def log(self, name: str) -> str:
        """The end of what a training of this server has printed."""
        found = self._known.get(name)
        return "" if found is None else tail(found.log)

    def close(self) -> None:
        """Stop all trainings. What they have done is kept, and can be resumed."""
        running = [each for each in self._known.values() if each.running]
        for training in running:
            training.stop()
        until = time.monotonic() + LEAVE_WITH_SERVER
        for training in running:
            try:
                training.process.wait(max(0.0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                training.process.kill()
                training.process.wait()


def tail(path: Path) -> str:
    """The last lines of a text file."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - LOG))
            text = file.read(LOG).decode(errors="replace")
    except OSError:
        return ""
    return text if size <= LOG else text.partition("\n")[2]
