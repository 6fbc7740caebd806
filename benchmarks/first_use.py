"""How long a new user waits: for each command, the first prompt of each game, and the first board in the browser.

    python -m benchmarks.first_use [GAME ...]
    python -m benchmarks.first_use serve

Each command is run three times and the quickest counts; Python keeps its bytecode, as it does for users. A game is
played with an empty kernel cache (cold) and with a full one (warm); `kibitz play GAME` ends at its first prompt, as its
input is empty. Compiling in between takes most of the quarter of an hour that this lasts.

The first board in the browser is measured in wall seconds from `kibitz serve` until a table is opened and a person can
move: in seat 1 at once, in seat 2 after the first move of the other player. Processor seconds of the server and its
processes until then stand in brackets: on a busy machine only they tell anything.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from typing import Any

from .web_load import processor

REPEAT = 3
LISTS = [["--help"], ["--version"], ["games"], ["models"], ["runs"]]
GROUPS = [["train", "exit-oos", "--help"], ["study", "tspg", "--help"]]


def surroundings(cache: str | None = None) -> dict[str, str]:
    """Environment variables of a command: Python keeps its bytecode, and kernels are in a folder of their own."""
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return kept | ({"NUMBA_CACHE_DIR": cache} if cache else {})


def measure(arguments: list[str], cache: str | None = None) -> tuple[float, float]:
    """Processor and wall seconds of one command."""
    environment = surroundings(cache)
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
    from kibitz.play.players import default_player

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


BOARDS = [("connect_four", "quick"), ("connect_four", "solid"), ("leduc", "quick"), ("doppelkopf", "quick")]


def first_board(game: str, strength: str, seat: int, cache: str) -> tuple[float, float, float]:
    """Wall seconds from the start of a server until its list of games is served, and until a person can move; processor
    seconds until then."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(
            [sys.executable, "-m", "kibitz", "serve", "--no-open", "--port", "0", "--data", folder],
            stdout=subprocess.PIPE, text=True, env=surroundings(cache),
        )  # fmt: skip
        try:
            assert server.stdout is not None
            address = re.search(r"http://[\d.:]+/", server.stdout.readline())
            assert address is not None

            def ask(path: str, body: Any = None) -> Any:
                content = None if body is None else json.dumps(body).encode()
                request = urllib.request.Request(address[0] + path, content, {"content-type": "application/json"})
                with urllib.request.urlopen(request) as answer:
                    return json.load(answer)

            games = {each["name"]: each for each in ask("api/games")}
            page = time.perf_counter() - began
            seats = [strength] * games[game]["seats"]
            seats[seat] = "human"
            key = ask("api/tables", {"game": game, "seats": seats})["links"][0]["key"]
            while (table := ask(f"api/tables/{key}"))["phase"] == "others":
                if table["trouble"]:
                    raise RuntimeError(table["trouble"])
                time.sleep(0.02)
            return page, time.perf_counter() - began, sum(processor(server.pid))
        finally:
            server.terminate()
            server.wait()


def first_boards() -> None:
    """Print how long `kibitz serve` takes with an empty kernel cache, and with a full one."""
    print("\n| first board of | list of games | seat 1, cold | seat 1, warm | seat 2, cold | seat 2, warm |")
    print("|---|---|---|---|---|---|")
    for game, strength in BOARDS:
        cells, pages = [], []
        for seat in range(2):
            with tempfile.TemporaryDirectory() as cache:
                cold = first_board(game, strength, seat, cache)
                first_board(game, strength, 1, cache)  # fills it
                warm = [first_board(game, strength, seat, cache) for _ in range(REPEAT)]
            pages += [page for page, _, _ in warm]
            quickest = min(wall for _, wall, _ in warm), min(used for _, _, used in warm)
            cells += [f"{wall:.2f} ({used:.2f})" for wall, used in (cold[1:], quickest)]
        print(f"| {game}, {strength} | {min(pages):.2f} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:] != ["serve"]:
        start_up()
        first_prompts(sys.argv[1:])
    first_boards()
