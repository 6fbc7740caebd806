"""Pictures of positions: boards, cards and dice as SVG without outside resources or styles, all text escaped.

Cells carry `data-cell`, pieces `data-piece` and cards that can be played `data-action`, so that a page can make them
clickable. A game's `picture(state, seat)` returns one element of XML. Games with a board get theirs from `board_svg`; a
card game writes its own with `card_svg`, `die_svg` and `table_html`, and draws what it doesn't see face down.
"""

import functools
import math
from collections.abc import Iterable
from html import escape
from typing import Any

from .boards import LETTERS, SQUARE, Board
from .display import piece_owners
from .protocol import CHANCE, OVER, Game

CELL = 36.0  # pixels between the middles of two cells
MARGIN = 22.0
EMPTY, GRID, LAST, LABEL = "#ece6d9", "#b9b2a3", "#f2d98b", "#7d776b"
TINTS = ("#d3d9e0", "#ffffff")  # cells that only one seat aims for
PIECES = (("#39434f", "#39434f"), ("#fffdf8", "#39434f"))  # fill and outline of each seat's
PIPS = {1: (4,), 2: (2, 6), 3: (2, 4, 6), 4: (0, 2, 6, 8), 5: (0, 2, 4, 6, 8), 6: (0, 2, 3, 5, 6, 8)}
CARD_WIDTH, CARD_HEIGHT = 30, 42
SMALL = f'font-family="sans-serif" font-size="10" fill="{LABEL}" text-anchor="middle"'


# ---------------------------------------------------------------- boards


def board_svg(game: Game, state: Any, last_action: int | None = None, before: Any = None) -> str:
    """Draw a position of a game with a `board`.

    A game whose players have row 1 on top sets `first_row_on_top`; one whose columns have numbers sets
    `numbered_columns`.

    Args:
        game: The game, with the rules `board`, `pieces` and `from_to`.
        state: The record of the position.
        last_action: An action whose cells are highlighted.
        before: The position in which it was played; `state` where it is None.

    Returns:
        An `<svg>` element.
    """
    board: Board = game.board()  # type: ignore[attr-defined]
    owners = piece_owners(game, state)
    last: tuple[int, ...] = ()
    if last_action is not None:
        last = game.from_to(state if before is None else before, last_action)
    aims = [{cell for cells in game.regions(seat).values() for cell in cells} for seat in range(2)]  # type: ignore[attr-defined]
    middles = _middles(board, getattr(game, "first_row_on_top", False))
    outlines = _outlines(board, getattr(game, "first_row_on_top", False))
    parts = [_ground(middles), *_lines(board, middles)] if board.alquerque else []
    for cell, (x, y) in enumerate(middles):
        tint = next((TINTS[seat] for seat in range(2) if cell in aims[seat] - aims[1 - seat]), EMPTY)
        marked = ' class="last"' if cell in last else ""
        fill, edge = LAST if cell in last else tint, GRID
        if board.alquerque:  # points on lines, not cells: what is around one can be clicked on, but is seen through
            fill, edge = f'{LAST}" fill-opacity="{0.7 if cell in last else 0}', "none"
        parts.append(
            f'<path d="{outlines[cell]}" fill="{fill}" stroke="{edge}" '
            f'data-cell="{cell}" data-name="{escape(board.names[cell])}"{marked}/>'
        )
        if owners[cell] >= 0:
            fill, outline = PIECES[owners[cell]]
            parts.append(
                f'<circle cx="{x:g}" cy="{y:g}" r="{CELL * 0.36:g}" fill="{fill}" stroke="{outline}" stroke-width="2" '
                f'data-piece="{cell}"{marked}/>'
            )
        elif board.directions != SQUARE:
            parts.append(f'<text x="{x:g}" y="{y + 3.5:g}" {SMALL}>{board.names[cell]}</text>')
    if board.directions == SQUARE:
        parts += _edges(board, middles, getattr(game, "numbered_columns", False))
    width = max(x for x, _ in middles) + CELL / 2 + MARGIN / 2
    height = max(y for _, y in middles) + CELL / 2 + MARGIN
    return svg_element(width, height, _title(game, state), parts)


@functools.lru_cache(64)
def _middles(board: Board, first_row_on_top: bool) -> list[tuple[float, float]]:
    """x and y of each cell; rows go up unless row 1 is on top. On hexagons each row is half a cell further right."""
    square = board.directions == SQUARE
    found = []
    for row, column in board.places:
        x, y = (column, row) if square else (column + row / 2, row * math.sqrt(3) / 2)
        found.append((x * CELL, (y if first_row_on_top else -y) * CELL))
    left, top = min(x for x, _ in found), min(y for _, y in found)
    return [(x - left + CELL / 2 + MARGIN, y - top + CELL / 2 + MARGIN / 2) for x, y in found]


@functools.lru_cache(64)
def _outlines(board: Board, first_row_on_top: bool) -> list[str]:
    """The path of each cell's edge."""
    return [cell_outline(board, x, y) for x, y in _middles(board, first_row_on_top)]


def cell_outline(board: Board, x: float, y: float) -> str:
    """The path of a cell's edge: a square, or a hexagon that stands on a corner."""
    corners = 4 if board.directions == SQUARE else 6
    radius = CELL / 2 / math.cos(math.pi / corners)
    angles = [math.pi * (2 * k + 1) / corners for k in range(corners)]
    points = [f"{x + radius * math.cos(angle):.1f},{y + radius * math.sin(angle):.1f}" for angle in angles]
    return f"M{' '.join(points)}Z"


def _ground(middles: list[tuple[float, float]]) -> str:
    """The wood below the lines of a board of points."""
    (left, top), (right, bottom) = (tuple(map(end, zip(*middles, strict=True))) for end in (min, max))
    width, height = right - left + CELL, bottom - top + CELL
    return (
        f'<rect x="{left - CELL / 2:g}" y="{top - CELL / 2:g}" width="{width:g}" height="{height:g}" fill="{EMPTY}"/>'
    )


def _lines(board: Board, middles: list[tuple[float, float]]) -> list[str]:
    """The lines between neighbouring points."""
    pairs = {tuple(sorted((cell, int(to)))) for cell, row in enumerate(board.neighbours) for to in row if to >= 0}
    ends = [(*middles[start], *middles[end]) for start, end in sorted(pairs)]
    return [f'<line x1="{x:g}" y1="{y:g}" x2="{u:g}" y2="{v:g}" stroke="{GRID}"/>' for x, y, u, v in ends]


def _edges(board: Board, middles: list[tuple[float, float]], numbered: bool) -> list[str]:
    """Names of rows at the left, of columns below a board of squares."""
    bottom = max(y for _, y in middles) + CELL / 2 + 14
    columns = {column: x for (_, column), (x, _) in zip(board.places, middles, strict=True)}
    rows = {row: y for (row, _), (_, y) in zip(board.places, middles, strict=True)}
    labels = [(x, bottom, str(column + 1) if numbered else LETTERS[column]) for column, x in columns.items()]
    if not numbered:
        labels += [(MARGIN / 2, y + 3.5, str(row + 1)) for row, y in rows.items()]
    return [f'<text x="{x:g}" y="{y:g}" {SMALL}>{label}</text>' for x, y, label in labels]


def _title(game: Game, state: Any) -> str:
    turn = int(game.turn(state))
    return f"{game.name}: " + {CHANCE: "chance to move", OVER: "over"}.get(turn, f"seat {turn + 1} to move")


def action_attribute(action: int | None) -> str:
    """The attribute by which a page knows what a click on an element plays; nothing for None."""
    return "" if action is None else f'data-action="{action}" '


def svg_element(width: float, height: float, title: str, parts: Iterable[str], action: int | None = None) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:g}" height="{height:g}" '
        f'{action_attribute(action)}viewBox="0 0 {width:g} {height:g}"><title>{escape(title)}</title>'
        f"{''.join(parts)}</svg>"
    )


# ---------------------------------------------------------------- cards and dice


def card_svg(text: str | None, colour: str = "#222", action: int | None = None) -> str:
    """Draw a playing card.

    Args:
        text: Its rank, or rank and suit, at most three characters; None draws the card face down.
        colour: The colour of the text.
        action: The action that plays the card, where the viewer may click on it.

    Returns:
        An `<svg>` element of 30 x 42 pixels.
    """
    frame = 'x="1" y="1" width="28" height="40" rx="3"'
    if text is None:
        back = f'<rect {frame} fill="#5b6f8a" stroke="#39434f"/>'
        inner = '<rect x="5" y="5" width="20" height="32" rx="2" fill="none" stroke="#dfe3e8"/>'
        return svg_element(CARD_WIDTH, CARD_HEIGHT, "face down", [back, inner])
    face = f'<rect {frame} fill="#fffdf8" stroke="{GRID}"/>'
    rank = (
        f'<text x="15" y="26" font-family="sans-serif" font-size="{15 if len(text) < 3 else 12}" '
        f'font-weight="bold" text-anchor="middle" fill="{escape(colour)}">{escape(text)}</text>'
    )
    return svg_element(CARD_WIDTH, CARD_HEIGHT, text, [face, rank], action)


def die_svg(pips: int | None) -> str:
    """Draw a die.

    Args:
        pips: Its value, drawn as pips up to 6 and as a number above; None draws a die under its cup.

    Returns:
        An `<svg>` element of 30 x 30 pixels.
    """
    frame = 'x="1" y="1" width="28" height="28" rx="5"'
    if pips is None:
        return svg_element(30, 30, "hidden die", [f'<rect {frame} fill="#5b6f8a" stroke="#39434f"/>'])
    face = f'<rect {frame} fill="#fffdf8" stroke="{GRID}"/>'
    dots = [f'<circle cx="{7 + 8 * (k % 3)}" cy="{7 + 8 * (k // 3)}" r="2.6" fill="#222"/>' for k in PIPS.get(pips, ())]
    number = f'<text x="15" y="20" font-family="sans-serif" font-size="14" text-anchor="middle">{pips}</text>'
    return svg_element(30, 30, str(pips), [face, *(dots or [number])])


def table_html(rows: Iterable[tuple[str, Iterable[str], str]]) -> str:
    """Lay out cards or dice in rows.

    Args:
        rows: A label such as "seat 1 (you)", elements of `card_svg` or `die_svg`, and text behind them. Labels and
            texts are escaped, the elements are not.

    Returns:
        A `<table>` element.
    """
    cells = (
        f'<tr><td align="left">{escape(label)}</td><td align="left">{"".join(pictures)} {escape(text)}</td></tr>'
        for label, pictures, text in rows
    )
    return f"<table>{''.join(cells)}</table>"


def text_html(text: str) -> str:
    """Plain text as it is, in a `<pre>` element."""
    return f"<pre>{escape(text)}</pre>"
