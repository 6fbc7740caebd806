"""The next card of Doppelkopf as something to learn from recorded games: its numbers, its presets, what it refuses."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from ...core.names import BadInput
from ...games import Game, full_name
from ...games.doppelkopf.prediction import foresee
from ...games.doppelkopf.thesis_lines import MARRIAGES, POSITIONS, form
from ..learner import learner
from ..supervised import Supervised
from .next_card import CARDS, check_rules, lines_of, save_network
from .recorded_games import Games, is_validation, read_games, refuse_lessons


@dataclass(frozen=True)
class NextCard:
    """Every number of the method; `kibitz train next-card --help` is made of this."""

    game: Annotated[str, "the game, with its parameters"]
    data: Annotated[str, "the games to learn from: a file of records or of lines, or a run folder"] = ""
    iterations: Annotated[int, "passes over the games (epochs)", range(1, 10**6)] = 10
    layers: Annotated[int, "of the LSTM", range(1, 10)] = 2
    nodes: Annotated[int, "of each layer", range(1, 10**4)] = 64
    batch_size: Annotated[int, "lines a step; a game gives four, one from each seat", range(1, 10**6)] = 25
    learning_rate: Annotated[float, "learning rate of Adam"] = 0.002
    validation: Annotated[float, "share of the deals that aren't learned from"] = 0.02
    judged: Annotated[int, "games of these that accuracy is measured on, at most", range(1, 10**6)] = 500
    letters: Annotated[str, "of lines: the 24 cards from a to x, as '♣9 ♣J ...'; none: by suit"] = ""
    position: Annotated[str, "of lines: what its digit counts", tuple(POSITIONS)] = "place"
    marriage: Annotated[str, "of lines: whether one is announced", tuple(MARRIAGES)] = "announced"
    device: Annotated[str, "where torch computes", ("auto", "cpu", "cuda")] = "auto"
    seed: Annotated[int, "the same seed gives the same run", range(2**63)] = 1


PRESETS = {
    "thesis": "two layers of 64, as published",
    "thesis-128": "two of 128",
    "thesis-256": "two of 256",
}
VALUES: dict[str, dict[str, Any]] = {
    "thesis": {"nodes": 64, "batch_size": 25, "iterations": 10},
    "thesis-128": {"nodes": 128, "batch_size": 50, "iterations": 10},
    "thesis-256": {"nodes": 256, "batch_size": 50, "iterations": 5},
}


def data_of(config: NextCard) -> Games:
    return read_games(config.data, config.game, form(config.letters, config.position, marriage=config.marriage))


def refuse(config: NextCard, game: Game) -> None:
    check_rules(game)
    if not config.data:
        raise BadInput("--data is missing: a file of games, or a run folder, such as kibitz record makes")
    refuse_lessons(config, data_of(config))


@learner("next-card")
class NextCardLearner(Supervised):
    Config = NextCard
    about = "A network that reads a game of Doppelkopf card by card, and foretells the next one; learned from records."
    examples = (
        "doppelkopf:thesis --preset thesis --data runs/doppelkopf-record-001",
        "doppelkopf:thesis --preset thesis-256 --data games.lines --position dealer --device cuda",
    )
    presets = PRESETS
    refuse = staticmethod(refuse)
    player = "lstm"

    @staticmethod
    def preset(game: Any, name: str) -> dict[str, Any]:
        return VALUES[name]

    def __init__(self, config: NextCard, game: Game) -> None:
        import torch

        from ..torch_mlp import pick_device
        from .next_card_training import new_lstm

        super().__init__(config, game)
        games = data_of(config)
        apart = is_validation(games, config.validation)
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:2")  # else CUDA's LSTM is another one every time
        device = torch.device(pick_device(config.device, large=True))
        self.lines = torch.from_numpy(lines_of(games.take(~apart))).to(device)
        self.judged = games.take(np.flatnonzero(apart)[: config.judged])
        self.can_be = foresee(game, self.judged.actions, self.judged.lengths, 0, 1).can_be
        self.steps = -(-len(self.lines) // config.batch_size)
        self.start(games.source, new_lstm(config.layers, config.nodes, config.seed).to(device))
        self.order: tuple[int, Any] | None = None  # of the lines in an epoch

    def minibatch(self, epoch: int, step: int) -> Any:
        import torch

        from ..torch_mlp import one_thread
        from . import next_card_training

        if self.order is None or self.order[0] != epoch:
            drawn = np.random.default_rng([self.config.seed, 2, epoch]).permutation(len(self.lines))
            self.order = epoch, torch.from_numpy(drawn).to(self.device)
        batch = self.lines[self.order[1][step * self.config.batch_size : (step + 1) * self.config.batch_size]]
        with one_thread():
            loss = next_card_training.surprise(self.module(batch), batch)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            self.optimizer.step()
        return loss.detach()

    def evaluate(self) -> dict[str, float]:
        from ..torch_mlp import one_thread
        from .next_card_training import foretell

        lines = lines_of(self.judged)
        with one_thread():
            foretold = foretell(self.module, lines, self.can_be.reshape(-1, 48))
        self.refuse_divergence(foretold.loss)
        hits = foretold.cards == lines[:, CARDS]
        own = self.judged.own.reshape(-1, 48)
        return {
            "accuracy": float(hits.mean()),
            "loss_of_validation": foretold.loss,
            "legal": float(foretold.legal.mean()),
            "legal_of_own": float(foretold.legal[own].mean()),
        }

    def export(self, path: Path, made: str) -> None:
        from .next_card_training import as_network

        save_network(path, full_name(self.game), as_network(self.module), made)
