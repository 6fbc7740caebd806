"""Training of the next-card LSTM by torch: Adam on the cross-entropy of the next character."""

import numpy as np
import torch

from .lstm import CARDS, CHARACTERS, NEWLINE, LstmLayer, LstmNetwork

BATCH = 500  # lines predicted together


class LstmModule(torch.nn.Module):
    def __init__(self, layers: int, nodes: int) -> None:
        super().__init__()
        self.lstm = torch.nn.LSTM(CHARACTERS, nodes, layers, batch_first=True)
        self.out = torch.nn.Linear(nodes, CHARACTERS)

    def forward(self, lines: torch.Tensor) -> torch.Tensor:
        """Lines [n, LINE] of characters -> logits [n, LINE, CHARACTERS] of each character, given those before it."""
        before = torch.nn.functional.pad(lines[:, :-1].long(), (1, 0), value=NEWLINE)
        hidden, _ = self.lstm(torch.nn.functional.one_hot(before, CHARACTERS).float())
        return self.out(hidden)


def new_lstm(layers: int, nodes: int, seed: int) -> LstmModule:
    with torch.random.fork_rng(devices=[]):  # weights are drawn on the CPU, so that all devices start alike
        torch.manual_seed(seed)
        return LstmModule(layers, nodes)


def as_network(module: LstmModule) -> LstmNetwork:
    """The weights as NumPy arrays."""
    state = {key: value.detach().cpu().numpy() for key, value in module.state_dict().items()}
    layers = [
        LstmLayer(
            state[f"lstm.weight_ih_l{i}"].T.copy(),
            state[f"lstm.weight_hh_l{i}"].T.copy(),
            state[f"lstm.bias_ih_l{i}"] + state[f"lstm.bias_hh_l{i}"],
        )
        for i in range(module.lstm.num_layers)
    ]
    return LstmNetwork(layers, state["out.weight"].T.copy(), state["out.bias"].copy())


def as_lstm(network: LstmNetwork) -> LstmModule:
    """Inverse of `as_network`."""
    module = LstmModule(len(network.layers), len(network.weights))
    state = {"out.weight": network.weights.T, "out.bias": network.biases}
    for i, layer in enumerate(network.layers):
        state |= {f"lstm.weight_ih_l{i}": layer.inputs.T, f"lstm.weight_hh_l{i}": layer.recurrent.T}
        state |= {f"lstm.bias_ih_l{i}": layer.biases, f"lstm.bias_hh_l{i}": np.zeros_like(layer.biases)}
    module.load_state_dict({key: torch.from_numpy(np.ascontiguousarray(value)) for key, value in state.items()})
    return module


def cross_entropy(logits: torch.Tensor, lines: torch.Tensor) -> torch.Tensor:
    """Cross-entropy in nats, mean over all characters."""
    return torch.nn.functional.cross_entropy(logits.reshape(-1, CHARACTERS), lines.reshape(-1).long())


def card_logits(module: LstmModule, lines: np.ndarray) -> tuple[np.ndarray, float]:
    """Logits [lines, 48, CHARACTERS] f4 of the cards of these lines, and the cross-entropy of all characters."""
    device, logits, loss = next(module.parameters()).device, [], 0.0
    with torch.inference_mode():
        for start in range(0, len(lines), BATCH):
            batch = torch.from_numpy(lines[start : start + BATCH]).to(device)
            found = module(batch)
            loss += float(cross_entropy(found, batch)) * len(batch)
            logits.append(found[:, CARDS].cpu().numpy())
    return np.concatenate(logits), loss / len(lines)
