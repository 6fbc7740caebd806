"""A game as an animated SVG: one picture per move, without a script or outside resources.

Each frame is a game's `picture` of the position for a spectator, who sees everything. What two frames have in common is
drawn once; a piece or a card that is elsewhere in the next frame glides there, a new one fades in. CSS does this, so
that a viewer who asked for reduced motion sees the last position. Colours follow the viewer's scheme.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from html import escape
from itertools import groupby
from xml.etree import ElementTree

from replay_frames import LETTER, Item, Pose, decomposed, frames, short, text_item

from kibitz.games import Game, full_name

SECONDS = 1.2  # that a frame is shown
GLIDE, SWITCH = 0.35, 0.01  # seconds in which pieces and cards change from one frame to the next, and all else does
HOLD = 3  # more frames' time for the last one
NARROW = 420.0  # pixels; narrower pictures are enlarged
MARGIN, CAPTION = 12.0, 34.0  # around the picture; height of the line below it
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


def replay_svg(game: Game, actions: Sequence[int], players: Sequence[str] = ()) -> str:
    """Draw a game as an animated SVG that shows everything, hidden cards included.

    Args:
        game: The game.
        actions: All actions from the opening, chance outcomes included: those of a record.
        players: Names of the players by seat, for the description.

    Returns:
        One `<svg>` element, as text for a file.
    """
    shown = list(frames(game, actions))
    layers, width, height = decomposed([ElementTree.fromstring(picture) for _, picture in shown])
    by = ", ".join(f"seat {seat + 1} {name}" for seat, name in enumerate(players))
    title = f"{full_name(game)}: {by}" if by else full_name(game)
    return _animated(layers, [caption for caption, _ in shown], (width, height), title)


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

    def __init__(self, count: int) -> None:
        self.count = count  # number of frames
        self.duration = SECONDS * (count + HOLD)
        self.rules: dict[str, str] = {}  # name -> keyframes
        self.digits = math.ceil(math.log10(self.duration * 0.01 / SWITCH))  # of percentages that tell such times apart

    def at(self, frame: int, later: float = 0, fewer: int = 0) -> str:
        """The time of a frame, and some seconds later, as a share of the whole; `fewer` digits where they will do."""
        return f"{short(100 * (SECONDS * frame + later) / self.duration, self.digits - fewer)}%"

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


def _animated(layers: Sequence[Sequence[Item]], captions: Sequence[str], size: tuple[float, float], title: str) -> str:
    time, sprites = Timeline(len(layers)), _sprites(layers)
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
            body.append(f'<use href="#{shapes[sprite.drawing]}" x="{short(x)}" y="{short(y)}"{time.look(sprite)}/>')
    for frame, caption in enumerate(captions):
        line = text_item(caption, 0, size[1] + MARGIN + 14, "t")
        body.append(f'<g data-frame="{frame}"{time.look(Sprite(line, frame), pose=True)}>{line.drawing}</g>')
    defs = "".join(f'<g id="{name}">{drawing}</g>' for drawing, name in shapes.items())
    paints: dict[str, str] = {}
    drawn = PAINT.sub(
        lambda found: f' class="{paints.setdefault(found[0], f"f{len(paints)}")}"',
        f"<defs>{defs}</defs>{''.join(body)}",
    )
    style = STYLE.format(duration=short(time.duration, 2), last=time.at(len(layers) - 1))
    style += "".join(f".{name}{{{_as_css(paint)}}}\n" for paint, name in paints.items())
    style += "\n".join(f"@keyframes {name}{{{steps}}}" for name, steps in time.rules.items())
    width = max(size[0], LETTER * max(map(len, captions))) + 2 * MARGIN
    zoom = max(1.0, NARROW / width)
    height = size[1] + 2 * MARGIN + CAPTION
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{short(width * zoom)}" '
        f'height="{short(height * zoom)}" viewBox="{-MARGIN:g} {-MARGIN:g} {short(width)} {short(height)}">'
        f'<title>{escape(title)}</title><style>{style}</style><rect x="{-MARGIN:g}" y="{-MARGIN:g}" '
        f'width="{short(width)}" height="{short(height)}" rx="8" fill="var(--paper)"/>{drawn}'
        f'<g style="{_move(Pose(0, height - 2 * MARGIN))}"><rect class="p" width="{short(width - 2 * MARGIN)}" '
        f'height="1.5"/></g></svg>\n'
    )


def _move(pose: Pose, digits: int = 1, scaled: bool = False) -> str:
    size = f";scale:{short(pose.scale, 2)}" if scaled or pose.scale != 1 else ""
    return f"translate:{short(pose.x, digits)}px {short(pose.y, digits)}px{size}"


def _as_css(paint: str) -> str:
    """Attributes of an element as properties of a style."""
    found = re.findall('([a-z-]+)="([^"]*)"', paint)
    return ";".join(f"{name}:{value}{'px' if name == 'font-size' else ''}" for name, value in found)
