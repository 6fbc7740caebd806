"""Expert iteration on Doppelkopf as a method of training: its presets, what it refuses."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...core.names import BadInput
from ...games import Game, full_name, load
from ...games.doppelkopf.cards import KINDS
from ..expert_iteration import ExpertIteration
from ..learner import Metrics, Samples, learner
from ..model_files import network_file
from .card_evaluation import strength
from .card_iteration import CardIteration, self_play
from .card_network import CardNetwork, card_policy, check_rules, read_network, save_network
from .card_rows import draw_rows
from .recorded_games import NOTHING

FORMAT = "kibitz card apprentice 1"
SLOWEST = 0.1  # of the learning rate, at the end
PLACED = 16  # one of so many rows learns where cards lie: it knows much of that already

PRESETS = {"kibitz": "what we found to be good", "small": "a minute, to see that it works"}
VALUES: dict[str, dict[str, Any]] = {
    "kibitz": {},
    "small": {"iterations": 2, "games": 100, "steps": 10, "batch_size": 16, "keep_every": 1},
}
JUDGE_SEED = 10**6  # the same deals for all networks
GAME_BYTES = 2700  # in a checkpoint: its actions and what 48 cards were worth


def started(config: CardIteration) -> CardNetwork:
    network, about = read_network(network_file(config.start))
    if about.game != full_name(load(config.game)):
        raise BadInput(f"start={config.start} plays {about.game}, not {full_name(load(config.game))}")
    return network


def refuse(config: CardIteration, game: Game) -> None:
    check_rules(game)
    if not config.start:
        raise BadInput("--start is missing: a run of kibitz train cards, whose networks it begins with")
    started(config)
    if config.others:
        check_rules(game, read_network(network_file(config.others))[1])
    if not 0 < config.learning_rate < 1:
        raise BadInput(f"learning_rate={config.learning_rate} should be above 0 and below 1")
    if not 0 <= config.entropy <= 100:
        raise BadInput(f"entropy={config.entropy} should be from 0 to 100")
    if config.device == "cuda":
        from ..torch_mlp import pick_device

        pick_device(config.device, large=True)


@learner("exit-cards")
class CardIterationLearner(ExpertIteration):
    Config = CardIteration
    about = "Expert iteration on Doppelkopf: looking ahead by networks plays, and the networks learn from it."
    examples = ("doppelkopf:thesis --start runs/doppelkopf-cards-001",)
    presets = PRESETS
    refuse = staticmethod(refuse)
    worker = staticmethod(self_play)
    player = "doko"
    headline = ("loss", "points")

    @staticmethod
    def preset(game: Any, name: str) -> dict[str, Any]:
        return VALUES[name]

    def __init__(self, config: CardIteration, game: Game) -> None:
        import torch

        from ..torch_mlp import pick_device
        from .card_training import CardModule

        super().__init__(config, game)
        self.device = torch.device(pick_device(config.device, large=True))
        self.generator = np.random.default_rng([config.seed, 1])
        self.module = CardModule(started(config)).to(self.device)
        self.optimizer = torch.optim.Adam(self.module.parameters(), lr=config.learning_rate, fused=True)
        self.actions = np.zeros((0, game.facts.max_game_length), np.uint8)
        self.worth = np.zeros((0, 48, KINDS), np.float16)
        self.rounds = 0  # learned from

    @property
    def tasks(self) -> int:
        return min(self.config.games, 8 * self.processes)

    def shared(self) -> CardNetwork:
        return self.module.network()

    def update(self, samples: Samples) -> Metrics:
        import torch

        from ..torch_mlp import one_thread
        from .card_training import learn_from

        config = self.config
        self.actions = np.concatenate([self.actions, samples["actions"]])[-config.capacity :]
        self.worth = np.concatenate([self.worth, samples["worth"]])[-config.capacity :]
        total = torch.zeros((), dtype=torch.float64, device=self.device)
        lengths = (self.actions != NOTHING).sum(axis=1)
        for group in self.optimizer.param_groups:  # what cards were worth is mostly noise: later steps are smaller
            group["lr"] = config.learning_rate * (1 - (1 - SLOWEST) * self.rounds / config.iterations)
        self.rounds += 1
        for _ in range(config.steps):
            which = self.generator.integers(0, len(self.actions), config.batch_size)
            rows = draw_rows(self.game, self.actions[which], lengths[which], config.positions, self.generator)
            worth = self.worth[np.repeat(which, config.positions), rows.plies].astype(np.float32)
            with one_thread():
                losses = self.module.losses(self.game, rows, worth, config.entropy, PLACED)
            total += learn_from(self.module, self.optimizer, losses)
        return {"loss": float(total) / config.steps, "rows": len(self.actions)}

    def evaluate(self) -> Metrics:
        """Points a game against three who play as is usual, or against those that it learns to meet."""
        config = self.config
        if not config.evaluate_every:
            return {}
        others = card_policy(read_network(network_file(config.others))[0]) if config.others else None
        found = strength(self.game, card_policy(self.shared()), config.judged, JUDGE_SEED, others)
        return {"points": found.points, "points_error": found.error}

    @classmethod
    def probe(cls, config: CardIteration) -> tuple[CardIteration, float]:
        steps = min(config.steps, 3)
        return replace(config, steps=steps), config.steps / steps

    def disk(self, samples: Samples) -> int:
        config = self.config
        weights = sum(array.nbytes for layers in self.shared() for layer in layers for array in layer)
        kept = config.iterations // config.keep_every + 2
        return kept * weights + 3 * weights + min(config.capacity, config.iterations * config.games) * GAME_BYTES

    def export(self, path: Path, made: str) -> None:
        save_network(path, full_name(self.game), self.shared(), made)

    def save(self, folder: Path) -> None:
        from ..torch_state import save_state

        about = {"generator": self.generator.bit_generator.state, "rounds": self.rounds}
        extra = {"actions": self.actions, "worth": self.worth}
        save_state(folder / "apprentice.safetensors", FORMAT, self.module, self.optimizer, extra, **about)

    def restore(self, folder: Path) -> None:
        from ..torch_state import restore_state

        extra, about = restore_state(folder / "apprentice.safetensors", FORMAT, self.module, self.optimizer)
        state = about["generator"]
        self.generator.bit_generator.state = json.loads(state) if isinstance(state, str) else state
        self.rounds = int(about["rounds"])
        self.actions, self.worth = extra["actions"].numpy(), extra["worth"].numpy()
