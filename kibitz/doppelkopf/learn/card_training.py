"""Training of the card networks by torch: losses, gradients, and what `cards` and `exit-rollouts` share."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from ...games import Game
from ...nets.devices import one_thread
from ...nets.mlp import new_layers
from ...nets.torch_mlp import BANNED, as_module, layers_of, minimize
from ..rules.beliefs import ROOM, expected_counts
from ..rules.cards import KINDS
from .card_data import Rows, sample_rows
from .card_network import CARDS, HOLDERS, MAX_LOG_WEIGHT, REWARD, SIZES, CardNetwork, holder_weights
from .recorded_games import Games

Losses = dict[str, torch.Tensor]
# Losses by their names in metrics.jsonl -> weights in the sum: cross-entropies of cards (`card`, `quick`: by the belief
# and the policy network) and of deals (`places`) in nats, squared errors of rewards (`worth`, `open`: by the belief and
# the value network).
WEIGHTS = {"card": 1.0, "worth": 0.1, "places": 0.05, "quick": 1.0, "open": 1.0}
EVALUATION_POSITIONS = 8  # per validation game
DEAL_ROWS = 4  # one row in this many has the loss of deals: counting deals is most of the work


class CardModule(torch.nn.Module):
    def __init__(self, network: CardNetwork) -> None:
        super().__init__()
        self.belief, self.policy, self.value = (as_module(layers) for layers in network)

    def losses(
        self,
        game: Game,
        rows: Rows,
        action_values: np.ndarray | None = None,
        entropy: float = 0.0,
        deal_rows: int = DEAL_ROWS,
    ) -> Losses:
        """The losses of WEIGHTS, each a mean over rows.

        Args:
            game: The game that the rows are of.
            rows: A minibatch.
            action_values: Expected rewards [rows, KINDS] of the mover per card, NaN where it is not legal or not known.
                The policy of the mover then minimizes its expected regret instead of imitating the card played.
            entropy: Entropy bonus of this policy, in points per nat.
            deal_rows: One row in this many has the loss of deals.
        """
        device = next(self.parameters()).device
        encodings, open_encodings, rewards = (
            torch.from_numpy(each).to(device) for each in (rows.encodings, rows.open_encodings, rows.rewards)
        )
        legal, possible = (as_mask(each).to(device) for each in (rows.legal, rows.possible))
        cards = torch.from_numpy(rows.cards).to(device)
        some = -(-len(cards) // deal_rows)
        beliefs, policy = self.belief(encodings), self.policy(open_encodings[:, : encodings.shape[1]])
        predicted, played = cross_entropy(beliefs[:, CARDS], cards, possible), cross_entropy(policy, cards, legal)
        if action_values is not None:
            values = torch.from_numpy(action_values).to(device)
            own = torch.from_numpy(rows.seats == rows.movers).to(device)
            predicted = torch.where(own, expected_regret(beliefs[:, CARDS], values, legal, entropy), predicted)
            played = expected_regret(policy, values, legal, entropy)
        return {
            "card": predicted.mean(),
            "worth": ((beliefs[:, REWARD] - rewards[:, 0]) ** 2).mean(),
            "places": DealLoss.apply(beliefs[:some, HOLDERS], game, rows, some),  # type: ignore[no-untyped-call]
            "quick": played.mean(),
            "open": ((self.value(open_encodings)[:, 0] - rewards[:, 1]) ** 2).mean(),
        }

    def network(self) -> CardNetwork:
        return CardNetwork(*(layers_of(getattr(self, name)) for name in CardNetwork._fields))


def new_card_network(hidden: Sequence[Sequence[int]], seed: int) -> CardNetwork:
    """Untrained networks with these sizes of hidden layers: belief, policy, value."""
    generator = np.random.default_rng([seed, 1])
    parts = zip(SIZES.values(), hidden, strict=True)
    return CardNetwork(*(new_layers([inputs, *sizes, outputs], generator) for (inputs, outputs), sizes in parts))


def as_mask(bits: np.ndarray) -> torch.Tensor:
    """[rows, KINDS] bool from bit k for kind k."""
    return torch.from_numpy((bits[:, None] >> np.arange(KINDS) & 1).astype(bool))


def cross_entropy(logits: torch.Tensor, cards: torch.Tensor, allowed: torch.Tensor) -> torch.Tensor:
    """[rows]: -log of the probability of these cards among the allowed ones."""
    return torch.nn.functional.cross_entropy(torch.where(allowed, logits, BANNED), cards, reduction="none")


def expected_regret(logits: torch.Tensor, values: torch.Tensor, legal: torch.Tensor, entropy: float) -> torch.Tensor:
    """[rows]: value of the best card less the policy's expected value, less its entropy bonus."""
    probs = torch.softmax(torch.where(legal, logits, BANNED), dim=1)
    known = legal & ~values.isnan()  # values are missing where there was no choice, or a seat that doesn't learn moved
    best = torch.where(known, values, -torch.inf).amax(dim=1, keepdim=True)
    regrets = torch.where(known, best - values, 0.0)
    return torch.where(known, probs * (regrets + entropy * probs.clamp(min=1e-9).log()), 0.0).sum(dim=1)


class DealLoss(torch.autograd.Function):
    """-log of the true deal's probability among all that fit the view, mean over some rows; value and gradient exact.

    The gradient in a log weight is the expected number of cards less the true one.
    """

    @staticmethod
    def forward(context: Any, log_weights: torch.Tensor, game: Game, rows: Rows, some: int) -> torch.Tensor:
        logits = log_weights.detach().cpu().numpy()
        weights = holder_weights(logits)
        counts, totals = np.zeros(weights.shape), np.zeros(len(weights))
        clipped = np.clip(logits, -MAX_LOG_WEIGHT, MAX_LOG_WEIGHT).reshape(weights.shape)
        views, seats, hands = rows.views[:some], rows.seats[:some], rows.hands[:some]
        expected_counts(game, views, seats, weights, np.zeros(ROOM), counts, totals)
        gradient = (counts - hands) * (np.abs(logits.reshape(weights.shape)) < MAX_LOG_WEIGHT)
        context.save_for_backward(torch.from_numpy((gradient.reshape(logits.shape) / len(logits)).astype(np.float32)))
        return log_weights.new_tensor((totals - log_arrangements(hands) - (clipped * hands).sum(axis=(1, 2))).mean())

    @staticmethod
    def backward(context: Any, *gradients: Any) -> Any:
        (gradient,) = context.saved_tensors
        return gradients[0] * gradient.to(gradients[0].device), None, None, None


def log_arrangements(hands: np.ndarray) -> np.ndarray:
    """Log of the number of deals of 48 distinct cards that look like these hands: two per pair in different hands."""
    return np.log(2.0) * ((hands.sum(axis=2) == 2) & (hands.max(axis=2) == 1)).sum(axis=1)


def gradient_step(optimizer: torch.optim.Optimizer, losses: Losses) -> torch.Tensor:
    """Minimize the weighted sum of the losses by one step; returns the sum."""
    with one_thread():
        return minimize(optimizer, torch.stack([WEIGHTS[name] * each for name, each in losses.items()]).sum())


def evaluate(module: CardModule, game: Game, games: Games, seed: int) -> dict[str, float]:
    """Losses, and shares of cards that the belief and the policy network predict, on positions of these games."""
    generator = np.random.default_rng([seed, 4])
    rows = sample_rows(game, games.actions, games.lengths, EVALUATION_POSITIONS, generator)
    device = next(module.parameters()).device
    with one_thread(), torch.no_grad():
        losses = module.losses(game, rows)
        policy = module.policy(torch.from_numpy(rows.open_encodings[:, : rows.encodings.shape[1]]).to(device))
        beliefs = module.belief(torch.from_numpy(rows.encodings).to(device))[:, CARDS]
    played = np.where(as_mask(rows.legal), policy.cpu().numpy(), -np.inf).argmax(axis=1) == rows.cards
    predicted = np.where(as_mask(rows.possible), beliefs.cpu().numpy(), -np.inf).argmax(axis=1) == rows.cards
    found = {f"{name}_of_validation": float(each) for name, each in losses.items()}
    found["loss_of_validation"] = sum(WEIGHTS[name] * float(each) for name, each in losses.items())
    return {"accuracy": float(predicted.mean()), "quick_accuracy": float(played.mean()), **found}
