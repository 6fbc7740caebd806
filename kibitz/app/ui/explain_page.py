"""An explanation as one HTML page that loads nothing; text from a file of features can't become markup."""

import base64
import hashlib
import html
import json
import re
from pathlib import Path
from typing import Any

from ...games import full_name
from ...train.tspg.explain import STAGES, ExplainedPosition, Explanation, is_square
from ...train.tspg.store import POLICIES

LAST_MOVES = 8  # shown before a position
TEMPLATE = Path(__file__).with_name("explain.html")


def page(found: Explanation) -> str:
    template = TEMPLATE.read_text(encoding="utf-8")
    parts = {
        "title": html.escape(f"{found.name} explained"),
        "security": html.escape(security(template)),
        "data": embedded(data(found)),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)


def security(template: str) -> str:
    """The Content-Security-Policy: only the page's own script runs, and nothing is loaded."""

    def hashes(tag: str) -> str:
        texts = re.findall(rf"<{tag}>(.*?)</{tag}>", template, re.DOTALL)
        return " ".join(
            f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in texts
        )

    return f"default-src 'none'; img-src data:; style-src {hashes('style')}; script-src {hashes('script')}"


def embedded(value: Any) -> str:
    """JSON that can't close its HTML element, and has no text that looks like an address."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.replace("/", "\\/")


def data(found: Explanation) -> dict[str, Any]:
    """All that the script of the page shows."""
    board = found.explainer.board
    counts, entropies = found.stages()
    most, bins = found.histogram()
    return {
        "name": found.name,
        "game": full_name(found.game),
        "what": (type(found.game).__doc__ or "").split("\n")[0],
        "policy": found.policy,
        "learned": POLICIES[found.policy],
        "made": found.made,
        "seed": found.seed,
        "games": len(found.sample.games),
        "square": is_square(board),
        "cells": board.places,
        "names": board.names,
        "turns": [(*up, *right) for up, right in found.explainer.window.turns],
        "seats": [patterns(found, seat) for seat in range(2)],
        "positions": [position(each) for each in found.positions],
        "start": found.start,
        "entropy": {"stages": STAGES, "positions": counts, "lines": rounded(entropies)},
        "weights": {"most": most, "bins": bins},
    }


def patterns(found: Explanation, seat: int) -> list[dict[str, Any]]:
    """Patterns of a seat in the order of the file: positions refer to them by number."""
    weights, ce = found.weights[seat], found.explainer.features.weights("ce")[seat]
    rank = {f: place + 1 for place, f in enumerate(found.strongest(seat))}
    return [
        {
            "anchors": pattern.anchors,
            "tests": [(anchor, *place, allowed) for anchor, place, allowed in pattern.elements],
            "marks": pattern.marks,
            "text": found.explainer.text(seat, f),
            "words": found.words(seat, f),
            "weight": number(weights[f]),
            "ce": number(ce[f]),
            "fires": number(found.sample.fires[seat][f]),
            "rank": rank[f],
        }
        for f, pattern in enumerate(found.explainer.patterns(seat))
    ]


def position(each: ExplainedPosition) -> dict[str, Any]:
    """A position with its moves; a contribution is the number of its pattern and image, as the weight is known."""
    at = each.decision
    listed = sorted({part.pattern for move in each.moves for part in move.contributions})
    moves = []
    for move in each.moves:
        parts = [value for part in move.contributions for value in (part.pattern, part.image)]
        moves.append((move.name, move.start, move.to, number(move.logit), number(move.prob), parts))
    return {
        "game": each.game,
        "ply": at.ply,
        "plies": each.plies,
        "seat": at.seat,
        "line": " ".join(at.line[-LAST_MOVES:]),
        "more": len(at.line) > LAST_MOVES,
        "content": "".join(map(str, each.content)),
        "before": at.before,
        "played": at.played,
        "active": {f: int(each.active[f]) for f in listed},
        "moves": moves,
    }


def number(value: float) -> float:
    """Round to nine digits: enough for sums."""
    return float(f"{value:.9g}")


def rounded(lines: dict[str, list[float | None]]) -> dict[str, list[float | None]]:
    return {name: [None if value is None else number(value) for value in line] for name, line in lines.items()}
