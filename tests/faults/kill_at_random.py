"""Script: runs a command, ends it by a signal at random moments, and lets the last attempt finish.

    python kill_at_random.py SIGKILL|SIGTERM SEED KILLS SECONDS FIRST... -- RESUME...

Each attempt is a fork of this process, which has imported everything, so that kills fall into the work. FIRST are the
words of the command that begins, RESUME of the one that resumes. Kills come within SECONDS of a start. An attempt that
ends before is no kill: the run begins again, and SECONDS falls. A command that SIGTERM has ended is resumed by the line
that it printed, if it had come as far as that. The numbers of kills and of such lines are printed.
"""

import os
import random
import shlex
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from kibitz.api import playing, positions, solving, training  # noqa: F401
from kibitz.app import cli
from kibitz.play.players.player import PLAYERS
from kibitz.train.learner import LEARNERS

PATIENCE = 60.0  # seconds within which SIGTERM ends a command
ENDED = (128 + signal.SIGTERM, -signal.SIGTERM)  # exit codes: by the command, or before it took care


def attempt(words: list[str], seconds: float | None, how: signal.Signals, said: int) -> tuple[bool, int]:
    """Run a command in a fork, ended after some seconds. Returns whether it ended by itself, and its exit code."""
    child = os.fork()
    if child == 0:
        os.dup2(said, 2)
        sys.argv = ["kibitz", *words]
        try:
            cli.main()
        except SystemExit as ended:
            os._exit(int(ended.code or 0))
        finally:
            os._exit(99)
    until = None if seconds is None else time.perf_counter() + seconds
    ended, status = 0, 0
    while not ended and (until is None or time.perf_counter() < until):
        ended, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.0005)
    if ended:
        return True, os.waitstatus_to_exitcode(status)
    os.kill(child, how)
    until, ended = time.perf_counter() + PATIENCE, 0
    while not ended and time.perf_counter() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.0005)
    if not ended:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        sys.exit(f"{how.name} didn't end it within {PATIENCE:g} seconds")
    code = os.waitstatus_to_exitcode(status)
    return how == signal.SIGTERM and code not in ENDED, code


def main() -> None:
    how = signal.Signals[sys.argv[1]]
    seed, kills, seconds = int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    middle = sys.argv.index("--")
    first, resume = sys.argv[5:middle], sys.argv[middle + 1 :]
    folder = Path(resume[-1])
    list(LEARNERS), list(PLAYERS)
    generator, killed, lines = random.Random(seed), 0, 0
    with tempfile.TemporaryFile() as said:
        for _ in range(20 * kills):
            if killed == kills:
                break
            words = resume if (folder / "config.json").exists() else first
            said.truncate(0)
            said.seek(0)
            ended, code = attempt(words, seconds * generator.random(), how, said.fileno())
            if ended and code != 0:
                said.seek(0)
                sys.exit(f"exit code {code}: {said.read().decode()}")
            if ended:  # it was too fast: begin again, and kill earlier
                shutil.rmtree(folder)
                seconds *= 0.7
            killed += not ended
            said.seek(0)
            for line in said.read().decode().splitlines():
                if line.startswith("to resume: kibitz "):
                    own = resume[resume.index("--processes") :][:2] if "--processes" in resume else []
                    resume, lines = shlex.split(line)[3:] + own, lines + 1
    ended, code = attempt(resume if (folder / "config.json").exists() else first, None, how, 2)
    print(killed, lines)
    sys.exit(code)


main()
