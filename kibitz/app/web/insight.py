"""The kibitzer's advice and what lies behind it, from the seat's view alone: beliefs, and the patterns that fire."""

import contextlib
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.names import BadInput
from ...games import Game
from ...games.display import display
from ...play.players import patterns_player
from ...play.players.beliefs import adviser_beliefs
from ...play.players.labels import adviser_label
from ...play.players.patterns import active_patterns
from ...search.advice import Advice
from ..ui.formatting import MAX_LINE, advice_notes
from ..ui.words import Words
from .messages import AdvisedMove

MAX_POSITIONS = 3000  # of which worlds are found, beyond which they are sampled: at most about a second
MOVES = 11  # whose patterns are sent: those that the page lists
PATTERNS = 4  # that fire, per move
LOOKED_AT = 24  # of which they are chosen: patterns that fire for other moves contribute, too


def advised(game: Game, view: Any, advice: Advice, language: str) -> dict[str, Any]:
    """Advice as plain values, the best move first."""
    shown, order = display(game, language), np.lexsort((-advice.visits, -advice.policy))
    interval = advice.interval(game)
    moves = [
        AdvisedMove(
            action=int(advice.actions[i]),
            name=shown.action_to_string(view, int(advice.actions[i])),
            policy=float(advice.policy[i]),
            value=None if np.isnan(advice.value[i]) else float(advice.value[i]),
            error=None if advice.error is None or np.isnan(advice.error[i]) else float(advice.error[i]),
            interval=None if np.isnan(interval[i]).any() else (float(interval[i, 0]), float(interval[i, 1])),
            visits=int(advice.visits[i]),
        ).model_dump()
        for i in order
    ]
    words, line = Words(language), advice.spelled_line(shown, view)[:MAX_LINE]
    # The line has a place of its own, as has a label.
    notes = advice_notes(shown, view, replace(advice, line=()), words)
    notes = [note for note in notes if note != words("a policy without search")]
    return {"moves": moves, "line": line, "notes": notes, "seconds": advice.seconds}


def adviser_said(player: str, game: Game, language: str, seconds: float) -> str:
    """One honest sentence about an adviser that, where it searches, thinks for some seconds."""
    return adviser_label(player, game, thinks=seconds).as_json(language)["text"]


def believed(player: str, game: Game, view: Any, seat: int, language: str) -> dict[str, Any] | None:
    """What an adviser believes about hidden information, as values for JSON; None: nothing is known."""
    found = adviser_beliefs(game, view, seat, player, MAX_POSITIONS)
    return None if found is None else found.as_json(language)


def patterns_behind(
    player: str, game: Game, view: Any, seat: int, advice: Advice, language: str
) -> list[dict[str, Any]] | None:
    """The patterns that fire for the most advised moves, the strongest first; None: there are none.

    Where the player has no patterns of its own, they are those that ship for the game.
    """
    if game.facts.hidden or game.facts.seats != 2:
        return None
    for name in (player, patterns_player(game)):
        with contextlib.suppress(BadInput):
            found = active_patterns(name, game, view, seat, LOOKED_AT, language)
            break
    else:
        return None
    policy = dict(zip(advice.actions.tolist(), zip(advice.policy, advice.visits, strict=True), strict=True))
    found.sort(key=lambda move: policy[move["action"]], reverse=True)
    return [
        {
            "action": move["action"],
            "prob": move["prob"],
            "patterns": [_drawn(part) for part in move["patterns"] if part["active"]][:PATTERNS],
        }
        for move in found[:MOVES]
    ]


def _drawn(pattern: dict[str, Any]) -> dict[str, Any]:
    return {"words": pattern["words"], "svg": pattern["svg"], "weight": round(pattern["weight"], 4)}
