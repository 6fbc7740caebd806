"""The next card, learned: Adam on the cross-entropy of the next character. Torch works here."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ...games import Game, full_name
from ...games.doppelkopf.next_card import possible_next_cards
from ..torch_mlp import one_thread, pick_device
from ..torch_pupil import TorchPupil
from .next_card import CARDS, CHARACTERS, NEWLINE, Layer, Network, lines_of, save_network
from .recorded_games import Games, is_validation

AT_ONCE = 500  # lines that are judged together


class Lstm(torch.nn.Module):
    def __init__(self, layers: int, nodes: int) -> None:
        super().__init__()
        self.lstm = torch.nn.LSTM(CHARACTERS, nodes, layers, batch_first=True)
        self.out = torch.nn.Linear(nodes, CHARACTERS)

    def forward(self, lines: torch.Tensor) -> torch.Tensor:
        """Lines [n, LINE] of characters -> logits [n, LINE, CHARACTERS]: of each character by those before it."""
        before = torch.nn.functional.pad(lines[:, :-1].long(), (1, 0), value=NEWLINE)
        hidden, _ = self.lstm(torch.nn.functional.one_hot(before, CHARACTERS).float())
        return self.out(hidden)


def new_lstm(layers: int, nodes: int, seed: int) -> Lstm:
    with torch.random.fork_rng(devices=[]):  # weights are drawn on the CPU, so that devices begin alike
        torch.manual_seed(seed)
        return Lstm(layers, nodes)


def as_network(module: Lstm) -> Network:
    """The same in NumPy's arrays."""
    state = {key: value.detach().cpu().numpy() for key, value in module.state_dict().items()}
    layers = [
        Layer(
            state[f"lstm.weight_ih_l{i}"].T.copy(),
            state[f"lstm.weight_hh_l{i}"].T.copy(),
            state[f"lstm.bias_ih_l{i}"] + state[f"lstm.bias_hh_l{i}"],
        )
        for i in range(module.lstm.num_layers)
    ]
    return Network(layers, state["out.weight"].T.copy(), state["out.bias"].copy())


def as_lstm(network: Network) -> Lstm:
    module = Lstm(len(network.layers), len(network.weights))
    state = {"out.weight": network.weights.T, "out.bias": network.biases}
    for i, layer in enumerate(network.layers):
        state |= {f"lstm.weight_ih_l{i}": layer.inputs.T, f"lstm.weight_hh_l{i}": layer.recurrent.T}
        state |= {f"lstm.bias_ih_l{i}": layer.biases, f"lstm.bias_hh_l{i}": np.zeros_like(layer.biases)}
    module.load_state_dict({key: torch.from_numpy(np.ascontiguousarray(value)) for key, value in state.items()})
    return module


class NextCardPupil(TorchPupil):
    def __init__(self, config: Any, game: Game, games: Games) -> None:
        apart = is_validation(games, config.validation)
        self.game = game
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:2")  # else CUDA's LSTM is another one every time
        device = torch.device(pick_device(config.device, large=True))
        self.lines = torch.from_numpy(lines_of(games.take(~apart))).to(device)
        self.judged = games.take(np.flatnonzero(apart)[: config.judged])
        self.can_be = possible_next_cards(game, self.judged.actions, self.judged.lengths, 0, 1).possible
        self.steps = -(-len(self.lines) // config.batch)
        module = new_lstm(config.layers, config.nodes, config.seed).to(device)
        super().__init__(config, games.source, module, device)
        self.order: tuple[int, torch.Tensor] | None = None  # of the lines in a pass

    def learn(self, iteration: int, step: int) -> None:
        if self.order is None or self.order[0] != iteration:
            drawn = np.random.default_rng([self.config.seed, 2, iteration]).permutation(len(self.lines))
            self.order = iteration, torch.from_numpy(drawn).to(self.device)
        batch = self.lines[self.order[1][step * self.config.batch : (step + 1) * self.config.batch]]
        with one_thread():
            loss = surprise(self.module(batch), batch)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            self.optimizer.step()
        self.count(loss.detach(), step)

    def evaluate(self) -> dict[str, float]:
        lines = lines_of(self.judged)
        with one_thread():
            foretold = foretell(self.module, lines, self.can_be.reshape(-1, 48))
        self.refuse_nonsense(foretold.loss)
        hits = foretold.cards == lines[:, CARDS]
        own = self.judged.own.reshape(-1, 48)
        return {
            "accuracy": float(hits.mean()),
            "loss_of_validation": foretold.loss,
            "legal": float(foretold.legal.mean()),
            "legal_of_own": float(foretold.legal[own].mean()),
        }

    def publish(self, path: Path, made: str) -> None:
        path.parent.mkdir(exist_ok=True)
        save_network(path, full_name(self.game), as_network(self.module), made)


def surprise(logits: torch.Tensor, lines: torch.Tensor) -> torch.Tensor:
    """Cross-entropy of a character, in nats, the mean of all of a line."""
    return torch.nn.functional.cross_entropy(logits.reshape(-1, CHARACTERS), lines.reshape(-1).long())


@dataclass(frozen=True)
class Foretold:
    cards: np.ndarray  # [lines, 48] u1: kinds
    loss: float
    legal: np.ndarray  # [lines, 48] bool: whether the likeliest of all characters was a card that can be


def foretell(module: Lstm, lines: np.ndarray, can_be: np.ndarray) -> Foretold:
    """The likeliest card that can be, for each card of these lines by what was before it. `can_be` [lines, 48] bits."""
    device, cards, legal, loss = next(module.parameters()).device, [], [], 0.0
    kinds = torch.arange(24, device=device)
    with torch.inference_mode():
        for at in range(0, len(lines), AT_ONCE):
            part = torch.from_numpy(lines[at : at + AT_ONCE]).to(device)
            bits = torch.from_numpy(can_be[at : at + AT_ONCE].astype(np.int64)).to(device)
            logits = module(part)
            loss += float(surprise(logits, part)) * len(part)
            allowed = (bits[..., None] >> kinds & 1).bool()
            said = logits[:, CARDS, :]
            likeliest = said.argmax(dim=2)
            legal.append((bits >> likeliest & 1).bool().cpu().numpy())  # (no bits of what is no card)
            cards.append(said[..., :24].masked_fill(~allowed, -torch.inf).argmax(dim=2).to(torch.uint8).cpu().numpy())
    return Foretold(np.concatenate(cards), loss / len(lines), np.concatenate(legal))
