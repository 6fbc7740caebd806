"""Prediction of the next card of recorded games: one interface for all networks that can do it.

A new learner whose networks predict cards adds a line to PREDICTORS.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from ...core.files import check_fits, readable
from ...core.names import BadInput, choose
from ...core.runs import Run
from ...games import Game, load_stored
from ...games.game import SCRATCH, positions
from ...jit import copy_record, generators, kernel
from ...nets.mlp import compiled, logits
from ...nets.model_files import network_file
from ..rules.cards import KINDS
from ..rules.deals import WEIGHTED, count_weighted, draw_weighted
from .card_data import all_views
from .card_network import HOLDERS, CardNetwork, holder_weights, read_card_network
from .lstm import lines_of, read_lstm
from .recorded_games import Games

WORLDS = 256  # sampled per card of another seat
BATCH = 50  # games whose views are in memory together


class Predictor(Protocol):
    def predict(self, games: Games) -> np.ndarray:
        """Probabilities of each card of whole games, given what each seat knew before it was played.

        Returns:
            [games, 4 seats, 48 cards, KINDS or more] f8. Columns from KINDS on are outputs of the model that are no
            cards.
        """


class Prediction(NamedTuple):
    cards: np.ndarray  # [...] u1: the most likely possible kind
    legal: np.ndarray  # [...] bool: whether the most likely output of all was a possible kind


def most_likely(scores: np.ndarray, possible: np.ndarray) -> Prediction:
    """The cards predicted by probabilities or logits [..., KINDS or more].

    `possible` [...] has bit k where kind k is possible.
    """
    allowed = (possible[..., None] >> np.arange(KINDS) & 1).astype(bool)
    cards = np.where(allowed, scores[..., :KINDS], -np.inf).argmax(axis=-1)
    return Prediction(cards.astype(np.uint8), (possible >> scores.argmax(axis=-1) & 1).astype(bool))


class LstmPredictor:
    """The LSTM's softmax over all its characters."""

    def __init__(self, file: Path) -> None:
        from .lstm_training import as_lstm

        self.module = as_lstm(read_lstm(file)[0])

    def predict(self, games: Games) -> np.ndarray:
        from .lstm_training import card_logits

        logits = card_logits(self.module, lines_of(games))[0].astype(float)
        weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
        return (weights / weights.sum(axis=-1, keepdims=True)).reshape(len(games), 4, 48, -1)


class CardPredictor:
    """The policy network's card, averaged over worlds sampled by the belief network.

    In each world the policy network sees the hand of the seat to move. A seat's own card needs no worlds.
    """

    def __init__(self, file: Path) -> None:
        self.network = read_card_network(file)[0]

    def predict(self, games: Games) -> np.ndarray:
        game, lengths = load_stored(games.rules), games.lengths
        return np.concatenate(
            [
                next_card_probs(
                    game, self.network, games.actions[at : at + BATCH], lengths[at : at + BATCH], WORLDS, seed=at
                )
                for at in range(0, len(games), BATCH)
            ]
        )


def next_card_probs(
    game: Game, network: CardNetwork, actions: np.ndarray, lengths: np.ndarray, worlds: int, seed: int
) -> np.ndarray:
    """[games, 4 seats, 48 cards, KINDS] f8: probabilities of each card of whole games, by `worlds` samples each."""
    encodings, views = all_views(game, actions, lengths)
    log_weights = logits(network.belief, encodings.reshape(-1, encodings.shape[-1]))[:, HOLDERS]
    probs = np.zeros((len(log_weights), KINDS))
    _predict(
        game, views.reshape(-1), holder_weights(log_weights), compiled(network.policy), worlds, positions(game),
        np.zeros(WEIGHTED + 4), np.zeros(SCRATCH, np.int64), np.zeros(SCRATCH), generators(seed, 1)[0], probs,
    )  # fmt: skip
    return probs.reshape(*views.shape, KINDS)


@kernel
def _predict(game, views, weights, policy, worlds, states, notes, actions, shares, rng, probs):
    """Rows are ordered by game, seat and card."""
    world = states[0]
    for i in range(len(views)):
        view, seat = views[i], i // 48 & 3
        hidden = seat != game.turn(view)
        if hidden:
            count_weighted(game, view, seat, weights[i], notes)
        samples = worlds if hidden else 1
        for _ in range(samples):
            copy_record(world, view)
            if hidden:
                draw_weighted(game, view, seat, weights[i], notes, rng, world.hands)
            n = game.actions(world, actions)
            policy.weigh(game, world, actions, n, shares)
            for j in range(n):
                probs[i, actions[j]] += shares[j] / samples


# Learner -> predictor from its network file.
PREDICTORS: dict[str, Callable[[Path], Predictor]] = {"next-card": LstmPredictor, "cards": CardPredictor}


def predictor_of(run: Run, validation: float) -> Predictor:
    """The predictor of a training run; refused if it may have learned from this share of deals for validation."""
    config = run.config()
    with readable(run.path("config.json"), "configuration"):
        check_fits(config, {"validation?": float})
    learner = choose("learner that predicts cards", str(config.get("method")), PREDICTORS)
    if not float(config.get("validation", 0)) >= validation:
        raise BadInput(
            f"{run.folder} kept {config.get('validation')} of the deals for validation, "
            f"which should be {validation} or more"
        )
    return PREDICTORS[learner](network_file(str(run.folder)))
