"""Small pictures of games for the first page, made from the pictures of their positions."""

import re
from html import escape

from ...games import CHANCE, OVER, Game, positions, view_of
from ...games.display import display
from ...games.svg import LABEL, svg_element
from ...jit import generators

MOVES = 9  # that are played on a board
SEED = 5
GAP = 4  # pixels between cards or dice
LETTER, LINE, LINES = 7.3, 16, 12  # pixels of a letter and of a line of text; lines at most
SIZE = re.compile(r'width="([\d.]+)" height="([\d.]+)"')


def thumbnail(game: Game) -> str:
    """A typical position as one `<svg>` element: a board after some moves, else what a seat sees at its first move.

    Of a picture that isn't one drawing the cards or dice are set side by side; where there are none it is text.
    """
    rng, state = generators(SEED, 1)[0], positions(game)[0]
    moves = MOVES if hasattr(game, "board") else 0
    while (turn := int(game.turn(state))) == CHANCE or (turn != OVER and moves > 0):
        game.play(state, int(game.sample_action(state, rng)))
        moves -= turn != CHANCE
    shown, seat = display(game), max(turn, 0)
    view = view_of(game, state, seat)
    picture = str(shown.picture(view, seat))
    if not picture.startswith("<svg"):
        parts = re.findall(r"<svg\b.*?</svg>", picture)
        picture = _side_by_side(parts) if parts else _text(shown.show(view, seat))
    return re.sub(r' (data-\w+|role)="[^"]*"|<title>.*?</title>', "", picture)


def _side_by_side(drawings: list[str]) -> str:
    parts, left, high = [], 0.0, 0.0
    for drawing in drawings:
        width, height = map(float, SIZE.search(drawing).groups())  # type: ignore[union-attr]
        parts.append(drawing.replace("<svg ", f'<svg x="{left:g}" ', 1))
        left, high = left + width + GAP, max(high, height)
    return svg_element(left - GAP, high, "", parts)


def _text(text: str) -> str:
    lines = text.splitlines()[:LINES]
    style = f'font-family="monospace" font-size="12" fill="{LABEL}" xml:space="preserve"'
    parts = [f'<text x="0" y="{LINE * (i + 0.75):g}" {style}>{escape(line)}</text>' for i, line in enumerate(lines)]
    return svg_element(LETTER * max(map(len, lines), default=1), LINE * max(len(lines), 1), "", parts)
