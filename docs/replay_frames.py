"""The moments of a recorded game as elements of pictures: what `replay_svg` sets in motion."""

import re
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from typing import Any, NamedTuple
from xml.etree import ElementTree

from kibitz.games import CHANCE, OVER, Game, positions
from kibitz.games.boards import SQUARE
from kibitz.games.display import display
from kibitz.games.svg import CARD_WIDTH, LABEL, board_svg

NUMBER = re.compile(r"-?[0-9.]+")
PLAIN = re.compile("[0-9.-]+")  # a length without a unit
POINTS = re.compile("M[0-9., L-]+Z?")  # a path of straight lines between absolute places
MARKED = re.compile('<path [^>]*class="last"/>')
CARDS_HIGH, LINE_HIGH, LETTER = 50.0, 24.0, 7.4  # rows with cards or dice, rows of text, width of a letter
GAP = 4.0  # between two cards
LONG_DEAL = 8  # outcomes of chance that a caption names


class Pose(NamedTuple):
    """Where an element is drawn, and how large."""

    x: float
    y: float
    scale: float = 1.0


class Item(NamedTuple):
    """An element of one frame: its drawing at the origin, and its pose."""

    drawing: str
    pose: Pose
    glides: bool = False  # a piece or a card, which may move; others are replaced
    size: tuple[float, float] = (0.0, 0.0)  # of a card, to know what it covers


# ---------------------------------------------------------------- frames


def frames(game: Game, actions: Sequence[int]) -> Iterator[tuple[str, str]]:
    """The caption and the picture after each move; first the opening position, unless the game begins with a deal.

    Outcomes of chance in a row are one frame. Moves that a table doesn't report, such as silence, have none.
    """
    words, state, steps = display(game), positions(game)[0], []
    for action in actions:
        before, turn = state.copy(), int(game.turn(state))
        game.play(state, action)
        if turn == CHANCE or words.is_visible(before, action):
            steps.append((turn, before, int(action), state.copy()))
    if not steps or steps[0][0] != CHANCE:
        yield "the opening", _picture(game, positions(game)[0])
    # Each move of a seat is a group of its own.
    for _, group in groupby(enumerate(steps), lambda numbered: -1 if numbered[1][0] == CHANCE else numbered[0]):
        moves = [step for _, step in group]
        turn, before, action, after = moves[-1]
        if turn != CHANCE:
            caption = f"seat {turn + 1}: {game.action_to_string(before, action)}"
        elif len(moves) > LONG_DEAL or not words.is_visible(before, action):
            caption = "the deal"
        else:
            caption = "chance: " + " ".join(game.action_to_string(start, outcome) for _, start, outcome, _ in moves)
        if after is steps[-1][3] and game.turn(after) == OVER:
            caption += f"; {_result(game, after)}"
        yield caption, _picture(game, after, None if turn == CHANCE else action, before)


def _result(game: Game, state: Any) -> str:
    """The payoffs; of two seats, what the winner gets."""
    payoffs = [float(game.payoff(state, seat)) for seat in range(game.facts.seats)]
    if len(payoffs) == 2 and game.facts.zero_sum:
        best = max(payoffs)
        return f"seat {payoffs.index(best) + 1} gets {best:+g}" if best else "both get 0"
    return ", ".join(f"seat {seat + 1} gets {payoff:+g}" for seat, payoff in enumerate(payoffs))


def _picture(game: Game, state: Any, action: int | None = None, before: Any = None) -> str:
    """A picture for a spectator. On a board the cells of the last move are drawn once more, highlighted."""
    if not hasattr(game, "board"):
        return game.picture(state, -1)
    marked = [] if action is None else MARKED.findall(board_svg(game, state, action, before))
    plain = board_svg(game, state)
    if game.board().directions == SQUARE:  # then names are beside the board, on paper that is dark or light
        plain = plain.replace(f'fill="{LABEL}"', 'fill="var(--soft)"')
    cells = plain.index("/>", plain.rindex("data-cell=")) + 2
    return "".join([plain[:cells], *marked, plain[cells:]])


# ---------------------------------------------------------------- elements of pictures


def decomposed(pictures: Sequence[ElementTree.Element]) -> tuple[list[list[Item]], float, float]:
    """The elements of each picture, and the size of the largest."""
    kinds = {_tag(each) for each in pictures}
    if kinds == {"svg"}:
        width, height = (max(side) for side in zip(*map(_size, pictures), strict=True))
        for each in pictures:
            for child in each:
                if _tag(child) == "rect" and child.get("height") == each.get("height"):  # the table
                    child.set("height", f"{height:g}")
        return [[_item(child) for child in each if _tag(child) != "title"] for each in pictures], width, height
    if kinds == {"table"} and all(len(row) == 2 for table in pictures for row in table):
        return _rows(pictures)
    texts = ["".join(each.itertext()).splitlines() for each in pictures]
    layers = [[text_item(line, 0, LINE_HIGH * (i + 0.7), "t m") for i, line in enumerate(lines)] for lines in texts]
    wide = max((len(line) for lines in texts for line in lines), default=1)
    return layers, LETTER * 1.2 * wide, LINE_HIGH * max(len(lines) for lines in texts)


def _rows(tables: Sequence[ElementTree.Element]) -> tuple[list[list[Item]], float, float]:
    """Tables of a label, cards or dice and a text per row; rows stay where they are in all frames."""
    cells = [[list(row) for row in table] for table in tables]
    most = max(len(rows) for rows in cells)
    counts = [max((len(rows[i][1]) for rows in cells if i < len(rows)), default=0) for i in range(most)]
    left = LETTER * max((len(rows[i][0].text or "") for rows in cells for i in range(len(rows))), default=0) + 12
    layers: list[list[Item]] = []
    width = 0.0
    for rows in cells:
        items, top = [], 0.0
        for i, (label, contents) in enumerate(rows):
            high = CARDS_HIGH if counts[i] else LINE_HIGH
            items.append(text_item(label.text or "", 0, top + high / 2 + 5, "t s"))
            x = left
            for drawing in contents:
                wide, tall = _size(drawing)
                items.append(_item(drawing)._replace(pose=Pose(x, top + (high - tall) / 2)))
                x += wide + GAP
            text = "".join([contents.text or "", *(each.tail or "" for each in contents)]).strip()
            x = left + (counts[i] * (CARD_WIDTH + GAP) + 2 * GAP if counts[i] else 0)
            items.append(text_item(text, x, top + high / 2 + 5, "t"))
            width, top = max(width, x + LETTER * len(text)), top + high
        layers.append([item for item in items if item.drawing])
    return layers, width, sum(CARDS_HIGH if count else LINE_HIGH for count in counts)


def text_item(line: str, x: float, y: float, classes: str) -> Item:
    return Item(f'<text class="{classes}">{escape(line)}</text>' if line.strip() else "", Pose(x, y))


def _item(element: ElementTree.Element) -> Item:
    """An element at the origin, and its pose; one that is drawn in an unusual way as it is."""
    tag, attributes = _tag(element), dict(element.attrib)
    if tag == "svg" and "viewBox" in attributes:
        inside, (x, y) = "".join(_drawing(child) for child in element), _numbers(attributes, "x", "y")
        (_, _, width, height), (shown, _) = _box(element), _size(element)
        scale = shown / width
        return Item(f"<g>{inside}</g>", Pose(x, y, scale), True, (width * scale, height * scale))
    if tag == "path" and POINTS.fullmatch(attributes.get("d", "")):
        numbers = [float(number) for number in NUMBER.findall(attributes["d"])]
        x, y = numbers[:2]
        shifted = iter(number - (x, y)[i % 2] for i, number in enumerate(numbers))
        attributes["d"] = NUMBER.sub(lambda _: short(next(shifted)), attributes["d"])
        return Item(_drawing(element, attributes), Pose(x, y))
    across, down = ("cx", "cy") if tag == "circle" else ("x", "y")
    if tag not in ("circle", "rect", "text") or not PLAIN.fullmatch(
        attributes.get(across, "0") + attributes.get(down, "0")
    ):
        return Item(_drawing(element), Pose(0, 0))
    x, y = _numbers(attributes, across, down)
    kept = {name: value for name, value in attributes.items() if name not in (across, down)}
    return Item(_drawing(element, kept), Pose(x, y), glides="data-piece" in attributes)


def _numbers(attributes: dict[str, str], *names: str) -> list[float]:
    return [float(attributes.get(name, 0)) for name in names]


def _box(element: ElementTree.Element) -> list[float]:
    return [float(number) for number in NUMBER.findall(element.get("viewBox", ""))] or [0.0, 0.0, 300.0, 150.0]


def _size(element: ElementTree.Element) -> tuple[float, float]:
    """Width and height of an `<svg>` element, where they are given in pixels; else those of its contents."""
    width, height = (element.get(side, "") for side in ("width", "height"))
    if PLAIN.fullmatch(width) and PLAIN.fullmatch(height):
        return float(width), float(height)
    return _box(element)[2], _box(element)[3]


def _drawing(element: ElementTree.Element, attributes: dict[str, str] | None = None) -> str:
    """An element as text, without what only pages need."""
    tag = _tag(element)
    if tag == "title":
        return ""
    kept = {
        name: value
        for name, value in (element.attrib if attributes is None else attributes).items()
        if not name.startswith("data-") and name not in ("class", "role")
    }
    start = " ".join([tag, *(f'{name}="{escape(value)}"' for name, value in kept.items())])
    inside = escape(element.text or "") + "".join(_drawing(child) for child in element)
    return f"<{start}>{inside}</{tag}>" if inside else f"<{start}/>"


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def short(number: float, digits: int = 1) -> str:
    """A number with so many digits after the point, without those that say nothing."""
    return f"{round(number, digits) + 0.0:.9g}"
