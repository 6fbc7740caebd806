"""Script: runs a command, kills it with SIGKILL at random moments, and lets the last attempt finish.

    python kill_at_random.py SEED KILLS SECONDS FIRST... -- RESUME...

Each attempt is a fork of this process, which has imported everything, so that kills fall into the work. FIRST are the
words of the command that begins, RESUME of the one that resumes. Kills come within SECONDS of a start. An attempt that
ends before is no kill: the run begins again, and SECONDS falls.
"""

import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

from kibitz.api import playing, positions, solving, training  # noqa: F401
from kibitz.app import cli
from kibitz.learn.learner import LEARNERS
from kibitz.players.player import PLAYERS


def attempt(words: list[str], seconds: float | None) -> tuple[bool, int]:
    """Run a command in a fork, killed after some seconds. Returns whether it ended by itself, and its exit code."""
    child = os.fork()
    if child == 0:
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
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False, -9


def main() -> None:
    seed, kills, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    middle = sys.argv.index("--")
    first, resume = sys.argv[4:middle], sys.argv[middle + 1 :]
    folder = Path(resume[-1])
    list(LEARNERS), list(PLAYERS)
    generator, killed = random.Random(seed), 0
    for _ in range(20 * kills):
        if killed == kills:
            break
        words = resume if (folder / "config.json").exists() else first
        ended, code = attempt(words, seconds * generator.random())
        if ended and code != 0:
            sys.exit(f"exit code {code}")
        if ended:  # it was too fast: begin again, and kill earlier
            shutil.rmtree(folder)
            seconds *= 0.7
        killed += not ended
    ended, code = attempt(resume if (folder / "config.json").exists() else first, None)
    print(killed)
    sys.exit(code)


main()
