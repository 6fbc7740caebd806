"""How long a new user waits: start-up of each command, and the first prompt of each game, in processor seconds.

    python -m benchmarks.first_use [GAME ...]

Each command is run three times and the quickest counts; Python keeps its bytecode, as it does for users. A game is
played with an empty kernel cache (cold) and with a full one (warm); `kibitz play GAME` ends at its first prompt, as its
input is empty. Compiling in between takes most of the quarter of an hour that this lasts.
"""

import os
import subprocess
import sys
import tempfile
import time

REPEAT = 3
LISTS = [["--help"], ["--version"], ["games"], ["models"], ["runs"]]
GROUPS = [["train", "exit-oos", "--help"], ["study", "tspg", "--help"]]


def measure(arguments: list[str], cache: str | None = None) -> tuple[float, float]:
    """Processor and wall seconds of one command."""
    environment = dict(os.environ, **({"NUMBA_CACHE_DIR": cache} if cache else {}))
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "kibitz", *arguments],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment,
    )  # fmt: skip
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"kibitz {' '.join(arguments)} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime, time.perf_counter() - began


def start_up() -> None:
    """Print the processor seconds of every help page and list."""
    from kibitz.app.cli import PANELS

    print("| command | processor s |\n|---|---|")
    for command in [*LISTS, *([name, "--help"] for names in PANELS.values() for name in names), *GROUPS]:
        seconds = min(measure(command)[0] for _ in range(REPEAT))
        print(f"| `kibitz {' '.join(command)}` | {seconds:.2f} |", flush=True)


def first_prompts(games: list[str]) -> None:
    """Print wall and processor seconds with an empty cache, and processor seconds with a full one."""
    from kibitz.games import GAMES, load
    from kibitz.players import default_player

    print("\n| first prompt of | cold, wall s | cold, processor s | warm, processor s |\n|---|---|---|---|")
    for name in games or GAMES:
        with tempfile.TemporaryDirectory() as cache:
            processor, wall = measure(["play", name], cache)
            subprocess.run(
                [sys.executable, "-m", "kibitz", "compile", name, "--player", default_player(load(name))],
                env=dict(os.environ, NUMBA_CACHE_DIR=cache), capture_output=True, check=True,
            )  # fmt: skip
            warm = min(measure(["play", name], cache)[0] for _ in range(REPEAT))
        print(f"| `kibitz play {name}` | {wall:.2f} | {processor:.2f} | {warm:.2f} |", flush=True)


if __name__ == "__main__":
    start_up()
    first_prompts(sys.argv[1:])
