"""Learner `next-card`: the LSTM of Obenaus' thesis, by supervised learning from recorded games of Doppelkopf."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from ...core.names import LEARNING_RATE, PATH, Interval
from ...games import Game, full_name
from ...train.learner import Metrics, learner
from ...train.supervised import Supervised
from ..rules.next_card import possible_next_cards
from ..rules.thesis_lines import MARRIAGES, POSITIONS, form
from .lstm import CARDS, check_rules, lines_of, save_lstm
from .predictors import most_likely
from .recorded_games import Games, check_training, read_games, split

if TYPE_CHECKING:
    import torch

PRESETS: dict[str, dict[str, Any]] = {  # the networks of the thesis' table 6
    "thesis": {"nodes": 64, "batch_size": 25, "iterations": 10},
    "thesis-128": {"nodes": 128, "batch_size": 50, "iterations": 10},
    "thesis-256": {"nodes": 256, "batch_size": 50, "iterations": 5},
}
LAYERS = 2  # of the LSTM


@dataclass(frozen=True)
class NextCardConfig:
    game: Annotated[str, "the game, with its parameters"]
    data: Annotated[str, "recorded games to learn from: a file of records or of lines, or a run folder", PATH] = ""
    iterations: Annotated[int, "number of epochs", range(1, 10**6)] = 10
    nodes: Annotated[int, "nodes per layer", range(1, 10**4)] = 64
    batch_size: Annotated[int, "lines per minibatch; a game gives four, one per seat", range(1, 10**6)] = 25
    learning_rate: Annotated[float, "learning rate of Adam", LEARNING_RATE] = 0.002
    validation: Annotated[float, "share of the deals in the validation set", Interval(0, 1, above=True, below=True)] = (
        0.02
    )
    evaluation_games: Annotated[int, "most validation games to evaluate on", range(1, 10**6)] = 500
    letters: Annotated[str, "of lines: the 24 cards from a to x, such as '♣9 ♣J ...'; none: by suit"] = ""
    position: Annotated[str, "of lines: meaning of the digit", tuple(POSITIONS)] = "place"
    marriage: Annotated[str, "of lines: whether a marriage is announced", tuple(MARRIAGES)] = "announced"
    device: Annotated[str, "device of torch", ("auto", "cpu", "cuda")] = "auto"
    seed: Annotated[int, "random seed; the same seed gives the same run", range(2**63)] = 1


def data_of(config: NextCardConfig) -> Games:
    return read_games(config.data, config.game, form(config.letters, config.position, marriage=config.marriage))


@learner("next-card")
class NextCardLearner(Supervised):
    Config = NextCardConfig
    about = "An LSTM that predicts the next card of Doppelkopf, by supervised learning from recorded games."
    examples = (
        "doppelkopf:thesis --preset thesis --data runs/doppelkopf-record-001",
        "doppelkopf:thesis --preset thesis-256 --data games.lines --position dealer --device cuda",
    )
    presets = {name: f"two layers of {values['nodes']} nodes, as published" for name, values in PRESETS.items()}
    player = "lstm"

    @staticmethod
    def preset(game: Any, name: str) -> dict[str, Any]:
        return PRESETS[name]

    @staticmethod
    def refuse(config: NextCardConfig, game: Game) -> None:
        check_rules(game)
        check_training(config, lambda: data_of(config))

    def __init__(self, config: NextCardConfig, game: Game) -> None:
        import torch

        from ...nets.torch_mlp import pick_device
        from .lstm_training import new_lstm

        super().__init__(config, game)
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:2")  # without it CUDA's LSTM is not deterministic
        games = data_of(config)
        training, self.validation = split(games, config.validation, config.evaluation_games)
        self.possible = possible_next_cards(
            game, self.validation.actions, self.validation.lengths, 0, 1
        ).possible.reshape(-1, 48)
        self.order: tuple[int, torch.Tensor] | None = None  # an epoch, and its order of lines
        self.start(
            games.source,
            new_lstm(LAYERS, config.nodes, config.seed).to(pick_device(config.device, large=True)),
        )
        self.lines = torch.from_numpy(lines_of(training)).to(self.device)
        self.steps = -(-len(self.lines) // config.batch_size)

    def minibatch(self, epoch: int, step: int) -> "torch.Tensor":
        import torch

        from ...nets.devices import one_thread
        from ...nets.torch_mlp import minimize
        from . import lstm_training

        config = self.config
        if self.order is None or self.order[0] != epoch:
            order = np.random.default_rng([config.seed, 2, epoch]).permutation(len(self.lines))
            self.order = epoch, torch.from_numpy(order).to(self.device)
        batch = self.lines[self.order[1][step * config.batch_size : (step + 1) * config.batch_size]]
        with one_thread():
            return minimize(self.optimizer, lstm_training.cross_entropy(self.module(batch), batch))

    def evaluate(self) -> Metrics:
        from ...nets.devices import one_thread
        from .lstm_training import card_logits

        lines = lines_of(self.validation)
        with one_thread():
            logits, loss = card_logits(self.module, lines)
        self.refuse_divergence(loss)
        found = most_likely(logits, self.possible)
        return {
            "accuracy": float((found.cards == lines[:, CARDS]).mean()),
            "loss_of_validation": loss,
            "legal": float(found.legal.mean()),
            "legal_of_own": float(found.legal[self.validation.own.reshape(-1, 48)].mean()),
        }

    def export(self, path: Path, made: str) -> None:
        from .lstm_training import as_network

        save_lstm(path, full_name(self.game), as_network(self.module), made)
