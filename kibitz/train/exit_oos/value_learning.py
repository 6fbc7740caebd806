"""How the value network of ExIt-OOS learns: squared error, each position of new games once, Adam."""

from pathlib import Path

import numpy as np

from ...core.tensor_files import Format
from ...games import Game
from ...nets.mlp import Layers, compiled, new_layers
from .config import ExItOosConfig
from .critic import policy_games

FORMAT = Format("kibitz value network 1", "checkpoint")
BATCH = 256  # positions per gradient step


class ValueLearner:
    """A value network and its optimizer."""

    def __init__(self, config: ExItOosConfig, game: Game, generator: np.random.Generator, device: str) -> None:
        import torch

        from ...nets.torch_mlp import as_module

        self.game, self.games, self.generator, self.device = game, config.value_games, generator, device
        sizes = [2 * game.facts.encoding, *config.value_sizes, 1]
        self.network = as_module(new_layers(sizes, generator)).to(device)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=config.learning_rate, fused=True)

    def layers(self) -> Layers:
        from ...nets.torch_mlp import layers_of

        return layers_of(self.network)

    def learn(self, policy: Layers) -> float:
        """Learn from new games of a policy network; return the mean squared error before each step."""
        import torch

        from ...nets.devices import one_thread
        from ...nets.torch_mlp import minimize

        rows, payoffs = policy_games(self.game, compiled(policy), self.games, int(self.generator.integers(2**63)))
        batches = np.array_split(self.generator.permutation(len(rows)), max(1, len(rows) // BATCH))
        total = torch.zeros((), device=self.device)
        with one_thread():
            for batch in batches:
                inputs, wanted = (torch.from_numpy(each[batch]).to(self.device) for each in (rows, payoffs))
                total += minimize(self.optimizer, torch.nn.functional.mse_loss(self.network(inputs)[:, 0], wanted))
        return float(total) / len(batches)

    def save(self, path: Path) -> None:
        from ...nets.torch_state import save_state

        save_state(path, FORMAT, self.network, self.optimizer)

    def restore(self, path: Path) -> None:
        from ...nets.torch_state import restore_state

        restore_state(path, FORMAT, self.network, self.optimizer)
