"""How long a new user waits: start-up of each command, and the first prompt of each game, in processor seconds.

    python -m benchmarks.first_use

Each command is run three times and the quickest counts. A game is played with an empty kernel cache (cold) and again
(warm); `kibitz play GAME` ends at its first prompt, as its input is empty.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPEAT = 3
LISTS = [["--help"], ["--version"], ["games"], ["models"], ["runs"]]
GROUPS = [["train", "exit-oos", "--help"], ["study", "tspg", "--help"]]


def measure(arguments: list[str], cache: str | None = None) -> tuple[float, float]:
    """Processor and wall seconds of one command."""
    environment = dict(os.environ, **({"NUMBA_CACHE_DIR": cache} if cache else {}))
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


def start_up() -> dict[str, float]:
    """Processor seconds of every help page and list."""
    from kibitz.app.cli import PANELS

    commands = [*LISTS, *([name, "--help"] for names in PANELS.values() for name in names), *GROUPS]
    return {" ".join(each): min(measure(each)[0] for _ in range(REPEAT)) for each in commands}


def first_prompts() -> dict[str, list[float]]:
    """Game -> wall seconds with an empty cache, processor seconds then, and processor seconds with a full cache."""
    from kibitz.games import GAMES

    found = {}
    for name in GAMES:
        with tempfile.TemporaryDirectory() as cache:
            processor, wall = measure(["play", name], cache)
            subprocess.run([sys.executable, "-m", "kibitz", "compile", name, "--player", _default(name)],
                           env=dict(os.environ, NUMBA_CACHE_DIR=cache), capture_output=True, check=True)  # fmt: skip
            found[name] = [wall, processor, min(measure(["play", name], cache)[0] for _ in range(REPEAT))]
    return found


def _default(name: str) -> str:
    from kibitz.games import load
    from kibitz.players import default_player

    return default_player(load(name))


def main() -> None:
    commands, prompts = start_up(), first_prompts()
    print("| command | processor s |\n|---|---|")
    for command, seconds in commands.items():
        print(f"| `kibitz {command}` | {seconds:.2f} |")
    print(
        "\n| first prompt of `kibitz play` | cold, wall s | cold, processor s | warm, processor s |\n|---|---|---|---|"
    )
    for game, row in prompts.items():
        print(f"| {game} | {' | '.join(f'{value:.2f}' for value in row)} |")
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(json.dumps({"start_up": commands, "first_prompt": prompts}, indent=1))


if __name__ == "__main__":
    main()
