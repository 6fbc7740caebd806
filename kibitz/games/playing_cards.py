"""Playing cards and card tables as SVG, for pictures of positions in notebooks. All text is escaped."""

from collections.abc import Iterable, Sequence
from html import escape

from .svg import action_attribute

CARD_WIDTH, CARD_HEIGHT = 44, 62
FELT, INK, RED, BLACK, BACK, PAPER = "#2e6b4f", "#ffffff", "#c0392b", "#1d2329", "#3a5a8c", "#fffdf7"
NAMESPACE = 'xmlns="http://www.w3.org/2000/svg"'

Card = tuple[str, str] | None  # rank and suit; None: face down


def playing_card_svg(
    rank: str,
    suit: str,
    face_up: bool = True,
    x: float = 0,
    y: float = 0,
    action: int | None = None,
    scale: float = 1,
) -> str:
    """One card as an `<svg>` element that can be used alone, or inside another at (x, y).

    `action` is the action that plays it, where the viewer may click on it.
    """
    frame = f'<rect x="1" y="1" width="{CARD_WIDTH - 2}" height="{CARD_HEIGHT - 2}" rx="5"'
    if face_up:
        color, rank, suit = RED if suit in "♥♦" else BLACK, escape(rank), escape(suit)
        title = rank + suit
        face = (
            f'{frame} fill="{PAPER}" stroke="#8a8478"/>'
            f'<g fill="{color}" font-family="sans-serif" text-anchor="middle">'
            f'<text x="10" y="16" font-size="13" font-weight="bold">{rank}</text>'
            f'<text x="10" y="29" font-size="12">{suit}</text>'
            f'<text x="28" y="51" font-size="24">{suit}</text></g>'
        )
    else:
        title = "face down"
        face = (
            f'{frame} fill="{BACK}" stroke="{PAPER}"/>'
            f'<rect x="6" y="6" width="{CARD_WIDTH - 12}" height="{CARD_HEIGHT - 12}" rx="3" '
            f'fill="none" stroke="#9fb4d6"/>'
        )
    return (
        f'<svg {NAMESPACE} role="img" x="{x:g}" y="{y:g}" '
        f'width="{CARD_WIDTH * scale:g}" height="{CARD_HEIGHT * scale:g}" '
        f'{action_attribute(action)}viewBox="0 0 {CARD_WIDTH} {CARD_HEIGHT}"><title>{title}</title>{face}</svg>'
    )


def card_row(
    cards: Sequence[Card], middle: float, y: float, width: float, actions: Sequence[int] = (), scale: float = 1
) -> Iterable[str]:
    """Cards side by side around x = `middle`, overlapping where they would be wider than `width`.

    `actions` are those that play the cards, where the viewer may click on them.
    """
    gaps = max(len(cards) - 1, 1)
    step = min(CARD_WIDTH * scale + 4, (width - CARD_WIDTH * scale) / gaps)
    left = middle - (step * (len(cards) - 1) + CARD_WIDTH * scale) / 2
    for i, card in enumerate(cards):
        rank, suit = card or ("", "")
        action = actions[i] if actions else None
        yield playing_card_svg(rank, suit, card is not None, left + i * step, y, action, scale)


def empty_place(x: float, y: float) -> str:
    """The outline of a card that isn't there yet."""
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{CARD_WIDTH}" height="{CARD_HEIGHT}" rx="5" fill="none" '
        f'stroke="#8fb8a4" stroke-dasharray="3 3"/>'
    )


def label(
    text: str, x: float, y: float, bold: bool = False, size: float = 14, anchor: str = "middle", ink: str = INK
) -> str:
    """One line of text, by default centered at x."""
    weight = ' font-weight="bold"' if bold else ""
    return (
        f'<text x="{x:g}" y="{y:g}" font-family="sans-serif" font-size="{size:g}" fill="{ink}" '
        f'text-anchor="{anchor}"{weight}>{escape(text)}</text>'
    )


def table_svg(title: str, width: int, height: int, parts: Iterable[str]) -> str:
    """A card table with these elements on it, as one `<svg>` element."""
    return (
        f'<svg {NAMESPACE} role="img" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
        f'<title>{escape(title)}</title><rect width="{width}" height="{height}" rx="12" fill="{FELT}"/>'
        f"{''.join(parts)}</svg>"
    )
