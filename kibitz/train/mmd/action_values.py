"""Learning the values of actions from lambda-returns (Sarsa, Sutton and Barto 2018), by one network for all seats.

For one agent whose opponents don't learn. It plays by a softmax over these values, the colder the later, and draws some
actions uniformly. Values remember what actions were worth that are hardly played any more; a policy gradient can't
return to them.
"""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ...games import Game
from ..learner import Metrics
from .advantages import advantages
from .config import MmdConfig
from .learner import SHUFFLE, Mmd


@dataclass(frozen=True)
class ActionValuesConfig(MmdConfig):
    """Fields of `kibitz train mmd`, and how games are played. Of payoffs the largest is 1."""

    temperature: Annotated[float, "temperature of the softmax over values, at the start"] = 0.1
    final_temperature: Annotated[float, "share of it at the end, decreased geometrically"] = 0.05
    epsilon: Annotated[float, "share of actions that are drawn uniformly at the start, decreased linearly to 0"] = 0.1


class ActionValues(Mmd):
    """What each action wins at a view."""

    Config = ActionValuesConfig

    def __init__(self, config: ActionValuesConfig, game: Game) -> None:
        import torch

        super().__init__(config, game)
        self.networks = torch.nn.ModuleDict({"action_values": self.policy})
        self.parameters = list(self.policy.parameters())
        self.optimizer = torch.optim.Adam(self.parameters, lr=config.learning_rate, eps=1e-5, fused=True)

    def exploration(self, iteration: int) -> tuple[float, float]:
        """Temperature and epsilon of an iteration."""
        config, done = self.config, (iteration - 1) / self.config.iterations
        return config.temperature * config.final_temperature**done, config.epsilon * (1 - done)

    def values(self, encodings: np.ndarray) -> np.ndarray:
        """[views, actions] f4: the present values of all actions."""
        import torch

        with torch.no_grad():
            return self.policy(torch.from_numpy(encodings).to(self.device)).cpu().numpy()

    def update(self, iteration: int, batch: Any) -> Metrics:
        """Learn the values of the actions that were played."""
        import torch

        from ...nets.torch_mlp import minimize

        config, done = self.config, (iteration - 1) / self.config.iterations
        for group in self.optimizer.param_groups:
            group["lr"] = config.learning_rate * (1 - done)
        targets = self.targets(iteration, batch)
        generator = np.random.default_rng([config.seed, SHUFFLE, iteration])
        total, minibatches = torch.zeros((), device=self.device), min(config.minibatches, len(targets))
        for _ in range(config.epochs):
            for rows in self.shuffled(len(targets), generator).tensor_split(minibatches):
                said = self.policy(batch.encodings[rows]).gather(1, batch.actions[rows][:, None])[:, 0]
                total += minimize(self.optimizer, ((said - targets[rows]) ** 2).mean() / 2)
        return {"loss": float(total) / (config.epochs * minibatches)}

    def targets(self, iteration: int, batch: Any) -> Any:
        """[rows] f4: lambda-returns, in which a decision is worth the mean of its values by the softmax."""
        import torch

        from .loss import log_policy

        with torch.no_grad():
            said = self.policy(batch.encodings)
            probs = log_policy(said / self.exploration(iteration)[0], batch.legal).exp()
            values = torch.where(batch.legal, probs * said, 0.0).sum(dim=1)
        payoffs = batch.payoffs * self.scale
        gains = advantages(batch.games, batch.seats, values.cpu().numpy(), payoffs, self.config.gae_lambda)
        return values + torch.from_numpy(gains).to(self.device)
