"""Compile ahead what a player needs: `python -m kibitz.play.players.precompile GAME PLAYER ...` names kernels.

A person at a terminal sees the first position at once: rules run as plain Python until the kernels are there.
"""

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...core import progress
from ...core.trust import only_named, trust
from ...games import CHANCE, OVER, Game, full_name, load, positions, view_of
from ...jit import PLAIN, cache_folder, compiled, generators
from .defaults import default_player
from .make import make, make_for
from .player import in_any_process
from .precompile_kernels import parts, precompile_part

MOVES, SECONDS = 100, 10.0  # of a game that is played to meet all kernels
THINKING = 0.001  # seconds per move in that game


def precompile_player(player: Any, game: Game) -> None:
    """Compile all kernels that a player calls in a game, by playing one against itself with hardly any thinking."""
    made = make_for(player, game)
    if getattr(made, "seconds", 0):
        made.seconds = THINKING  # type: ignore[attr-defined]
    state, rng, began, moves = positions(game)[0], generators(1, 1)[0], time.perf_counter(), 0
    while (seat := int(game.turn(state))) != OVER and moves < MOVES:
        if seat == CHANCE:
            game.play(state, game.sample_action(state, rng))
            continue
        made.begin(game, seat, 1)
        game.play(state, made.move(view_of(game, state, seat)))
        moves += 1
        if moves == 1:
            began = time.perf_counter()  # most is compiled by now
        elif time.perf_counter() - began > SECONDS:
            break


def tasks(game: Game, players: list[str]) -> list[tuple[str, str, str]]:
    """What to compile for a game, in parts for `compile_task`: all searches and solvers, or only these players."""
    name = full_name(game)
    if players:
        return [(name, "", each) for each in players]
    return [(name, part, "") for part in parts(game)] + [(name, "", default_player(game))]


def compiler() -> Callable[[tuple[str, str, str]], tuple[str, int]]:
    """A function for worker processes that compiles one of the `tasks`; returns the game and the number of kernels."""

    def compile_task(task: tuple[str, str, str]) -> tuple[str, int]:
        name, part, player = task
        before = len(compiled)
        if part:
            precompile_part(load(name), part)
        else:
            precompile_player(player, load(name))
        return name, len(compiled) - before

    return compile_task


class Preparation:
    """Compiles the kernels of players in another process, as a context. Nothing is started if it was done before."""

    def __init__(self, game: Game, players: list[Any]) -> None:
        """
        Args:
            game: The game.
            players: Names or objects; only those that another process can make are prepared. Those that evaluate a
                policy at a single view (`action_probs`) need no kernels for that.
        """
        named = [(each, make(each)) for each in players if in_any_process(each)]
        has_kernels = [not hasattr(made, "action_probs") and getattr(made, "has_kernels", True) for _, made in named]
        known = list(dict.fromkeys(each for (each, _), needed in zip(named, has_kernels, strict=True) if needed))
        self._game, self._players = full_name(game), known
        self._child: subprocess.Popen | None = None

    def __enter__(self) -> "Preparation":
        mark = _mark(self._game, self._players)
        if self._players and not PLAIN and not mark.exists():
            trusted = "trusted" if trust().everything else "named"
            command = [sys.executable, "-m", __name__, str(mark), trusted, self._game, *self._players]
            self._child = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()

    def wait(self, report: Callable[[str], None] = lambda kernel: None) -> None:
        """Wait until everything is compiled; report the name of each kernel."""
        if self._child is not None:
            assert self._child.stdout is not None
            for line in self._child.stdout:
                report(line.strip())
            self.stop()

    def stop(self) -> None:
        """End the other process. What it has compiled stays in the cache."""
        if self._child is not None:
            self._child.kill()
            self._child.communicate()
            self._child = None


class PreparedPlayer:
    """A player that waits for its kernels before it moves."""

    def __init__(self, player: Any, wait: Callable[[], None]) -> None:
        self.player, self._wait = player, wait

    def move(self, view: Any) -> int:
        self._wait()
        return int(self.player.move(view))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.player, name)


def _mark(game: str, players: list[str]) -> Path:
    """The file in the cache that says that these players are compiled for this game by this version of the code."""
    digest = hashlib.sha256(repr((game, players, sys.version)).encode())
    files = [*Path(__file__).parents[1].rglob("*.py"), *_named_files([game, *players])]
    for path in sorted(files):
        about = os.stat(path)
        digest.update(repr((str(path), about.st_mtime_ns, about.st_size)).encode())
    return cache_folder() / f"players-{digest.hexdigest()[:16]}.nbi.done"


def _named_files(texts: list[str]) -> list[Path]:
    """The Python files of games and players that are named `path/to/file.py:Class`."""
    found = [Path(text.partition(".py")[0] + ".py").expanduser() for text in texts if ".py" in text]
    return [path for path in found if path.is_file()]


if __name__ == "__main__":
    mark, trusted, chosen, *players = sys.argv[1:]
    progress.on_compile = lambda name: print(name.strip("_"), flush=True) if name else None
    with only_named(chosen, *players, trust=trusted == "trusted"):
        for each in players:
            precompile_player(each, load(chosen))
    Path(mark).touch()
