"""Networks that play Doppelkopf, learned from games. Torch works here."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from ...games import Game
from ...games.doppelkopf.beliefs import ROOM, expected_counts
from ...games.doppelkopf.cards import KINDS
from ..mlp import new_layers
from ..torch_mlp import BANNED, as_module, layers_of, one_thread
from .card_network import CARDS, ENDS, SURE, VALUE, WHERE, CardNetwork, weights_of
from .card_rows import Rows

WORTH = 0.1  # of a squared error of the reward, beside a card's surprise
PLACES = 0.05  # of a deal's surprise
PLACED = 4  # one of so many rows learns where cards lie: counting deals is most of the work
Losses = dict[str, torch.Tensor]


class CardModule(torch.nn.Module):
    def __init__(self, network: CardNetwork) -> None:
        super().__init__()
        self.view, self.quick, self.open = (as_module(layers) for layers in network)

    def losses(
        self,
        game: Game,
        rows: Rows,
        worth_of: np.ndarray | None = None,
        entropy: float = 0.0,
        placed: int = PLACED,
    ) -> Losses:
        """What each part should make smaller: surprises in nats, squared errors of rewards.

        With `worth_of` [rows, KINDS], NaN where a card can't be played, who has the turn learns to get more instead of
        what was played; `entropy` is what it is worth not to be too sure of it.
        """
        device = next(self.parameters()).device
        seen, opened, worth = (torch.from_numpy(each).to(device) for each in (rows.seen, rows.open, rows.worth))
        legal, can_be = (as_mask(each).to(device) for each in (rows.legal, rows.can_be))
        cards = torch.from_numpy(rows.cards).to(device)
        some = -(-len(cards) // placed)
        said, own = self.view(seen), self.quick(opened[:, : seen.shape[1]])
        foretold, played = surprise(said[:, CARDS], cards, can_be), surprise(own, cards, legal)
        if worth_of is not None:
            gains = torch.from_numpy(worth_of).to(device)
            mine = torch.from_numpy(rows.seats == rows.movers).to(device)
            foretold = torch.where(mine, shortfall(said[:, CARDS], gains, legal, entropy), foretold)
            played = shortfall(own, gains, legal, entropy)
        return {
            "card": foretold.mean(),
            "worth": ((said[:, VALUE] - worth[:, 0]) ** 2).mean(),
            "places": DealSurprise.apply(said[:some, WHERE], game, rows, some),  # type: ignore[no-untyped-call]
            "quick": played.mean(),
            "open": ((self.open(opened)[:, 0] - worth[:, 1]) ** 2).mean(),
        }

    def network(self) -> CardNetwork:
        return CardNetwork(*(layers_of(getattr(self, part)) for part in CardNetwork._fields))


def new_network(hidden: Sequence[Sequence[int]], seed: int) -> CardNetwork:
    """Untrained."""
    generator = np.random.default_rng([seed, 1])
    parts = zip(ENDS.values(), hidden, strict=True)
    return CardNetwork(*(new_layers([inputs, *sizes, outputs], generator) for (inputs, outputs), sizes in parts))


WEIGHTS = {"card": 1.0, "worth": WORTH, "places": PLACES, "quick": 1.0, "open": 1.0}


def as_mask(bits: np.ndarray) -> torch.Tensor:
    return torch.from_numpy((bits[:, None] >> np.arange(KINDS) & 1).astype(bool))


def surprise(logits: torch.Tensor, cards: torch.Tensor, allowed: torch.Tensor) -> torch.Tensor:
    """[rows]: -log of the odds of these cards."""
    return torch.nn.functional.cross_entropy(torch.where(allowed, logits, BANNED), cards, reduction="none")


def shortfall(logits: torch.Tensor, gains: torch.Tensor, legal: torch.Tensor, entropy: float) -> torch.Tensor:
    """[rows]: how much less the policy gets than it would by the best card, less what its entropy is worth."""
    probs = torch.softmax(torch.where(legal, logits, BANNED), dim=1)
    known = legal & ~gains.isnan()  # where there was no choice, or nobody who learns, nothing is known, nor needed
    best = torch.where(known, gains, -torch.inf).amax(dim=1, keepdim=True)
    lost = torch.where(known, best - gains, 0.0)
    return torch.where(known, probs * (lost + entropy * probs.clamp(min=1e-9).log()), 0.0).sum(dim=1)


class DealSurprise(torch.autograd.Function):
    """-log of the true deal's share among all that fit, mean of some rows: exact, and so is its gradient."""

    @staticmethod
    def forward(context: Any, said: torch.Tensor, game: Game, rows: Rows, some: int) -> torch.Tensor:
        logits = said.detach().cpu().numpy()
        weights = weights_of(logits)
        counts, shares = np.zeros(weights.shape), np.zeros(len(weights))
        given = np.clip(logits, -SURE, SURE).reshape(weights.shape)
        views, seats, hands = rows.views[:some], rows.seats[:some], rows.hands[:some]
        expected_counts(game, views, seats, weights, np.zeros(ROOM), counts, shares)
        wrong = (counts - hands) * (np.abs(logits.reshape(weights.shape)) < SURE)
        context.save_for_backward(torch.from_numpy((wrong.reshape(logits.shape) / len(logits)).astype(np.float32)))
        return said.new_tensor((shares - parted(hands) - (given * hands).sum(axis=(1, 2))).mean())

    @staticmethod
    def backward(context: Any, *gradients: Any) -> Any:
        (wrong,) = context.saved_tensors
        return gradients[0] * wrong.to(gradients[0].device), None, None, None


def parted(hands: np.ndarray) -> np.ndarray:
    """Log of how many deals of physical cards look like these hands: two for each pair that is parted."""
    return np.log(2.0) * ((hands.sum(axis=2) == 2) & (hands.max(axis=2) == 1)).sum(axis=1)


def learn_from(module: CardModule, optimizer: torch.optim.Optimizer, losses: Losses) -> torch.Tensor:
    """One step; the loss."""
    with one_thread():
        loss = torch.stack([WEIGHTS[name] * each for name, each in losses.items()]).sum()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return loss.detach()
