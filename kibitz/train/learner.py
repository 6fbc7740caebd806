"""The interface between a learner and the training loop of `trainer`, and the registry of learners.

A learner is a class in a folder of this package, registered by `@learner("name")` and imported by the folder's
`__init__.py`; or a class in any file, which is named `path/to/file.py:Class`. Its module must not import torch at the
top: torch takes seconds to import, and `kibitz train --help` imports all learners.
"""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..core.names import BadInput
from ..core.progress import Reporter
from ..core.registry import Registry
from ..core.tensor_files import Format, like
from ..core.workers import Pool
from . import packing

LEARNERS = learner = Registry("learner", "kibitz.train", folders_only=True)

FORMAT = Format("kibitz learner 1", "checkpoint")  # of checkpoints, unless a learner has its own
ADVANCED = "advanced"  # behind the help text of a field: `kibitz train NAME --help` lists it under "Advanced options"

Samples = dict[str, Any]  # named arrays with one row per sample, or `Packed` rows
Metrics = dict[str, float]


class Learner:
    """Base class of learners. An instance holds all that a checkpoint saves; the trainer calls its methods in turn.

    Every random number has to follow from `config.seed` and the iteration: then a resumed run equals an undisturbed
    one, whatever the number of processes.
    """

    # A frozen dataclass with the fields `game: str`, `iterations: int`, `seed: int`, and those of the learner. Each is
    # `Annotated[type, "help text", allowed values]` with a default; the options of `kibitz train NAME` are made of it.
    # The trainer looks at `evaluate_every` and `keep_every` too, where they exist.
    Config: ClassVar[type]
    about: ClassVar[str]  # what it does, for `--help`; the first sentence is shown in the list of learners
    examples: ClassVar[tuple[str, ...]] = ()  # arguments of `kibitz train NAME`
    presets: ClassVar[dict[str, str]] = {}  # name -> description
    player: ClassVar[str] = "net"  # kind of player that plays an exported file
    search: ClassVar[str] = ""  # a player that searches with it, {} for its name: stronger
    headline: ClassVar[tuple[str, ...]] = ("loss", "nash_conv", "accuracy")  # metrics shown while it trains

    def __init__(self, config: Any, game: Any) -> None:
        self.config, self.game = config, game
        # The trainer sets the following before the first iteration.
        self.processes = 1  # that the user asked for
        self.pause: Callable[[], None] = lambda: None  # see `steps`
        self.times: Metrics = {}  # seconds of the parts of the last iteration, which times.jsonl keeps

    # ------------------------------------------------------------ before a run

    @staticmethod
    def preset(game: Any, name: str) -> dict[str, Any]:
        """Return the configuration values of a preset for a game."""
        return {}

    @staticmethod
    def refuse(config: Any, game: Any) -> None:
        """Raise BadInput where the configuration can't be trained. Called before anything is written."""

    @classmethod
    def predict(cls, config: Any, lines: list[dict[str, Any]]) -> float:
        """Predict the seconds that the rest of a run takes, here by the mean of its iterations; NaN: unknown.

        Args:
            config: Its configuration.
            lines: Metrics and times of the iterations done by this process, one line each, but for those that
                compiled kernels.
        """
        later = lines[1:]  # worker processes started in the first one
        spent = sum(line.get(part, 0.0) for line in later for part in ("collecting", "learning", "evaluating"))
        return spent / len(later) * (config.iterations - lines[-1]["iteration"]) if later else math.nan

    @staticmethod
    def worker(config: Any) -> Callable[..., Any]:
        """Return the function of a worker process: `work(task, shared value) -> result`."""
        raise NotImplementedError

    # ------------------------------------------------------------ the loop

    @property
    def tasks(self) -> int:
        """Number of tasks that workers can do at the same time; 0: the learner needs no workers."""
        return 0

    def collect(self, workers: Pool, iteration: int, report: Reporter) -> Samples | None:
        """Return the samples of an iteration, which the trainer writes to the journal; None: nothing to keep."""
        return None

    def learn(self, iteration: int, samples: Samples | None, report: Reporter) -> Metrics:
        """Learn for one iteration (counted from 1) and return what was measured."""
        raise NotImplementedError

    def evaluate(self) -> Metrics:
        """Measure how good the present policy is. Called before the first iteration too."""
        return {}

    def totals(self, iteration: int) -> dict[str, int]:
        """Return the work done by the end of an iteration, such as the games played: the metrics begin with it."""
        return {}

    def evaluates(self, iteration: int) -> bool:
        """Return whether `evaluate` is due after an iteration."""
        return self._due(iteration, getattr(self.config, "evaluate_every", 1))

    def keeps(self, iteration: int) -> bool:
        """Return whether what was learned by an iteration is exported into the folder `networks`."""
        return self._due(iteration, getattr(self.config, "keep_every", 0))

    def _due(self, iteration: int, every: int) -> bool:
        return every > 0 and (iteration % every == 0 or iteration == self.config.iterations)

    # ------------------------------------------------------------ files

    # A learner whose iterations are long (epochs) divides them into `steps`, counts in `step` how many of the present
    # one are done, saves that too, and calls `self.pause()` between steps: a checkpoint is written there when due.
    steps = 1
    step = 0

    saved: ClassVar[tuple[str, ...]] = ()  # names of NumPy arrays that make up the state, unless `save` does more

    def save(self, folder: Path) -> None:
        """Write everything that learning resumes from, random state included."""
        FORMAT.write(folder / "state.safetensors", self.state())

    def restore(self, folder: Path) -> None:
        """Read what `save` wrote."""
        arrays = {name: np.asarray(array) for name, array in self.state().items()}
        declared = {name: like(array, *[None] * array.ndim, finite=False) for name, array in arrays.items()}
        tensors, _ = FORMAT.read(folder / "state.safetensors", declared)
        self.take_state(tensors)

    def state(self) -> dict[str, np.ndarray]:
        """The arrays that make up the state, by name."""
        return {name: getattr(self, name) for name in self.saved}

    def take_state(self, tensors: dict[str, np.ndarray]) -> None:
        """Take over what `state` returned before."""
        for name in self.saved:
            setattr(self, name, tensors[name])

    def learned_by(self, iteration: int) -> int:
        """Return the iteration whose weights `export` would write now, after `iteration` of them."""
        return iteration

    def export(self, path: Path, made: str) -> None:
        """Write the file that players read; `made` describes its origin. Nothing, as long as there is none."""
        raise NotImplementedError


def joined(parts: Sequence[Samples]) -> Samples:
    """All samples of the parts, one after the other."""
    return {
        key: packing.joined([part[key] for part in parts])
        if isinstance(parts[0][key], packing.Packed)
        else np.concatenate([part[key] for part in parts])
        for key in parts[0]
    }


def learner_class(name: str) -> type[Learner]:
    """The class of a learner by its name or `path/to/file.py:Class`."""
    cls = LEARNERS[name]
    if not (isinstance(cls, type) and issubclass(cls, Learner) and hasattr(cls, "Config")):
        raise BadInput(f"{name} is no learner: it should be a subclass of kibitz.train.learner.Learner with a Config")
    return cls


def make_worker(name: str, values: dict[str, Any]) -> Callable[..., Any]:
    """Make the worker function of a learner in a worker process, by name: a class from a file can't be pickled."""
    cls = learner_class(name)
    return cls.worker(cls.Config(**values))
