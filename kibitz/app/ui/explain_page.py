"""An explanation as one page: it fetches nothing, and whatever a file says of itself stays text in it."""

import base64
import hashlib
import html
import json
import re
from pathlib import Path
from typing import Any

from ...games import full_name
from ...learn.tspg.explain import STAGES, Explained, Explanation, is_square
from ...learn.tspg.store import POLICIES

LAST = 8  # moves of a line that are told
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
    """Only the page's own script runs, and nothing is loaded: a browser holds it to that."""

    def hashes(tag: str) -> str:
        texts = re.findall(rf"<{tag}>(.*?)</{tag}>", template, re.DOTALL)
        return " ".join(
            f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in texts
        )

    return f"default-src 'none'; img-src data:; style-src {hashes('style')}; script-src {hashes('script')}"


def embedded(value: Any) -> str:
    """JSON that can't end its element, nor look like an address."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.replace("/", "\\/")


def data(found: Explanation) -> dict[str, Any]:
    lens, board = found.lens, found.lens.board
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
        "turns": [(*up, *right) for up, right in lens.eye.turns],
        "seats": [patterns(found, seat) for seat in range(2)],
        "positions": [position(each) for each in found.positions],
        "start": found.start,
        "entropy": {"stages": STAGES, "positions": counts, "lines": rounded(entropies)},
        "weights": {"most": most, "bins": bins},
    }


def patterns(found: Explanation, seat: int) -> list[dict[str, Any]]:
    """In the order of the file, as positions name them by number."""
    weights, ce = found.weights[seat], found.lens.features.weights("ce")[seat]
    rank = {f: place + 1 for place, f in enumerate(found.strongest(seat))}
    return [
        {
            "anchors": pattern.anchors,
            "tests": [(anchor, *place, allowed) for anchor, place, allowed in pattern.elements],
            "marks": pattern.marks,
            "text": found.lens.text(seat, f),
            "words": found.words(seat, f),
            "weight": number(weights[f]),
            "ce": number(ce[f]),
            "fires": number(found.sample.fires[seat][f]),
            "rank": rank[f],
        }
        for f, pattern in enumerate(found.lens.of(seat))
    ]


def position(each: Explained) -> dict[str, Any]:
    """Weights stand with the patterns: of a move only which they are, and which image fits."""
    at = each.at
    named = sorted({told.pattern for move in each.moves for told in move.said})
    moves = []
    for move in each.moves:
        told = [part for told in move.said for part in (told.pattern, told.image)]
        moves.append((move.name, move.start, move.to, number(move.logit), number(move.probs), told))
    return {
        "game": each.game,
        "ply": at.ply,
        "plies": each.plies,
        "seat": at.seat,
        "line": " ".join(at.line[-LAST:]),
        "more": len(at.line) > LAST,
        "content": "".join(map(str, each.content)),
        "before": at.before,
        "played": at.played,
        "active": {f: int(each.active[f]) for f in named},
        "moves": moves,
    }


def number(value: float) -> float:
    """Digits enough for people, and for sums."""
    return float(f"{value:.9g}")


def rounded(lines: dict[str, list[float | None]]) -> dict[str, list[float | None]]:
    return {name: [None if value is None else number(value) for value in line] for name, line in lines.items()}
