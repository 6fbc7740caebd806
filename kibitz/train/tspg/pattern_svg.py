"""A pattern as a small SVG: the cells that it tests around the cell to which a move goes.

A piece is drawn where one must be, in the colour of its seat; a small ring where a cell must be empty; a grey cell
where the board must have ended. What must not be there is crossed out. The cell to which the move goes has a thick
frame, the one from which it comes a dashed one; cells with thin dashes aren't tested. Where the pattern doesn't fix the
direction of a move, both are drawn side by side.
"""

import math
from typing import Any

from ...games.boards import SQUARE
from ...games.svg import CELL, EMPTY, GRID, PIECES, cell_outline, svg_element
from .patterns import ALL, KINDS, Pattern, Place

OFF, ANCHOR, CROSS = "#8a8478", "#2f6f9f", "#c0392b"
APART = 2  # columns between the two anchors where the direction is open


def pattern_svg(pattern: Pattern, board: Any, seat: int, title: str) -> str:
    """Draw a pattern of a seat; rows go up. One `<svg>` element that loads nothing."""
    tests: dict[Place, int] = {}
    anchors: dict[Place, int] = {}
    between: set[Place] = set()  # cells that aren't tested, on the way to one that is
    reach = max((abs(column) for _, (_, column), _ in pattern.elements), default=0)
    for anchor in pattern.anchors or (0,):
        base = (0, 0)
        if anchor:
            base = pattern.start or (0, -2 * reach - APART)
        anchors[base] = anchor
        for at, (row, column), allowed in pattern.elements:
            if at == anchor:
                place = (base[0] + row, base[1] + column)
                tests[place] = tests.get(place, ALL) & allowed
                steps = math.gcd(row, column)
                between |= {(base[0] + row * k // steps, base[1] + column * k // steps) for k in range(1, steps)}
    between -= {*tests, *anchors}
    middles = {place: _middle(board, place) for place in {*tests, *anchors, *between}}
    left, top = (min(middle[i] for middle in middles.values()) - CELL / 2 - 6 for i in range(2))
    width, height = (max(middle[i] for middle in middles.values()) + CELL / 2 + 6 for i in range(2))
    parts = []
    for place, (right, down) in sorted(middles.items()):
        x, y = right - left, down - top
        if place in between:
            dashes = 'fill="none" stroke-dasharray="2 4"'
            parts.append(f'<path d="{cell_outline(board, x, y)}" {dashes} stroke="{GRID}"/>')
            continue
        fill = OFF if tests.get(place, ALL) == 1 << KINDS.index("off") else EMPTY
        parts.append(f'<path d="{cell_outline(board, x, y)}" fill="{fill}" stroke="{GRID}"/>')
        parts += _content(tests.get(place, ALL), x, y, seat)
    for place, anchor in anchors.items():
        x, y = middles[place][0] - left, middles[place][1] - top
        dashes = ' stroke-dasharray="6 4"' if anchor else ""
        frame = f'fill="none" stroke="{ANCHOR}" stroke-width="3"{dashes}'
        parts.append(f'<path d="{cell_outline(board, x, y)}" {frame}/>')
    return svg_element(width - left, height - top, title, parts)


def _middle(board: Any, place: Place) -> tuple[float, float]:
    row, column = place
    if board.directions == SQUARE:
        return CELL * column, -CELL * row
    return CELL * (column + row / 2), -CELL * row * math.sqrt(3) / 2


def _content(allowed: int, x: float, y: float, seat: int) -> list[str]:
    """What must be on a cell; where three of four kinds are allowed, what must not be there, crossed out."""
    kinds = [kind for bit, kind in enumerate(KINDS) if allowed >> bit & 1]
    if len(kinds) == len(KINDS):
        return []
    negated = len(kinds) == len(KINDS) - 1
    shown = [kind for kind in KINDS if kind not in kinds] if negated else kinds
    parts = []
    for i, kind in enumerate(shown):
        at = x + (i - (len(shown) - 1) / 2) * CELL / 3
        size = CELL * (0.3 if len(shown) == 1 else 0.16)
        if kind in ("friend", "enemy"):
            fill, outline = PIECES[seat if kind == "friend" else 1 - seat]
            parts.append(f'<circle cx="{at:g}" cy="{y:g}" r="{size:g}" fill="{fill}" stroke="{outline}"/>')
        elif kind == "empty":
            parts.append(f'<circle cx="{at:g}" cy="{y:g}" r="{size / 3:g}" fill="none" stroke="{PIECES[0][1]}"/>')
        elif len(shown) > 1 or negated:  # off the board
            edge = 2 * size / 1.5
            corner = f'x="{at - edge / 2:g}" y="{y - edge / 2:g}" width="{edge:g}" height="{edge:g}"'
            parts.append(f'<rect {corner} fill="{OFF}"/>')
    if negated:
        arm = CELL * 0.28
        for way in (1, -1):
            ends = f'x1="{x - arm:g}" y1="{y - way * arm:g}" x2="{x + arm:g}" y2="{y + way * arm:g}"'
            parts.append(f'<line {ends} stroke="{CROSS}" stroke-width="2"/>')
    return parts
