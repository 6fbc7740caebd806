"""Learning of n-tuple evaluations from self-play of alpha-beta search."""

from pathlib import Path
from typing import Any

import numpy as np

from ..expert_iteration import ExpertIteration
from ..learner import Metrics, Samples, learner
from ..replay import ReplayBuffer
from . import config as settings
from .config import NTupleConfig
from .regression import fit, regression
from .self_play import self_play
from .store import FORMAT, default_values, save_ntuples
from .tuples import groups, sharing

DRAWN = 2  # positions that are learned from per new one
TASKS = 64  # that the games of an iteration are cut into
FALLS_AFTER = 0.7  # of the iterations: from then on the learning rate falls, nearly to zero
DAMPING = 0.5, 2.0  # in the first half of the iterations, and in the second


@learner("ntuple")
class NTupleLearner(ExpertIteration):
    Config = NTupleConfig
    about = (
        "Evaluations on n-tuples, for alpha-beta search in board games. Alpha-beta search plays against itself, and "
        "logistic regression learns who wins from the contents of small groups of cells."
    )
    examples = ("connect_four --preset small", "breakthrough --tuples squares", "othello --games 100")
    presets = settings.PRESETS
    preset = staticmethod(settings.preset)
    refuse = staticmethod(settings.refuse)
    worker = staticmethod(self_play)
    player = "ntuple"
    search = FORMAT.search
    saved = ("weights",)

    def __init__(self, config: NTupleConfig, game: Any) -> None:
        super().__init__(config, game)
        self.model = regression(game, config.tuples)
        self.weights = self.model.initial(default_values(game, config.tuples))
        empty = {"states": np.zeros((0, game.state.itemsize), np.uint8), "wins": np.zeros(0, np.float32)}
        self.replay = ReplayBuffer(config.capacity, empty, "latest")

    @property
    def tasks(self) -> int:
        return min(self.config.games, TASKS)

    def shared(self) -> np.ndarray:
        """The weights for players."""
        kind = self.config.tuples
        folded = self.model.folded(self.weights, len(groups(self.game.board(), kind)))
        return sharing(self.game, kind).mean(folded).astype(np.float32)

    def learn(self, iteration: int, samples: Samples | None, report: Any) -> Metrics:
        self.done = iteration / self.config.iterations
        self.generator = np.random.default_rng([self.config.seed, 1, iteration])
        return super().learn(iteration, samples, report)

    def update(self, samples: Samples) -> Metrics:
        """Remember the new positions, and learn from random ones."""
        config, new = self.config, len(samples["wins"])
        self.replay.add(samples, self.generator)
        rate = config.learning_rate * min(1.0, (1.03 - self.done) / (1.03 - FALLS_AFTER))
        drawn = self.generator.integers(max(len(self.replay), 1), size=DRAWN * new)
        rows = self.replay.take(drawn)
        states: Any = rows["states"].reshape(-1).view(self.game.state)
        loss = fit(
            self.game, self.model, self.weights, states, rows["wins"], rate, DAMPING[self.done > 0.5],
            config.batch_size, self.processes,
        )  # fmt: skip
        return {"loss": loss, "positions": new, "rows": len(self.replay)}

    def state(self) -> dict[str, np.ndarray]:
        return super().state() | self.replay.all()

    def take_state(self, tensors: dict[str, np.ndarray]) -> None:
        super().take_state(tensors)
        self.replay.refill(tensors, len(tensors["wins"]))

    def export(self, path: Path, made: str) -> None:
        save_ntuples(path, self.game, self.config.tuples, self.shared(), made)
