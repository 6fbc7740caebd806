"""Learner `cards`: the card networks of Doppelkopf, by supervised learning from recorded games."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from ...core.names import LEARNING_RATE, PATH, BadInput, Interval
from ...games import Game, full_name
from ...train.learner import Metrics, learner
from ...train.supervised import Supervised
from .card_data import sample_rows
from .card_network import CardNetwork, check_rules, save_card_network
from .recorded_games import check_training, read_games, split

if TYPE_CHECKING:
    import torch

MAX_HIDDEN = 10_000
LAST_RATE = 0.01  # of the learning rate: low, as rewards are mostly noise


@dataclass(frozen=True)
class CardsConfig:
    game: Annotated[str, "the game, with its parameters"]
    data: Annotated[str, "recorded games to learn from: a file of records, or a run folder", PATH] = ""
    iterations: Annotated[int, "number of epochs", range(1, 10**6)] = 10
    belief_hidden: Annotated[str, "hidden layers of the belief network, such as 384-384"] = "384-384"
    policy_hidden: Annotated[str, "hidden layers of the policy network"] = "128-64"
    value_hidden: Annotated[str, "hidden layers of the value network"] = "128-64"
    batch_size: Annotated[int, "games per minibatch", range(1, 10**6)] = 256
    positions: Annotated[int, "positions per game in a minibatch", range(1, 49)] = 8
    learning_rate: Annotated[
        float, "initial learning rate of Adam; it decays linearly to a hundredth", LEARNING_RATE
    ] = 0.001
    validation: Annotated[float, "share of the deals in the validation set", Interval(0, 1, above=True, below=True)] = (
        0.02
    )
    evaluation_games: Annotated[int, "most validation games to evaluate on", range(1, 10**6)] = 500
    device: Annotated[str, "device of torch", ("auto", "cpu", "cuda")] = "auto"
    seed: Annotated[int, "random seed; the same seed gives the same run", range(2**63)] = 1

    @property
    def hidden_sizes(self) -> tuple[tuple[int, ...], ...]:
        return tuple(_sizes(name, getattr(self, name)) for name in (f"{part}_hidden" for part in CardNetwork._fields))


def _sizes(name: str, text: str) -> tuple[int, ...]:
    try:
        found = tuple(int(size) for size in text.split("-"))
    except ValueError:
        found = (0,)
    if not 1 <= min(found) <= max(found) <= MAX_HIDDEN:
        raise BadInput(f"{name}={text} should be sizes of layers, such as 128 or 128-64")
    return found


@learner("cards")
class CardLearner(Supervised):
    Config = CardsConfig
    about = "Policy, value and belief networks for Doppelkopf, by supervised learning from recorded games."
    examples = ("doppelkopf:thesis --data runs/doppelkopf-record-001",)
    presets = {"best": "the sizes of the package's models", "small": "a minute, as a test"}
    player = "doko"

    @staticmethod
    def preset(game: Any, name: str) -> dict[str, Any]:
        sizes = {"belief_hidden": "64", "policy_hidden": "32", "value_hidden": "32"}
        return {"iterations": 2, "batch_size": 64, **sizes} if name == "small" else {}

    @staticmethod
    def refuse(config: CardsConfig, game: Game) -> None:
        check_rules(game)
        config.hidden_sizes  # noqa: B018
        check_training(config, lambda: read_games(config.data, config.game))

    def __init__(self, config: CardsConfig, game: Game) -> None:
        from ...nets.torch_mlp import pick_device
        from .card_training import CardModule, new_card_network

        super().__init__(config, game)
        games = read_games(config.data, config.game)
        self.games, self.validation = split(games, config.validation, config.evaluation_games)
        self.lengths = self.games.lengths
        self.steps = -(-len(self.games) // config.batch_size)
        self.order: tuple[int, np.ndarray] | None = None  # an epoch, and its order of games
        network = new_card_network(config.hidden_sizes, config.seed)
        self.start(games.source, CardModule(network).to(pick_device(config.device, large=True)))

    def minibatch(self, epoch: int, step: int) -> "torch.Tensor":
        from ...nets.devices import one_thread
        from .card_training import gradient_step

        config = self.config
        if self.order is None or self.order[0] != epoch:
            self.order = epoch, np.random.default_rng([config.seed, 2, epoch]).permutation(len(self.games))
        batch = self.order[1][step * config.batch_size : (step + 1) * config.batch_size]
        generator = np.random.default_rng([config.seed, 3, epoch, step])
        rows = sample_rows(self.game, self.games.actions[batch], self.lengths[batch], config.positions, generator)
        done = (epoch * self.steps + step) / (config.iterations * self.steps)
        for group in self.optimizer.param_groups:
            group["lr"] = config.learning_rate * (1 - (1 - LAST_RATE) * done)
        with one_thread():
            losses = self.module.losses(self.game, rows)
        return gradient_step(self.optimizer, losses)

    def evaluate(self) -> Metrics:
        from .card_training import evaluate

        found = evaluate(self.module, self.game, self.validation, self.config.seed)
        self.refuse_divergence(found["loss_of_validation"])
        return found

    def export(self, path: Path, made: str) -> None:
        save_card_network(path, full_name(self.game), self.module.network(), made)
