"""Patterns: tests of the contents around the cells between which an action moves, up to rotation and reflection.

A walk is a list of turns, fractions of a full circle, with a step after each; the first turn is relative to a fixed
direction, later ones to straight ahead. Boards here are convex, so the path of a walk doesn't matter: only its end,
relative to its anchor.

A test allows a set of contents there: empty, friend, enemy, off the board. All rotations and reflections of a pattern
are one pattern, written in its canonical form. As text, one part per anchor, `to` before `from`:

    to: empty(0) !friend(1/4,0); from: enemy(0)     an element is a set of contents, and the walk to it
    to: enemy(0); from(1/2):                        a direction: the walk from `to` to `from`; here towards an enemy
    to: empty|off(1/8,0) goal=1                     a mark: the distance of the cell to a region
    to:                                             no test: every action that goes somewhere
"""

import contextlib
import functools
import itertools
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ...core.names import BadInput
from ...games.boards import SQUARE, Board, image

KINDS = ("empty", "friend", "enemy", "off")  # bit k of a test: kind k is allowed
ALL = 15
ANCHORS = ("to", "from")
STRAIGHT = 4  # steps of the longest walk
TESTS = tuple(1 << kind for kind in range(4)) + tuple(ALL ^ 1 << kind for kind in range(4))  # a kind, and NOT a kind

Place = tuple[int, int]


class Element(NamedTuple):
    anchor: int
    place: Place  # relative to the anchor
    allowed: int  # bits of kinds


class Mark(NamedTuple):
    """A constant property of some cells: `goal` 1 is one step from the goal."""

    anchor: int
    name: str
    value: int


class Pattern(NamedTuple):
    anchors: tuple[int, ...]  # that an action must have
    elements: tuple[Element, ...]
    marks: tuple[Mark, ...] = ()
    start: Place | None = None  # where `from` is, relative to `to`; None: anywhere


@dataclass(frozen=True, eq=False)
class Window:
    """The places that patterns can test, in rays that symmetries map to each other."""

    board: Board
    rays: tuple[tuple[Place, ...], ...]  # straight ones of four places, and as many between them, of four or one
    turns: tuple[tuple[Place, Place], ...]  # each symmetry, as the images of a step up and a step to the right
    images: np.ndarray  # [symmetries, rays] i8: where each ray goes

    def turned(self, place: Place, symmetry: int) -> Place:
        return image(place, *self.turns[symmetry])

    @functools.cached_property
    def places(self) -> dict[Place, int]:
        """All places, in the order that decides which image of a pattern is its canonical form."""
        half = len(self.rays) // 2
        parts = itertools.product((self.rays[:half], self.rays[half:]), (slice(2), slice(2, STRAIGHT)))
        ordered = [place for rays, part in parts for ray in rays for place in ray[part]]
        return {place: rank for rank, place in enumerate([(0, 0), *ordered])}


@functools.cache
def window(board: Board, rich: bool = False) -> Window:
    """Straight rays, and the cells between them next to the anchor.

    On squares these are the diagonals: rays if `rich`, or where the board has such lines.
    """
    steps = board.directions
    count, orthogonal = len(steps), board.orthogonal
    straight = [steps[direction] for direction in range(0, count, orthogonal)]
    between = [(a + c, b + d) for (a, b), (c, d) in zip(straight, straight[1:] + straight[:1], strict=True)]
    far = STRAIGHT if (rich or board.alquerque) and steps == SQUARE else 1
    rays = [tuple(_times(step, n) for n in range(1, STRAIGHT + 1)) for step in straight]
    rays += [tuple(_times(step, n) for n in range(1, far + 1)) for step in between]
    turns, images = [], []
    up, right = steps.index((1, 0)), steps.index((0, 1))
    for turn in range(0, count, orthogonal):
        for mirror in (1, -1):
            turns.append((steps[(turn + mirror * up) % count], steps[(turn + mirror * right) % count]))
            images.append([rays.index(tuple(image(place, *turns[-1]) for place in ray)) for ray in rays])
    return Window(board, tuple(rays), tuple(turns), np.array(images))


def _times(step: Place, n: int) -> Place:
    return n * step[0], n * step[1]


def seen_at(board: Board, cell: int, place: Place, rich: bool) -> int:
    """The cell at a place relative to another one; -1 off the board.

    Walks go along the lines of the board: where there is no diagonal, its end is off the board, unless it is a
    neighbour, to which a walk around the corner leads. `rich` patterns see over gaps between lines.
    """
    row, column = board.places[cell]
    there = board.cell.get((row + place[0], column + place[1]), -1)
    if rich or not board.alquerque or abs(place[0]) != abs(place[1]) or abs(place[0]) < 2:
        return there
    direction = board.directions.index((place[0] // abs(place[0]), place[1] // abs(place[1])))
    return int(board.rays[cell, direction, abs(place[0]) - 1]) if there >= 0 else -1


# ---------------------------------------------------------------- images and combinations


def turned(pattern: Pattern, window: Window, symmetry: int) -> Pattern:
    """The image under a symmetry, sorted but not canonical."""
    elements = (Element(anchor, window.turned(place, symmetry), allowed) for anchor, place, allowed in pattern.elements)
    start = pattern.start and window.turned(pattern.start, symmetry)
    return pattern._replace(elements=in_order(elements, window), start=start)


def in_order(elements: Iterable[Element], window: Window) -> tuple[Element, ...]:
    return tuple(sorted(elements, key=lambda element: (element.anchor, window.places[element.place])))


def images(pattern: Pattern, window: Window) -> list[Pattern]:
    """All images, by symmetry; equal ones may occur twice."""
    return [turned(pattern, window, symmetry) for symmetry in range(len(window.turns))]


def canonical(pattern: Pattern, window: Window) -> Pattern:
    def key(image: Pattern) -> list[tuple[int, int, int]]:
        tests = [(anchor, window.places[place], allowed) for anchor, place, allowed in image.elements]
        return [*tests, (len(ANCHORS), *image.start)] if image.start else tests

    return min(images(pattern, window), key=key)


def combined(first: Pattern, second: Pattern, window: Window) -> Pattern | None:
    """The pattern that is active where both are, in the same frame; None where that is impossible."""
    allowed: dict[tuple[int, Place], int] = {}
    for anchor, place, kinds in first.elements + second.elements:
        allowed[anchor, place] = allowed.get((anchor, place), ALL) & kinds
    if 0 in allowed.values() or (first.start and second.start and first.start != second.start):
        return None
    anchors = tuple(sorted({*first.anchors, *second.anchors}))
    elements = (Element(anchor, place, kinds) for (anchor, place), kinds in allowed.items())
    marks = tuple(sorted({*first.marks, *second.marks}))
    return Pattern(anchors, in_order(elements, window), marks, first.start or second.start)


# ---------------------------------------------------------------- atoms


def atoms(window: Window, starts: Collection[Place] = (), marks: Iterable[tuple[str, int]] = ()) -> list[Pattern]:
    """Patterns with at most one element: each kind, and not each kind, at each place; or a mark; or a direction.

    Args:
        starts: Where actions come from, relative to where they go; none where pieces don't move.
        marks: Names and values.
    """
    found: dict[Pattern, None] = {}
    for anchor in (0, 1) if starts else (0,):
        found[Pattern((anchor,), ())] = None
        for place in window.places:
            for allowed in TESTS:
                found[canonical(Pattern((anchor,), (Element(anchor, place, allowed),)), window)] = None
        for name, value in marks:
            found[Pattern((anchor,), (), (Mark(anchor, name, value),))] = None
    for start in starts:
        with contextlib.suppress(ValueError):  # too far for a walk: such a direction couldn't be written
            walk_to(window, start)
            found[canonical(Pattern((0, 1), (), (), start), window)] = None
    return list(found)


# ---------------------------------------------------------------- as text


@functools.cache
def walk_to(window: Window, place: Place) -> tuple[Fraction, ...]:
    """The turns of a short walk: straight, or (on hexagons, to a cell between) with one to the left, or any other."""
    steps = window.board.directions
    if place == (0, 0):
        return ()
    for direction, step in enumerate(steps):
        first = Fraction(direction, len(steps))
        for n in range(1, max(map(abs, place)) + 1):
            if _times(step, n) == place:
                return (first, *[Fraction(0)] * (n - 1))
        following = steps[(direction + 1) % len(steps)]
        if (step[0] + following[0], step[1] + following[1]) == place:
            return first, Fraction(1, len(steps))
    turns = [Fraction(turn, len(steps)) for turn in range(len(steps))]
    for n in range(2, STRAIGHT + 1):
        for walk in itertools.product(turns, repeat=n):  # (0, 1/8) is the leap of a knight
            if end_of(window, walk) == place:
                return walk
    raise ValueError(f"{place} is out of sight")


def end_of(window: Window, walk: Iterable[Fraction]) -> Place:
    steps = window.board.directions
    heading, place = Fraction(0), (0, 0)
    for turn in walk:
        heading += turn * len(steps)
        if heading.denominator != 1:
            raise BadInput(f"a turn of {turn} leads between two directions: a full circle has {len(steps)} here")
        step = steps[int(heading) % len(steps)]
        place = place[0] + step[0], place[1] + step[1]
    return place


def spelled(pattern: Pattern, window: Window) -> str:
    parts = []
    for anchor in pattern.anchors:
        words = []
        for element in pattern.elements:
            if element.anchor == anchor:
                turns = ",".join(str(turn) for turn in walk_to(window, element.place))
                words.append(f"{spelled_kinds(element.allowed)}({turns})")
        words += [f"{mark.name}={mark.value}" for mark in pattern.marks if mark.anchor == anchor]
        came = ",".join(map(str, walk_to(window, pattern.start))) if anchor and pattern.start else ""
        parts.append(" ".join([f"{ANCHORS[anchor]}({came}):" if came else f"{ANCHORS[anchor]}:", *words]))
    return "; ".join(parts)


def spelled_kinds(allowed: int) -> str:
    kinds = [kind for bit, kind in enumerate(KINDS) if allowed >> bit & 1]
    if len(kinds) == 3:
        return f"!{next(kind for kind in KINDS if kind not in kinds)}"
    return "|".join(kinds)


PART = re.compile(r"\s*(?P<anchor>to|from(\((?P<walk>[0-9/,\s-]+)\))?)\s*:(?P<rest>[^:]*)")
WORD = re.compile(r"(?P<kinds>!?[a-z|]+)\((?P<walk>[0-9/,\s-]*)\)|(?P<name>[a-z]+)=(?P<value>\d+)")


def parse(text: str, window: Window) -> Pattern:
    """Parse a pattern's text; any walk to a cell is accepted, and any image of the pattern."""
    anchors, elements, marks, start = [], [], [], None
    for part in text.split(";"):
        split = PART.fullmatch(part)
        if not split:
            raise BadInput(f"{part.strip()!r} in the pattern {text!r} should begin with `to:` or `from:`")
        anchor, rest = int(split["anchor"] != "to"), split["rest"]
        if anchor in anchors:
            raise BadInput(f"the pattern {text!r} has {ANCHORS[anchor]} twice")
        anchors.append(anchor)
        if split["walk"]:
            start = end_of(window, _walk(split["walk"], text))
            if start == (0, 0):
                raise BadInput(f"the pattern {text!r} has a move that goes nowhere")
        for word in re.sub(r",\s+", ",", rest).split():
            found = WORD.fullmatch(word)
            if not found:
                raise BadInput(f"{word!r} in the pattern {text!r} should be like empty(0), !friend(1/4,0) or goal=1")
            if found["name"]:
                marks.append(Mark(anchor, found["name"], int(found["value"])))
                continue
            place = end_of(window, _walk(found["walk"], text))
            if place not in window.places:
                raise BadInput(f"{word} in the pattern {text!r} is out of sight")
            elements.append(Element(anchor, place, _kinds(found["kinds"], text)))
    if start and 0 not in anchors:
        raise BadInput(f"the pattern {text!r} has a direction, so it should have `to:` too")
    given = Pattern(tuple(sorted(anchors)), (), tuple(sorted(set(marks))), start)
    found_pattern: Any = given
    for element in elements:
        found_pattern = found_pattern and combined(found_pattern, Pattern((element.anchor,), (element,)), window)
    if found_pattern is None:
        raise BadInput(f"the pattern {text!r} asks for two things at once in one place")
    return canonical(found_pattern, window)


def _walk(text: str, pattern: str) -> list[Fraction]:
    try:
        return [Fraction(turn) for turn in text.split(",")] if text.strip() else []
    except (ValueError, ZeroDivisionError):
        raise BadInput(f"({text}) in the pattern {pattern!r} should be turns, such as 0 or 1/4,0") from None


def _kinds(text: str, pattern: str) -> int:
    negated, names = text.startswith("!"), text.removeprefix("!").split("|")
    unknown = [name for name in names if name not in KINDS]
    if unknown:
        raise BadInput(f"{unknown[0]!r} in the pattern {pattern!r} is no content of a cell: {', '.join(KINDS)}")
    allowed = sum(1 << KINDS.index(name) for name in set(names))
    if negated:
        allowed ^= ALL
    if allowed in (0, ALL):
        raise BadInput(f"{text} in the pattern {pattern!r} tests nothing")
    return allowed
