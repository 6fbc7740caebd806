"""NumPy arrays in and out of torch, for games that are played elsewhere than in `self_play`."""

from collections.abc import Callable

import numpy as np
import torch

from .loss import log_policy
from .self_play import Batch


def policy_on(network: torch.nn.Module, device: torch.device) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """The function from encodings and legal actions, [rows, ...] each, to a network's log-probabilities, f4."""

    def evaluate(encodings: np.ndarray, legal: np.ndarray) -> np.ndarray:
        given = [torch.from_numpy(each).to(device) for each in (encodings, legal)]
        with torch.no_grad():
            return log_policy(network(given[0]), given[1]).cpu().numpy()

    return evaluate


def batch_of(samples: dict[str, np.ndarray], payoffs: np.ndarray, device: torch.device) -> Batch:
    """Decisions as a batch to learn from; `samples` has arrays of the names of its fields, beside the payoffs."""
    names = ("encodings", "legal", "log_probs", "actions")
    encodings, legal, said, actions = (torch.from_numpy(samples[name]).to(device) for name in names)
    return Batch(encodings, legal, said, actions, samples["games"], samples["seats"], payoffs)
