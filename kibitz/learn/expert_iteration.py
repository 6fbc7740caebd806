"""Expert iteration (Anthony, Tian and Barber 2017): experts play, the apprentice learns from it, and makes them better.

Any expert, any apprentice: an expert is a function from numbers of games and what the apprentice knows to the
experience of these games, each a dictionary of arrays; it is done by workers. Every game has a random stream of its
own, made of the run's seed and its number, so it doesn't matter who plays it.

What a kill can cost: games go to a journal before anything is learned from them, and checkpoints are rare. A run that
goes on learns again, from the last checkpoint, what it had learned from the journal, and comes out where it was.

    journal/000123.safetensors    the games of an iteration, until a checkpoint holds them
    checkpoints/000120/           all that learning goes on from
    networks/000100.safetensors   networks on the way;  network.safetensors is the last
    metrics.jsonl                 one line an iteration, the same for the same seed;  times.jsonl: how long they took
"""

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import safetensors
import safetensors.numpy

from ..core.files import write_atomically
from ..core.names import BadInput
from ..core.runs import Run
from .checkpoints import checkpoint, restore

Rows = dict[str, np.ndarray]
CHECKPOINT_SECONDS = 60.0


class WorkerPool(Protocol):
    """Workers here, or on a cluster."""

    def share(self, value: Any) -> None: ...

    def do(self, tasks: Iterable[Any]) -> Iterable[Any]: ...


class Learner(Protocol):
    def take(self, rows: Rows) -> None:
        """Experience of whole games, in the order of their numbers."""

    def learn(self) -> dict[str, float]:
        """Learn for one iteration; what was measured."""

    def knowledge(self) -> Any:
        """What the experts need of it."""

    def save(self, folder: Path) -> None: ...

    def restore(self, folder: Path) -> None: ...

    def publish(self, path: Path, made: str) -> None:
        """Write what players read."""


@dataclass(frozen=True)
class Progress:
    """Told after every game and every iteration."""

    iteration: int  # finished
    games: int  # finished
    metrics: dict[str, Any]  # of the last iteration
    seconds: float  # since this process began
    decisions: int  # made by experts since then


@dataclass(frozen=True)
class Schedule:
    iterations: int
    games: int  # an iteration
    tasks: int  # that an iteration's games are cut into
    keep_every: int
    evaluate_every: int  # 0: never
    keep_first: bool = False  # what was learned from the first iteration, too


def expert_iteration(
    run: Run,
    workers: WorkerPool,
    learner: Learner,
    schedule: Schedule,
    evaluate: Callable[[Any], dict[str, float]] = lambda knowledge: {},
    watch: Callable[[Progress], None] = lambda progress: None,
) -> None:
    """Play and learn until all iterations are done, from wherever the run stands."""
    journal, began, decisions = Journal(run.path("journal")), time.perf_counter(), 0
    done = restore(run, learner)
    run.keep_measures(lambda line: line["iteration"] <= done and done > 0)
    metrics: dict[str, Any] = {}
    if done == 0:
        run.measure(iteration=0, games=0, **evaluate(learner.knowledge()))
    last_checkpoint = time.perf_counter()
    for iteration in range(done + 1, schedule.iterations + 1):
        first = (iteration - 1) * schedule.games
        at = time.perf_counter()
        rows = journal.read(iteration)
        if rows is None:
            workers.share(learner.knowledge())
            episodes: dict[int, Rows] = {}
            for finished in workers.do(cut(range(first, first + schedule.games), schedule.tasks)):
                episodes |= dict(finished)
                decisions += sum(len(next(iter(episode.values()))) for _, episode in finished)
                watch(Progress(iteration - 1, first + len(episodes), metrics, time.perf_counter() - began, decisions))
            rows = joined([episodes[number] for number in sorted(episodes)])
            journal.write(iteration, rows)
        playing = time.perf_counter() - at
        learner.take(rows)
        metrics = {"iteration": iteration, "games": first + schedule.games, **learner.learn()}
        learning = time.perf_counter() - at - playing
        last = iteration == schedule.iterations
        if schedule.evaluate_every and (iteration % schedule.evaluate_every == 0 or last):
            metrics |= evaluate(learner.knowledge())
        run.measure(**metrics)
        run.took(iteration=iteration, playing=round(playing, 3), learning=round(learning, 3))
        if iteration % schedule.keep_every == 0 or last or (iteration == 1 and schedule.keep_first):
            learner.publish(run.path(f"networks/{iteration:06d}.safetensors"), f"{run.title}, iteration {iteration}")
        if last or time.perf_counter() - last_checkpoint > CHECKPOINT_SECONDS:
            checkpoint(run, learner, iteration, iteration)
            journal.forget(iteration)
            last_checkpoint = time.perf_counter()
        watch(Progress(iteration, first + schedule.games, metrics, time.perf_counter() - began, decisions))


def cut(numbers: range, tasks: int) -> list[tuple[int, ...]]:
    """Into so many parts of nearly the same size."""
    return [tuple(part.tolist()) for part in np.array_split(np.array(numbers), tasks) if len(part)]


def joined(episodes: list[Rows]) -> Rows:
    return {key: np.concatenate([episode[key] for episode in episodes]) for key in episodes[0]}


class Journal:
    """The games of each iteration, as they were played."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, iteration: int, rows: Rows) -> None:
        self.folder.mkdir(exist_ok=True)
        # Most numbers are 0 and 1: what is exact in a byte is kept as one.
        small = {key: rows[key].astype(np.uint8) for key in rows if np.isin(rows[key], (0, 1)).all()}
        kinds = {key: str(array.dtype) for key, array in rows.items()}
        write_atomically(self._path(iteration), safetensors.numpy.save(rows | small, {"kinds": json.dumps(kinds)}))

    def read(self, iteration: int) -> Rows | None:
        path = self._path(iteration)
        if not path.exists():
            return None
        try:
            with safetensors.safe_open(path, "numpy") as file:  # type: ignore[no-untyped-call]
                kinds = json.loads(file.metadata()["kinds"])
                return {key: file.get_tensor(key).astype(kind) for key, kind in kinds.items()}
        except (safetensors.SafetensorError, OSError, KeyError, ValueError, TypeError) as error:
            raise BadInput(
                f"{path} can't be read, it is damaged ({error}): delete it, and its games are played again"
            ) from None

    def forget(self, iteration: int) -> None:
        """What is as old as a checkpoint."""
        for path in self.folder.glob("*.safetensors"):
            if int(path.stem) <= iteration:
                path.unlink()

    def _path(self, iteration: int) -> Path:
        return self.folder / f"{iteration:06d}.safetensors"
