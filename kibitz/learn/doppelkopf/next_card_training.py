"""The next card, learned: Adam on the cross-entropy of the next character. Torch works here."""

from dataclasses import dataclass

import numpy as np
import torch

from .next_card import CARDS, CHARACTERS, NEWLINE, Layer, Network

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
