"""The average strategy of a model: its strategy network, or all advantage networks weighted by their reach.

In a game that is small enough to be written out the average is exact, and so is its exploitability.
"""

from typing import Any

import numpy as np

from ...core.process_settings import one_blas_thread
from ...games import Game
from ...games.protocol import TooManyActions
from ...jit import call_once, kernel
from ...search.strategy import mean_probs
from ...solve.best_response import Exploitability, evaluate_probs
from ...solve.sequence_form import SequenceForm
from .networks import Model, Shape, Weights, forward, matched, softmax


class Table:
    """The encoded infosets of a small game: converts networks to probabilities of sequences."""

    def __init__(self, form: SequenceForm, seen: Any) -> None:
        self.form = form
        self.encodings, self.legal = [], []
        for views in form.views:
            encodings, legal = encoded(seen, views)
            self.encodings.append(encodings)
            self.legal.append(legal)

    def probs(self, seat: int, policy: np.ndarray) -> np.ndarray:
        """Probabilities [sequences] of a policy [infosets, actions]; legal actions are in ascending order."""
        return np.concatenate([[1.0], policy[self.legal[seat]]])

    @one_blas_thread()
    def matched(self, seat: int, shape: Shape, weights: Weights, fallback: str) -> np.ndarray:
        """The strategy of an advantage network: regret matching on its outputs."""
        outputs = forward(shape, weights, self.encodings[seat])
        return self.probs(seat, matched(outputs, self.legal[seat], fallback))

    @one_blas_thread()
    def softmax(self, seat: int, shape: Shape, weights: Weights) -> np.ndarray:
        """The strategy of a strategy network: the softmax of its outputs."""
        return self.probs(seat, softmax(forward(shape, weights, self.encodings[seat]), self.legal[seat]))

    def mean(self, seat: int, probs: list[np.ndarray], weights: np.ndarray) -> np.ndarray:
        return mean_probs(self.form.sides[seat], np.array(probs), weights)

    def evaluate(self, one: np.ndarray, two: np.ndarray) -> Exploitability:
        return evaluate_probs(self.form, one, two)


def whole_strategy(model: Model, form: SequenceForm, seen: Game) -> list[np.ndarray]:
    """The average strategy as probabilities of all sequences, by seat."""
    table, found = Table(form, seen), []
    for seat, networks in enumerate(model.seats):
        if model.average == "network":
            found.append(table.softmax(seat, model.shape, networks[0]))
        else:
            probs = [table.matched(seat, model.shape, weights, model.fallback) for weights in networks]
            found.append(table.mean(seat, probs, model.weights))
    return found


@one_blas_thread()
def action_probs(model: Model, seat: int, network: int, game: Game, views: np.ndarray) -> np.ndarray:
    """Probabilities [views, num_actions] at views of a seat: legal actions first, in ascending order, then zeros.

    `game` is the one by whose rules views are encoded.
    """
    encodings, legal = encoded(game, views)
    outputs = forward(model.shape, model.seats[seat][network], encodings)
    return in_order(
        softmax(outputs, legal) if model.average == "network" else matched(outputs, legal, model.fallback), legal
    )


def in_order(probs: np.ndarray, legal: np.ndarray) -> np.ndarray:
    """Move the probabilities of legal actions to the front of each row."""
    found, (rows, actions) = np.zeros(probs.shape), np.nonzero(legal)
    found[rows, legal.cumsum(axis=1)[rows, actions] - 1] = probs[rows, actions]
    return found


def encoded(game: Game, views: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return encodings [views, inputs] f4 and legal actions [views, actions] bool for the seats to move."""
    encodings = np.zeros((len(views), game.facts.encoding), np.float32)
    legal = np.zeros((len(views), game.facts.num_actions), bool)
    actions = np.zeros(game.facts.num_actions, np.int64)
    if len(views) == 1:
        call_once(_encode, game, views, actions, encodings, legal)
    else:
        _encode(game, views, actions, encodings, legal)
    return encodings, legal


@kernel
def _encode(game, views, actions, encodings, legal):
    for i in range(len(views)):
        game.observe(views[i], game.turn(views[i]), encodings[i])
        for j in range(game.actions(views[i], actions)):
            if actions[j] >= legal.shape[1]:
                raise TooManyActions
            legal[i, actions[j]] = True
