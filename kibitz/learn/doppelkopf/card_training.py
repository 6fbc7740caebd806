"""Networks that play Doppelkopf, learned from games. Torch works here."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ...games import Game, full_name
from ...games.doppelkopf.beliefs import ROOM, expected_counts
from ...games.doppelkopf.cards import KINDS
from ..mlp import new_layers
from ..torch_mlp import BANNED, as_module, layers_of, one_thread, pick_device
from ..torch_pupil import TorchPupil
from .card_network import CARDS, ENDS, SURE, VALUE, WHERE, CardNetwork, save_network, weights_of
from .card_rows import Rows, draw_rows
from .recorded_games import Games, is_validation

WORTH = 0.1  # of a squared error of the reward, beside a card's surprise
PLACES = 0.05  # of a deal's surprise
PLACED = 4  # one of so many rows learns where cards lie: counting deals is most of the work
Losses = dict[str, torch.Tensor]
JUDGED_EACH = 8  # positions of a game, when it is judged


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


class CardPupil(TorchPupil):
    def __init__(self, config: Any, game: Game, games: Games) -> None:
        apart = is_validation(games, config.validation)
        self.game = game
        self.games, self.judged = games.take(~apart), games.take(np.flatnonzero(apart)[: config.judged])
        self.lengths = self.games.lengths
        self.steps = -(-len(self.games) // config.batch)
        device = torch.device(pick_device(config.device, large=True))
        module = CardModule(new_network(config.hidden_sizes, config.seed)).to(device)
        super().__init__(config, games.source, module, device)
        self.order: tuple[int, np.ndarray] | None = None  # of the games in a pass

    def learn(self, iteration: int, step: int) -> None:
        config = self.config
        if self.order is None or self.order[0] != iteration:
            drawn = np.random.default_rng([config.seed, 2, iteration]).permutation(len(self.games))
            self.order = iteration, drawn
        which = self.order[1][step * config.batch : (step + 1) * config.batch]
        generator = np.random.default_rng([config.seed, 3, iteration, step])
        rows = draw_rows(self.game, self.games.actions[which], self.lengths[which], config.positions, generator)
        part = (iteration * self.steps + step) / (config.iterations * self.steps)
        for group in self.optimizer.param_groups:
            group["lr"] = config.rate * (1 - 0.99 * part)  # to nearly nothing: rewards are mostly noise
        with one_thread():
            losses = self.module.losses(self.game, rows)
        self.count(learn_from(self.module, self.optimizer, losses), step)

    def evaluate(self) -> dict[str, float]:
        generator = np.random.default_rng([self.config.seed, 4])
        rows = draw_rows(self.game, self.judged.actions, self.judged.lengths, JUDGED_EACH, generator)
        with one_thread(), torch.no_grad():
            losses = self.module.losses(self.game, rows)
            own = self.module.quick(torch.from_numpy(rows.open[:, : rows.seen.shape[1]]).to(self.device))
            said = self.module.view(torch.from_numpy(rows.seen).to(self.device))[:, CARDS]
        hits = np.where(as_mask(rows.legal), own.cpu().numpy(), -np.inf).argmax(axis=1) == rows.cards
        foretold = np.where(as_mask(rows.can_be), said.cpu().numpy(), -np.inf).argmax(axis=1) == rows.cards
        found = {f"{name}_of_validation": float(each) for name, each in losses.items()}
        found["loss_of_validation"] = sum(WEIGHTS[name] * float(each) for name, each in losses.items())
        self.refuse_nonsense(found["loss_of_validation"])
        return {"accuracy": float(foretold.mean()), "quick_accuracy": float(hits.mean()), **found}

    def publish(self, path: Path, made: str) -> None:
        path.parent.mkdir(exist_ok=True)
        save_network(path, full_name(self.game), self.module.network(), made)
