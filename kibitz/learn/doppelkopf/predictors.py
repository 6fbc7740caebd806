"""Networks that foretell the next card of Doppelkopf, by the method that trained them: one thing to a study.

A new method adds a line to PREDICTORS.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...core.names import BadInput, choose
from ...core.runs import Run
from ...games import load
from ...games.doppelkopf.cards import KINDS
from ..model_files import network_file
from . import card_network
from .card_prediction import next_card_probs
from .next_card import lines_of, read_network
from .recorded_games import Games


class Guesses(NamedTuple):
    """Of each card of games by what was before it, from each seat."""

    cards: np.ndarray  # [games, 4 seats, 48 cards] u1: the likeliest kind that can be
    legal: np.ndarray  # [games, 4, 48] bool: whether what it thought likeliest of all was one that can be


Predictor = Callable[[Games, np.ndarray], Guesses]  # of games and the cards that can be, [games, 4, 48] u4, bit k: kind


def next_card(file: Path) -> Predictor:
    from .next_card_training import as_lstm, foretell

    module = as_lstm(read_network(file)[0])

    def world(games: Games, can_be: np.ndarray) -> Guesses:
        found = foretell(module, lines_of(games), can_be.reshape(-1, 48))
        return Guesses(found.cards.reshape(can_be.shape), found.legal.reshape(can_be.shape))

    return world


def cards(file: Path) -> Predictor:
    network = card_network.read_network(file)[0]

    def world(games: Games, can_be: np.ndarray) -> Guesses:
        game, lengths, found = load(games.rules), games.lengths, []
        for at in range(0, len(games), AT_ONCE):
            some = slice(at, at + AT_ONCE)
            probs = next_card_probs(game, network, games.actions[some], lengths[some], at)
            possible = can_be[some, ..., None] >> np.arange(KINDS) & 1
            legal = np.take_along_axis(possible, probs.argmax(axis=-1)[..., None], -1)[..., 0].astype(bool)
            found.append(Guesses(np.where(possible, probs, -1.0).argmax(axis=-1).astype(np.uint8), legal))
        return Guesses(*(np.concatenate(parts) for parts in zip(*found, strict=True)))

    return world


AT_ONCE = 50  # games
# Method -> from its network's file.
PREDICTORS: dict[str, Callable[[Path], Predictor]] = {"next-card": next_card, "cards": cards}


def predictor_of(run: Run, apart: float) -> Predictor:
    """Of a training run; refused if it may have learned from the share of deals that is to be apart."""
    config = run.config()
    method = choose("method that foretells cards", str(config.get("method")), PREDICTORS)
    if not float(config.get("validation", 0)) >= apart:
        raise BadInput(
            f"{run.folder} kept {config.get('validation')} of the deals apart, which should be {apart} or more"
        )
    return PREDICTORS[method](network_file(str(run.folder)))
