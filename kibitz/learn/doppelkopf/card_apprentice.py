"""The apprentice of expert iteration on Doppelkopf: it learns from the last games, and what each card was values."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.torch
import torch

from ...core.files import write_atomically
from ...games import Game, full_name
from ...games.doppelkopf.cards import KINDS
from ..torch_mlp import one_thread, pick_device
from ..torch_state import packed, unpack
from .card_data import sample_rows
from .card_network import CardNetwork, save_card_network
from .card_training import CardModule, gradient_step
from .recorded_games import NOTHING

SLOWEST = 0.1  # of the learning rate, at the end
DEAL_ROWS = 16  # one of so many rows learns where cards lie: it knows much of that already


class CardApprentice:
    def __init__(self, config: Any, game: Game, network: CardNetwork) -> None:
        self.config, self.game = config, game
        self.device = torch.device(pick_device(config.device, large=True))
        self.generator = np.random.default_rng([config.seed, 1])
        self.module = CardModule(network).to(self.device)
        self.optimizer = torch.optim.Adam(self.module.parameters(), lr=config.rate, fused=True)
        self.actions = np.zeros((0, game.facts.max_game_length), np.uint8)
        self.action_values = np.zeros((0, 48, KINDS), np.float16)
        self.rounds = 0  # learned from

    def take(self, rows: dict[str, np.ndarray]) -> None:
        self.actions = np.concatenate([self.actions, rows["actions"]])[-self.config.capacity :]
        self.action_values = np.concatenate([self.action_values, rows["action_values"]])[-self.config.capacity :]

    def learn(self) -> dict[str, float]:
        total = torch.zeros((), dtype=torch.float64, device=self.device)
        config, lengths = self.config, (self.actions != NOTHING).sum(axis=1)
        for group in self.optimizer.param_groups:  # what cards were values is mostly noise: later steps are smaller
            group["lr"] = config.rate * (1 - (1 - SLOWEST) * self.rounds / config.iterations)
        self.rounds += 1
        for _ in range(config.steps):
            which = self.generator.integers(0, len(self.actions), config.batch)
            rows = sample_rows(self.game, self.actions[which], lengths[which], config.positions, self.generator)
            values = self.action_values[np.repeat(which, config.positions), rows.plies].astype(np.float32)
            with one_thread():
                losses = self.module.losses(self.game, rows, values, config.entropy, DEAL_ROWS)
            total += gradient_step(self.optimizer, losses)
        return {"loss": float(total) / config.steps, "rows": len(self.actions)}

    def knowledge(self) -> CardNetwork:
        return self.module.network()

    def publish(self, path: Path, made: str) -> None:
        path.parent.mkdir(exist_ok=True)
        save_card_network(path, full_name(self.game), self.knowledge(), made)

    def save(self, folder: Path) -> None:
        tensors = packed(self.module, self.optimizer)
        tensors |= {"actions": torch.from_numpy(self.actions), "action_values": torch.from_numpy(self.action_values)}
        meta = {"generator": json.dumps(self.generator.bit_generator.state), "rounds": str(self.rounds)}
        write_atomically(folder / "apprentice.safetensors", safetensors.torch.save(tensors, meta))

    def restore(self, folder: Path) -> None:
        with safetensors.safe_open(folder / "apprentice.safetensors", "pt") as file:  # type: ignore[no-untyped-call]
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
            self.generator.bit_generator.state = json.loads(file.metadata()["generator"])
            self.rounds = int(file.metadata()["rounds"])
        self.actions, self.action_values = tensors.pop("actions").numpy(), tensors.pop("action_values").numpy()
        unpack(tensors, self.module, self.optimizer)
