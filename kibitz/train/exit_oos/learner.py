"""ExIt-OOS as a learner: a perceptron is trained to predict the policy that the search advises.

Loss: KL(search || network) over the legal actions. Adam; each step is one minibatch drawn from the replay buffer.
"""

from pathlib import Path
from typing import ClassVar

import numpy as np

from ...core.tensor_files import Format
from ...games import Game
from ...nets.encodings import survey
from ...nets.mlp import Layers, compiled, new_layers, save_layers, sizes_of
from ...solve.best_response import evaluate_policy
from ...solve.sequence_form import SequenceForm, measurable_form
from ..expert_iteration import ExpertIteration
from ..learner import Metrics, Samples, learner
from ..packing import Packed, on_device
from ..replay import ReplayBuffer
from . import config as settings
from .config import ExItConfig, ExItOosConfig
from .self_play import Networks, Shared, self_play
from .value_learning import ValueLearner

MAX_LEAVES = 2_000_000  # of a game whose NashConv is computed
FORMAT = Format("kibitz apprentice 1", "checkpoint", about={"generator": dict})


@learner("exit-oos")
class ExItOos(ExpertIteration):
    Config: ClassVar[type] = ExItOosConfig
    about = (
        "Expert iteration with Online Outcome Sampling. The search plays against itself, a network learns its policy, "
        "and is the policy of the search's playouts."
    )
    examples = ("leduc --preset small", "goofspiel:13 --preset paper --simulations 2000 --iterations 100")
    presets = settings.PRESETS
    preset = staticmethod(settings.preset)
    refuse = staticmethod(settings.refuse)
    worker = staticmethod(self_play)

    def __init__(self, config: ExItConfig, game: Game) -> None:
        import torch

        from ...nets.torch_mlp import as_module, pick_device

        super().__init__(config, game)
        capacity = config.capacity * survey(game)
        self.replay = ReplayBuffer(capacity, empty_samples(game), "exponential")
        self.generator = np.random.default_rng([config.seed, 1])
        self.device = torch.device(pick_device(config.device, config.in_batches(game)))
        layers = new_layers(sizes_of(game, config.hidden_sizes), self.generator)
        self.network = as_module(layers).to(self.device)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=config.learning_rate, fused=True)
        self.value: ValueLearner | None = None
        if isinstance(config, ExItOosConfig) and config.leaf == "value":
            self.value = ValueLearner(config, game, self.generator, str(self.device))
        self._form: SequenceForm | None = None

    @property
    def tasks(self) -> int:
        """Games that share batches are one task."""
        games = self.config.games
        return min(self.processes, games) if self.config.in_batches(self.game) else games

    def layers(self) -> Layers:
        """The layers of the policy network."""
        from ...nets.torch_mlp import layers_of

        return layers_of(self.network)

    def shared(self) -> Shared:
        # A value network that has learned nothing yet is of no use: in the first iteration leaves are played out.
        return Networks(self.layers(), self.value.layers()) if self.value and self.replay.added else self.layers()

    def update(self, samples: Samples) -> Metrics:
        found = self.learn_policy(samples)
        return found | {"value_loss": self.value.learn(self.layers())} if self.value else found

    def learn_policy(self, samples: Samples) -> Metrics:
        """Add samples to the replay buffer, and train the policy network."""
        import torch

        from ...nets.devices import one_thread
        from ...nets.torch_mlp import divergence, minimize

        self.replay.add(samples, self.generator)
        total = torch.zeros((), device=self.device)
        with one_thread():
            for _ in range(self.config.steps):
                drawn = self.replay.sample(self.config.batch_size, self.generator)
                encodings, legal = (on_device(drawn[name], self.device) for name in ("encodings", "legal"))
                halves = drawn["policies"].astype(np.float32)
                policies = torch.from_numpy(halves / halves.sum(axis=1, keepdims=True)).to(self.device)
                total += minimize(self.optimizer, divergence(self.network(encodings), policies, legal.bool()))
        return {"loss": float(total) / self.config.steps, "rows": len(self.replay)}

    def evaluate(self) -> Metrics:
        """NashConv of the network, where the game is small enough to be written out."""
        if not self.config.evaluate_every:
            return {}
        self._form = self._form or measurable_form(self.game, MAX_LEAVES)
        if self._form is None:
            return {}
        return {"nash_conv": evaluate_policy(self._form, compiled(self.layers())).nash_conv}

    # ------------------------------------------------------------ files

    def save(self, folder: Path) -> None:
        from ...nets.torch_state import save_state

        state = self.generator.bit_generator.state
        save_state(folder / "apprentice.safetensors", FORMAT, self.network, self.optimizer, generator=state)
        self.replay.save(folder / "experience.safetensors")
        if self.value:
            self.value.save(folder / "value.safetensors")

    def restore(self, folder: Path) -> None:
        from ...nets.torch_state import restore_state

        path = folder / "apprentice.safetensors"
        _, about = restore_state(path, FORMAT, self.network, self.optimizer)
        self.generator.bit_generator.state = about["generator"]
        self.replay.restore(folder / "experience.safetensors")
        if self.value:
            self.value.restore(folder / "value.safetensors")

    def export(self, path: Path, made: str) -> None:
        save_layers(path, self.game, self.layers(), made)


def empty_samples(game: Game) -> Samples:
    """What the replay buffer holds, without rows.

    Policies are rounded to half precision, half of the memory: a probability by at most 2^-11 of it, or by 2^-25.
    """
    facts = game.facts
    return {
        "encodings": Packed.empty(facts.encoding),
        "policies": np.zeros((0, facts.num_actions), np.float16),
        "legal": Packed.empty(facts.num_actions),
    }
