"""The patterns behind the advice of a player with learned patterns, for people: in words, drawn, and on the board.

The policy is a softmax of linear logits, so it is explained exactly: see `train.tspg.contributions`.
"""

import functools
from pathlib import Path
from typing import Any

from ...core.names import BadInput
from ...games import Game, legal_actions
from ...nets.model_files import network_file
from ...train.tspg.contributions import Explainer
from ...train.tspg.pattern_svg import pattern_svg
from ...train.tspg.pattern_words import describe_pattern
from ...train.tspg.patterns import seen_at
from ...train.tspg.store import features_for
from .german import pattern_said_in
from .make import make_for
from .networks import FeaturesPlayer
from .player import label
from .search import SearchPlayer

MOST = 5  # patterns per move


def active_patterns(
    player: Any, game: Game, view: Any, seat: int, most: int = MOST, language: str = "en"
) -> list[dict[str, Any]]:
    """The strongest patterns of each legal action at a view of the seat to move, as values for JSON.

    Args:
        player: A player of patterns (`features:models/connect_four`), or a search that they guide
            (`puct:1000,policy=models/connect_four`), whose prior is explained.
        most: Number of patterns per action, those of the largest contributions.
        language: Of `words`: `en`, `de`.

    Returns:
        One dictionary per action, in the order of the rules: `move`, `action`, `prob`, `logit` and `patterns`. Each
        pattern has its `text` as in the file, `words`, `weight`, its `contribution` to the logit (`weight` times how
        much more active it is for this action than for all actions on average), whether it is `active` for this
        action, the `cells` of the board that it tests then, and an `svg`.

    Raises:
        BadInput: The player has no patterns.
    """
    path, policy = _patterns_of(player, game)
    hashable: Any = game
    explainer = _explainer(path, type(game), hashable)
    weights = explainer.features.weights(policy)[seat]
    moves, _ = explainer.explain(view, seat, weights, most)
    found = []
    for action, move in zip(legal_actions(game, view), moves, strict=True):
        patterns = []
        for f, adds, relative, image in move.contributions:
            shown = explainer.images(seat, f)[image] if image >= 0 else explainer.patterns(seat)[f]
            words = pattern_said_in(language, describe_pattern(shown, explainer.board))
            patterns.append(
                {
                    "text": explainer.text(seat, f),
                    "words": words,
                    "weight": float(weights[f]),
                    "contribution": relative,
                    "active": adds != 0,
                    "cells": _cells(explainer, shown, move.start, move.to) if image >= 0 else [],
                    "svg": pattern_svg(shown, explainer.board, seat, words),
                }
            )
        found.append(
            {"move": move.name, "action": action, "prob": move.prob, "logit": move.logit, "patterns": patterns}
        )
    return found


def _patterns_of(player: Any, game: Game) -> tuple[Path, str]:
    """The file of a player's patterns, and which of its weights the player uses."""
    made = make_for(player, game)
    if isinstance(made, FeaturesPlayer):
        return made.path, made.policy
    options = getattr(made, "options", {}) if isinstance(made, SearchPlayer) else {}
    if not options.get("policy"):
        raise BadInput(f"{label(player)} has no learned patterns: name a player such as features:models/connect_four")
    return network_file(options["policy"], options["iteration"]), "ce"


@functools.lru_cache(maxsize=4)
def _explainer(path: Path, kind: type, game: Any) -> Explainer:
    """Cached by the type of the game too: games are tuples, which are equal by their fields."""
    return Explainer(game, features_for(path, game))


def _cells(explainer: Explainer, pattern: Any, start: int, to: int) -> list[dict[str, Any]]:
    """The cells that a pattern tests at a move; places off the board have none."""
    rich = explainer.features.kind == "rich"
    found = []
    for anchor, place, allowed in pattern.elements:
        cell = seen_at(explainer.board, start if anchor else to, place, rich)
        if cell >= 0:
            found.append({"cell": cell, "name": explainer.board.names[cell], "allowed": allowed})
    return found
