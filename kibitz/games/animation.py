"""A game as an animated SVG: one picture per move, without a script or outside resources.

Each frame is a game's `picture` of the position for a spectator, who sees everything. What two frames have in common is
drawn once; a piece or a card that is elsewhere in the next frame glides there, a new one fades in. CSS does this, so
that a viewer who asked for reduced motion sees the last position. Colours follow the viewer's scheme.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from typing import Any, NamedTuple
from xml.etree import ElementTree

from ..core.names import BadInput
from . import CHANCE, OVER, Game, full_name, legal_actions, positions
from .boards import SQUARE
from .display import display
from .svg import CARD_WIDTH, LABEL, board_svg

SECONDS = 1.2  # that a frame is shown
GLIDE, SWITCH = 0.35, 0.01  # seconds in which pieces and cards change from one frame to the next, and all else does
HOLD = 3  # more frames' time for the last one
NARROW = 420.0  # pixels; narrower pictures are enlarged
MARGIN, CAPTION = 12.0, 34.0  # around the picture; height of the line below it
CARDS_HIGH, LINE_HIGH, LETTER = 50.0, 24.0, 7.4  # rows with cards or dice, rows of text, width of a letter
GAP = 4.0  # between two cards
LONG_DEAL = 8  # outcomes of chance that a caption names
NUMBER = re.compile(r"-?[0-9.]+")
PLAIN = re.compile("[0-9.-]+")  # a length without a unit
POINTS = re.compile("M[0-9., L-]+Z?")  # a path of straight lines between absolute places
MARKED = re.compile('<path [^>]*class="last"/>')
PAINT = re.compile(r'(?: (?:font-family|font-size|font-weight|fill|text-anchor|stroke|stroke-width)="[^"]*"){2,}')
STYLE = """\
svg{{--paper:#fbfaf7;--ink:#33383e;--soft:#756f63}}
@media(prefers-color-scheme:dark){{svg{{--paper:#1d2126;--ink:#d9dde2;--soft:#9a958a}}}}
.t{{font:14px sans-serif;fill:var(--ink)}}.s{{fill:var(--soft)}}.m{{font-family:monospace;white-space:pre}}
.o{{opacity:0}}.a{{animation:{duration}s infinite}}.x{{animation-timing-function:step-end}}
.p{{fill:var(--soft);animation:p {duration}s linear infinite}}
@keyframes p{{from{{transform:scaleX(0)}}{last},to{{transform:scaleX(1)}}}}
svg:hover *{{animation-play-state:paused}}
@media(prefers-reduced-motion:reduce){{*{{animation:none!important}}}}
"""


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


class Sprite:
    """An element over several frames.

    Where a card comes to lie on another one that is drawn later, another sprite takes over (`start`, `goes_on`).
    """

    def __init__(self, item: Item, first: int, start: Pose | None = None) -> None:
        self.drawing, self.glides, self.first = item.drawing, item.glides, first
        self.poses = [item.pose]  # in the frames from `first` on
        self.start = start  # the pose from which it glides at first
        self.goes_on = False  # as another sprite

    @property
    def end(self) -> int:
        """The first frame without it."""
        return self.first + len(self.poses)


def replay_svg(game: Game, actions: Sequence[int], players: Sequence[str] = (), seconds: float = SECONDS) -> str:
    """Draw a game as an animated SVG that shows everything, hidden cards included.

    Args:
        game: The game.
        actions: All actions from the opening, chance outcomes included: those of a record, or a `State`'s history.
        players: Names of the players by seat, for the description.
        seconds: Time per move, at least 0.5.

    Returns:
        One `<svg>` element, as text for a file.

    Raises:
        BadInput: An action is illegal.
    """
    if not 0.5 <= seconds <= 60:
        raise BadInput(f"seconds={seconds:g} should be 0.5 to 60")
    shown = list(frames(game, actions))
    try:
        pictures = [ElementTree.fromstring(picture) for _, picture in shown]
    except ElementTree.ParseError as error:
        raise BadInput(f"{full_name(game)}: picture returned no element of XML: {error}") from None
    layers, width, height = _decomposed(pictures)
    by = ", ".join(f"seat {seat + 1} {name}" for seat, name in enumerate(players))
    title = f"{full_name(game)}: {by}" if by else full_name(game)
    return _animated(layers, [caption for caption, _ in shown], (width, height), title, seconds)


# ---------------------------------------------------------------- frames


def frames(game: Game, actions: Sequence[int]) -> Iterator[tuple[str, str]]:
    """The caption and the picture after each move; first the opening position, unless the game begins with a deal.

    Outcomes of chance in a row are one frame. Moves that a table doesn't report, such as silence, have none.
    """
    words, state, steps = display(game), positions(game)[0], []
    for ply, action in enumerate(actions):
        if game.turn(state) == OVER or action not in legal_actions(game, state):
            raise BadInput(f"action {action} at ply {ply + 1} is illegal")
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


def _decomposed(pictures: Sequence[ElementTree.Element]) -> tuple[list[list[Item]], float, float]:
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
    layers = [[_text(line, 0, LINE_HIGH * (i + 0.7), "t m") for i, line in enumerate(lines)] for lines in texts]
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
            items.append(_text(label.text or "", 0, top + high / 2 + 5, "t s"))
            x = left
            for drawing in contents:
                wide, tall = _size(drawing)
                items.append(_item(drawing)._replace(pose=Pose(x, top + (high - tall) / 2)))
                x += wide + GAP
            text = "".join([contents.text or "", *(each.tail or "" for each in contents)]).strip()
            x = left + (counts[i] * (CARD_WIDTH + GAP) + 2 * GAP if counts[i] else 0)
            items.append(_text(text, x, top + high / 2 + 5, "t"))
            width, top = max(width, x + LETTER * len(text)), top + high
        layers.append([item for item in items if item.drawing])
    return layers, width, sum(CARDS_HIGH if count else LINE_HIGH for count in counts)


def _text(line: str, x: float, y: float, classes: str) -> Item:
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
        attributes["d"] = NUMBER.sub(lambda _: _short(next(shifted)), attributes["d"])
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


# ---------------------------------------------------------------- animation


def _sprites(layers: Sequence[Sequence[Item]]) -> list[Sprite]:
    """The elements of all frames in the order in which they are drawn: pieces and cards above everything else."""
    under: list[Sprite] = []
    above: list[Sprite] = []
    alive: list[Sprite] = []
    for frame, items in enumerate(layers):
        matched, alive, after = _matched(alive, items), [], 0
        covered: list[tuple[Item, Sprite]] = []  # pieces and cards of this frame so far
        for item, sprite in zip(items, matched, strict=True):
            order, place = under, after
            if item.glides:
                order = above
                place = max((above.index(other) + 1 for one, other in covered if _overlap(one, item)), default=0)
            if sprite is not None and (not item.glides or above.index(sprite) >= place):
                sprite.poses.append(item.pose)
            else:
                start = None
                if sprite is not None:
                    start, sprite.goes_on = sprite.poses[-1], True
                sprite = Sprite(item, frame, start)
                order.insert(place, sprite)
            if item.glides:
                covered.append((item, sprite))
            else:
                after = under.index(sprite) + 1
            alive.append(sprite)
    return [*under, *above]


def _overlap(one: Item, two: Item) -> bool:
    """Whether one of two cards covers a part of the other."""
    first, second = sorted((one, two), key=lambda item: item.pose.x)
    if second.pose.x >= first.pose.x + first.size[0]:
        return False
    first, second = sorted((one, two), key=lambda item: item.pose.y)
    return second.pose.y < first.pose.y + first.size[1]


def _matched(alive: Sequence[Sprite], items: Sequence[Item]) -> list[Sprite | None]:
    """The sprite that goes on as each item: one that stays in its place, else the nearest that glides there."""
    matched: list[Sprite | None] = [None] * len(items)
    free = {(sprite.drawing, sprite.poses[-1]): sprite for sprite in alive}
    for i, item in enumerate(items):
        matched[i] = free.pop((item.drawing, item.pose), None)
    pairs = sorted(
        (math.dist(sprite.poses[-1], items[i].pose), i, number)
        for number, sprite in enumerate(free.values())
        for i in range(len(items))
        if sprite.glides and matched[i] is None and items[i].drawing == sprite.drawing
    )
    left, taken = list(free.values()), set()
    for _, i, number in pairs:
        if matched[i] is None and number not in taken:
            matched[i] = left[number]
            taken.add(number)
    return matched


class Timeline:
    """Writes keyframes: each frame is shown for some seconds, the last one longer, and then all begins again."""

    def __init__(self, count: int, seconds: float) -> None:
        self.count, self.seconds = count, seconds  # number of frames
        self.duration = seconds * (count + HOLD)
        self.rules: dict[str, str] = {}  # name -> keyframes
        self.digits = math.ceil(math.log10(self.duration * 0.01 / SWITCH))  # of percentages that tell such times apart

    def at(self, frame: int, later: float = 0, fewer: int = 0) -> str:
        """The time of a frame, and some seconds later, as a share of the whole; `fewer` digits where they will do."""
        return f"{_short(100 * (self.seconds * frame + later) / self.duration, self.digits - fewer)}%"

    def look(self, sprite: Sprite, pose: bool = False) -> str:
        """The attributes by which an element is seen in its frames only and moves; without motion, in the last one."""
        visible, moving, stays = self._visible(sprite), self._moving(sprite), sprite.end == self.count
        names = ",".join(filter(None, (visible, moving)))
        place = _move(sprite.poses[-1]) if pose and (stays or not moving) else ""
        style = ";".join(filter(None, (names and f"animation-name:{names}", place)))
        classes = "a" + " x" * (not sprite.glides) + " o" * (not stays)
        return (f' class="{classes}"' if names else "") + (f' style="{style}"' if style else "")

    def _visible(self, sprite: Sprite) -> str:
        first, end = sprite.first, sprite.end
        if (first, end) == (0, self.count):
            return ""
        if not sprite.glides:
            name = f"x{first}-{end}"
            hidden = "{opacity:0}"
            start = f"from{hidden}" * (first > 0) + f"{self.at(first) if first else 'from'}{{opacity:1}}"
            self.rules[name] = start + (f"{self.at(end)},to{hidden}" if end < self.count else "to{opacity:1}")
            return name
        fade_in, fade_out = (SWITCH if joined else GLIDE for joined in (sprite.start, sprite.goes_on))
        name = f"v{first}-{end}{'i' * (fade_in == GLIDE)}{'o' * (fade_out == GLIDE)}"
        shown = [self.at(first, fade_in) if first else "from", self.at(end) if end < self.count else "to"]
        before = [f"from,{self.at(first)}"] if first else []
        after = [f"{self.at(end, fade_out)},to"] if end < self.count else []
        self.rules[name] = f"{','.join(before + after)}{{opacity:0}}{','.join(shown)}{{opacity:1}}"
        return name

    def _moving(self, sprite: Sprite) -> str:
        poses = [sprite.start or sprite.poses[0], *sprite.poses]  # the first at the beginning of its first frame
        if len(set(poses)) == 1:
            return ""
        scaled = any(pose.scale != 1 for pose in poses)
        steps: list[str] = []
        frame = sprite.first
        for pose, group in groupby(poses):
            start = self.at(frame, GLIDE, 1) if steps else "from"
            frame += len(list(group)) - (not steps)
            end = self.at(frame, fewer=1) if frame < sprite.end else "to"
            steps.append(f"{start},{end}{{{_move(pose, 0, scaled)}}}")
        name = f"m{len(self.rules)}"
        self.rules[name] = "".join(steps)
        return name


def _animated(
    layers: Sequence[Sequence[Item]], captions: Sequence[str], size: tuple[float, float], title: str, seconds: float
) -> str:
    time, sprites = Timeline(len(layers), seconds), _sprites(layers)
    uses = Counter(sprite.drawing for sprite in sprites)
    shapes = {drawing: f"d{i}" for i, (drawing, times) in enumerate(uses.items()) if times > 1}
    body = []
    for sprite in sprites:
        x, y, scale = sprite.poses[-1]
        moves = scale != 1 or len({sprite.start or sprite.poses[0], *sprite.poses}) > 1
        if sprite.drawing not in shapes:
            body.append(f"<g{time.look(sprite, pose=True)}>{sprite.drawing}</g>")
        elif moves:
            body.append(f'<use href="#{shapes[sprite.drawing]}"{time.look(sprite, pose=True)}/>')
        else:
            body.append(f'<use href="#{shapes[sprite.drawing]}" x="{_short(x)}" y="{_short(y)}"{time.look(sprite)}/>')
    for frame, caption in enumerate(captions):
        line = _text(caption, 0, size[1] + MARGIN + 14, "t")
        body.append(f'<g data-frame="{frame}"{time.look(Sprite(line, frame), pose=True)}>{line.drawing}</g>')
    defs = "".join(f'<g id="{name}">{drawing}</g>' for drawing, name in shapes.items())
    paints: dict[str, str] = {}
    drawn = PAINT.sub(
        lambda found: f' class="{paints.setdefault(found[0], f"f{len(paints)}")}"',
        f"<defs>{defs}</defs>{''.join(body)}",
    )
    style = STYLE.format(duration=_short(time.duration, 2), last=time.at(len(layers) - 1))
    style += "".join(f".{name}{{{_as_css(paint)}}}\n" for paint, name in paints.items())
    style += "\n".join(f"@keyframes {name}{{{steps}}}" for name, steps in time.rules.items())
    width = max(size[0], LETTER * max(map(len, captions))) + 2 * MARGIN
    zoom = max(1.0, NARROW / width)
    height = size[1] + 2 * MARGIN + CAPTION
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{_short(width * zoom)}" '
        f'height="{_short(height * zoom)}" viewBox="{-MARGIN:g} {-MARGIN:g} {_short(width)} {_short(height)}">'
        f'<title>{escape(title)}</title><style>{style}</style><rect x="{-MARGIN:g}" y="{-MARGIN:g}" '
        f'width="{_short(width)}" height="{_short(height)}" rx="8" fill="var(--paper)"/>{drawn}'
        f'<g style="{_move(Pose(0, height - 2 * MARGIN))}"><rect class="p" width="{_short(width - 2 * MARGIN)}" '
        f'height="1.5"/></g></svg>\n'
    )


def _move(pose: Pose, digits: int = 1, scaled: bool = False) -> str:
    size = f";scale:{_short(pose.scale, 2)}" if scaled or pose.scale != 1 else ""
    return f"translate:{_short(pose.x, digits)}px {_short(pose.y, digits)}px{size}"


def _as_css(paint: str) -> str:
    """Attributes of an element as properties of a style."""
    found = re.findall('([a-z-]+)="([^"]*)"', paint)
    return ";".join(f"{name}:{value}{'px' if name == 'font-size' else ''}" for name, value in found)


def _short(number: float, digits: int = 1) -> str:
    return f"{round(number, digits) + 0.0:.9g}"
