"""Networks that play Doppelkopf as something to learn from recorded games: numbers, presets, what is refused."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from ...core.names import BadInput
from ...games import Game, full_name
from ..learner import learner
from ..supervised import Supervised
from .card_network import CARDS, check_rules, save_network
from .card_rows import draw_rows
from .recorded_games import Games, is_validation, read_games, refuse_lessons

MAX_HIDDEN = 10_000
JUDGED_EACH = 8  # positions of a game, when it is evaluated


@dataclass(frozen=True)
class Cards:
    """Every number of the method; `kibitz train cards --help` is made of this."""

    game: Annotated[str, "the game, with its parameters"]
    data: Annotated[str, "the games to learn from: a file of records, or a run folder"] = ""
    iterations: Annotated[int, "passes over the games (epochs)", range(1, 10**6)] = 10
    view: Annotated[str, "hidden layers of the network that sees what a seat sees"] = "384-384"
    quick: Annotated[str, "of the small one that plays in trees and playouts"] = "128-64"
    open: Annotated[str, "of the small one that judges guesses"] = "128-64"
    batch_size: Annotated[int, "games a step", range(1, 10**6)] = 256
    positions: Annotated[int, "of each game, a step", range(1, 49)] = 8
    learning_rate: Annotated[float, "learning rate of Adam at first; it falls to nearly nothing"] = 0.001
    validation: Annotated[float, "share of the deals that aren't learned from"] = 0.02
    judged: Annotated[int, "games of these that are measured, at most", range(1, 10**6)] = 500
    device: Annotated[str, "where torch computes", ("auto", "cpu", "cuda")] = "auto"
    seed: Annotated[int, "the same seed gives the same run", range(2**63)] = 1

    @property
    def hidden_sizes(self) -> tuple[tuple[int, ...], ...]:
        return tuple(sizes(name, getattr(self, name)) for name in ("view", "quick", "open"))


def sizes(name: str, text: str) -> tuple[int, ...]:
    try:
        found = tuple(int(size) for size in text.split("-"))
    except ValueError:
        found = (0,)
    if not 1 <= min(found) <= max(found) <= MAX_HIDDEN:
        raise BadInput(f"{name}={text} should be sizes of layers, such as 128 or 128-64")
    return found


PRESETS = {"kibitz": "what we found to be good", "small": "a minute, to see that it works"}
VALUES: dict[str, dict[str, Any]] = {
    "kibitz": {},
    "small": {"iterations": 2, "view": "64", "quick": "32", "open": "32", "batch_size": 64},
}


def data_of(config: Any) -> Games:
    return read_games(config.data, config.game)


def refuse(config: Cards, game: Game) -> None:
    check_rules(game)
    if not config.data:
        raise BadInput("--data is missing: a file of games, or a run folder, such as kibitz record makes")
    config.hidden_sizes  # noqa: B018
    refuse_lessons(config, data_of(config))


@learner("cards")
class CardLearner(Supervised):
    Config = Cards
    about = "Networks that play Doppelkopf by what a seat sees: cards, worth, and who holds what; learned from records."
    examples = ("doppelkopf:thesis --data runs/doppelkopf-record-001",)
    presets = PRESETS
    refuse = staticmethod(refuse)
    player = "doko"

    @staticmethod
    def preset(game: Any, name: str) -> dict[str, Any]:
        return VALUES[name]

    def __init__(self, config: Cards, game: Game) -> None:
        from ..torch_mlp import pick_device
        from .card_training import CardModule, new_network

        super().__init__(config, game)
        games = data_of(config)
        apart = is_validation(games, config.validation)
        self.games, self.judged = games.take(~apart), games.take(np.flatnonzero(apart)[: config.judged])
        self.lengths = self.games.lengths
        self.steps = -(-len(self.games) // config.batch_size)
        module = CardModule(new_network(config.hidden_sizes, config.seed))
        self.start(games.source, module.to(pick_device(config.device, large=True)))
        self.order: tuple[int, np.ndarray] | None = None  # of the games in an epoch

    def minibatch(self, epoch: int, step: int) -> Any:
        from ..torch_mlp import one_thread
        from .card_training import learn_from

        config = self.config
        if self.order is None or self.order[0] != epoch:
            drawn = np.random.default_rng([config.seed, 2, epoch]).permutation(len(self.games))
            self.order = epoch, drawn
        which = self.order[1][step * config.batch_size : (step + 1) * config.batch_size]
        generator = np.random.default_rng([config.seed, 3, epoch, step])
        rows = draw_rows(self.game, self.games.actions[which], self.lengths[which], config.positions, generator)
        part = (epoch * self.steps + step) / (config.iterations * self.steps)
        for group in self.optimizer.param_groups:
            group["lr"] = config.learning_rate * (1 - 0.99 * part)  # to nearly nothing: rewards are mostly noise
        with one_thread():
            losses = self.module.losses(self.game, rows)
        return learn_from(self.module, self.optimizer, losses)

    def evaluate(self) -> dict[str, float]:
        import torch

        from ..torch_mlp import one_thread
        from .card_training import WEIGHTS, as_mask

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
        self.refuse_divergence(found["loss_of_validation"])
        return {"accuracy": float(foretold.mean()), "quick_accuracy": float(hits.mean()), **found}

    def export(self, path: Path, made: str) -> None:
        save_network(path, full_name(self.game), self.module.network(), made)
