"""The apprentice: a network that learns to say what the expert says. Torch works here, and only here.

Loss: KL(expert || network) over the legal actions; illegal ones have no share in it. Adam. One step is one minibatch
drawn from the experience.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.torch
import torch

from ..core.files import write_atomically
from ..core.names import BadInput
from ..games import Game
from .mlp import Layers, new_layers, save_layers, sizes_of
from .replay import Experience, read_experience
from .torch_state import packed, unpack

BANNED = -1e9  # logit of an illegal action


class Apprentice:
    def __init__(
        self,
        game: Game,
        experience: Experience,
        hidden: tuple[int, ...],
        rate: float,
        batch: int,
        steps: int,
        seed: int,
        device: str = "cpu",
    ) -> None:
        self.game, self.experience, self.batch, self.steps = game, experience, batch, steps
        self.generator = np.random.default_rng([seed, 1])
        self.device = torch.device(device)
        layers = new_layers(sizes_of(game, hidden), self.generator)
        self.network = as_module(layers).to(self.device)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=rate, fused=True)

    def take(self, rows: dict[str, np.ndarray]) -> None:
        """Experience of whole games, the oldest first."""
        self.experience.add(rows["encodings"], rows["policies"], rows["legal"], self.generator)

    def learn(self) -> dict[str, float]:
        """All the steps of an iteration; what was measured on the way."""
        total = torch.zeros((), device=self.device)
        with one_thread():
            for _ in range(self.steps):
                encodings, policies, legal = (
                    torch.from_numpy(array).to(self.device)
                    for array in self.experience.sample(self.batch, self.generator)
                )
                loss = divergence(self.network(encodings), policies, legal)
                self.optimizer.zero_grad(set_to_none=True)
                loss.backward()  # type: ignore[no-untyped-call]
                self.optimizer.step()
                total += loss.detach()
        return {"loss": float(total) / self.steps, "rows": len(self.experience)}

    def knowledge(self) -> Layers:
        return layers_of(self.network)

    def publish(self, path: Path, made: str) -> None:
        path.parent.mkdir(exist_ok=True)
        save_layers(path, self.game, self.knowledge(), made)

    def save(self, folder: Path) -> None:
        """All that learning goes on from."""
        meta = {"generator": json.dumps(self.generator.bit_generator.state)}
        tensors = packed(self.network, self.optimizer)
        write_atomically(folder / "apprentice.safetensors", safetensors.torch.save(tensors, meta))
        self.experience.save(folder / "experience.safetensors")

    def restore(self, folder: Path) -> None:
        with safetensors.safe_open(folder / "apprentice.safetensors", "pt") as file:  # type: ignore[no-untyped-call]
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
            self.generator.bit_generator.state = json.loads(file.metadata()["generator"])
        unpack(tensors, self.network, self.optimizer)
        self.experience = read_experience(folder / "experience.safetensors")


class one_thread:
    """Small matrices are slower on many threads; and sums come out the same on every machine with one."""

    def __enter__(self) -> None:
        self.before = torch.get_num_threads()
        torch.set_num_threads(1)

    def __exit__(self, *_: object) -> None:
        torch.set_num_threads(self.before)


def as_module(layers: Layers) -> torch.nn.Sequential:
    parts: list[torch.nn.Module] = []
    for weights, biases in layers:
        part = torch.nn.Linear(*weights.shape)
        with torch.no_grad():
            part.weight.copy_(torch.from_numpy(weights.T.copy()))
            part.bias.copy_(torch.from_numpy(biases))
        parts += [part, torch.nn.ReLU()]
    return torch.nn.Sequential(*parts[:-1])


def layers_of(module: torch.nn.Sequential) -> Layers:
    """The other way round."""
    linear = [part for part in module if isinstance(part, torch.nn.Linear)]
    return [(part.weight.detach().cpu().numpy().T.copy(), part.bias.detach().cpu().numpy().copy()) for part in linear]


def divergence(logits: torch.Tensor, policies: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    """KL(policies || softmax of the logits over legal actions), mean of the rows."""
    said = torch.log_softmax(torch.where(legal, logits, BANNED), dim=1)
    wanted = torch.where(policies > 0, policies, 1.0).log()
    return (policies * (wanted - said)).sum(dim=1).mean()


def batch_evaluator(layers: Layers, device: str) -> Any:
    """A function from encodings to logits, both NumPy arrays [rows, ...] f4."""
    network = as_module(layers).to(device).eval()
    torch.set_num_threads(1)  # one process a core

    def evaluate(encodings: np.ndarray) -> np.ndarray:
        with torch.inference_mode():
            return network(torch.from_numpy(encodings).to(device)).cpu().numpy()

    return evaluate


def pick_device(name: str, large: bool) -> str:
    """`auto` is CUDA where there is some, and the network is large enough to gain by it."""
    if name == "cuda" and not torch.cuda.is_available():
        raise BadInput("device=cuda: torch sees no CUDA device here; device=cpu would do")
    return ("cuda" if large and torch.cuda.is_available() else "cpu") if name == "auto" else name
